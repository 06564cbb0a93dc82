"""A broker: the event log, sent from one end to the other, at least once.

What comes of the log is in the order of the log, whatever fails, and what is to be sent next is read when the broker
has said that it keeps what came before. How far that is, is noted behind it; what was sent and not noted is sent again,
under the same id. How it is sent is another matter with each broker: a `Line`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.background.sender import rows
from ninefold.runtime.operations.events import Form, Logged, subject
from ninefold.runtime.store.bell import Bell
from ninefold.runtime.store.protocol import Database, Row, Session, Unavailable
from ninefold.sql import events as sql

log = logging.getLogger("ninefold.delivery")

BATCH: Final = 100
"""Events that are read at once, and noted at once when they were sent."""

SECONDS: Final = 5.0
"""For a connection, and for the broker to say that it keeps a message."""

LONGEST_WAIT: Final = 0.5
"""Seconds after which the log is looked at again: another program may have written."""

AFTER_FAILURE: Final = 1.0
"""Seconds after which what failed is tried again."""


@dataclass(frozen=True, slots=True)
class Message:
    """`position`: of its event in the log. `row`: of the event, as all events of one row have it, and no other's."""

    position: int
    id: str
    kind: str
    row: str
    media_type: str
    body: bytes


class Away(Exception):
    """A broker that takes nothing: the whole sentence. It holds no secret of its address."""


class Line(Protocol):
    """The way to one broker."""

    def holds(self) -> bool:
        """Whether it has not ended by itself since it was opened."""

    async def open(self) -> None:
        """Begin to send, or begin anew what has ended. Raises Away."""

    def send(self, messages: Sequence[Message]) -> AsyncIterator[int]:
        """Send some messages, and tell the positions of those that the broker keeps, in their order. Raises Away. The
        next ones, after that too, begin behind the last position that was told."""

    async def close(self) -> None:
        """End it, whatever it does."""


class Broker:
    """What one service sends to a broker. `name`: of how far that is; `version`: in which each event is told;
    None: there are none."""

    def __init__(self, name: str, version: str | None, line: Line, form: Form, database: Database) -> None:
        self._name = name
        self._version = version
        self._line = line
        self._form = form
        self._database = database
        self._told: str | None = None

    async def run(self, bell: Bell) -> None:
        """Send until cancelled."""
        try:
            while True:
                try:
                    await self._line.open()
                    await self._send_all(bell)
                except Away as why:
                    self._tell(str(why))
                except Unavailable as error:
                    self._tell(f"what is to be sent to a broker cannot be read: {error}")
                await asyncio.sleep(AFTER_FAILURE)
        finally:
            await self._line.close()

    def _tell(self, what: str) -> None:
        """Say what is wrong when it begins, and not at each attempt."""
        if what != self._told:
            log.warning("%s", what)
        self._told = what

    async def _send_all(self, bell: Bell) -> None:
        """Send for as long as that goes. Raises what ends it."""
        while self._line.holds():
            events = await self._unsent()
            if events:
                await self._send(events)
            else:
                await self._woken(bell)

    async def _unsent(self) -> list[Row]:
        if self._version is None:
            return await rows(self._database, sql.UNSENT, [self._name, BATCH])
        return await rows(self._database, sql.UNSENT_VERSIONS, [self._name, BATCH, self._version])

    async def _send(self, events: Sequence[Row]) -> None:
        """Send some events, and note how far that came, also where it ends too early."""
        sent = None
        try:
            async for position in self._line.send([self._message(each) for each in events if each[2] is not None]):
                sent = position
            sent = int(str(events[-1][0]))
        finally:
            if sent is not None:
                self._told = None
                await self._database.transact(self._note(sent))

    def _message(self, event: Row) -> Message:
        position, id, kind, resource, row, time, payload = event
        logged = Logged(str(id), str(kind), str(row), str(time), str(payload))
        of = f"{resource!s}/{subject(logged.row)}"
        return Message(int(str(position)), logged.id, logged.kind, of, self._form.media_type, self._form.body(logged))

    def _note(self, position: int) -> Callable[[Session], None]:
        def work(session: Session) -> None:
            session.run(sql.SENT, [position, self._name])

        return work

    async def _woken(self, bell: Bell) -> None:
        if bell.closed:
            await asyncio.sleep(LONGEST_WAIT)
            return
        heard = bell.heard()
        try:
            await asyncio.wait({heard}, timeout=LONGEST_WAIT)
        finally:
            heard.cancel()
