"""What has to become of a database so that it serves another contract: each change with its steps, with what has to be
so among the rows that are there, and with what is asked where that does not decide it.

A change that adds, relaxes or hides is made without a question: nothing is lost by it, and the contract of yesterday
can be served again. What would need a value, or a choice between two readings, is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Final, Literal

from msgspec import structs

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Schema, Table
from ninefold.upgrade import sources, steps
from ninefold.upgrade.change import By, Change
from ninefold.upgrade.shape import receivers_key, shape
from ninefold.upgrade.steps import Step
from ninefold.upgrade.table import Changed

DELIVERIES: Final = "deliveries"
LOSE_DELIVERIES: Final = f"{{lose: {DELIVERIES}}}"
"""What is still to be delivered, by its word in a document of an upgrade; and what is written where it goes."""


@dataclass(frozen=True, slots=True)
class Changes:
    """`after`: the shape that the database has then, with what was set aside. `silent`: steps that nobody has to be
    told of, such as indexes for speed."""

    changes: tuple[Change, ...]
    after: Schema
    silent: tuple[Step, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them, in the order in which they are made."""
        return in_order((*self.silent, *(step for change in self.changes for step in change.steps)))

    @property
    def told(self) -> tuple[Change, ...]:
        """Those that are worth a word; the others are only what has to be so among the rows."""
        return tuple(change for change in self.changes if change.words)

    @property
    def same(self) -> bool:
        """Whether nothing has to be done."""
        return not self.told and not self.silent


