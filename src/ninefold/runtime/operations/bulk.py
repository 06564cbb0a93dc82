"""Writes of several rows at once, each judged, then all written by one statement; and what else an operation does to
other rows, in its transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.binds import binder
from ninefold.expressions.evaluate import Env
from ninefold.expressions.rows import BEFORE
from ninefold.plan import environment
from ninefold.plan import writes as plan
from ninefold.plan.environment import AS_WANTED, POSITION, Environment, with_rows
from ninefold.plan.problems import ITEM
from ninefold.runtime.messages.problems import Failure, FieldFailure, failed_condition
from ninefold.runtime.operations import constraints
from ninefold.runtime.operations.constraints import MOST_ANEW, Judge, Refusal, Taken, Unfit, making
from ninefold.runtime.operations.events import Event, arise, subscribe
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Conflicting, Session, Stored
from ninefold.runtime.store.statements import NO_SWITCHES, Prepared, RowReader
from ninefold.values import Value
from ninefold.values.stored import sqlite_writer

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Asking:
    """Whose request it is: what events and subscriptions keep of it."""

    sources: Sources
    who: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is known of each row beforehand, in the forms that are stored, and the switches of what is stored of all of
    them: each is given values for the same fields. `positions`: of new rows, those of their items."""

    rows: list[list[Stored]]
    switches: frozenset[str] = NO_SWITCHES
    positions: tuple[int, ...] = ()


