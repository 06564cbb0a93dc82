"""Which changes are made while nodes of the old contract serve a database beside nodes of the new one, and in which
steps: `expand` adds what the new contract needs, `move` gives rows that are there their values, and `contract` demands
and takes away, once nobody serves the old one.

Meanwhile each node reads what the other has written. So a change goes only where every row that either contract allows
is one that the other can live with: what one of them has alone the other need not give, and what both have they hold to
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.tree import Call, Constant, Typed, Variable
from ninefold.plan.schema import Column, Schema, Stored, Table
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import parts
from ninefold.plan.writes import Delete, Occurrences, Remove
from ninefold.upgrade import steps
from ninefold.upgrade.change import Change
from ninefold.upgrade.changes import Changes, Outcome
from ninefold.upgrade.steps import Step
from ninefold.upgrade.words import sentence
from ninefold.values import Integer, Text


@dataclass(frozen=True, slots=True)
class Hold:
    """A column holds what the contract before says. `limits`: keywords of JSON Schema; none where it is that there is a
    value, or a unique one, which a database that was made for it holds to. `name`: by which it is known then."""

    table: str
    column: str
    name: str
    limits: Mapping[str, Any]

    @property
    def about(self) -> str:
        return f"{self.table}.{self.column}" if self.column else self.name


Added: TypeAlias = steps.MakeTable | steps.MakeSupport | steps.AddColumn | steps.AddIdentities

Wider: TypeAlias = Callable[[Any, Any], bool]
"""Whether one JSON Schema becomes another that takes all that it takes."""


@dataclass(frozen=True, slots=True)
class Running:
    """`expand`, in one transaction; then `indexes`, made beside those who write; then `move`, in batches: each fills a
    column with what the contract gives, and whoever writes without knowing of it gives the same. `contract`, in one
    transaction. `holds`: what the contract before demands, until then, of nodes of the new one too: what they would do
    otherwise is unavailable. `refused`: what cannot be done while nodes serve, in sentences; none where it can."""

    expand: tuple[Added, ...]
    indexes: tuple[steps.MakeIndex, ...]
    move: tuple[steps.Fill, ...]
    contract: tuple[Step, ...]
    holds: tuple[Hold, ...] = ()
    refused: tuple[str, ...] = ()


def running(outcome: Outcome, found: Changes, before: ServicePlan, after: ServicePlan, wider: Wider) -> Running:
    """`outcome`: with nothing but what the contract decides itself. `found`: what is to be done after that. `before`:
    what is served."""
    sorting = _Sorting(outcome, before, after)
    sorting.sort(found)
    rows = list(_of_rows(before, after, wider))
    return Running(
        tuple(sorting.expand),
        tuple(sorting.indexes),
        tuple(sorting.move),
        tuple(sorting.contract),
        (*sorting.holds, *(each for each in rows if isinstance(each, Hold))),
        (*sorting.refused, *(each for each in rows if isinstance(each, str)), *_in_common(before, after)),
    )


class _Sorting:
    def __init__(self, outcome: Outcome, before: ServicePlan, after: ServicePlan) -> None:
        self.expand: list[Added] = []
        self.indexes: list[steps.MakeIndex] = []
        self.move: list[steps.Fill] = []
        self.contract: list[Step] = []
        self.holds: list[Hold] = []
        self.refused: list[str] = []
        self._outcome, self._before, self._after = outcome, before, after
        self._given = set(outcome.given)

    def sort(self, found: Changes) -> None:
        self.refused += [f"part 9: {each.words}" for each in self._outcome.inherited]
        self.refused += [sentence(each) for each in self._outcome.asked]
        for step in self._outcome.steps:
            self._decided(step)
        for change in found.changes:
            self._change(change)
        for step in found.silent:
            if isinstance(step, steps.MakeIndex | steps.DropIndex | steps.MakeSupport | steps.AddIdentities):
                self._step(step, "")
        # What is not said to be done otherwise was said by the changes that it is made of.

    def _decided(self, step: Step) -> None:
        if isinstance(step, steps.AddColumn):
            self._step(step, f"field `{step.table.name}.{step.column.name}`, new")
        elif isinstance(step, steps.Fill) and f"{step.table}.{step.column}" in self._given:
            if is_given_alike(step.value):
                self.move.append(step)
            else:
                about = f"field `{step.table}.{step.column}`, new, required"
                self.refused.append(f"{about}: nodes of the old contract cannot work out what it is given")
        elif isinstance(step, steps.CallCredentials):
            about = f"the credentials of `{step.old}`, which is `{step.new}`"
            self.refused.append(f"{about}: nodes of the old contract would know them no more")

    def _change(self, change: Change) -> None:
        if change.kind == "question":
            self.refused.append(f"{sentence(change)}: it is left to a decision over rows")
        elif change.kind == "back":
            self.refused.append(f"{sentence(change)}: what was set aside comes back")
        elif change.words and not change.steps:
            self.refused.append(f"{sentence(change)}: its table is made anew")
        for step in change.steps if change.kind in ("automatic", "aside") else ():
            self._step(step, sentence(change))

    def _step(self, step: Step, about: str) -> None:
        """`about`: the change that it is of, as a sentence."""
        if why := "; ".join(self._why_not(step)):
            self.refused.append(f"{about}: {why}")
            return
        match step:
            case steps.MakeTable() | steps.MakeSupport() | steps.AddColumn() | steps.AddIdentities():
                self.expand.append(step)
            case steps.MakeIndex():
                self.indexes.append(step)
            case _:
                self.contract.append(step)
        match step:
            case steps.Relax(table=table, column=column):
                self.holds.append(Hold(table, column, f"{table}.{column}", {}))
            case steps.DropIndex(index=index) if index.unique:
                self.holds.append(Hold("", "", index.name, {}))
            case _:
                pass

    def _why_not(self, step: Step) -> Iterator[str]:
        before, after = self._before, self._after
        match step:
            case steps.MakeTable(table=table):
                yield from _held_back(table, None, before, "old")
            case steps.AddColumn(table=table, column=column):
                yield from _held_back(table, column.name, before, "old")
            case steps.MakeSupport(what=what, of=of):
                if what not in ("keys", "reading", "credentials", "scopes", "callers"):
                    yield "nodes of the old contract would write nothing of it"
                elif what == "scopes" and of in before.schema.credentials:
                    yield "nodes of the old contract would issue credentials without any"
            case steps.SetAside(table=name, aside=aside):
                table = _table(before.schema, name)
                if any(each.required for each in table.columns if each.name == aside.column.name):
                    yield "nodes of the old contract count on a value in each row"
                yield from _held_back(table, aside.column.name, after, "new")
            case steps.SetTableAside(table=table):
                yield from _held_back(table, None, after, "new")
            case steps.Require(table=name, column=column):
                if f"{name}.{column}" not in self._given:
                    yield "nodes of the old contract write rows without it"
            case steps.MakeIndex(index=index) if index.unique:
                yield "nodes of the old contract do not hold to it"
            case steps.MakeIndex() | steps.DropIndex() | steps.Relax() | steps.AddIdentities():
                pass
            case _:
                yield "nodes of the old contract would not do the same"


def is_given_alike(value: Typed) -> bool:
    """Whether a database can give it as well as a node: a constant, the time, or a random UUID."""
    match value:
        case Constant() | Variable(name="now") | Call(function="uuid"):
            return True
        case _:
            return False


def _held_back(table: Table, column: str | None, plan: ServicePlan, which: str) -> Iterator[str]:
    """Rows of the table, of which the plan knows nothing (or nothing of the column), would keep others from being
    deleted."""
    targets = {
        each.table for each in table.references if each.on_delete == "refuse" and column in (None, each.column)
    } & deleted(plan)
    for each in sorted(targets):
        yield f"rows of `{each}` that nodes of the {which} contract delete would be kept by it"


def deleted(plan: ServicePlan) -> set[str]:
    """The resources of which a plan deletes rows, and those whose rows go with them."""
    found = {each.resource for kind in (Delete, Remove) for each in parts(plan, kind)}
    while (
        more := {
            table.name
            for table in plan.schema.tables
            for each in table.references
            if each.on_delete == "cascade" and each.table in found
        }
        - found
    ):
        found |= more
    return found


# ── What nodes of both contracts do with the same rows ────────────────────────────────────────────────────────


def _in_common(before: ServicePlan, after: ServicePlan) -> Iterator[str]:
    if before.schema.events or after.schema.events:
        if _without_places(before.delivery) != _without_places(after.delivery):
            yield "how events are delivered: any node sends what any has written"
        if kinds := sorted(_kinds(before) ^ _kinds(after)):
            yield f"the kinds of events ({', '.join(kinds)}): any node sends what any has written"
        if _versions(before) != _versions(after):
            yield "the versions: an event is written in each of them"
    if _timers(before) != _timers(after):
        yield "the timers: what is due is done by any node"
    if _records(before) != _records(after):
        yield "the rows that the contract states: each node would bring about its own"


_TEXTS: Final = ("enum", "minLength", "maxLength")
_NUMBERS: Final = ("enum", "minimum", "maximum")
"""Keywords to which a database holds a text, or a number."""


def _limits(was: Any, now: Any, column: Column, wider: Wider) -> Mapping[str, Any] | None:
    """What the database has to hold a column to, which one schema says and a wider one does not. None: it cannot."""
    kind = str if isinstance(column.type, Text) else int if isinstance(column.type, Integer) else None
    if kind is None or not wider(was, now):
        return None
    known = _TEXTS if kind is str else _NUMBERS
    other = {name for name in (*was, *now) if was.get(name) != now.get(name)}
    limits = {name: was[name] for name in known if name in other and name in was}
    values = limits.get("enum", ())
    return limits if other <= set(known) and all(type(each) is kind for each in values) else None


def _of_rows(before: ServicePlan, after: ServicePlan, wider: Wider) -> Iterator[str | Hold]:
    """Why rows cannot be of both contracts, in sentences; or what has to be held so that they are."""
    held, now = _held(before.stored), _held(after.stored)
    tables = {table.name: table for table in before.schema.tables}
    for table in after.schema.tables:
        was = tables.get(table.name)
        if was is None:
            continue
        there = {column.name for column in was.columns} & {column.name for column in table.columns}
        for name in sorted(there):
            field = f"{table.name}.{name}"
            if held.get(field) != now.get(field):
                schema, wanted = (each.get(field, [{}])[0] for each in (held, now))
                column = next(each for each in table.columns if each.name == name)
                limits = _limits(schema, wanted, column, wider)
                if limits is not None:
                    yield Hold(table.name, name, held_name(field), limits)
                    continue
                yield f"what `{field}` may hold: both contracts have to hold rows to the same"
            if (name in was.passwords) != (name in table.passwords):
                yield f"how `{field}` is kept: of a password and of a token are kept different things"
        if (more := _more_states(was, table)) is not None:
            yield more
        elif _states(was) != _states(table):
            yield f"the states of `{table.name}`: nodes of one contract do not know those of the other"
        if _checks(held, table) != _checks(now, table):
            yield f"the checks of `{table.name}`: both contracts have to hold rows to the same"


def held_name(field: str) -> str:
    return f"$held {field}"


def _more_states(was: Table, now: Table) -> Hold | None:
    """None: there are none, or some are gone."""
    before, after = was.machine, now.machine
    if before is None or after is None or before.column != after.column or not {*before.states} < {*after.states}:
        return None
    name = held_name(f"{now.name}.{before.column}")
    return Hold(now.name, before.column, name, {"enum": list(before.states)})


def _held(stored: Sequence[Stored]) -> Mapping[str, list[Any]]:
    """What rows are held to, by the field or the check."""
    found: dict[str, list[Any]] = {}
    for each in stored:
        for field in each.fields:
            found.setdefault(each.named(field), []).append(field.schema)
        for rule in each.rules:
            found.setdefault(f"{rule.name}.$check", []).append(rule.words)
    return found


def _checks(held: Mapping[str, list[Any]], table: Table) -> dict[str, list[Any]]:
    return {name: each for name, each in held.items() if name.endswith(".$check") and name.split(".")[0] == table.name}


def _states(table: Table) -> tuple[str, frozenset[str]] | None:
    return None if table.machine is None else (table.machine.column, frozenset(table.machine.states))


def _kinds(plan: ServicePlan) -> set[str]:
    return {event.kind for each in parts(plan, Occurrences) for event in each.events}


def _versions(plan: ServicePlan) -> tuple[str, ...]:
    found = plan.versions
    return () if found is None else (found.current, *(each.name for each in found.versions))


def _timers(plan: ServicePlan) -> list[object]:
    return [
        (each.resource, each.transition, each.origin, each.after_microseconds, each.by_the_clock, each.due, each.waits)
        for each in plan.timers
    ]


def _records(plan: ServicePlan) -> list[tuple[str, object]]:
    return [] if plan.records is None else [(each.resource, each.values) for each in plan.records.rows]


def _without_places(part: object) -> object:
    """The same, wherever in its document it is stated."""
    if isinstance(part, msgspec.Struct):
        return type(part), {
            name: _without_places(getattr(part, name)) for name in part.__struct_fields__ if name != "trace"
        }
    if isinstance(part, tuple | list):
        return [_without_places(each) for each in part]
    if isinstance(part, dict):
        return {name: _without_places(each) for name, each in part.items()}
    return part


def _table(schema: Schema, name: str) -> Table:
    return next(each for each in schema.tables if each.name == name)


# ── What is there until it ends ───────────────────────────────────────────────────────────────────────────────


class Between(msgspec.Struct, frozen=True):
    """What a database notes of itself while it is between two contracts: `old` and `new` say which nodes may serve it,
    `name` what the new one is called. `moved`: so far that nodes of the new one may begin; `begun`: one has. What was
    added: `tables`, `columns`, `indexes`, `checks` of tables, and the `supports` beside them. `held`: all that nodes of
    the new contract are held to for the sake of the one before, by its name. `identified`: the tables whose rows have
    got identities."""

    old: int
    new: int
    name: str
    tables: tuple[Table, ...] = ()
    columns: tuple[tuple[str, Column], ...] = ()
    indexes: tuple[str, ...] = ()
    supports: tuple[tuple[steps.Support, str], ...] = ()
    checks: tuple[tuple[str, str], ...] = ()
    held: tuple[str, ...] = ()
    moved: bool = False
    begun: bool = False
    identified: tuple[str, ...] = ()


def between(found: Running, old: int, new: int, name: str) -> Between:
    added = [each.column for each in found.expand if isinstance(each, steps.AddColumn)]
    tables = [each.table for each in found.expand if isinstance(each, steps.AddColumn)]
    return Between(
        old,
        new,
        name,
        tuple(each.table for each in found.expand if isinstance(each, steps.MakeTable)),
        tuple((table.name, column) for table, column in zip(tables, added, strict=True)),
        tuple(each.index.name for each in found.indexes),
        tuple((each.what, each.of) for each in found.expand if isinstance(each, steps.MakeSupport)),
        tuple((each.table, each.name) for each in found.holds if each.limits),
        tuple(each.name for each in found.holds),
        identified=tuple(each.table.name for each in found.expand if isinstance(each, steps.AddIdentities)),
    )
