"""Sweeps that are under way at once: each ends for itself, and what was written meanwhile is not forgotten."""

from __future__ import annotations

import pytest
from tests.contracts import plan_of
from tests.faults.contracts import CONTRACT

from ninefold.runtime.operations.flow import Next, Sweep, Wait
from ninefold.runtime.operations.timers import Swept, Timer, Timers
from ninefold.runtime.request.service import ready

FIRST, WRITTEN, LAST = (f"2026-01-01T00:00:0{number}.000000Z" for number in range(3))


def never() -> Next:
    raise AssertionError("nothing is settled while another sweep has to be made")


@pytest.mark.parametrize("first", [0, 1])
def test_each_sweep_ends_for_itself(first: int) -> None:
    plan = plan_of(CONTRACT)
    service = ready(plan, bytes(32))
    timers = Timers(tuple(map(Timer, plan.timers)), service.env, service.sources)
    waits = [timers.settled(LAST, never) for _ in range(2)]
    for each in (waits[first], waits[1 - first]):
        assert isinstance(each, Wait) and isinstance(each.work, Sweep)
        # Something is due again at once, so that each of the two asks for one sweep more.
        following = each.resume(Swept(FIRST, FIRST, waits=False, for_the_clock=False))
        assert isinstance(following, Wait)
        timers.writing(WRITTEN)
    assert timers.due is not None and timers.due <= FIRST