class Several(Generic[T]):
    """A write of all rows that are found, or of one for each item, made ready. `values` makes those of one row, under
    its roots and with what is read of it; it raises Refusal."""

    def __init__(
        self,
        effect: plan.Effect,
        values: Callable[[T, Environment, dict[str, Value]], Mapping[str, Any]],
        then: Effects[T] | None,
    ) -> None:
        write = effect.write
        self._resource, self._width = write.resource, len(write.key)
        self._find = None if effect.find is None else Prepared(effect.find)
        self._read_found = None if effect.find is None else RowReader(effect.find)
        self._each = None if effect.each is None else making(effect.each.items, effect.each.held)
        self._pointer = None if effect.each is None else effect.each.pointer
        chosen, of_item = (None, ()) if effect.each is None else (effect.each.chosen, effect.each.read)
        self._conflict = None if effect.each is None else effect.each.conflict
        self._holds = None if chosen is None else Prepared(chosen)
        self._read_item = tuple(map(binder, of_item))
        self._values, self._then = values, then
        assigns = plan.given_values(write)
        self._stored = tuple((each.field, sqlite_writer(each.type)) for each in assigns if not each.in_statement)
        self._of_item = tuple(map(binder, write.of_item)) if isinstance(write, plan.WithValues) else ()
        self._judge = Judge(write.judge, write.held if isinstance(write, plan.WithValues) else ())
        self._statement = Prepared(write.statement)
        read = write.step(plan.ReadBack)
        self._read = None if read is None else Prepared(read.select)
        self._invariants = constraints.Invariants(write)
        self._events = tuple(map(Event, write.events))
        subscription = write.step(plan.Subscription)
        self._version = None if subscription is None else subscription.version
        self._deletes = isinstance(write, plan.Delete)
        # What was is another thing of each row: what reads it is asked for each.
        was = plan.as_it_was(write)
        self._was = None if was is None else Prepared(was)
        self._read_was = None if was is None else RowReader(was)

    def do(self, session: Session, call: T, asking: Asking, env: Environment) -> None:
        """All of it, under the roots that it reads; raises what refuses it."""
        wanted, own = self.settled(session, call, asking, env)
        if wanted.rows:
            self.write(session, call, asking, own, wanted)

    def settled(
        self, session: Session, call: T, asking: Asking, env: Environment, switches: frozenset[str] = NO_SWITCHES
    ) -> tuple[Wanted, Environment]:
        """What is known of the rows, and the roots of their write. What is made at random is made again where it is
        taken. Raises Refusal."""
        for tries in range(1, MOST_ANEW + 1):
            wanted = self._wanted(session, call, env, switches)
            try:
                return wanted, self.judged(session, asking, env, wanted) if wanted.rows else env
            except Taken:
                if tries == MOST_ANEW:
                    raise
        raise AssertionError("it was tried at least once")

    def judged(self, session: Session, asking: Asking, env: Environment, wanted: Wanted) -> Environment:
        """The roots of the write of these rows, none of which is refused; raises Refusal."""
        own = env.copy()
        own[environment.SEVERAL] = {"wanted": _encode(wanted.rows).decode()}
        own[environment.WRITE] = {"revision": asking.sources.revision()}
        self._judged(session, own, wanted.positions)
        return own

    def write(self, session: Session, call: T, asking: Asking, own: Environment, wanted: Wanted) -> None:
        """Write them all, with what arises from that. `own` tells then which were written."""
        many, env = own[environment.SEVERAL], own
        self._invariants.before(session, own)
        before, after = (self._events, ()) if self._deletes else ((), self._events)
        events = [(event, event.all_found(session, own), own) for event in before]
        was = self._as_they_were(session, own)
        each_gone = self._of_each(own, wanted.rows, was) if self._deletes else []
        gone = [[] if self._then is None else self._then.all_acted_on(session, each) for each in each_gone]
        try:
            touched = session.run(*self._statement.bound(own, self._statement.switches & wanted.switches))
        except Conflicting:
            touched = []
        # A row that is deleted may take another one of them with it.
        if len(touched) != len(wanted.rows) and not (touched and self._deletes):
            # All that is judged beforehand holds: which value stands in the way, nobody knows.
            raise Refusal([Failure("conflict", self._resource)])
        known = touched if self._find is None else wanted.rows
        keys = [[_in_json(each) for each in row[: self._width]] for row in known]
        many["written"] = _encode(keys).decode()
        own[BEFORE] = {**own[BEFORE], self._resource: None}
        each_in = each_gone or self._of_each(own, keys, was)
        if self._version is not None:
            for key in keys:
                subscribe(session, key, asking.who, env["caller"], self._version)
        of_effects: list[Callable[[], None]] = []
        if self._then is not None:
            for number, within in enumerate(each_in):
                for acted_on in gone[number] if gone else self._then.all_acted_on(session, within):
                    self._then.take_place(session, call, {**within, environment.ARISEN: of_effects}, acted_on)
        read = () if self._read is None else (session.run(*self._read.bound(each)) for each in each_in)
        self._invariants.hold(session, chain.from_iterable(read), own)
        events += [(event, event.all_found(session, within), within) for within in each_in for event in after]
        arising = [
            (row, partial(event.write, session, within, row, asking.sources))
            for event, rows, within in events
            for row in rows
        ]
        if len(self._events) > 1:  # those of one row stand together, whatever kinds there are
            arising.sort(key=lambda each: msgspec.json.decode(str(each[0][0])))
        arise(env, *(write for _, write in arising), *of_effects)

    def _as_they_were(self, session: Session, env: Environment) -> dict[tuple[Stored, ...], dict[str, Value]] | None:
        """What is read of the rows as they were, by primary key; None: nothing is."""
        if self._was is None or self._read_was is None:
            return None
        rows = session.run(*self._was.bound(env))
        return {tuple(map(_in_json, row[: self._width])): self._read_was(row) for row in rows}

    def _of_each(
        self, env: Environment, rows: list[list[Stored]], was: Mapping[tuple[Stored, ...], dict[str, Value]] | None
    ) -> list[Environment]:
        """The roots of each of the rows: `before` is that row as it was. The same for all where that is not read."""
        return [env] if was is None else [self._of_one(env, row[: self._width], was) for row in rows]

    def _of_one(
        self, env: Environment, key: list[Stored], was: Mapping[tuple[Stored, ...], dict[str, Value]]
    ) -> Environment:
        own, alone = env.copy(), _encode([key]).decode()
        own[environment.SEVERAL] = {**env[environment.SEVERAL], "written": alone}
        if self._deletes:  # what is read of it is read before it is gone
            own[environment.SEVERAL]["wanted"] = alone
        own[BEFORE] = {**env[BEFORE], self._resource: was.get(tuple(key))}
        return own

    def found(self, session: Session, call: T, env: Environment, switches: frozenset[str] = NO_SWITCHES) -> Wanted:
        """What is known of each row that is there: its primary key and the values that it is to have."""
        assert self._find is not None and self._read_found is not None
        wanted: list[list[Stored]] = []
        new: Mapping[str, Any] = {}
        for row in session.run(*self._find.bound(env, switches)):
            new = self._values(call, env.copy(), self._read_found(row))
            wanted.append([*map(_in_json, row[: self._width]), *self._forms(new)])
        return Wanted(wanted, frozenset(f"new {name}" for name in new))

    def _wanted(self, session: Session, call: T, env: Environment, switches: frozenset[str]) -> Wanted:
        if self._each is None:
            return self.found(session, call, env, switches)
        return self._made(session, call, env) if self._find is None else self._named(session, call, env)

    def _items(self, env: Environment) -> Any:
        assert self._each is not None
        try:
            return self._each(env) or ()
        except Unfit as unfit:
            raise Refusal([unfit.failure]) from None

    def _named(self, session: Session, call: T, env: Environment) -> Wanted:
        """What is known of each row that an item names: two of them name no one row. What is as it is wanted stays."""
        assert self._find is not None and self._read_found is not None
        items = self._items(env)
        new: Mapping[str, Any] = {}
        wanted: list[list[Stored]] = []
        positions: list[int] = []
        named = set[tuple[Stored, ...]]()
        for row in session.run(*self._find.bound(self._with(items, env))):
            key, read = tuple(map(_in_json, row[: self._width])), self._read_found(row)
            position, is_same = int(str(read.pop(POSITION))), read.pop(AS_WANTED)
            if key in named:
                assert self._conflict is not None
                raise Refusal([self._at(failed_condition(self._conflict), position)])
            named.add(key)
            if is_same:
                continue
            own: Environment = {**env, environment.EACH: items[position]}
            try:
                new = self._values(call, own.copy(), read)
            except Refusal as refused:
                raise Refusal([self._at(each, position) for each in refused.failures]) from None
            wanted.append([*key, *self._forms(new), *self._read_of_item(own)])
            positions.append(position)
        return Wanted(wanted, frozenset(f"new {name}" for name in new), tuple(positions))

    def _made(self, session: Session, call: T, env: Environment) -> Wanted:
        """The values of a new row for each item. What is wrong with any of them is told at once."""
        items = self._items(env)
        wanted: list[list[Stored]] = []
        failures: list[Failure] = []
        positions = self._chosen(session, env, items)
        for position in positions:
            own: Environment = {**env, environment.EACH: items[position]}
            try:
                new = self._values(call, own.copy(), {})
            except Refusal as refused:
                failures += [self._at(failure, position) for failure in refused.failures]
            else:
                wanted.append([*self._forms(new), *self._read_of_item(own)])
        if failures:
            raise Refusal(failures)
        return Wanted(wanted, positions=positions)

    def _chosen(self, session: Session, env: Environment, items: Any) -> tuple[int, ...]:
        """The positions of the items that rows are made of."""
        if self._holds is None:
            return tuple(range(len(items)))
        return tuple(sorted(int(str(row[0])) for row in session.run(*self._holds.bound(self._with(items, env)))))

    def _with(self, items: Any, env: Environment) -> Environment:
        """The roots of what is asked of all items at once."""
        roots = ({**env, environment.EACH: each} for each in items)
        read = [[value(own) for value in self._read_item] for own in roots]
        asked = env.copy()
        asked[environment.SEVERAL] = {"wanted": _encode([[*map(_in_json, each)] for each in read]).decode()}
        return asked

    def _forms(self, new: Mapping[str, Any]) -> list[Stored]:
        forms = []
        for name, write in self._stored:
            value = new.get(name)
            forms.append(_in_json(value if write is None else write(value)))
        return forms

    def _read_of_item(self, env: Environment) -> list[Stored]:
        return [_in_json(read(env)) for read in self._of_item]

    def _judged(self, session: Session, env: Environment, positions: tuple[int, ...]) -> None:
        """Each row by itself, before any is written. Of new rows all that is wrong is told; of others, what is wrong
        with the first."""
        failures: list[Failure] = []
        details: dict[str, Any] = {}
        are_taken = True
        for position, row in enumerate(session.run(*self._judge.bound(env, True))):
            refusal = self._judge.refusal([row], env)
            if refusal is not None:
                are_taken = are_taken and isinstance(refusal, Taken)
                at = positions[position] if positions else position
                failures += [self._at(failure, at) for failure in refusal.failures]
                details = details or dict(refusal.details)
                if self._find is not None:
                    break
        if failures:
            raise (Taken if are_taken else Refusal)(tuple(dict.fromkeys(failures)), details)

    def _at(self, failure: Failure, position: int) -> Failure:
        """A failure at the item that it is of, where the body gives the items."""
        if self._pointer is None or not failure.fields:
            return failure
        before, now = f"{self._pointer}/{ITEM}", f"{self._pointer}/{position}"

        def at_item(fields: tuple[FieldFailure, ...]) -> tuple[FieldFailure, ...]:
            return tuple(
                replace(each, pointer=now + each.pointer.removeprefix(before))
                if each.pointer.startswith(before)
                else each
                for each in fields
            )

        return replace(failure, fields=at_item(failure.fields), others=at_item(failure.others))


