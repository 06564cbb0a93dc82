"""A broker goes and comes back while two nodes write, and the node that sends to it dies: it is given the whole log,
each row's events in their order, by whichever node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.events.broker import broker
from tests.events.kafka import kafka
from tests.events.kafka_front import front
from tests.postgresql import server
from tests.postgresql.nodes import Load, hall, nodes, person
from tests.postgresql.test_nodes import by_work
from tests.slices import many
from tests.waiting import until

pytestmark = [pytest.mark.serves, pytest.mark.long]

PIECES, OUTAGES = many("OUTAGES", 24, 1, 1)
"""How often the broker goes."""

Away = tuple[str, Callable[[], None], Callable[[], None], Callable[[], list[str]]]
"""Its address; what takes it away, and what brings it back; the identifiers of what it has kept, in its order."""


@contextmanager
def by_nats(folder: Path) -> Iterator[Away]:
    with broker(folder / "nats") as there:
        there.keep("seat.>")
        yield there.address, there.kill, there.start, lambda: [each.headers["Nats-Msg-Id"] for each in there.kept()]


@contextmanager
def by_kafka(folder: Path) -> Iterator[Away]:
    """It keeps all in memory, so that it is the way to it that goes."""
    with front() as way, kafka(folder / "kafka", way.port) as there:
        way.to = there.port
        there.make()
        yield there.address, way.close, way.open, lambda: [each.headers["id"] for each in there.kept()]


@pytest.mark.parametrize("part", PIECES)
@pytest.mark.parametrize("by", [by_nats, by_kafka])
def test_it_is_given_all_once_and_in_order(by: Any, part: int, tmp_path: Path) -> None:
    url = server.database()
    with by(tmp_path) as (address, goes, comes, kept), nodes(url, 2, "--broker", address) as both:
        load = Load([*both], person(both[0].client), hall(both[0].client, 10**6))
        with load.going(4):
            for _ in range(OUTAGES):
                load.until_more(10)
                goes()
                load.until_more(10)
                comes()
                goes_on(kept)
            goes()
            sender, _ = by_work(url, both, "broker")
            load.among.remove(sender)
            sender.kill()
            load.until_more(10)
            comes()
        # Then nothing moves any more: each seat that was held has lapsed.
        until(lambda: server.run(url, "SELECT count(*) FROM seat WHERE status = 'held'") == [(0,)])
        log = [(row, id) for row, id in server.run(url, 'SELECT row, id FROM "$event" ORDER BY seq')]
        row_of = {id: row for row, id in log}
        until(lambda: set(kept()) == set(row_of), lambda: (len(set(kept())), len(log)))
        # Who died may have sent what it could not note any more.
        came = list(dict.fromkeys(kept()))
        assert by_row((row_of[id], id) for id in came) == by_row(log)
        assert {f"[{row}]" for row, _ in load.answered} <= set(row_of.values())


def goes_on(kept: Callable[[], list[str]]) -> None:
    before = len(kept())
    until(lambda: len(kept()) > before, lambda: "it is given no more")


def by_row(events: Any) -> dict[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for row, id in events:
        found[row].append(id)
    return found
