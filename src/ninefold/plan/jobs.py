"""Jobs: what calls an operation by itself, without any request (law 9)."""

from __future__ import annotations

from ninefold.diagnostics.place import Place
from ninefold.plan.said import Saying
from ninefold.plan.statement import Statement
from ninefold.plan.writes import Delete, Transition


class Timer(Saying, frozen=True, omit_defaults=True, kw_only=True):
    """The service takes `transition` by itself, `after_microseconds` after a row entered the state `origin`. A
    transition from two states is two timers. Without a transition it deletes the row.

    `due` gives the rows that are due, by the root `$due`: the columns of `take.key`, then `$entered`, or, where
    `after_microseconds` is 0, when the row says that it is due; the earliest first. Where the guard does not change
    with the time alone, only rows for which it holds. `waits` gives a row if any is due, whatever its guard says;
    `next` gives the last of these of the one that is due next. `take` is the transition as an operation, with the
    primary key as its path; it asks its guard itself. `by_the_clock`: what is asked of the row reads `now`, so that a
    row which was refused may be taken later without anything having been written."""

    resource: str
    transition: str | None
    origin: str | None
    after_microseconds: int
    due: Statement
    waits: Statement
    next: Statement
    take: Transition | Delete
    by_the_clock: bool = False
    trace: tuple[Place, ...] = ()
