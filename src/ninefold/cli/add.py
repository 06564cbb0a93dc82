"""`ninefold add FILE RESOURCE NAME=VALUE…`"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import msgspec
from rich.console import Console
from rich.progress import Progress

from ninefold.cli.commands import AcceptProposals, Database, File, Parameter, Secrets, Settings
from ninefold.cli.document import plan_beside, planned
from ninefold.cli.failures import failures_in_words
from ninefold.cli.files import opened
from ninefold.cli.leading_on import usable
from ninefold.cli.operator_values import operator_values
from ninefold.cli.rows import given, masked, operations_of, pairs, rows_as_text
from ninefold.cli.terminal import Unusable, complain, reason, remark, say
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.render import visible
from ninefold.pipeline import Loaded
from ninefold.plan.operator import Adding as AddingPlan
from ninefold.plan.operator import OperatorOperations
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.json_text import parse
from ninefold.runtime.messages.problems import Failure, pointer
from ninefold.runtime.operations.constraints import NOT_MADE, Refusal, why_not_made
from ninefold.runtime.operator.audit import Audit, Kept
from ninefold.runtime.operator.rows import Adding, Caller, ShownRow, stated_rows
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened, Refused, Session, Store, Unavailable
from ninefold.tools.decisions.contract import ways_of
from ninefold.values import Value

MOST_TOLD = 20
"""Rows of a file whose faults are told at once."""

FEW = 200
"""Rows that are added without a progress bar: it would be gone before it is seen."""


def add(
    file: File,
    resource: str | None = None,
    /,
    *values: str,
    from_: Annotated[str | None, Parameter(name="--from", allow_leading_hyphen=True)] = None,
    format: Literal["text", "json"] = "text",
    database: Database = None,
    settings: Settings = (),
    secrets: Secrets = None,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Add rows under the contract's own rules.

    Schemas, required and unique fields, references, invariants and the values that the contract gives all hold, as they
    do for an endpoint; permissions and row rules do not, and what the contract takes from a caller has to be given. A
    row begins in its initial state. A token that is made for a row is printed this once: only its digest is kept.

    A file of rows is added whole or not at all. A database that a service has open has its one writer: stop the service
    first.

    Exit status: 0 if all was added, 1 if a rule refuses a row or the contract has errors, 2 if the database, the file
    or a field cannot be used.

        ninefold add orders.md customer email=ada@example.org name=Ada
        ninefold add orders.md order 'lines=[{"sku": "TEA-250", "quantity": 2, "unit_price": 450}]'
        ninefold add orders.md customer --from customers.json
        ninefold add orders.md --from fixtures.json

    Parameters
    ----------
    resource
        As the contract names it.
    values
        NAME=VALUE. The value of a field that is not a text is JSON: `quantity=2`, `tags=["a", "b"]`.
    from_
        A JSON file, `-` for standard input: an array of objects or one object a line, of the resource that is named; or
        an object with such an array for each resource, in the order in which they are added.
    format
        `json` prints each row that was added, a line each.
    """
    loaded, plan = planned(file, accept_proposals)
    url, plan = plan_beside(loaded, plan, file, database)
    read = _read(_wanted(file, plan, resource, from_, values))
    given_values = operator_values([value.name for value in plan.operator], settings, secrets, os.environ)
    if isinstance(read, _Faults):
        _tell(read, visible(file), from_)
        return 1
    opening = _opened(plan, file, url, Caller(given_values), loaded)
    try:
        added = _added(read, opening.database, Caller(given_values, key=opening.database.key("cursors")))
    except Unavailable as error:
        raise Unusable(f"the database cannot be written: {error}; nothing was added") from None
    finally:
        opening.database.close()
    if isinstance(added, _Faults):
        _tell(added, visible(file), from_)
        return 1
    _print(read, added, opening, format)
    return 0


def _opened(plan: ServicePlan, file: str, database: str, caller: Caller, loaded: Loaded) -> Opened:
    """The database, which keeps the contract from now on. Raises Unusable."""
    judge = Audit(plan.stored, contract=Kept(loaded.source, ways_of(loaded).others), issuing=plan.issuing)
    opening = open_database(database, plan, stated_rows(plan, caller), judge)
    if isinstance(opening, Refused) and opening.held:
        help = "a database has one writer, and that is the service while it runs: stop it, add, and start it again"
        raise Unusable(opening.message, help, details=opening.details)
    return usable(opening, file, database)


