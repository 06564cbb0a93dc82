"""Part 2: tables, their columns and their indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from ninefold.checked import lists
from ninefold.checked.lists import Wanted
from ninefold.checked.operations import SortKeys
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked
from ninefold.compile.credentials import callers, identified, issued_to, scoped
from ninefold.compile.perspective import CONTRACT, Perspective
from ninefold.compile.subscribers import subscribers
from ninefold.expressions.rows import unwritten
from ninefold.expressions.tree import Select, Typed, Variable, free_variables, words
from ninefold.plan.environment import ENTERED_COLUMN
from ninefold.plan.schema import Column, Held, Index, Machine, Reference, Rule, Schema, Stored, Table
from ninefold.plan.statement import ResultColumn
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import identifier
from ninefold.values import Boolean, Integer, Number, Text, Timestamp
from ninefold.values.keywords import ANNOTATIONS


def schema(checked: Checked) -> Schema:
    to, events, asked = subscribers(checked), _are_kept(checked), _asked(checked)
    resources = [each for each in checked.resources.values() if not each.log]
    of_callers = identified(checked)
    return Schema(
        tuple(_table(each, checked, asked.get(each.name, []), each.name in of_callers) for each in resources),
        idempotency=checked.takes_keys,
        events=events,
        subscriptions=checked.takes_subscriptions or to is not None,
        credentials=issued_to(checked),
        versions=events and checked.versions is not None,
        subscribers=None if to is None else (to.resource, *checked.resources[to.resource].primary_key),
        log=_is_read(checked),
        scoped=scoped(checked),
        callers=callers(checked) if checked.takes_subscriptions and to is None else (),
    )


def _are_kept(checked: Checked) -> bool:
    """Whether there is a log of events: some arise, or something reads it, be there a kind in force or none."""
    streams = any(endpoint.kind.streams for endpoint in checked.in_all_versions)
    return bool(checked.events.kinds) or checked.takes_subscriptions or streams or _is_read(checked)


def _is_read(checked: Checked) -> bool:
    """Whether the log of events is read as a resource."""
    return any(each.log for each in checked.resources.values())


_KEPT: Final[Mapping[str, Literal["refuse", "cascade", "clear"]]] = {
    "restrict": "refuse",
    "cascade": "cascade",
    "set null": "clear",
}
"""What databases keep of `on delete`: older ones have these words, which are part of how they are kept."""


def _columns_of(resource: Resource) -> tuple[Field, ...]:
    """The fields that have columns: what is worked out, or is made when it is needed, has none."""
    return tuple(field for field in resource.fields.values() if field.stored)


def _asked(checked: Checked) -> dict[str, list[lists.Asked]]:
    """What lists ask of rows, by resource."""
    found: dict[str, list[lists.Asked]] = {}
    for endpoint in checked.endpoints:
        asked = lists.asked(endpoint)
        if asked is not None and endpoint.resource is not None:
            found.setdefault(endpoint.resource, []).append(asked)
    return found


def _table(resource: Resource, checked: Checked, asked: Iterable[lists.Asked], identified: bool) -> Table:
    stored = _columns_of(resource)
    references = tuple(
        Reference(
            field.name,
            field.references,
            checked.resources[field.references].primary_key[0],
            _KEPT[field.on_delete],
        )
        for field in stored
        if field.references is not None
    )
    return Table(
        name=resource.name,
        columns=tuple(
            Column(field.name, field.type, required=not field.type.nullable, serial=field.serial) for field in stored
        ),
        key=resource.primary_key,
        references=references,
        indexes=tuple(_indexes(resource, checked, asked)),
        states=resource.machine is not None,
        machine=None if resource.machine is None else Machine(resource.machine.field, resource.machine.states),
        passwords=tuple(field.name for field in stored if field.secret == "password"),
        sensitive=tuple(field.name for field in stored if field.sensitive),
        identified=identified,
    )


def _indexes(resource: Resource, checked: Checked, asked: Iterable[lists.Asked]) -> Iterator[Index]:
    """Unique values; secrets, by which callers are found; states, where a timer looks for what is due; references, in
    both directions; and what finds the rows of lists. None that another one makes superfluous."""
    unique = [(field.name,) for field in _columns_of(resource) if field.unique] + list(resource.unique)
    kept = [tuple((name, False) for name in resource.primary_key)]
    for columns in dict.fromkeys(unique):
        if set(columns) not in [{name for name, _ in each} for each in kept]:
            kept.append(tuple((name, False) for name in columns))
            yield Index(_title(resource, columns), columns, unique=True)
    unique_of = tuple(kept)
    wanted = [_cut(each, resource, unique_of) for each in dict.fromkeys(_wanted(resource, checked, asked))]
    # The longest first, and of these what has to be in one order before what may be in any: what serves is there then.
    for each in sorted(wanted, key=lambda one: (-len(_columns(one)), len(one.equal))):
        if not any(_serves(columns, each) for columns in kept):
            kept.append(_columns(each))
            named = tuple(f"-{name}" if descending else name for name, descending in kept[-1])
            yield Index(_title(resource, named), named)


def _wanted(resource: Resource, checked: Checked, asked: Iterable[lists.Asked]) -> Iterator[Wanted]:
    for field in _columns_of(resource):
        if field.secret == "token":
            yield Wanted((field.name,))
    machine = resource.machine
    if machine is not None and any(each.after is not None for each in machine.transitions.values()):
        yield Wanted((machine.field,), ((ENTERED_COLUMN, False),))
        named = (_field_alone(each.after, resource) for each in machine.transitions.values())
        yield from (Wanted((machine.field,), ((name, False),)) for name in named if name is not None)
    if resource.expiry is not None and (expires := _field_alone(resource.expiry.at, resource)) is not None:
        yield Wanted((), ((expires, False),))
    for each in asked:
        yield from lists.indexes(each, resource, checked.row_rules)
    for field in _columns_of(resource):
        if field.references is not None:
            yield Wanted((field.name,))


def _columns(wanted: Wanted) -> SortKeys:
    return (*((name, False) for name in wanted.equal), *wanted.order)


def _cut(wanted: Wanted, resource: Resource, unique: Sequence[SortKeys]) -> Wanted:
    """As far as there can be several rows, where a unique index serves what is left: behind it nothing is ordered. A
    row without a value equals nothing that is looked for, and there may be many of them in an order."""
    columns = _columns(wanted)
    for number in range(1, len(columns) + 1):
        cut = Wanted(wanted.equal[:number], columns[len(wanted.equal) : number])
        for each in unique:
            is_whole = len(each) == number and _serves(each, cut)
            if is_whole and (not cut.order or not any(resource.fields[name].type.nullable for name, _ in each)):
                return cut
    return wanted


def _serves(columns: SortKeys, wanted: Wanted) -> bool:
    """Whether an index finds what another one is wanted for, read forwards or backwards."""
    equal, order = columns[: len(wanted.equal)], columns[len(wanted.equal) :][: len(wanted.order)]
    if tuple(name for name, _ in equal) != wanted.equal:
        return False
    return order == wanted.order or tuple((name, not descending) for name, descending in order) == wanted.order


def _field_alone(typed: int | Typed | None, resource: Resource) -> str | None:
    """The stored field that an expression is, if it is nothing else."""
    match typed:
        case Select(operand=Variable(name=name), name=field) if name == resource.name and _stored(
            resource.fields.get(field)
        ):
            return field
        case _:
            return None


def _title(resource: Resource, columns: tuple[str, ...]) -> str:
    return " ".join((resource.name, "by", *columns))


def _stored(field: Field | None) -> bool:
    return field is not None and field.stored


def stored(checked: Checked, dialect: Dialect) -> Iterator[Stored]:
    perspective = Perspective(checked, CONTRACT, dialect)
    for resource in checked.resources.values():
        if resource.log:
            continue
        fields, rules = [*_held(resource)], [*_rules(resource, perspective)]
        if fields or rules:
            columns = [*resource.primary_key, *(each.column.name for each in fields)]
            names = [*map(identifier, columns), *(text for _, text in rules)]
            pages, select = _in_pages(resource, names, perspective)
            hidden = any(resource.fields[name].sensitive for name in resource.primary_key)
            told = tuple(rule for rule, _ in rules)
            yield Stored(resource.name, select, len(resource.primary_key), tuple(fields), not hidden, told, pages)


def _in_pages(resource: Resource, names: Sequence[str], perspective: Perspective) -> tuple[int, str]:
    """By how many columns the rows of a resource are in order, and the statement for some of those behind a row."""
    table = identifier(resource.name)
    if perspective.dialect.counts_rows:
        # SQLite's own count of rows goes by three names, of which a field may take some (https://sqlite.org/rowidtable.html).
        row = next(name for name in ("rowid", "_rowid_", "oid") if name not in map(str.lower, resource.fields))
        return 0, f"SELECT {', '.join((row, *names))} FROM {table} WHERE {row} > ? ORDER BY {row} LIMIT ?"
    bound = perspective.dialect.bound
    key = ", ".join(map(identifier, resource.primary_key)) or "1"
    binds = [bound(perspective.stored(resource.fields[name].type)) for name in resource.primary_key] or [
        bound(Integer())
    ]
    where = f"{bound(Boolean())} OR ({key}) > ({', '.join(binds)})"
    select = f"SELECT {', '.join((key, *names))} FROM {table} WHERE {where} ORDER BY {key} LIMIT ?"
    return len(binds), select if resource.primary_key else select.replace(" ORDER BY 1", "")


def _rules(resource: Resource, perspective: Perspective) -> Iterator[tuple[Rule, str]]:
    """What has to hold of every row, each with its SQL. Not what reads the time: it may hold today and not tomorrow."""
    for each in resource.invariants:
        holds = perspective.holds(unwritten(each.that), {resource.name: resource.name})
        if not any(map(free_variables, holds.binds)):
            name = f"{resource.name}.check" if each.code is None else f"{resource.name}.check.{each.code}"
            yield Rule(name, words(each.that), holds.binds), f"({holds.text}) IS TRUE"


def _held(resource: Resource) -> Iterator[Held]:
    """The fields of which more is said than the type of their column. Which states there are, and whether the row that
    is referred to is there, is asked otherwise."""
    machine = resource.machine
    for field in resource.fields.values():
        is_state = machine is not None and machine.field == field.name
        if field.stored and field.secret is None and field.references is None and not is_state and _says_more(field):
            yield Held(ResultColumn(field.name, field.type), dict(field.schema))


def _says_more(field: Field) -> bool:
    said = {name: each for name, each in field.schema.items() if name not in ANNOTATIONS}
    match field.type:
        case Boolean() | Integer() | Number() | Text():
            return bool(said.keys() - {"type"})
        case Timestamp():
            return bool(said.keys() - {"type", "format"})
        case _:
            return bool(said)
