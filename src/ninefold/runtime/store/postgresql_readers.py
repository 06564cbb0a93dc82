"""The connections of PostgreSQL that read: what waits together goes together, as one statement.

A read of one text with other binds is asked for all who wait for it, with an array for each bind; the same read is done
once for all of them. Several reads that are asked for as one (what is due, who calls, and the row) are one statement
too, and see one snapshot. Where such a statement fails, each is asked by itself: none fails for its neighbours.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import Any, Final, TypeAlias

from asyncpg.exceptions import PostgresSyntaxError
from msgspec import Struct

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store.postgresql_halves import half
from ninefold.runtime.store.postgresql_link import Link, meaning
from ninefold.runtime.store.postgresql_servers import Servers
from ninefold.runtime.store.protocol import BoundStatement, Known, Row, Stored, Told, Unavailable
from ninefold.sql.postgresql import fitted_alike, numbered
from ninefold.sql.postgresql_events import FORMS

log = logging.getLogger("ninefold.server")

READERS: Final = 10
"""Connections that read at a time."""

WAITING: Final = 1_000
"""Reads that may wait for one of them."""

TOGETHER: Final = 64
"""Reads that go as one statement: bounds how long the first of them waits for the last."""

Found: TypeAlias = list[list[Row]]
"""The rows of each of several reads."""


class Asked(Struct, frozen=True, eq=False):
    """Reads that wait for a connection. `as_one`: they are to see one snapshot, and each gives one row at most; else it
    is one read. `after`: a read that comes after them, where they give these rows."""

    texts: tuple[str, ...]
    binds: tuple[Sequence[Stored], ...]
    as_one: bool
    told: Told
    after: tuple[BoundStatement, Found] | None = None

    def give(self, found: Found) -> None:
        self.settle(found if self.as_one else found[0])

    def settle(self, result: Found | list[Row] | None) -> None:
        try:
            if not self.told.done():
                self.told.set_result(result)
        except Exception as error:
            log.error("what was read could not be answered", exc_info=error)

    def fail(self, error: Exception) -> None:
        if not self.told.done():
            self.told.set_exception(meaning(error))


class Readers:
    """The connections that read, of one event loop."""

    def __init__(self, servers: Servers, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self.busy = 0
        self._servers = servers
        self._idle: list[Link] = []
        self._waiting: dict[tuple[str, ...], deque[Asked]] = {}
        self._number = 0
        self._beginning = False
        """One that will read has not looked yet at what waits."""
        self._joined: dict[tuple[str, ...], Joined] = {}
        self._apart: set[tuple[str, ...]] = set()
        """Texts that PostgreSQL does not take as one statement."""
        self._tasks = {loop.create_task(self._until_the_end())}

    async def _until_the_end(self) -> None:
        """A loop that ends cancels what goes on in it: connections end with their loop."""
        try:
            await self.loop.create_future()
        finally:
            for link in self._idle:
                link.drop()
            self._idle.clear()

    def standing(self) -> tuple[int, int, int]:
        """How many connections are busy and idle, and how many reads wait for one."""
        return self.busy, len(self._idle), self._number

    def read(self, text: str, binds: Sequence[Stored]) -> Future[list[Row]]:
        """Raises Unavailable."""
        future: Future[list[Row]] = self.loop.create_future()
        self._put((text,), (binds,), False, future)
        return future

    def tell(self, reads: Sequence[BoundStatement], told: Told) -> None:
        """The same of one read, or of several as `read_as_one`."""
        if len(reads) == 1:
            ((text, binds),) = reads
            self._put((text,), (binds,), False, told)
        else:
            texts, of_each = zip(*reads, strict=True)
            self._put(texts, of_each, True, told)

    def read_as_one(self, reads: Sequence[BoundStatement]) -> Future[Found]:
        """Each of them gives one row at most, of one snapshot. Nothing is found where that cannot be. Raises
        Unavailable."""
        future: Future[Found] = self.loop.create_future()
        texts, binds = zip(*reads, strict=True)
        self._put(texts, binds, True, future)
        return future

    def read_after(self, known: Sequence[Known], read: BoundStatement) -> Future[list[Row] | None]:
        """The rows of a read that comes after others, of one row at most, on one connection; None: these do not give
        what is known. Raises Unavailable."""
        texts, binds, rows = zip(*known, strict=True)
        future: Future[list[Row] | None] = self.loop.create_future()
        self._put(texts, binds, True, future, (read, list(rows)))
        return future

    def _put(
        self,
        texts: tuple[str, ...],
        binds: tuple[Sequence[Stored], ...],
        as_one: bool,
        told: Told,
        after: tuple[BoundStatement, Found] | None = None,
    ) -> None:
        if self._number >= WAITING:
            raise Unavailable("too many reads wait")
        asked = Asked(texts, binds, as_one, told, after)
        key = texts if after is None else (*texts, after[0][0])
        waiting = self._waiting.get(key)
        if waiting is None:
            self._waiting[key] = deque((asked,))
        else:
            waiting.append(asked)
        self._number += 1
        if not self._beginning:
            self._begin()

    def _begin(self) -> None:
        """One more that reads, unless what waits is the next one's already, which takes together what comes until it
        begins."""
        if self.busy < READERS and not self._beginning:
            self.busy += 1
            self._beginning = True
            task = self.loop.create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work(self) -> None:
        """Reads what waits, one statement after another, then gives the connection back."""
        link: Link | None = self._idle.pop() if self._idle else None
        self._beginning = False
        try:
            while self._number:
                asked = [each for each in self._next() if not each.told.done()]
                if self._number:
                    self._begin()
                if not asked:
                    continue
                try:
                    if link is None or link.is_lost:
                        link = await self._servers.open()
                except Exception as error:
                    for each in asked:
                        each.fail(error)
                else:
                    await self._answer(link, asked)
        except asyncio.CancelledError:
            if link is not None:
                link.drop()  # what it was asked is under way
            raise
        finally:
            self.busy -= 1
            if link is not None and not link.is_lost:
                self._idle.append(link)

    def _next(self) -> list[Asked]:
        """Those that are answered next: the first of those that ask the same, and then others have their turn."""
        texts = next(iter(self._waiting))
        waiting = self._waiting.pop(texts)
        together = waiting[0].after is None and _may_be_joined(texts) and texts not in self._apart
        count = min(TOGETHER if together else 1, len(waiting))
        if self.busy == 1:  # the other half is asked while PostgreSQL is at this one, and so on
            count = half(count)
        found = [waiting.popleft() for _ in range(count)]
        if waiting:
            self._waiting[texts] = waiting
        self._number -= len(found)
        return found

    async def _answer(self, link: Link, asked: Sequence[Asked]) -> None:
        first = asked[0]
        try:
            if first.after is not None:
                read, known = first.after
                there = await self._found_as_one(link, asked) == [known]
                first.settle((await link.run(*read))[0] if there else None)
            elif len(asked) == 1 and not first.as_one:
                rows, _ = await link.run(first.texts[0], first.binds[0])
                first.give([rows])
            elif first.texts in self._apart:
                first.give([])
            else:
                for each, own in zip(asked, await self._found_as_one(link, asked), strict=True):
                    each.give(own)
        except Exception as error:
            if isinstance(error, PostgresSyntaxError):
                self._apart.add(first.texts)
            if isinstance(meaning(error), Unavailable):
                for each in asked:
                    each.fail(error)
            elif len(asked) > 1:
                for each in asked:
                    await self._answer(link, [each])
            elif first.after is not None:
                first.settle(None)
            elif first.as_one:
                first.give([])
            else:
                first.fail(error)

    async def _found_as_one(self, link: Link, asked: Sequence[Asked]) -> list[Found]:
        """What each of them finds, all of the same texts."""
        texts = asked[0].texts
        statement = self._joined.get(texts)
        if statement is None:
            statement = self._joined[texts] = await joined(link, texts)
        return await found_together(link, statement, [each.binds for each in asked])

    def close(self) -> None:
        """To be called where nobody waits any more. The loop may have ended."""
        if not self.loop.is_closed():
            for task in self._tasks:
                # Whoever closes may be another thread.
                self.loop.call_soon_threadsafe(task.cancel)


def _may_be_joined(texts: tuple[str, ...]) -> bool:
    """Of several reads in one statement nobody promises an order, so rows that are to be in one are read by
    themselves."""
    return len(texts) > 1 or "ORDER BY" not in texts[0]


# ── Several reads in one statement ────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Arm:
    """What a statement asks for one of the texts: the forms of its binds, and where its columns are in each row."""

    forms: tuple[str, ...]
    columns: slice


@dataclass(frozen=True, slots=True)
class Joined:
    """A statement that has an array in the place of each bind, and gives rows of each text: which text it is, the place
    in its arrays, counted from one, and the columns of all texts."""

    text: str
    arms: tuple[Arm, ...]


async def joined(link: Link, texts: tuple[str, ...]) -> Joined:
    prepared = [await link.prepare(text) for text in texts]
    types = [each.columns for each in prepared]
    arms, written, arrays, width = list[Arm](), list[str](), count(1), 2
    for number, (text, statement) in enumerate(zip(texts, prepared, strict=True)):
        before, after = (
            [f"NULL::{each}" for some in others for each in some] for others in (types[:number], types[number + 1 :])
        )
        place, source = "0::bigint", ""
        if statement.forms:
            given = ", ".join(f"${next(arrays)}::{form}[]" for form in statement.forms)
            names = ", ".join(f"v{index}" for index in range(1, len(statement.forms) + 1))
            place = '"$asked".place'
            source = f'unnest({given}) WITH ORDINALITY AS "$asked" ({names}, place) CROSS JOIN LATERAL '
        columns = ", ".join((str(number), place, *before, '"$found".*', *after))
        inner = numbered(FORMS.get(text, text), '"$asked".v{}')
        written.append(f'SELECT {columns} FROM {source}({inner}) AS "$found"')
        arms.append(Arm(statement.forms, slice(width, width + len(types[number]))))
        width += len(types[number])
    return Joined(" UNION ALL ".join(written), tuple(arms))


async def found_together(link: Link, statement: Joined, binds: Sequence[tuple[Sequence[Stored], ...]]) -> list[Found]:
    """What is found for each of some that ask the same texts with these binds."""
    arrays, places = list[Any](), list[list[int]]()
    for arm, of_all in zip(statement.arms, zip(*binds, strict=True), strict=True):
        own, different = _told_apart(of_all) if arm.forms else ([0] * len(of_all), [])
        places.append(own)
        arrays += map(fitted_alike, zip(*different, strict=True), arm.forms)
    found: list[dict[int, list[Row]]] = [{} for _ in statement.arms]
    for row in await link.records(statement.text, *arrays):
        number, place = row[0], row[1]
        found[number].setdefault(place, []).append(row[statement.arms[number].columns])
    if len(found) == 1:
        return [[found[0].get(place, [])] for place in places[0]]
    at = zip(*places, strict=True)
    return [[of_arm.get(place, []) for of_arm, place in zip(found, each, strict=True)] for each in at]


def _told_apart(of_all: Sequence[Sequence[Stored]]) -> tuple[list[int], list[Sequence[Stored]]]:
    """The place of each, counted from one, among those that are different. Numbers that are equal may be two: 0 and
    -0."""
    if len(set(map(tuple, of_all))) == len(of_all):
        return list(range(1, len(of_all) + 1)), list(of_all)
    known: dict[object, int] = {}
    places: list[int] = []
    different: list[Sequence[Stored]] = []
    for number, binds in enumerate(of_all):
        place = known.setdefault(number if float in map(type, binds) else tuple(binds), len(different) + 1)
        places.append(place)
        if place > len(different):
            different.append(binds)
    return places, different