@dataclass(frozen=True, slots=True)
class Inherited:
    """What part 9 decides of rows that an older version stored: `how`, and of what, in words."""

    how: Literal["renamed", "given", "converted", "mapped"]
    words: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided beforehand: `steps`, and the shape that a database has after them. `lost`: what is set aside by
    them, and ends with the upgrade. `left`: the fields whose rows are left as they are, `given`: those that have a
    value by what the contract gives to new rows, `inherited`: what part 9 decides. `asked`: what it decides of rows
    only where these are of an older version, which nobody knows. `count`: over how many things. `document`: by what
    the one is known in which it is decided; it counts once. `states`: those of each resource that the contract has and
    the one that the rows were served with last had not; a state that is none any more may be one of them. `made`: by
    fields that do not hold whatever is of their type, an expression that makes a value of theirs; None: nobody knows
    one."""

    steps: tuple[Step, ...]
    stored: Schema
    lost: tuple[str, ...] = ()
    count: int = 0
    left: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    inherited: tuple[Inherited, ...] = ()
    asked: tuple[Change, ...] = ()
    document: str = ""
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    made: Mapping[str, str | None] = field(default_factory=dict)


_ORDER: Final = (
    steps.TakeTableBack, steps.MakeTable, steps.MakeSupport, steps.DropIndex, steps.TakeBack, steps.AddColumn,
    steps.AddEntered, steps.Relax, steps.DropEntered, steps.FollowSubscribers, steps.SetCredentialsApart,
    steps.SetDeliveriesApart, steps.Remake, steps.TakeCredentialsBack, steps.TakeDeliveriesBack, steps.Require,
    steps.SetAside, steps.SetTableAside, steps.MakeIndex, steps.AddIdentities,
)  # fmt: skip


def in_order(every: Iterable[Step]) -> tuple[Step, ...]:
    """What is there first stands first, what is demanded of all rows last. What was decided has been done before."""
    return tuple(sorted(every, key=_place))


def _place(step: Step) -> int:
    if isinstance(step, steps.MakeSupport) and step.what == "callers":
        return len(_ORDER)  # by the columns that rows are known by in the end
    return _ORDER.index(type(step))


def nothing_decided(stored: Schema, kept: object = None) -> Outcome:
    return Outcome((), stored)


def changes(stored: Schema, wanted: Schema, made: Mapping[str, str | None] = MappingProxyType({})) -> Changes:
    """What has to be done so that a database of shape `stored` serves the schema `wanted`. `made`: as of an
    `Outcome`."""
    stored = shape(stored)
    old = {table.name: table for table in stored.tables}
    hidden = {table.name: table for table in stored.aside}
    new = [table for table in wanted.tables if table.name not in old and table.name not in hidden]
    found: list[Change] = []
    silent: list[Step] = []
    tables: list[Table] = []
    shaped = shape(wanted)
    for table, whole in zip(shaped.tables, wanted.tables, strict=True):
        was = old.get(table.name) or hidden.get(table.name)
        if was is None:
            found.append(Change("automatic", f"resource `{table.name}`", "new", (steps.MakeTable(table),)))
            tables.append(table)
            continue
        # What rows are known by to what is kept of them is not undone by a contract, either.
        table = structs.replace(table, identified=table.identified or was.identified)
        changed = Changed(was, table, whole, stored, shaped, made)
        found += changed.changes()
        if table.name in stored.credentials:
            found += _credentials(changed, table.name in stored.scoped)
        if stored.subscriptions:
            _subscribers_follow(changed)
        if stored.subscriptions and (table.name,) == (stored.subscribers or ())[:1]:
            found += _deliveries(changed, stored, wanted)
        silent += changed.silent
        tables.append(structs.replace(table, aside=changed.aside))
    names = {table.name for table in wanted.tables}
    foreign = bool(old) and not names & {*old, *hidden}
    found += [_gone(table, new, foreign) for name, table in old.items() if name not in names]
    found += _supports(stored, wanted)
    if wanted.log and not stored.log:
        silent.append(steps.MakeSupport("reading"))
    silent += [steps.MakeSupport("callers", each) for each in wanted.callers if each not in stored.callers]
    aside = tuple(table for name, table in {**hidden, **old}.items() if name not in names)
    after = structs.replace(shaped, tables=tuple(tables), aside=aside)
    return Changes(tuple(found), _with_supports(after, stored), tuple(_by_names_of_then(silent, tables)))


def _by_names_of_then(silent: Sequence[Step], after: Sequence[Table]) -> Iterator[Step]:
    """What rows were known by may be hidden once their table is made anew: what refers to them follows it under the
    name that it has by then."""
    hidden: dict[str, dict[str, str]] = {}
    tables = {table.name: table for table in after}
    for step in silent:
        if not isinstance(step, steps.Remake):
            yield step
            continue
        values = {
            name: replace(value, old=hidden.get(value.table, {}).get(value.old, value.old))
            if isinstance(value, sources.Followed)
            else value
            for name, value in step.values.items()
        }
        yield replace(step, values=values)
        table = tables[step.table.name]
        there = {column.name for column in table.columns}
        hidden[table.name] = {each.column.name: each.stored for each in table.aside if each.column.name not in there}


def _gone(table: Table, new: Sequence[Table], foreign: bool) -> Change:
    """`foreign`: the contract has none of the resources that are stored. It may be that of another service. One that is
    `new` may be this one by another name where it has most of its fields."""
    aside, about = (steps.SetTableAside(table),), f"resource `{table.name}`"
    over = None if foreign else steps.AreNone(table.name)
    alike = [each.name for each in shape(Schema(tuple(new))).tables if _are_alike(table, each)]
    if alike:
        words = f"is gone, and {' or '.join(f'`{name}`' for name in alike)} is new, with its fields: renamed?"
        write = (*(f"{{rename: {table.name}, to: {name}}}" for name in alike), f"{{aside: {table.name}}}")
        return Change("question", about, words, aside, by="upgrade", write=write, over=over)
    by: By = "upgrade" if new else "serve"
    return Change("aside", about, "its rows stay, hidden", aside, by=by, over=over)


def _are_alike(was: Table, now: Table) -> bool:
    """Whether most of the fields that one had the other has."""
    types = {column.name: column.type for column in now.columns}
    return 2 * sum(types.get(column.name) == column.type for column in was.columns) > len(was.columns)


def _with_supports(after: Schema, stored: Schema) -> Schema:
    """What is kept beside the rows is not undone by a contract: keys and credentials expire by themselves, and what has
    happened has happened."""
    there = {table.name for table in after.tables}
    return structs.replace(
        after,
        idempotency=after.idempotency or stored.idempotency,
        events=after.events or stored.events,
        subscriptions=after.subscriptions or stored.subscriptions,
        subscribers=after.subscribers if after.subscriptions else _subscribers(after, stored),
        versions=after.versions or stored.versions,
        broker=after.broker or stored.broker,
        log=after.log or stored.log,
        credentials=tuple(dict.fromkeys((*after.credentials, *stored.credentials))),
        scoped=tuple(dict.fromkeys((*after.scoped, *stored.scoped))),
        callers=tuple(dict.fromkeys((*after.callers, *(each for each in stored.callers if each in there)))),
    )


def _subscribers(after: Schema, stored: Schema) -> tuple[str, ...] | None:
    """Of what was to be delivered, and is not any more."""
    name = (stored.subscribers or ("",))[0]
    return next(((name, *table.key) for table in after.tables if table.name == name), stored.subscribers)


def _supports(stored: Schema, wanted: Schema) -> Iterator[Change]:
    def added(what: steps.Support, words: str, of: str = "") -> Change:
        return Change("automatic", words, "new", (steps.MakeSupport(what, of),))

    if wanted.idempotency and not stored.idempotency:
        yield added("keys", "the idempotency keys of requests")
    if wanted.events and not stored.events:
        yield added("log", "the log of events")
    was, now = ("subscription" if each is None else each[0] for each in (stored.subscribers, wanted.subscribers))
    if wanted.subscriptions and not stored.subscriptions:
        yield added("deliveries", "the deliveries of events")
    elif wanted.subscriptions and was != now:
        words = f"are stored to rows of `{was}`, and go to rows of `{now}` now"
        yield Change("question", "the deliveries of events", words, by="upgrade", write=(LOSE_DELIVERIES,))
    if wanted.broker is not None and wanted.broker != stored.broker:
        yield added("broker", "what is sent to a broker")
    if wanted.versions and not stored.versions:
        yield added("versions", "events as other versions have them")
    if (wanted.versions and wanted.subscriptions) and not (stored.versions and stored.subscriptions):
        yield added("subscribed", "the versions of subscriptions")
    for name in wanted.credentials:
        if name not in stored.credentials:
            yield added("credentials", f"the credentials that are issued to a `{name}`", name)
        if name in wanted.scoped and name not in stored.scoped:
            yield added("scopes", f"the scopes of the credentials that are issued to a `{name}`", name)


def _credentials(of: Changed, scopes: bool) -> Iterator[Change]:
    """What is kept beside the rows of a table follows their primary key. To be asked once the columns of the table are
    compared."""
    name, key = of.new.name, of.new.key
    if not _is_known_otherwise(of) or not of.old.key or not key:
        return
    values = {each: of.values[each] for each in key if each in of.values}
    apart = steps.SetCredentialsApart(name, of.old.key, values)
    of.silent = [apart, *of.silent, steps.TakeCredentialsBack(name, scopes)]
    yield _kept(of, f"the credentials that are issued to a `{name}`", "by its new primary key")


def _subscribers_follow(of: Changed) -> None:
    """Who subscribed is kept as a caller, whose row has the primary key that it has."""
    values = {each: of.values[each] for each in of.new.key if each in of.values}
    if _is_known_otherwise(of) and of.old.key and of.new.key and len(values) == len(of.new.key):
        of.silent = [steps.FollowSubscribers(of.new.name, of.old.key, values), *of.silent]


def _deliveries(of: Changed, stored: Schema, wanted: Schema) -> Iterator[Change]:
    """Those of a shape that is stored, where events go to these rows."""
    if not _is_known_otherwise(of):
        return
    kept = structs.replace(wanted, subscriptions=True, subscribers=(of.new.name, *of.new.key))
    values = [of.values.get(name) for name in of.new.key]
    now = tuple((value, type_) for value, (_, type_) in zip(values, receivers_key(kept), strict=True))
    versions = stored.versions or wanted.versions
    apart = steps.SetDeliveriesApart(of.new.name, tuple(receivers_key(stored)), now, versions)
    back = steps.TakeDeliveriesBack(structs.replace(kept, versions=versions))
    of.silent = [apart, *of.silent, back]
    yield _kept(of, "the deliveries of events", f"by the new primary key of `{of.new.name}`")


def _kept(of: Changed, what: str, how: str) -> Change:
    return Change("automatic", what, f"kept, {how}", (), (), "upgrade", (), steps.AreNone(of.here))


def _is_known_otherwise(of: Changed) -> bool:
    was, now = ({column.name: column.type for column in table.columns} for table in (of.old, of.new))
    before, after = ([(name, types.get(name)) for name in table.key] for types, table in ((was, of.old), (now, of.new)))
    return before != after or any(of.values.get(name) != sources.Kept(name) for name in of.new.key)
