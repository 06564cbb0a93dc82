"""`ninefold rows FILE RESOURCE`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from rich.cells import cell_len

from ninefold.cli.commands import AcceptProposals, Database, File, Parameter, Secrets, Settings, option
from ninefold.cli.document import plan_beside, planned
from ninefold.cli.leading_on import usable
from ninefold.cli.operator_values import operator_values
from ninefold.cli.terminal import Unusable, is_coloured, remark, say, width
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.plan.operator import OperatorOperations
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.rows import Caller, Looked, filters_of, look
from ninefold.runtime.store.opening import open_to_read
from ninefold.runtime.store.protocol import Unavailable
from ninefold.values import Invalid, Text, Timestamp, Value
from ninefold.values.of_schemas import from_schema

LARGEST = 10_000_000
"""Rows that are asked for at once, at most."""


def rows(
    file: File,
    resource: str,
    /,
    *,
    where: Annotated[Sequence[str], option()] = (),
    sort: Annotated[str, Parameter(allow_leading_hyphen=True, show_default=False)] = "",
    limit: int = 50,
    show_sensitive: Annotated[bool, Parameter(negative=())] = False,
    format: Literal["text", "json"] = "text",
    database: Database = None,
    settings: Settings = (),
    secrets: Secrets = None,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Look at the rows of a resource.

    All of them, whoever may see them, with computed fields and states. What the contract calls `sensitive` is masked,
    and a `secret` is never shown, since only its digest is kept. Works while a service runs on the same database.

    Exit status: 0, 1 if the contract has errors, 2 if the database, a field or a value cannot be used.

        ninefold rows orders.md order
        ninefold rows orders.md order --where status=placed --sort -created_at --limit 5
        ninefold rows orders.md order --format json | jq .total

    Parameters
    ----------
    resource
        As the contract names it.
    where
        NAME=VALUE: only rows whose field has that value; may be repeated, and all have to hold.
    sort
        A field; with a minus before it the last comes first. By default rows are sorted by their primary key.
    limit
        How many rows are shown at most.
    show_sensitive
        Show what the contract calls `sensitive`.
    format
        `json` gives one object a row, each on a line of its own.
    """
    loaded, plan = planned(file, accept_proposals)
    url, plan = plan_beside(loaded, plan, file, database)
    operations = operations_of(plan, resource)
    check_limit(limit)
    filters = _filters(operations, where)
    _check_sort(operations, sort)
    values = operator_values([value.name for value in plan.operator], settings, secrets, os.environ)
    with usable(open_to_read(url, plan), file, url) as reading:
        try:
            looked = look(operations, reading, Caller(values), filters, sort, limit)
        except Unavailable as error:
            raise Unusable(f"the database cannot be read: {error}") from None
    _print(operations, looked, () if show_sensitive else operations.sensitive, format)
    return 0


def _filters(operations: OperatorOperations, where: Sequence[str]) -> Mapping[str, Value]:
    names = [each.name for each in operations.list.filters]
    wanted = pairs(where, names, f"field of {operations.resource} that a value can be compared with")
    try:
        return filters_of(operations, wanted)
    except Invalid as error:
        raise Unusable(f"--where {' '.join(where)}: {error.message}") from None


def check_limit(limit: int) -> None:
    if not 1 <= limit <= LARGEST:
        raise Unusable(f"--limit {limit} is not between 1 and {LARGEST:,}")


def _check_sort(operations: OperatorOperations, sort: str) -> None:
    names = list(operations.list.by_name())
    if sort not in names:
        fields = ", ".join(name for name in names if name and not name.startswith("-"))
        help = did_you_mean(sort, names) or (f"the fields: {fields}",)
        raise Unusable(f"--sort {sort} is no field of {operations.resource} that rows can be sorted by", *help)


def _print(
    operations: OperatorOperations, looked: Looked, hidden: Sequence[str], format: Literal["text", "json"]
) -> None:
    digests = dict.fromkeys(operations.secrets, MASK)
    found = [masked(row, hidden) | digests for row in looked.rows]
    if format == "json":
        sys.stdout.writelines(msgspec.json.encode(row).decode() + "\n" for row in found)
    elif found:
        say(rows_as_text(found, list(found[0])))
    if format == "text" or looked.total > len(found):
        remark(f"{_counted(looked.total)} of {operations.resource}" + _of_them(looked, len(found)))


def _counted(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows" if count else "no row"


def _of_them(looked: Looked, shown: int) -> str:
    return f", the first {shown:,} shown (--limit shows more)" if looked.total > shown else ""


MASK = "***"
NOTHING = "-"

LONGEST = 60
"""Cells of a value in a table; a longer one is shown whole, one field a line."""


def masked(row: dict[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    """A row of which the values of some fields are not told. That there is none is no secret."""
    return {name: MASK if name in hidden and value is not None else value for name, value in row.items()}


def rows_as_text(rows: Sequence[dict[str, Any]], fields: Sequence[str]) -> str:
    """Every row with all of `fields`, in their order."""
    table = [[shown(row.get(name)) for name in fields] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(fields, *table, strict=True)]
    if sum(widths) + 2 * len(widths) <= width() and max(widths, default=0) <= LONGEST:
        lines = [_dimmed(_line(fields, widths)), *(_line(row, widths) for row in table)]
        return "\n".join(line.rstrip() for line in lines)
    return "\n\n".join("\n".join(_lines(fields, row)) for row in table)


def shown(value: Any) -> str:
    """A value in one line: a text as it is, nothing as a dash, all else as JSON."""
    match value:
        case None:
            return NOTHING
        case str():
            return visible(value.replace("\n", "\\n"))
        case _:
            return visible(msgspec.json.encode(value).decode())


def _lines(fields: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    left = max(map(cell_len, fields), default=0)
    for name, value in zip(fields, row, strict=True):
        yield f"{_dimmed(_padded(name, left))}  {value}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(_padded(cell, size) for cell, size in zip(cells, widths, strict=True))


def _padded(text: str, size: int) -> str:
    return text + " " * (size - cell_len(text))


def _dimmed(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if is_coloured(sys.stdout) else text


def operations_of(plan: ServicePlan, resource: str) -> OperatorOperations:
    """What the operator does with a resource. Raises Unusable where nothing of that name is stored."""
    known = {each.resource: each for each in plan.operator_operations}
    if resource not in known:
        names = ", ".join(known) or "none: part 2 does not show what they are made of"
        help = did_you_mean(resource, known) or (f"the resources that are stored: {names}",)
        raise Unusable(f"the contract has no resource {resource} whose rows can be stored", *help)
    return known[resource]


def pairs(texts: Iterable[str], allowed: Sequence[str], what: str) -> dict[str, str]:
    """NAME=VALUE, each name of those that are `allowed` and given once. Raises Unusable."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Unusable(f"{text} is not NAME=VALUE", f"NAME is one of: {', '.join(allowed)}")
        if name not in allowed:
            raise Unusable(
                f"{name} is no {what}", *(did_you_mean(name, allowed) or (f"there are: {', '.join(allowed)}",))
            )
        if name in found:
            raise Unusable(f"{name} is given twice")
        found[name] = value
    return found


def given(written: Mapping[str, str], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON that texts of a command line mean: of a field that is a text, the text as it is; of another, what it
    is as JSON. What is no JSON stays a text, for the field's schema to refuse."""
    return {name: _given(text, schemas[name]) for name, text in written.items()}


def _given(text: str, schema: Any) -> Any:
    if isinstance(from_schema(schema), Text | Timestamp):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