def _in_json(stored: Stored) -> Stored:
    """A stored form as JSON has it: bytes in hexadecimal."""
    return stored.hex() if isinstance(stored, bytes) else stored


Do: TypeAlias = Callable[[Session, T, Environment], None]
"""Does a write for a call, under the roots that it reads; raises what refuses it."""


class Effects(Generic[T]):
    """Those of a write, made ready. `make` makes one ready that is of one row, `several` one that is of several."""

    def __init__(
        self,
        planned: plan.Effects,
        make: Callable[[plan.Bulk], Do[T]],
        several: Callable[[plan.Effect], Do[T]],
    ) -> None:
        self._acted_on = Prepared(planned.acted_on)
        self._read = RowReader(planned.acted_on)
        self._effects = tuple(
            several(each) if each.write.several else _of_one(_Row(each), make(each.write)) for each in planned.effects
        )

    def acted_on(self, session: Session, env: Env) -> dict[str, Value] | None:
        """The row that the write acts on, as far as the effects read it. None: it is not there."""
        return next(iter(self.all_acted_on(session, env)), None)

    def all_acted_on(self, session: Session, env: Env) -> list[dict[str, Value]]:
        """The same of each row, where the write is of several."""
        return [self._read(row) for row in session.run(*self._acted_on.bound(env))]

    def take_place(self, session: Session, call: T, env: Environment, acted_on: dict[str, Value]) -> None:
        """One after another; what refuses one of them refuses the whole. What one of them issues, the whole does."""
        for do in self._effects:
            own = with_rows(env, {environment.THIS: acted_on})
            do(session, call, own)
            for name, secret in own.get("issued", {}).items():
                env.get("issued", {}).setdefault(name, secret)


def _of_one(row: _Row, do: Do[T]) -> Do[T]:
    def done(session: Session, call: T, env: Environment) -> None:
        if row.found(session, env):
            do(session, call, env)

    return done


class _Row:
    """Which row an effect acts on."""

    def __init__(self, effect: plan.Effect) -> None:
        self._find = None if effect.find is None else Prepared(effect.find)
        self._key = None if effect.find is None else RowReader(effect.find)

    def found(self, session: Session, env: Environment) -> bool:
        """Whether there is one; it goes to `$path`."""
        if self._find is None or self._key is None:
            return True
        rows = session.run(*self._find.bound(env))
        if rows:
            env[environment.PATH] = self._key(rows[0])
        return bool(rows)
