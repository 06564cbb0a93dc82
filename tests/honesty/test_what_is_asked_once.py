"""What a removal cannot concern is not asked, what two removals leave alike is asked once, and rows are put back where
they are looked at: of each removal comes what would come of it if all requests were asked of it alone, of the rows that
are put back for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from tests.honesty.test_contracts import ORDERS, REQUESTS
from tests.honesty.test_it_can_fail import orders
from tests.slices import LONG, WHOLE

import ninefold.diff.ablate.ablate
from ninefold.diff.ablate.ablate import Work, ablate, asked_of
from ninefold.diff.ablate.facts import Written, without, written
from ninefold.diff.rehearsal import Moment, Rehearsal, Seen, Told, _written
from ninefold.pipeline import compile_tree

SAMPLE = 200 if WHOLE else 40 if LONG else 1
"""Facts: each of them is asked all requests, of rows that are put back for each."""


def facts() -> list[Written]:
    """Of them some of which two removals leave the same, and some that older versions have too."""
    every = [*written(orders().loaded.document)]
    chosen = [each for each in every if each.address.startswith("7 codes > empty_order")]
    return [*chosen, *Random(len(every)).sample(every, SAMPLE)]


def of_rows_that_are_there(ask: Callable[[Rehearsal, Told, Moment], Seen]) -> Callable[[Rehearsal, Told, Moment], Seen]:
    def asked(rehearsal: Rehearsal, told: Told, moment: Moment) -> Seen:
        before = {*_rows(rehearsal)}
        seen = ask(rehearsal, told, moment)
        after = {*_rows(rehearsal)}
        assert ({*seen.rows}, {*seen.gone}) == (after - before, before - after)
        return seen

    return asked


def _rows(rehearsal: Rehearsal) -> Iterator[tuple[str, str]]:
    return _written(rehearsal.database.tables())


@pytest.mark.long
def test_what_comes_is_what_comes_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    together = list(ablate(orders(), facts()))
    monkeypatch.setattr(Rehearsal, "ask", of_rows_that_are_there(Rehearsal.ask))
    monkeypatch.setattr(ninefold.diff.ablate.ablate, "_concerned", lambda asked, old, new: asked)
    assert together == [found for fact in facts() for found in ablate(orders(), [fact])]


def test_whose_requests_a_rate_counts_is_a_matter_of_these() -> None:
    text = ORDERS.read_text("utf-8").replace("[POST /customers]", "[POST /customers, GET /events]")
    whole = Work(ORDERS.name, text.encode(), ((REQUESTS.name, REQUESTS.read_text("utf-8")),), {}).whole()
    (fact,) = (each for each in written(whole.loaded.document) if each.address == "8 rates > sign-ups > endpoints > 1")
    less = compile_tree(without(whole.loaded.document, fact, "taken out")).plan
    assert less is not None
    changes = asked_of(whole, less)
    assert changes and {each.old.endpoint for each in changes} == {"GET /events"}
