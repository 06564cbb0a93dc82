"""The time of all nodes is PostgreSQL's: what is due, expires and was made is so at each of them alike, whatever the
clock of its machine shows."""

from __future__ import annotations

import signal
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, Node, hall, nodes, numbers, person
from tests.waiting import until

from ninefold.runtime.sources import Followed, Sources

HOUR = 3600


@given(
    st.lists(st.tuples(st.integers(0, 10**10), st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1),
    st.integers(-(10**13), 10**13),
)
def test_what_is_known_of_a_clock_is_never_further_from_it_than_the_way_to_it_was_long(
    asked: list[tuple[int, int, int]], theirs: int
) -> None:
    """`asked`: what passes before, on the way there, and on the way back."""
    now = 10**12
    followed = Followed(lambda: now)
    longest = 0
    for before, there, back in asked:
        since = now = now + before
        now += there
        said = now + theirs
        now += back
        followed.showed(said, since)
        longest = max(longest, there + back)
        assert abs(followed.nanoseconds() - (now + theirs)) <= there + back
    was = followed.nanoseconds()
    followed.showed(now + theirs, now)
    assert abs(followed.nanoseconds() - was) <= longest, "it is corrected by no more than it was wrong"


def test_a_clock_that_is_followed_is_told_as_any_other() -> None:
    followed = Followed()
    before = datetime.now(UTC)
    said = Sources(clock=followed).now()
    assert before - timedelta(seconds=5) < datetime.fromisoformat(said) < datetime.now(UTC) + timedelta(seconds=5)
    assert len(said) == len("2026-01-01T00:00:00.000000Z")
    followed.showed(0, time.monotonic_ns())
    assert Sources(clock=followed).now().startswith("1970-01-01T00:00:0") and followed().year == 1970


@pytest.mark.serves
@pytest.mark.slow
@pytest.mark.parametrize("ahead", [31 * 24 * HOUR, -HOUR])
def test_a_node_whose_clock_goes_wrong_does_what_the_others_do(tmp_path: Path, ahead: int) -> None:
    """Ahead, it would end credentials that last, and let seats lapse that are held; behind, it would let none lapse."""
    text, url = CONTRACT.read_text(encoding="utf-8"), server.database()
    contract = tmp_path / "contract.md"
    contract.write_text(text.replace("after: PT2S", "after: PT30M") if ahead > 0 else text, encoding="utf-8")
    off = Node(url, contract=contract, program=("tests.postgresql.off", str(ahead))).begun()
    try:
        who, where = person(off.client), hall(off.client, 1000)
        body = {"hall": where, "name": f"s{next(numbers)}"}
        held = off.client.post("/seats", json=body, headers=who).json()["id"]
        off.process.send_signal(signal.SIGUSR1)
        off.until_said("off")
        late = off.client.post("/seats", json={**body, "name": f"s{next(numbers)}"}, headers=who).json()["id"]

        def date() -> datetime:
            return parsedate_to_datetime(off.client.get(f"/seats/{held}", headers=who).headers["date"])

        def stands(node: Node, seat: int) -> str:
            return str(node.client.get(f"/seats/{seat}", headers=who).json()["status"])

        if ahead > 0:
            with nodes(url, 1, contract=contract) as (right,):
                for node in (off, right, off):
                    assert [stands(node, each) for each in (held, late)] == ["held", "held"]
        else:
            until(lambda: stands(off, late) == "lapsed")
        [(seconds,)] = server.run(
            url,
            'SELECT max(abs(extract(epoch FROM clock_timestamp() - time::timestamptz))) FROM "$event"',
        )
        assert seconds < HOUR / 2, "what happened is told with PostgreSQL's time"
        [(theirs,)] = server.run(url, "SELECT clock_timestamp()")
        first = date()
        until(lambda: date() != first, lambda: "the date goes on")
        assert abs(date() - theirs) < timedelta(seconds=HOUR / 2), "and so is what is answered"
    finally:
        off.close()
