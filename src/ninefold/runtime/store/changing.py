"""How a database is made one of another contract, whichever kind it is of: what stands in the way is told, the rest is
done in one transaction, and the rows are judged after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

from msgspec import structs

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import record
from ninefold.runtime.store.protocol import Command, Judge, NotDone, Refused, Row, Session, Stored, Unfit
from ninefold.sql.fragment import identifier
from ninefold.upgrade.change import By, Change
from ninefold.upgrade.changes import Changes, Inherited, Outcome, changes
from ninefold.upgrade.running import Wider
from ninefold.upgrade.shape import digest
from ninefold.upgrade.sources import Followed
from ninefold.upgrade.steps import Premise, Remake, RemoveRows, RenameTable, Step, aside_name
from ninefold.upgrade.words import answers, sentence, unmet

NAMED = 3
"""Rows that are told as examples."""


class NotUpgraded(NotDone):
    """The database was left as it was."""


@dataclass(frozen=True, slots=True)
class Dangling:
    """Rows of a resource that refer by a field to a row of another one which is not there, and how many they are."""

    resource: str
    field: str
    to: str
    count: int


def left_dangling(found: Sequence[Dangling]) -> NotUpgraded:
    """What refers to what goes has to go, or to refer to something else, before that: the lines that say so."""
    return NotUpgraded(
        "rows would refer to nothing",
        [
            f"`{each.resource}.{each.field}` of {each.count} {'row' if each.count == 1 else 'rows'} "
            f"would refer to a `{each.to}` that is not there"
            for each in found
        ],
        [
            f"what refers goes, too, or refers to another row: {{remove rows: {each.resource}, where: …}}, "
            f"or {{set: {each.resource}.{each.field}, is: …, where: …}}"
            for each in found
        ],
    )


class Failed(Exception):
    """An expression has no value for a row; the message says why."""


@dataclass(frozen=True, slots=True)
class Broken:
    """So many rows are not as they have to be; some of their values, as they are stored, and whether there are more."""

    count: int
    examples: tuple[Stored, ...]
    more: bool


class Changing(Protocol):
    """A database in the transaction in which its shape changes. All of it may raise an error of its driver."""

    @property
    def session(self) -> Session: ...

    @property
    def emptied(self) -> Mapping[str, int]:
        """Fields, with how many of their values the steps put none in the place of."""

    def ask(self, text: str) -> Sequence[Row]: ...

    def take(self, every: Iterable[Step], wanted: Schema) -> None:
        """Take steps, one after another: what one does depends on those before it. Raises Failed."""

    def refer(self, wanted: Schema) -> None:
        """Have references kept as they are again. Raises NotUpgraded where a row would refer to nothing."""

    def broken(self, premise: Premise) -> Broken | None:
        """None: the rows are as they have to be."""

    def note_shape(self, shape: Schema) -> None: ...

    def note_upgrade(self, shape: Schema, backup: Path | None) -> None: ...


Decide: TypeAlias = Callable[[Schema, record.Known], Outcome]
"""What is decided over a database of a shape. What it raises goes through, and nothing has been changed."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A change, and why it is not made without a decision: sentences, none where it is; and what would decide it
    (`Change.write`)."""

    change: Change
    why: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


def judged(
    found: Changes, database: Changing, by: By, states: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> tuple[Judged, ...]:
    """Each change with what stands in its way, where it is made by `serve` or by `upgrade`. `states`: as of an
    `Outcome`."""
    return tuple(_judged(change, database, by, states) for change in found.changes)


def _judged(change: Change, database: Changing, by: By, states: Mapping[str, Sequence[str]]) -> Judged:
    if change.kind == "question" or (by == "serve" and change.by == "upgrade"):
        if _concerns_rows(change, database):
            return Judged(change, (sentence(change),), change.write)
    why, write = [], dict.fromkeys(change.write)
    for premise in change.premises:
        broken = database.broken(premise)
        if broken is not None:
            found = () if change.hides else tuple(map(_shown, broken.examples))
            examples = ", ".join((*found, *(("…",) if broken.more and found else ())))
            why.append(unmet(change, premise, broken.count, examples))
            write |= dict.fromkeys(answers(change, premise, found, states))
    return Judged(change.unasked, tuple(why), tuple(write))


def _concerns_rows(change: Change, database: Changing) -> bool:
    """Where no row has what the change is about there is nothing to decide over."""
    return change.over is None or database.broken(change.over) is not None


def _asked(outcome: Outcome, database: Changing) -> Iterator[Judged]:
    """What stands in the way though nothing has to be changed for it."""
    return (Judged(each, (sentence(each),), each.write) for each in outcome.asked if _concerns_rows(each, database))


def _shown(value: Stored) -> str:
    return "a secret" if isinstance(value, bytes) else str(value)[:40]


def make(found: Changes, wanted: Schema, database: Changing) -> None:
    """All steps. Raises NotUpgraded where a row would refer to nothing."""
    database.take(found.steps, wanted)
    database.refer(structs.replace(wanted, callers=found.after.callers))
    database.note_shape(found.after)


def adapt(stored: Schema, wanted: Schema, database: Changing, judge: Judge | None) -> Changes:
    """What `serve` does by itself: all that needs no decision. Raises NotUpgraded, with what has to be decided."""
    found = changes(stored, wanted)
    if why := tuple(words for each in judged(found, database, "serve") for words in each.why):
        raise NotUpgraded("over rows has to be decided", why)
    if not found.same:
        make(found, wanted, database)
    if unfit := () if judge is None else judge(database.session, ()):
        raise NotUpgraded("rows are not as the contract says", tuple(each.words for each in unfit))
    return found


def differs(name: str, details: tuple[str, ...]) -> Refused:
    """Why `serve` leaves a database as it was."""
    return Refused(
        f"the database {name} was made for another contract, and what becomes of its rows is left to `upgrade`",
        details,
        ("or serve the contract that made it, or name another database with --database",),
        then=(SEE_WHAT_BECOMES,),
    )


SEE_WHAT_BECOMES: Final = Command("nothing in it was changed; to see what becomes of them", "upgrade")


ONCE_MENDED: Final = Command("once that is mended, to see what is left to be done", "upgrade")
"""Whatever was done: an upgrade is done whole or not at all, and what was is not done again."""


def looked_for(step: Remake) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Statements before and after rows follow what they refer to: once its table is made anew, what its rows were known
    by before has no index, and each would look at all of them."""
    found = (each for each in step.values.values() if isinstance(each, Followed) and each.table != step.table.name)
    columns = dict.fromkeys((each.table, each.old) for each in found)
    named = [(identifier(f"$followed {number}"), *each) for number, each in enumerate(columns)]
    made = (f"CREATE INDEX {name} ON {identifier(table)} ({identifier(old)})" for name, table, old in named)
    return tuple(made), tuple(f"DROP INDEX {name}" for name, _, _ in named)


