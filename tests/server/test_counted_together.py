"""Requests are counted together with their lines: nothing is lost by it, or counted twice, and whoever tells the
metrics tells of all that was answered."""

from __future__ import annotations

import asyncio
import io
from bisect import bisect_left
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ninefold.runtime.http.access_log import Lines, Record, lines
from ninefold.runtime.operator.metrics import METHODS, SECONDS, Requests

RECORDS = st.lists(
    st.builds(
        Record,
        time=st.just("2026-01-01T00:00:00.000000Z"),
        method=st.sampled_from(["GET", "POST", "BREW", ""]),
        route=st.sampled_from([None, "GET /orders", "POST /orders"]),
        status=st.sampled_from([None, 200, 404]),
        bytes=st.integers(0, 9),
        # Sums are told to the last digit only of such as have few.
        seconds=st.sampled_from([0.0, *SECONDS, *(each + 0.25 for each in SECONDS), 100.0]),
        scheme=st.none(),
        caller=st.none(),
        address=st.just("127.0.0.1"),
    ),
    max_size=40,
)


@given(st.lists(RECORDS, max_size=4))
def test_many_are_counted_as_each_alone(batches: list[list[Record]]) -> None:
    together, alone = Requests(), Requests()
    places: defaultdict[tuple[str | None, str, int | None], Counter[int]] = defaultdict(Counter)
    for batch in batches:
        together.count(batch)
        for each in batch:
            alone.observe(each)
            method = each.method if each.method in METHODS else "other"
            places[each.route, method, each.status][bisect_left(SECONDS, each.seconds)] += 1
    for found in (together, alone):
        assert {
            of: {n: count for n, count in enumerate(each.counts) if count} for of, each in found.answered.items()
        } == ({of: dict(each) for of, each in places.items()})
    assert {of: each.sum for of, each in together.answered.items()} == pytest.approx(
        {of: each.sum for of, each in alone.answered.items()}
    )


@given(RECORDS)
def test_who_gathers_finds_all_that_was_answered(records: list[Record]) -> None:
    stream, requests = io.StringIO(), Requests()
    written = Lines(stream, lines("text"), requests.count)

    async def answered() -> list[int]:
        found = []
        for number, record in enumerate(records, 1):
            written.write(record)
            if number % 3 == 0:
                written.flush()
                found.append(sum(sum(each.counts) for each in requests.answered.values()) - number)
        written.flush()
        return found

    assert set(asyncio.run(answered())) <= {0}
    assert sum(sum(each.counts) for each in requests.answered.values()) == len(records)
    assert stream.getvalue().splitlines() == [lines("text")(each) for each in records]