# ── What is to be added ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Kind:
    """A resource to which rows are to be added."""

    operations: OperatorOperations
    body: AddingPlan
    adding: Adding


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A row that is to be added: `pointer` is where it stands in its file (RFC 6901), `document` its JSON."""

    kind: _Kind
    pointer: str
    document: Any


@dataclass(frozen=True, slots=True)
class _Read:
    kind: _Kind
    pointer: str
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class _Fault:
    row: _Wanted | _Read
    failures: tuple[Failure, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class _Faults:
    """Why nothing was added. `more`: whether rows after these were not looked at."""

    faults: tuple[_Fault, ...]
    more: bool = False


def _kind(plan: ServicePlan, resource: str) -> _Kind:
    operations = operations_of(plan, resource)
    if operations.adding is None:
        raise Unusable(f"nothing can be added to {resource}", details=operations.blocked)
    return _Kind(operations, operations.adding, Adding(operations, operations.adding))


def _wanted(
    file: str, plan: ServicePlan, resource: str | None, from_: str | None, values: Sequence[str]
) -> Sequence[_Wanted]:
    if from_ == "-" and file == "-":
        raise Unusable("the contract and the rows cannot both come from standard input")
    return _from_file(plan, resource, from_, values) if from_ else [_from_values(plan, resource, values)]


def _from_values(plan: ServicePlan, resource: str | None, values: Sequence[str]) -> _Wanted:
    if resource is None:
        raise Unusable("no resource is named", "ninefold add FILE RESOURCE NAME=VALUE…, or --from rows.json")
    kind = _kind(plan, resource)
    names = [each.field for each in kind.body.body.fields]
    written = pairs(values, names, f"field of {resource} that can be given")
    return _Wanted(kind, "", given(written, kind.body.body.schema.get("properties", {})))


def _from_file(plan: ServicePlan, resource: str | None, path: str, values: Sequence[str]) -> list[_Wanted]:
    if values:
        raise Unusable("values are given and --from as well", "put the values into the file")
    try:
        found = row_file(path, resource)
    except NotRows as error:
        raise Unusable(f"{path}: {error}", *error.help) from None
    kinds = {name: _kind(plan, name) for name in dict.fromkeys(row.resource for row in found)}
    return [_Wanted(kinds[row.resource], row.pointer, row.document) for row in found]


def _read(wanted: Sequence[_Wanted]) -> list[_Read] | _Faults:
    """The values of every row, or the faults that can be told without the database."""
    read, faults = list[_Read](), list[_Fault]()
    for row in wanted:
        values = row.kind.adding.read(row.document)
        if isinstance(values, Failure):
            faults.append(_Fault(row, (values,)))
        else:
            read.append(_Read(row.kind, row.pointer, values))
    return _Faults(tuple(faults)) if faults else read


# ── Adding ────────────────────────────────────────────────────────────────────────────────────────────────────


def _added(rows: Sequence[_Read], database: Store, caller: Caller) -> list[ShownRow] | _Faults:
    """Add all rows in one transaction, or none."""

    async def transacted() -> list[ShownRow] | _Faults:
        with _progress(len(rows)) as advance:
            try:
                return await database.transact(lambda session: _one_after_another(rows, session, caller, advance))
            except _Undone as undone:
                return _Faults((undone.fault,), more=undone.fault.row is not rows[-1])

    return asyncio.run(transacted())


class _Undone(Exception):
    """A row is refused, and with it the transaction."""

    def __init__(self, fault: _Fault) -> None:
        super().__init__()
        self.fault = fault


def _one_after_another(
    rows: Sequence[_Read], session: Session, caller: Caller, advance: Callable[[], None]
) -> list[ShownRow]:
    added = []
    for row in rows:
        try:
            added.append(row.kind.adding.add(row.values, session, caller))
        except Refusal as refusal:
            raise _Undone(_Fault(row, refusal.failures)) from None
        except NOT_MADE as error:
            words = f"a value that the contract makes cannot be made: {why_not_made(error)}"
            raise _Undone(_Fault(row, (), words)) from None
        advance()
    return added


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, where there is enough to wait for."""
    console = Console(stderr=True)
    if total < FEW or not console.is_terminal:
        yield lambda: None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("adding rows", total=total)
        yield lambda: progress.advance(task)


# ── What is said ──────────────────────────────────────────────────────────────────────────────────────────────


