"""Reads of one turn of the event loop have one snapshot, and nobody can tell: what is committed is seen at once, by
whomever, and once the turn is over nothing keeps the log from being begun anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from ninefold.runtime.store.connections import LogIndex, connect
from ninefold.runtime.store.reads import Brief, BrokenOff
from ninefold.runtime.store.snapshot import Snapshot

NUMBER = "SELECT number FROM counted"


class Read:
    """A connection that reads, and one that writes."""

    def __init__(self, path: Path) -> None:
        made = apsw.Connection(str(path))
        made.pragma("journal_mode", "wal")
        made.close()
        self.writer = connect(path)
        self.writer.execute("CREATE TABLE counted (number INTEGER) STRICT; INSERT INTO counted VALUES (0)")
        self.reader = connect(path)
        self.index = LogIndex(path)
        self.brief = Brief(self.reader, self.index.commits)

    def number(self) -> object:
        return self.brief.run(NUMBER, ())[0][0]

    def count(self) -> None:
        self.writer.execute("UPDATE counted SET number = number + 1")

    @property
    def is_held(self) -> bool:
        return self.reader.in_transaction

    def begun_anew(self) -> bool:
        """Whether the log can be, which it cannot while somebody sees what is in it."""
        self.writer.set_busy_timeout(0)
        return not next(self.writer.execute("PRAGMA wal_checkpoint(RESTART)"))[0]


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Read]:
    found = Read(tmp_path / "read.db")
    yield found
    found.reader.close()
    found.writer.close()
    found.index.close()


def turns(*each: Callable[[], None]) -> None:
    async def taken() -> None:
        for turn in each:
            turn()
            await asyncio.sleep(0)

    asyncio.run(taken())


def test_reads_of_one_turn_have_one_snapshot(read: Read) -> None:
    def several() -> None:
        assert [read.number() for _ in range(3)] == [0, 0, 0]

    def held() -> None:
        several()
        assert read.is_held
        assert not read.begun_anew()

    def over() -> None:
        assert not read.is_held
        assert read.begun_anew()

    turns(several, held, over)


def test_what_was_committed_is_seen_by_the_next_read(read: Read) -> None:
    def quiet() -> None:
        assert [read.number(), read.number()] == [0, 0]

    def counted() -> None:
        assert [read.number(), read.number()] == [0, 0]
        assert read.is_held
        for number in (1, 2, 3):
            read.count()
            assert [read.number(), read.number()] == [number, number]
            assert not read.is_held, "who copies the log would wait for it"

    def after() -> None:
        assert [read.number(), read.number()] == [3, 3]
        assert not read.is_held, "something was committed since the last turn"

    turns(quiet, counted, after)


def test_what_is_read_where_no_loop_runs_holds_nothing(read: Read) -> None:
    def quiet() -> None:
        assert [read.number(), read.number()] == [0, 0]

    turns(quiet, quiet)
    quiet()
    assert not read.is_held
    assert read.begun_anew()


def test_a_loop_that_ended_in_the_middle_of_a_turn_keeps_nothing(read: Read) -> None:
    def ended() -> None:
        snapshot = Snapshot(read.reader, read.index.commits)
        for _ in range(2):
            loop = asyncio.new_event_loop()
            loop.call_soon(snapshot.hold)
            loop.call_soon(snapshot.hold)
            loop.call_soon(loop.stop)
            loop.run_forever()
            loop.close()
        assert read.is_held, "its end was never called"
        snapshot.hold()

    ended()
    assert not read.is_held


def test_a_read_that_is_broken_off_holds_nothing(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    read.writer.execute(
        "INSERT INTO counted WITH RECURSIVE n (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 99)"
        " SELECT x FROM n"
    )
    monkeypatch.setattr("ninefold.runtime.store.reads.BUDGET", -1.0)
    with pytest.raises(BrokenOff):
        read.brief.run(NUMBER, ())
    assert read.begun_anew()


def test_a_turn_that_takes_long_ends_its_snapshot(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite asks whether to go on after each thousand steps that a statement has made in all its life, so also while
    the end of a snapshot is told, long after the time of the last read is over."""
    now = [0.0]
    monkeypatch.setattr("ninefold.runtime.store.reads.perf_counter", lambda: now[0])

    def long() -> None:
        assert not read.is_held
        assert [read.number(), read.number(), read.number()] == [0, 0, 0]
        now[0] += 1.0

    turns(*[long] * 1_500)
    assert not read.is_held
