"""A standby that is read from in the place of the primary.

What the primary has answered for a request, such as who calls and where they wrote last (`ninefold.sql.nodes`), the
standby is asked again before it is read, and has to answer the same: so it has all that the caller has written, and
knows the caller as the primary does. What it has not may be of others, and of the last `MOST_BEHIND` seconds.

How far behind it is follows from positions of the write-ahead log that the primary had at known times of this machine:
no clocks are compared. Nobody waits for a standby that is away: what it was asked is given up when it does not say its
position in time.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Future
from collections import deque
from collections.abc import Sequence
from time import monotonic
from typing import Any, Final

from ninefold.runtime.store.postgresql_link import Link, meaning, words
from ninefold.runtime.store.postgresql_readers import Readers
from ninefold.runtime.store.postgresql_servers import TIMELINE, Servers, why
from ninefold.runtime.store.protocol import Known, Row, Standing, Stored, Unavailable

log = logging.getLogger("ninefold.server")

MOST_BEHIND: Final = 10.0
"""Seconds that it may lag behind and still be read from."""

LOOKING_SECONDS: Final = 0.5
"""After how many seconds it is looked at again."""

ANSWER_SECONDS: Final = 2.0
"""How long it may take to say its position. After that it counts as away."""

MOST_POSITIONS: Final = 2_000
"""Positions that are remembered. Of more, every second one is forgotten."""

_WRITTEN: Final = f"SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint, {TIMELINE}"
_REPLAYED: Final = "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint WHERE pg_is_in_recovery()"


class Positions:
    """Positions of the primary, and what follows from where a standby is. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._timeline = 0
        self._of_primary: deque[tuple[float, int]] = deque()
        self._astray: int | None = None
        self._as_of: float | None = None
        self.bytes: int | None = None

    def seen(self, timeline: int, before: tuple[float, int], replayed: int, after: int) -> None:
        """The primary, on a timeline, was somewhere at a time; then the standby was somewhere, then the primary."""
        if timeline != self._timeline:
            # Of a server that was not the one promoted, it may be that it cannot follow: it has to come this far.
            self._timeline = timeline
            self._of_primary.clear()
            self._as_of = None
        self._of_primary.append(before)
        if len(self._of_primary) > MOST_POSITIONS:
            self._of_primary = deque(list(self._of_primary)[::2])
        if replayed > after:
            # It has what the primary has not: another one was promoted in the place of the one that it follows.
            self._astray = replayed
        if replayed == self._astray:
            self._as_of = self.bytes = None
            return
        while self._of_primary and self._of_primary[0][1] <= replayed:
            self._as_of = self._of_primary.popleft()[0]
        self.bytes = max(0, after - replayed)

    def seconds(self, now: float) -> float | None:
        """What it lags behind: whatever was committed so many seconds ago it has. None: nobody knows."""
        return None if self._as_of is None else now - self._as_of


class Replica:
    """`ninefold.runtime.store.protocol.Replica`. `name`: its URL without what is secret."""

    def __init__(self, url: str, primary: Servers) -> None:
        self._primary = primary
        self._standby = Servers(url, "standby")
        self.name = self._standby.name
        self._positions = Positions()
        self._readers: Readers | None = None
        self._asked: set[Future[Any]] = set()
        self._reads = self._others = 0
        self._told: set[str] = set()

    # ── Reading ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def read(self, known: Sequence[Known], text: str, binds: Sequence[Stored]) -> list[Row] | None:
        try:
            found = await self._read(known, text, binds)
        except Exception as error:
            # Whatever is wrong with it, such as a conflict with what it replays, the primary is asked.
            self._tell(error)
            found = None
        if found is None:
            self._others += 1
        else:
            self._reads += 1
        return found

    def _tell(self, error: Exception) -> None:
        """Logs why the primary is asked, the first time of each reason: there may be as many as there are reads."""
        because = words(error) if isinstance(meaning(error), Unavailable) else type(error).__name__
        if because not in self._told:
            self._told.add(because)
            log.warning("the replica could not be read from, and the primary was asked: %s", because)

    async def _read(self, known: Sequence[Known], text: str, binds: Sequence[Stored]) -> list[Row] | None:
        readers = self._readers
        if readers is None or not self._is_near():
            return None
        if "ORDER BY" not in text:
            reads = [*((text, binds) for text, binds, _ in known), (text, binds)]
            found: list[list[Row]] = await self._answered(readers.read_as_one(reads))
            if found:
                *there, rows = found
                return rows if there == [rows for _, _, rows in known] else None
        rows_after: list[Row] | None = await self._answered(readers.read_after(known, (text, binds)))
        return rows_after

    async def _answered(self, future: Future[Any]) -> Any:
        self._asked.add(future)
        try:
            return await future
        finally:
            self._asked.discard(future)

    def _is_near(self) -> bool:
        seconds = self._positions.seconds(monotonic())
        return self._readers is not None and seconds is not None and seconds <= MOST_BEHIND

    def standing(self) -> Standing:
        seconds = self._positions.seconds(monotonic())
        return Standing(self._is_near(), seconds, self._positions.bytes, self._reads, self._others)

    # ── Following ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def follow(self) -> None:
        primary: Link | None = None
        standby: Link | None = None
        away = False
        try:
            while True:
                try:
                    if primary is None or primary.is_lost:
                        primary = await self._primary.open()
                    if standby is None or standby.is_lost:
                        standby = await self._standby.open()
                    await self._look(primary, standby)
                except Exception as error:
                    if not isinstance(meaning(error), Unavailable):
                        raise
                    self._away()
                    if not away:
                        log.warning("the replica is not read from: %s", why(error))
                    away = True
                else:
                    away = False
                await asyncio.sleep(LOOKING_SECONDS)
        finally:
            self._away()
            for link in (primary, standby):
                if link is not None:
                    link.drop()

    async def _look(self, primary: Link, standby: Link) -> None:
        now = monotonic()
        before, was = await self._written(primary)
        async with standby.within(ANSWER_SECONDS):
            replayed = await standby.value(_REPLAYED)
        if replayed is None:
            standby.drop()
            raise Unavailable("it is a standby no more")
        after, timeline = await self._written(primary)
        if timeline != was:  # behind a pooler it may be another server each time
            raise Unavailable("another server was promoted")
        self._positions.seen(timeline, (now, before), int(replayed), after)
        if self._readers is None:
            self._readers = Readers(self._standby, asyncio.get_running_loop())

    async def _written(self, primary: Link) -> tuple[int, int]:
        """Where the primary is, and on which timeline. Raises Lost where it is one that was replaced."""
        async with primary.within(ANSWER_SECONDS):
            [(position, timeline)] = await primary.fetch(_WRITTEN)
        self._primary.seen(primary, int(timeline))
        return int(position), int(timeline)

    def _away(self) -> None:
        """What it was asked is asked of the primary."""
        if self._readers is not None:
            self._readers.close()
            self._readers = None
        for future in self._asked:
            if not future.done():
                future.set_exception(Unavailable("the replica is away"))
