"""What a removal cannot concern is not asked, and what two removals leave alike is asked once: of each comes what would
come of it if all requests were asked of it alone."""

from __future__ import annotations

from random import Random

import pytest
from tests.honesty.test_it_can_fail import orders
from tests.slices import LONG

import ninefold.ablate.ablate
from ninefold.ablate.ablate import ablate
from ninefold.ablate.facts import Written, written

SAMPLE = 200 if LONG else 1


def facts() -> list[Written]:
    """Of them some of which two removals leave the same, and some that older versions have too."""
    every = [*written(orders().loaded.document)]
    chosen = [each for each in every if each.address.startswith("7 codes > empty_order")]
    return [*chosen, *Random(len(every)).sample(every, SAMPLE)]


@pytest.mark.long
def test_what_comes_is_what_comes_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    together = list(ablate(orders(), facts()))
    monkeypatch.setattr(ninefold.ablate.ablate, "_concerned", lambda asked, old, new: asked)
    assert together == [found for fact in facts() for found in ablate(orders(), [fact])]