# The command: a preview, and the upgrade


def all_fit(session: Session, left: Collection[str]) -> tuple[Unfit, ...]:
    """Nobody looks at the rows."""
    return ()


def _unfit(found: Unfit) -> Judged:
    name, resource = found.name, found.name.split(".")[0]
    field = name if found.is_field else f"{resource}.…"
    write = (f"{{set: {field}, is: …, where: …}}", f"{{leave: {name}}}", f"{{remove rows: {resource}, where: …}}")
    return Judged(Change("question", f"`{name}`", "", by="upgrade", write=write), (found.words,), write)


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What an upgrade would do, or has done (`made`). `shape`: by what that of the database is known. `rows`: of each
    resource that is stored. `decided`: over so many things. `aside`: what is hidden then, `lost`: what ends, each with
    the number of its values or rows. `emptied`: fields of which what is set has no value for rows that had one, with
    their number. `removed`: of each resource whose rows the document removes, how many. `undelivered`: how many
    deliveries end with what the document decides. `given`: the fields of rows that have what the contract gives to new
    ones, `inherited`: what part 9 decides."""

    database: str
    shape: str
    rows: tuple[tuple[str, int], ...]
    changes: tuple[Judged, ...]
    aside: tuple[tuple[str, int], ...] = ()
    lost: tuple[tuple[str, int], ...] = ()
    emptied: tuple[tuple[str, int], ...] = ()
    removed: tuple[tuple[str, int], ...] = ()
    undelivered: int = 0
    given: tuple[str, ...] = ()
    inherited: tuple[Inherited, ...] = ()
    decided: int = 0
    made: bool = False
    backup: Path | None = None

    @property
    def goes(self) -> bool:
        return not any(each.why for each in self.changes)


def upgraded(
    database: Changing,
    name: str,
    before: Schema,
    wanted: Schema,
    decide: Decide,
    judge: Judge,
    backup: Path | None = None,
) -> tuple[Rehearsed, bool]:
    """The upgrade of a database of the shape `before`, and whether the transaction is to be kept. `name`: as its
    operator calls it. Raises NotUpgraded."""
    counts = tuple((table.name, _count(database, table.name)) for table in before.tables)
    known = replace(record.known(database.session), is_empty=not any(count for _, count in counts))
    outcome = decide(before, known)
    waiting = _waiting(database, before)
    try:
        database.take(outcome.steps, wanted)
    except Failed as error:
        raise NotUpgraded(f"what is decided cannot be worked out for a row: {error}") from None
    found = changes(outcome.stored, wanted, outcome.made)
    done = Rehearsed(
        name,
        digest(before),
        counts,
        (*judged(found, database, "upgrade", outcome.states), *_asked(outcome, database)),
        given=outcome.given,
        inherited=outcome.inherited,
        decided=outcome.count,
        emptied=tuple(database.emptied.items()),
        removed=tuple(_removed(database, outcome.steps, counts)),
        undelivered=waiting - _waiting(database, outcome.stored),
    )
    if not done.goes:
        return done, False
    make(found, wanted, database)
    unfit = tuple(map(_unfit, judge(database.session, outcome.left)))
    if unfit:
        return replace(done, changes=(*done.changes, *unfit)), False
    if found.same and not outcome.count and not outcome.steps:
        # Nothing but that rows were looked at is new.
        if outcome.document:
            record.note_decided(database.session, outcome.document)
        return done, True
    after = found.after
    lost = dict(hidden(database, after))
    for each in outcome.lost:
        after = dropped(database, after, each)
    database.note_shape(after)
    database.note_upgrade(after, backup)
    if outcome.document:
        record.note_decided(database.session, outcome.document)
    ended = tuple((each, lost[each]) for each in outcome.lost)
    return replace(done, aside=tuple(hidden(database, after)), lost=ended, made=True), True


def _removed(database: Changing, taken: Sequence[Step], counts: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Once the steps are taken: `counts` are those of before, by the names that tables had then."""
    names = {each.old: each.new for each in taken if isinstance(each, RenameTable)}
    of = {each.table for each in taken if isinstance(each, RemoveRows)}
    for name, count in counts:
        if of & {name, names.get(name, name)}:
            yield name, count - _count(database, names.get(name, name))