def _tell(faults: _Faults, document: str, file: str | None) -> None:
    lines = []
    for fault in faults.faults[:MOST_TOLD]:
        row = f"{fault.row.pointer} " if file else ""
        if fault.words:
            lines.append(row + fault.words)
        lines += [row + line for line in failures_in_words(fault.failures, fault.row.kind.body.body, document)]
    if len(faults.faults) > MOST_TOLD:
        lines.append(f"… and {len(faults.faults) - MOST_TOLD:,} rows more")
    what = f"{file}: " if file else ""
    if faults.more:
        lines.append("the rows after this one were not tried")
    complain(f"{what}nothing was added", details=lines)


def _print(rows: Sequence[_Read], added: Sequence[ShownRow], opening: Opened, format: Literal["text", "json"]) -> None:
    if format == "json":
        sys.stdout.writelines(msgspec.json.encode(row).decode() + "\n" for row in added)
    elif len(added) == 1:
        say(rows_as_text([masked(added[0], rows[0].kind.operations.sensitive)], list(added[0])))
    else:
        _print_tokens(rows, added)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.kind.operations.resource] = counts.get(row.kind.operations.resource, 0) + 1
    words = ", ".join(f"{count:,} of {name}" for name, count in counts.items()) or "nothing"
    remark(f"added {words} to {opening.path}{' (new)' if opening.created else ''}")
    if any(name in shown for row, shown in zip(rows, added, strict=True) for name in row.kind.operations.secrets):
        remark("a token is shown this once: what is kept of it is a digest")


def _print_tokens(rows: Sequence[_Read], added: Sequence[ShownRow]) -> None:
    """Of many rows, only what nobody can look up later."""
    for row, shown in zip(rows, added, strict=True):
        for name in row.kind.operations.secrets:
            if shown.get(name) is not None:
                key = "/".join(str(shown[each]) for each in row.kind.body.create.key)
                say(visible(f"{row.kind.operations.resource} {key}  {name}  {shown[name]}"))


LARGEST = 256 * 1024 * 1024
"""Bytes of a file that are read: all of it is added in one transaction."""


class NotRows(Exception):
    """The file holds no rows; the message says why, `help` advises."""

    def __init__(self, message: str, *help: str) -> None:
        super().__init__(message)
        self.help = help


@dataclass(frozen=True, slots=True)
class GivenRow:
    """`pointer` says where in the file the row stands (RFC 6901); of a file with an object a line, its line."""

    resource: str
    pointer: str
    document: Any


def row_file(path: str, resource: str | None) -> list[GivenRow]:
    """The rows of a file, in its order. `resource`: whose rows an array holds. Raises NotRows."""
    data = _data(path)
    try:
        document = parse(data)
    except ValueError:
        return list(_lines(data, resource))
    if isinstance(document, dict) and resource is None:
        return [row for name, rows in document.items() for row in _array(rows, name, (name,))]
    if resource is None:
        raise NotRows("it is an array of rows of no resource that is named", "ninefold add FILE RESOURCE --from FILE")
    if isinstance(document, dict):
        if list(document) == [resource]:
            return list(_array(document[resource], resource, (resource,)))
        return [GivenRow(resource, "line 1", document)]
    return list(_array(document, resource, ()))


def _array(rows: Any, resource: str, path: tuple[str, ...]) -> Iterator[GivenRow]:
    if not isinstance(rows, list):
        raise NotRows(f"{pointer(path) or 'it'} is not an array of rows", _FORMS)
    for index, row in enumerate(rows):
        yield GivenRow(resource, pointer((*path, index)), row)


_FORMS = 'rows are [{…}, {…}], or {"RESOURCE": [{…}], …} where no resource is named'


def _lines(data: bytes, resource: str | None) -> Iterator[GivenRow]:
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = parse(line)
        except ValueError:
            raise NotRows(f"line {number} is not JSON, and neither is the file as a whole", _FORMS) from None
        if resource is None:
            raise NotRows("it holds rows of no resource that is named", "ninefold add FILE RESOURCE --from FILE")
        yield GivenRow(resource, f"line {number}", row)


def _data(path: str) -> bytes:
    try:
        if path == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with opened(path) as file:
                data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise NotRows(f"it cannot be read: {reason(error)}") from None
    if len(data) > LARGEST:
        raise NotRows("it is larger than a file of rows may be (256 MiB)", "add it in several files")
    return data
