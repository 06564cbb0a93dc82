"""What falls due at the first start of a contract that has changed: timers of rows that are there. A time that is
shorter now changes rows which nobody writes, so that an upgrade tells of it beforehand."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.tree import Variable
from ninefold.plan.environment import DUE
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import parts
from ninefold.runtime.operations.timers import Timer
from ninefold.runtime.sources import EVER, Sources
from ninefold.runtime.store.protocol import Judge, Session, Unfit

MOST: Final = 100_000
"""Rows of a timer that are counted."""


@dataclass(frozen=True, slots=True)
class Falling:
    """So many rows of a resource that are due: `transition` is taken of each; without one it is deleted. `count`: MOST
    where there may be more."""

    resource: str
    transition: str | None
    count: int

    @property
    def words(self) -> str:
        count = f"{self.count:,}{' or more' if self.count == MOST else ''}"
        becomes = "deleted" if self.transition is None else f"`{self.transition}`"
        return f"{count} of `{self.resource}` at the first start: {becomes}"


class Due:
    """Judges rows as another does, then counts those that are due under the plan: `falling`. What a timer asks of what
    the operator gives is not known here, and nothing is said of it."""

    def __init__(self, plan: ServicePlan, judge: Judge) -> None:
        self.falling: tuple[Falling, ...] = ()
        self._plan = plan
        self._judge = judge

    def __call__(self, session: Session, left: Collection[str] = ()) -> tuple[Unfit, ...]:
        unfit = self._judge(session, left)
        if not unfit:
            self.falling = tuple(self._due(session))
        return unfit

    def _due(self, session: Session) -> Iterator[Falling]:
        found = dict[tuple[str, str | None], int]()
        now = Sources().now()
        for timer in self._plan.timers:
            read = {each.name for each in parts(timer.due, Variable)}
            if read <= {DUE, "now"}:
                rows = Timer(timer).due(session, {"now": now}, now, EVER, 0, MOST)
                about = (timer.resource, timer.transition)
                found[about] = found.get(about, 0) + len(rows)
        yield from (Falling(*about, min(count, MOST)) for about, count in found.items() if count)
