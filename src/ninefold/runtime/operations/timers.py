"""Transitions that the service takes by itself, when they are due and before anybody can see that they were not.

The earliest time at which something may be due is kept in memory. A request that arrives then or later first waits
for a sweep, which takes what is due in the order in which it fell due, each as of that time; a clock wakes the same
sweep where nobody asks. So a row that is due is never read as it was before, not even after the service was down.

What a sweep cannot take, because a guard does not hold, an invariant would break, or a value of the row would be
another's or none at all, waits: it is asked again after every write, and once a second where its guard reads `now`,
and is taken as of the time at which it could be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import partial

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan import environment, jobs
from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import Request
from ninefold.runtime.operations.constraints import NOT_MADE, NothingFound, Refusal
from ninefold.runtime.operations.cursors import Cursors
from ninefold.runtime.operations.flow import Next, Select, Sweep, Wait
from ninefold.runtime.operations.read import Call
from ninefold.runtime.operations.write import Write
from ninefold.runtime.sources import EVER, Sources, moved
from ninefold.runtime.store.protocol import Row, Session
from ninefold.runtime.store.statements import Prepared
from ninefold.sql import nodes, savepoints
from ninefold.values.stored import sqlite_reader

BATCH = 200
"""Transitions that are taken in one transaction: other writes wait for no more."""

LOOKING_SECONDS = 1.0
"""Seconds after which it is looked at what others may have made due."""

AGAIN = 1_000_000
"""Microseconds after which what waits for the time to pass is asked again."""

TIMER = "timer"
"""Who calls. No expression can read it."""

NO_REQUEST = Request("", b"", b"", {}, "")


class Timer:
    """A plan's timer made ready."""

    def __init__(self, timer: jobs.Timer) -> None:
        self.after = timer.after_microseconds
        self.by_the_clock = timer.by_the_clock
        self._due = Prepared(timer.due)
        types = (column.type for column in timer.due.columns)
        self._key = tuple((name, sqlite_reader(type_)) for name, type_ in zip(timer.take.key, types, strict=False))
        self._waits = Prepared(timer.waits)
        self._next = Prepared(timer.next)
        self._take = Write(timer.take)

    def due(self, session: Session, env: Environment, until: str, beyond: str, skip: int, most: int) -> list[Row]:
        """Rows that fell due up to `until` and after `beyond`: primary key, and when they entered their state."""
        window = {"until": self._entered(until), "beyond": self._entered(beyond), "skip": skip, "most": most}
        return session.run(*self._due.bound({**env, environment.DUE: window}))

    def fell_due(self, row: Row) -> str:
        return moved(str(row[-1]), self.after)

    def take(self, session: Session, row: Row, env: Environment, sources: Sources, now: str) -> bool:
        """Take the transition of a row as of `now`. False: it cannot be taken, and nothing of it was done."""
        path = {
            name: stored if read is None else read(stored) for (name, read), stored in zip(self._key, row, strict=False)
        }
        call = Call(
            NO_REQUEST,
            {
                **env,
                "now": now,
                "caller": {},
                "request": environment.NO_PARAMETERS,
                environment.PATH: path,
            },
            sources,
            Cursors(bytes(32)),
            TIMER,
            TIMER,
        )
        session.run(savepoints.BEGIN, ())
        try:
            self._take.do_in(session, call)
        except (Refusal, NothingFound, *NOT_MADE):
            session.run(savepoints.UNDO, ())
            taken = False
        else:
            taken = True
        session.run(savepoints.END, ())
        return taken

    def next(self, session: Session, env: Environment, now: str) -> tuple[str | None, bool]:
        """When a row falls due next after `now`, and whether one is due and waits."""
        bound = {**env, environment.DUE: {"until": self._entered(now)}}
        rows = session.run(*self._next.bound(bound))
        return self.fell_due(rows[0]) if rows else None, bool(session.run(*self._waits.bound(bound)))

    def _entered(self, time: str) -> str:
        return moved(time, -self.after)


@dataclass(frozen=True, slots=True)
class Progress:
    """A sweep up to the time `now`. `asked`: for what was due up to then, every guard has been asked before; it comes
    last, as of `now`, since it did not hold when it was due. `reached`: the time of the transition that was taken
    last. `refused`: how many rows each timer passes over. `moved`: whether anything was, since the last rows were
    passed over."""

    now: str
    asked: str
    refused: tuple[int, ...]
    late: bool = False
    reached: str = EVER
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Swept:
    """Everything due by `now` has happened. `due`: when something is due next; None: nothing is in sight. `waits`:
    something is due and waits for a write, or, with `for_the_clock`, for the time to pass."""

    now: str
    due: str | None
    waits: bool
    for_the_clock: bool


