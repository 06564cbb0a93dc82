"""`ninefold rows FILE RESOURCE`"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ninefold.cli.contract_file import load
from ninefold.cli.database_file import database_of
from ninefold.cli.operator_values import operator_values
from ninefold.cli.parameter import AcceptProposals, File, Parameter
from ninefold.cli.resource import operations_of, pairs
from ninefold.cli.row_table import MASK, masked, rows_as_text
from ninefold.cli.terminal import Unusable, remark, say, show
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.operator.rows import Caller, Looked, filters_of, look
from ninefold.plan.operator import OperatorOperations
from ninefold.runtime.store.guests import open_to_read
from ninefold.runtime.store.protocol import Unavailable
from ninefold.runtime.store.sqlite import Refused
from ninefold.values import Invalid, Value

LARGEST = 10_000_000
"""Rows that are asked for at once, at most."""


def rows(
    file: File,
    resource: str,
    /,
    *,
    where: Annotated[Sequence[str], Parameter(negative=(), show_default=False)] = (),
    sort: Annotated[str, Parameter(allow_leading_hyphen=True, show_default=False)] = "",
    limit: int = 50,
    show_sensitive: Annotated[bool, Parameter(negative=())] = False,
    format: Literal["text", "json"] = "text",
    database: str | None = None,
    settings: Annotated[Sequence[str], Parameter(name="--set", negative=(), show_default=False)] = (),
    secrets: Path | None = None,
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
        A field; with a minus before it the last comes first. By default rows are sorted by their identifier.
    limit
        How many rows are shown at most.
    show_sensitive
        Show what the contract calls `sensitive`.
    format
        `json` gives one object a row, each on a line of its own.
    database
        `sqlite:///PATH` or a path, as for `serve`.
    settings
        NAME=VALUE: what the contract calls `operator.NAME`, where a computed field reads it.
    secrets
        A file of lines NAME=VALUE, refused if others may read it.
    """
    loaded = load(file, accept_proposals)
    show((found for found in loaded.diagnostics if found.code.severity is Severity.ERROR), loaded.source, sys.stderr)
    plan = loaded.plan
    if plan is None:
        return 1
    operations = operations_of(plan, resource)
    if not 1 <= limit <= LARGEST:
        raise Unusable(f"--limit {limit} is not between 1 and {LARGEST:,}")
    filters = _filters(operations, where)
    _check_sort(operations, sort)
    values = operator_values([value.name for value in plan.operator], settings, secrets, os.environ)
    reading = open_to_read(database_of(plan, file, database), plan.schema)
    if isinstance(reading, Refused):
        raise Unusable(reading.message, *reading.help, details=reading.details)
    with reading:
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


def _check_sort(operations: OperatorOperations, sort: str) -> None:
    names = [each.name for each in operations.list.sorts]
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
