"""What the processes that serve one file say to each other, over a pair of sockets of the same machine.

Both are of one program, and whom they speak with they have from where they were started: what comes is trusted. A
message is four bytes of its length and MessagePack behind them. What one turn of the loop has to say is written
together.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from socket import socket
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from ninefold.runtime.messages.message import HeaderFields
from ninefold.runtime.request.algorithms import Standing

UNTAKEN_BYTES = 256 * 1024
"""Of what was written, beyond which whoever can wait waits until it is taken."""

UNREAD_MESSAGES = 4
"""Of one that goes on, that have come and are not passed on yet, beyond which no more are taken in."""


class Asked(Struct, array_like=True, tag=0):
    """A request that has come whole: its head as it may be sent again, its body, the address of who sent it, and the
    client's certificate. Is answered by `Answered` of the same number, as all that has one is."""

    number: int
    head: bytes
    content: bytes
    peer: str
    certificate: str | None


class Counting(Struct, array_like=True, tag=1):
    """A request that rates count, each by its name and a key."""

    number: int
    keys: list[tuple[str, str]]


class Settling(Struct, array_like=True, tag=2):
    """All is to happen that is due by a time."""

    number: int
    now: str


class Ready(Struct, array_like=True, tag=3):
    """Who reads takes requests."""


class Paused(Struct, array_like=True, tag=4):
    """Who reads has answered all, and waits for what it is to serve. `all_answered` False: some take too long, and it
    goes on."""

    all_answered: bool


class Noted(Struct, array_like=True, tag=5):
    """What was done since the last time: lines of the log, what metrics count (`operator.port.Tally`), long reads; and
    how many of these go on."""

    lines: str
    tally: Any
    long_reads: int
    reading: int


OfReader: TypeAlias = Asked | Counting | Settling | Ready | Paused | Noted


class Answered(Struct, array_like=True, tag=0):
    number: int
    status: int
    headers: HeaderFields
    body: bytes


class Counted(Struct, array_like=True, tag=1):
    """How each of the rates stands, and which of them refuse."""

    number: int
    standings: list[tuple[Standing, bool]]


class Settled(Struct, array_like=True, tag=2):
    """`why`: why it could not be done."""

    number: int
    why: str | None


class Serve(Struct, array_like=True, tag=3):
    """What is to be served from now on, pickled."""

    offer: bytes


class Pause(Struct, array_like=True, tag=4):
    """What is on its way is to be answered, and what comes to wait."""


class GoOn(Struct, array_like=True, tag=5):
    """What waits is let in: what was served is served."""


class End(Struct, array_like=True, tag=6):
    """Nothing more is to be taken, and the process to end when all is answered."""


OfWriter: TypeAlias = Answered | Counted | Settled | Serve | Pause | GoOn | End


class Piece(Struct, array_like=True, tag=0):
    """A message of ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html), or the scope before the first."""

    message: dict[str, Any]


class Wanted(Struct, array_like=True, tag=1):
    """Who answers waits for a message."""


class Over(Struct, array_like=True, tag=2):
    """Who answers has no more to say."""


OfRelay: TypeAlias = Piece | Wanted | Over

M = TypeVar("M")


class Channel(asyncio.Protocol, Generic[M]):
    """One end. `received` is told what comes, `lost` that nothing more does."""

    def __init__(self, type_: Any, received: Callable[[M], None], lost: Callable[[], None]) -> None:
        """`type_`: of what comes."""
        self._decoder = msgspec.msgpack.Decoder(type_)
        self._encoder = msgspec.msgpack.Encoder()
        self._received = received
        self._lost = lost
        self._came = bytearray()
        self._unwritten: list[bytes] = []
        self._taken = asyncio.Event()
        self._taken.set()
        self._told: list[Callable[[], None]] = []
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        transport.set_write_buffer_limits(high=UNTAKEN_BYTES, low=UNTAKEN_BYTES // 4)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.resume_writing()
        self._lost()

    def data_received(self, data: bytes) -> None:
        came = self._came
        came += data
        at, size = 0, len(came)
        while size - at >= _LENGTH:
            end = at + _LENGTH + int.from_bytes(came[at : at + _LENGTH], "big")
            if end > size:
                break
            message = self._decoder.decode(bytes(came[at + _LENGTH : end]))
            at = end
            self._received(message)
        if at:
            del came[:at]

    def pause_writing(self) -> None:
        self._taken.clear()

    def resume_writing(self) -> None:
        self._taken.set()
        told, self._told = self._told, []
        for each in told:
            each()

    def write(self, message: Struct) -> None:
        """To be written in this turn of the loop. Nothing is said where nobody is there any more."""
        content = self._encoder.encode(message)
        if not self._unwritten:
            self._loop.call_soon(self.flush)
        self._unwritten += (len(content).to_bytes(_LENGTH, "big"), content)

    def flush(self) -> None:
        unwritten, self._unwritten = b"".join(self._unwritten), []
        if self._transport is not None and unwritten:
            self._transport.write(unwritten)

    @property
    def is_taken(self) -> bool:
        """Whether not much is left of what was written."""
        return self._taken.is_set()

    def when_taken(self, told: Callable[[], None]) -> None:
        """Call this now, or once not much is left, or nobody is there any more."""
        if self._taken.is_set():
            told()
        else:
            self._told.append(told)

    async def taken(self) -> None:
        await self._taken.wait()

    def take_in(self, more: bool) -> None:
        """Whether more is to be taken in of what the other end writes, which waits otherwise."""
        if self._transport is None or self._transport.is_closing():
            return
        if more:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def close(self) -> None:
        """What was written still arrives."""
        self.flush()
        if self._transport is not None:
            self._transport.close()


_LENGTH = 4


async def opened(end: socket, type_: Any, received: Callable[[M], None], lost: Callable[[], None]) -> Channel[M]:
    """The channel over one socket of a pair, which it takes over."""
    end.setblocking(False)
    channel: Channel[M]
    _, channel = await asyncio.get_running_loop().create_unix_connection(
        lambda: Channel(type_, received, lost), sock=end
    )
    return channel


class Relay:
    """One end of what goes on beside the channel: a request of ASGI with its response, piece by piece, over a pair of
    sockets of its own, so that each waits for its own client alone."""

    def __init__(self) -> None:
        self._came: asyncio.Queue[OfRelay | None] = asyncio.Queue()
        self._is_full = False
        self.channel: Channel[OfRelay]

    async def next(self) -> OfRelay | None:
        """What comes next; None: nobody is there any more."""
        found = await self._came.get()
        if found is None:
            self.lost()  # nor later
        elif self._came.empty() and self._is_full:
            self._is_full = False
            self.channel.take_in(True)
        return found

    def lost(self) -> None:
        self._came.put_nowait(None)

    def received(self, message: OfRelay) -> None:
        self._came.put_nowait(message)
        if self._came.qsize() > UNREAD_MESSAGES and not self._is_full:
            # Whoever waits for its client has the other end wait, which is then told that nothing is taken.
            self._is_full = True
            self.channel.take_in(False)


@contextlib.asynccontextmanager
async def relay(end: socket) -> AsyncIterator[Relay]:
    """Over one socket of a pair, which is closed with the block."""
    found = Relay()
    found.channel = await opened(end, OfRelay, found.received, found.lost)
    try:
        yield found
    finally:
        found.channel.close()