@dataclass(slots=True, eq=False)
class _Submitted:
    """A sweep under way: this one, and not another that is alike. `written`: the earliest time at which something that
    was written meanwhile may be due."""

    written: str | None = None


@dataclass(slots=True)
class Timers:
    """The timers of a service. `together`: several processes may serve the database, which then keeps what is known of
    what is due (`ninefold.sql.nodes`). `due`: nothing is due before it; None: nothing is in sight. Everything here but
    the sweeps themselves happens on the event loop's thread. `changed` is called whenever `due` may have become
    earlier, and before it `told`, of what `due` is."""

    timers: tuple[Timer, ...]
    env: Environment
    sources: Sources
    together: bool = False
    due: str | None = EVER
    changed: Callable[[], None] = lambda: None
    told: Callable[[str | None], None] = lambda due: None
    _waits: bool = False
    _asked: str = EVER
    _shortest: int = 0
    _woken: int = 1
    _swept_since: int = 0
    """How often it was not known any more what is due, and how often of these it was found out. `_looked`: when it was
    asked last."""
    _looked: int = 0
    _progress: Progress | None = None
    _under_way: list[_Submitted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._shortest = min(timer.after for timer in self.timers)

    def is_settled(self, now: str) -> bool:
        """Whether everything has happened that is due by `now`, where nobody else writes."""
        return self.due is None or now < self.due

    def settled(self, now: str, then: Callable[[], Next]) -> Next:
        """The step `then`, once everything has happened that is due by `now`."""
        if self.together:
            return Wait(Select(nodes.DUE, ()), partial(self._settled_together, now, then))
        if self.is_settled(now):
            return then()
        progress = self._progress or Progress(now, self._asked, (0,) * len(self.timers))
        submitted = _Submitted()
        self._under_way.append(submitted)

        def done(result: Progress | Swept) -> Next:
            self._noted(submitted, result)
            return self.settled(now, then)

        return Wait(Sweep(partial(self._sweep, progress), lambda: self._given_up(submitted)), done)

    def seconds(self) -> float | None:
        """How long until something may be due: nothing or less, that it is now; None, that nothing is in sight."""
        if self.due is None:
            return None
        if self.due == EVER:
            return 0.0
        now = datetime.fromisoformat(self.sources.now())
        return (datetime.fromisoformat(self.due) - now).total_seconds()

    def seconds_together(self) -> float:
        """The same, where others may have written."""
        found = self.seconds()
        until = (self._looked - self.sources.elapsed()) / 1_000_000_000 + LOOKING_SECONDS
        return 0.0 if self._swept_since < self._woken else until if found is None else min(found, until)

    def written(self, now: str) -> str | None:
        """A write is on its way to the database. The time before which nothing of it is due, where others have to be
        told."""
        if not self.together:
            self.writing(now)
            return None
        earliest = moved(now, self._shortest)
        self._earlier(earliest)
        return earliest

    def writing(self, now: str) -> None:
        """A write is on its way to the database: whatever it enters is due no earlier than this says."""
        self._earlier(EVER if self._waits else moved(now, self._shortest))

    def wake(self) -> None:
        """The clock was set: nobody knows what is due."""
        self._asked = EVER
        self._woken += 1
        self._earlier(EVER)

    def _earlier(self, due: str) -> None:
        for submitted in self._under_way:
            submitted.written = due if submitted.written is None else min(due, submitted.written)
        if self.due is None or due < self.due:
            self._is_due(due)

    def _is_due(self, due: str | None) -> None:
        self.due = due
        self.told(due)
        self.changed()

    def _given_up(self, submitted: _Submitted) -> None:
        """A sweep could not be done: what it was to do is due as it was."""
        if submitted in self._under_way:
            self._under_way.remove(submitted)
        self._progress = None

    def _noted(self, submitted: _Submitted, result: Progress | Swept) -> None:
        self._under_way.remove(submitted)
        if isinstance(result, Progress):
            self._progress = result
            return
        self._progress = None
        self._asked = max(result.now, self._asked)
        self._waits = result.waits
        times = [result.due, submitted.written]
        times.append(moved(result.now, AGAIN) if result.for_the_clock else None)
        self._is_due(min((time for time in times if time is not None), default=None))

    # ── Where several processes serve the database ────────────────────────────────────────────────────────────────

    def is_settled_by(self, now: str, rows: Sequence[Row]) -> bool:
        """Whether everything has happened that is due by `now`, by what the database keeps of it (`nodes.DUE`)."""
        [(due,)] = rows
        self.due, self._looked = None if due is None else str(due), self.sources.elapsed()
        return self._swept_since == self._woken and self.is_settled(now)

    def _settled_together(self, now: str, then: Callable[[], Next], rows: Sequence[Row]) -> Next:
        if self.is_settled_by(now, rows):
            return then()
        woken = self._woken
        anew = self._swept_since < woken

        def done(_: None) -> Next:
            self._swept_since = max(self._swept_since, woken)
            return self.settled(now, then)

        return Wait(Sweep(partial(self._sweep_together, now, anew), lambda: None), done)

    def _sweep_together(self, now: str, anew: bool, session: Session) -> None:
        """A part of the one sweep that is under way over all nodes, or of the next: whoever needs it takes it on from
        where it was left, by whomever."""
        [(due, asked, under_way, written)] = session.run(nodes.STANDING, ())
        if anew:
            # What the clock showed before, or another contract waited for, is not known to hold.
            asked, under_way, written = EVER, None, None
        elif under_way is None and (due is None or now < str(due)):
            return
        if under_way is None:
            progress, written = Progress(now, str(asked), (0,) * len(self.timers)), None
        else:
            progress = msgspec.json.decode(str(under_way), type=Progress)
        result = self._sweep(progress, session)
        if isinstance(result, Progress):
            session.run(nodes.UNDER_WAY, [msgspec.json.encode(result).decode(), EVER, written])
        else:
            times = [result.due, written, moved(result.now, AGAIN) if result.for_the_clock else None]
            first = min((str(time) for time in times if time is not None), default=None)
            session.run(nodes.SWEPT, [first, result.waits, max(result.now, str(asked))])

    # ── In the transaction ────────────────────────────────────────────────────────────────────────────────────

    def _sweep(self, progress: Progress, session: Session) -> Progress | Swept:
        """Take up to BATCH of the transitions that are due."""
        left = BATCH
        while left > 0:
            if progress.late:
                progress, taken = self._take_late(session, progress, left)
                if not taken and not progress.moved:
                    return self._swept(session, progress.now)
                if not taken:
                    progress = self._beginning_late(progress)
            else:
                chosen = self._chosen(session, progress)
                if chosen is None:
                    progress, taken = self._beginning_late(progress), 0
                else:
                    progress, taken = self._take(session, progress, *chosen, left)
            left -= taken
        return progress

    def _beginning_late(self, progress: Progress) -> Progress:
        """What waited comes last; and whenever something of it was taken, what still waits is asked again."""
        return replace(progress, late=True, moved=False, refused=(0,) * len(self.timers))

    def _chosen(self, session: Session, progress: Progress) -> tuple[int, str] | None:
        """The timer with the row that fell due first, and up to which time its rows come before those of others and
        before whatever may follow from them."""
        firsts = []
        for index, timer in enumerate(self.timers):
            rows = timer.due(session, self._at(progress), progress.now, progress.asked, progress.refused[index], 1)
            if rows:
                firsts.append((timer.fell_due(rows[0]), index))
        if not firsts:
            return None
        firsts.sort()
        first, index = firsts[0]
        horizon = moved(max(first, progress.reached), self._shortest)
        others = min((due for due, _ in firsts[1:]), default=horizon)
        return index, max(first, min(horizon, others, progress.now))

    def _take(self, session: Session, progress: Progress, index: int, until: str, most: int) -> tuple[Progress, int]:
        """Take the rows of one timer that fell due up to `until`, each as of that time."""
        timer, env = self.timers[index], self._at(progress)
        rows = timer.due(session, env, until, progress.asked, progress.refused[index], most)
        for row in rows:
            time = max(timer.fell_due(row), progress.reached)
            if timer.take(session, row, self.env, self.sources, time):
                progress = replace(progress, reached=time, moved=True)
            else:
                progress = _passed_over(progress, index)
        return progress, len(rows)

    def _take_late(self, session: Session, progress: Progress, most: int) -> tuple[Progress, int]:
        """Take, as of now, what could not be taken when it was due: the next rows of some timer. None: there is none
        that was not asked since something was taken."""
        for index, timer in enumerate(self.timers):
            rows = timer.due(session, self._at(progress), progress.now, EVER, progress.refused[index], most)
            for row in rows:
                if timer.take(session, row, self.env, self.sources, progress.now):
                    progress = replace(progress, moved=True)
                else:
                    progress = _passed_over(progress, index)
            if rows:
                return progress, len(rows)
        return progress, 0

    def _swept(self, session: Session, now: str) -> Swept:
        found = [(timer, *timer.next(session, self.env, now)) for timer in self.timers]
        return Swept(
            now,
            min((due for _, due, _ in found if due is not None), default=None),
            any(waits for _, _, waits in found),
            any(waits and timer.by_the_clock for timer, _, waits in found),
        )

    def _at(self, progress: Progress) -> Environment:
        return {**self.env, "now": progress.now}


def _passed_over(progress: Progress, index: int) -> Progress:
    refused = progress.refused
    return replace(progress, refused=(*refused[:index], refused[index] + 1, *refused[index + 1 :]))
