"""What is done for those who listen, without a socket: two questions about those who see the same may be answered in
the reverse order, where one of them is read in a thread: the later one counts, and what is over stays over. Who is told
nothing is given signs of life, and is not woken by them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path

import pytest
from tests.contracts import plan_of

from ninefold.runtime.http import streams as streams_of
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.streams import Streams
from ninefold.runtime.http.wire import End
from ninefold.runtime.http.work import Fetcher
from ninefold.runtime.messages.message import HeaderFields, Response
from ninefold.runtime.operations.flow import Asks, Chunk, Follow, Holds, Over, Select, Standing
from ninefold.runtime.store.bell import Bell
from ninefold.runtime.store.protocol import Database
from ninefold.runtime.store.sqlite import Opened, open_sqlite

CONTRACT = b"""
purpose: Keeps notes.
resources:
  note: {primary key: id, fields: {id: {type: integer, on create: serial()}, title: {type: string}}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: [title], responses: {201: note}}
  GET /events: {does: stream event, responses: {200: stream}}
authentication: {schemes: none, permissions: {all others: anyone}, rows: all}
events:
  kinds: {noted: {upon: create note, payload: note}}
  delivery: {stream: server-sent events, envelope: none}
  kept: PT1H
errors: none
limits: none
versioning: none
"""

LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT count(*) FROM n"
"""More than is read on the loop: it goes to a thread, and what is asked after it is answered before it."""
SHORT = "SELECT 1"
BEFORE_ALL = -1


class Wire:
    """One who listens, and why that ends."""

    def __init__(self) -> None:
        self.ended: End | None = None

    async def begin(self, head: Response, more: HeaderFields) -> None: ...

    async def say(self, events: Sequence[bytes]) -> int:
        return 0

    async def beat(self) -> int:
        return 0

    def beat_at_once(self) -> int | None:
        return 0

    async def left(self) -> End:
        await asyncio.Event().wait()
        raise AssertionError

    async def end(self, why: End) -> None:
        self.ended = why


@contextmanager
def opened(folder: Path) -> Iterator[Database]:
    plan = plan_of(CONTRACT.strip() + b"\n", "notes.yaml")
    found = open_sqlite(str(folder / "notes.db"), plan.schema)
    assert isinstance(found, Opened)
    try:
        yield found.database
    finally:
        found.database.close()


def answers(*standings: Standing) -> Callable[[], Standing]:
    """Each in turn, the last of them for ever."""
    left = chain(standings, repeat(standings[-1]))
    return lambda: next(left)


def following(standing: Callable[[], Standing]) -> Follow:
    """A stream of which there is nothing to tell."""
    return Follow(
        Response(200, ()),
        BEFORE_ALL,
        lambda env, position: Select("SELECT 1 WHERE 0", ()),
        lambda rows, position: Chunk((), position, False),
        standing,
        audience="these",
    )


async def both(database: Database, standing: Callable[[], Standing]) -> tuple[End | None, End | None]:
    """How it ends for two who see the same: the first is asked about before the second."""
    bell = Bell(database)
    streams = Streams(database, bell, Fetcher(), Capacity())
    follow = following(standing)
    wires = Wire(), Wire()
    try:
        async with asyncio.timeout(60):
            await asyncio.gather(*(asyncio.create_task(streams.follow(follow, wire)) for wire in wires))
    finally:
        bell.close()
    return wires[0].ended, wires[1].ended


@pytest.mark.parametrize("late", [Holds({}), Over.UNKNOWN])
def test_what_was_asked_first_and_is_answered_last_counts_no_more(tmp_path: Path, late: Standing) -> None:
    first = Asks(Select(LONG, ()), lambda rows: late)
    second = Asks(Select(SHORT, ()), lambda rows: Over.ENDED)
    with opened(tmp_path) as database:
        found = asyncio.run(both(database, answers(first, second, Holds({}))))
    assert found == (End.REFUSED, End.REFUSED)


class Beaten(Wire):
    """One who is given signs of life: at once, but for each third, which has to be waited for. `woken`: how often its
    own task was."""

    def __init__(self) -> None:
        super().__init__()
        self.at_once = self.refused = self.woken = 0
        self.enough = asyncio.Event()

    def beat_at_once(self) -> int | None:
        if (self.at_once + self.refused) % 3 == 2:
            self.refused += 1
            return None
        self.at_once += 1
        if self.at_once == 6:
            self.enough.set()
        return 2

    async def beat(self) -> int:
        self.woken += 1
        return 3


def test_a_sign_of_life_wakes_nobody_unless_it_has_to_be_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams_of, "HEARTBEAT_SECONDS", 0.0)
    monkeypatch.setattr(streams_of, "CHECK_SECONDS", 0.01)

    async def beaten(database: Database) -> tuple[Beaten, int]:
        bell, wire = Bell(database), Beaten()
        listening = asyncio.create_task(
            Streams(database, bell, Fetcher(), Capacity()).follow(following(lambda: Holds({})), wire)
        )
        async with asyncio.timeout(60):
            await wire.enough.wait()
            bell.close()
            return wire, await listening

    with opened(tmp_path) as database:
        wire, sent = asyncio.run(beaten(database))
    assert wire.ended is End.STOPPING
    assert wire.refused >= 2 and wire.woken in (wire.refused, wire.refused - 1)
    assert sent == 2 * wire.at_once + 3 * wire.woken