def _waiting(database: Changing, stored: Schema) -> int:
    """How many deliveries there are that were not made yet, or were given up."""
    return _count(database, "$delivery") if stored.subscriptions else 0


# While nodes serve (`ninefold.upgrade.running`)


@dataclass(frozen=True, slots=True)
class Before:
    """`plan`: of the contract that a database was served with last, without its proposals, or with them. `wider`: how
    two schemas compare."""

    plan: Callable[[record.Contract | None, bool], ServicePlan | None]
    wider: Wider


@dataclass(frozen=True, slots=True)
class Over:
    """`refused`: why it does not go while nodes serve, in sentences; nothing was changed then. `nodes`: how many serve
    the contract before. `added` and `taken`: what was, in words; `moved`: of each field, how many rows were given a
    value; `held`: what one contract alone allows, which waits for the end. `aside`: what is hidden then, with the
    number of its values or rows."""

    database: str
    refused: tuple[str, ...] = ()
    nodes: int = 0
    added: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    moved: tuple[tuple[str, int], ...] = ()
    held: tuple[str, ...] = ()
    aside: tuple[tuple[str, int], ...] = ()


# What was set aside


def hidden(database: Changing, stored: Schema) -> Iterator[tuple[str, int]]:
    """What is set aside in a database, each with the number of its values or rows."""
    for table in stored.tables:
        for aside in table.aside:
            yield f"{table.name}.{aside.column.name}", _count(database, table.name, aside.stored)
    for table in stored.aside:
        yield table.name, _count(database, aside_name(table.name))


def _count(database: Changing, table: str, column: str = "") -> int:
    what = f"count({identifier(column)})" if column else "count(*)"
    [(count,)] = database.ask(f"SELECT {what} FROM {identifier(table)}")
    return int(str(count))


def dropped(database: Changing, stored: Schema, name: str) -> Schema:
    """End what was set aside: the shape that is stored then."""
    for table in stored.aside:
        if table.name == name:
            database.ask(f"DROP TABLE {identifier(aside_name(name))}")
            return structs.replace(stored, aside=tuple(each for each in stored.aside if each.name != name))
    tables = []
    for table in stored.tables:
        gone = [each for each in table.aside if f"{table.name}.{each.column.name}" == name]
        for each in gone:
            database.ask(f"ALTER TABLE {identifier(table.name)} DROP COLUMN {identifier(each.stored)}")
        tables.append(structs.replace(table, aside=tuple(each for each in table.aside if each not in gone)))
    return structs.replace(stored, tables=tuple(tables))


def ended(database: Changing, stored: Schema, names: Sequence[str], name: str) -> tuple[tuple[str, int], ...]:
    """End what was set aside, by its name: a field (`order.memo`) or a resource; each with the number of its values or
    rows. Raises NotUpgraded."""
    counts = dict(hidden(database, stored))
    for each in names:
        if each not in counts:
            listed = ", ".join(counts) or "nothing is"
            raise NotUpgraded(f"`{each}` is not set aside in {name}", help=(f"set aside: {listed}",))
    for each in names:
        stored = dropped(database, stored, each)
    database.note_shape(stored)
    return tuple((each, counts[each]) for each in names)
