"""How much work the service takes at once, and of which address: that of the client, also where a trusted proxy stands
before the service. What is beyond it is told so at once, and costs next to nothing.

These bounds protect the machine, and no contract states them. With those on heads (`framing.py`), on who says or takes
nothing (`protocol.py`), on one body (`request/service.py`) and on the works that wait for the writer
(`store/writer.py`), no queue grows without end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store.protocol import Unavailable

K = TypeVar("K", bound=Hashable)

REQUESTS = 5_000
"""Requests on their way, from the end of the head to the end of the response."""

BODIES_OF_ONE = 2_500
"""Of them, those of one address whose bodies have yet to come: who sends half of many leaves others room."""

STREAMS = 10_000
"""Responses that go on for as long as somebody listens. They are not counted among the requests on their way."""

STREAMS_OF_ONE = 100
"""Of them, those of one caller; of callers without a credential, those of one address."""

BODY_BYTES = 256 * 1024 * 1024
"""Bytes of all bodies on their way: those of requests until they are answered, and those of responses until they are
taken."""

LITTLE_BYTES = 16 * 1024
"""Bytes of a response that does not count: there are no more of them than requests, and there is always room for it."""

SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
"""Methods of requests of which nothing has been done (RFC 9110 9.2.1): they may be refused at any time."""

COMPUTATIONS = 100
"""Passwords that are hashed or verified, or wait for that: a processor takes some dozens in a second."""

COMPUTATIONS_OF_ONE = 10
"""Of them, those of one address."""

CALLS = 200
"""Functions of the operator's that are called, or wait for that."""

STALLED_SECONDS = 30.0
"""Seconds without a byte of a body that is on its way; then its connection is closed."""


@dataclass(slots=True)
class Capacity:
    """What is on its way, and how much may be."""

    most_requests: int = REQUESTS
    most_bodies_of_one: int = BODIES_OF_ONE
    most_bytes: int = BODY_BYTES
    most_streams: int = STREAMS
    most_streams_of_one: int = STREAMS_OF_ONE
    most_computations: int = COMPUTATIONS
    most_computations_of_one: int = COMPUTATIONS_OF_ONE
    most_calls: int = CALLS
    stalled_seconds: float = STALLED_SECONDS
    requests: int = 0
    bytes: int = 0
    streams: int = 0
    computations: int = 0
    calls: int = 0
    bodies_of: Counter[str] = field(default_factory=Counter)
    streams_of: Counter[Hashable] = field(default_factory=Counter)
    computations_of: Counter[str] = field(default_factory=Counter)

    @property
    def is_used_up(self) -> bool:
        """Whether there are as many requests as there may be, or twice the bytes: beyond the bound are answers to what
        was done already, and parts of streams."""
        return self.requests >= self.most_requests or self.bytes >= 2 * self.most_bytes

    def streams_enough(self, caller: Hashable) -> bool:
        """Whether there are as many streams as there may be, of all or of this caller."""
        return self.streams >= self.most_streams or self.streams_of[caller] >= self.most_streams_of_one

    def stream(self, caller: Hashable) -> None:
        """One of the requests of a caller goes on as a stream."""
        self.requests -= 1
        self.streams += 1
        self.streams_of[caller] += 1

    def streamed(self, caller: Hashable) -> None:
        """It is one of the requests again."""
        self.requests += 1
        self.streams -= 1
        _count_one_less(self.streams_of, caller)

    def await_body(self, address: str) -> None:
        """One more body has yet to come from an address. Raises Unavailable where they are too many."""
        if self.bodies_of[address] >= self.most_bodies_of_one:
            raise Unavailable("too many bodies of one address have yet to come")
        self.bodies_of[address] += 1

    def awaited_body(self, address: str) -> None:
        _count_one_less(self.bodies_of, address)

    def compute(self, address: str) -> None:
        """One more computation for an address. Raises Unavailable where they are too many."""
        if self.computations >= self.most_computations:
            raise Unavailable("too many passwords wait to be verified")
        if self.computations_of[address] >= self.most_computations_of_one:
            raise Unavailable("too many passwords of one address wait to be verified")
        self.computations += 1
        self.computations_of[address] += 1

    def computed(self, address: str) -> None:
        self.computations -= 1
        _count_one_less(self.computations_of, address)

    def call(self) -> None:
        """One more call of a function. Raises Unavailable where they are too many."""
        if self.calls >= self.most_calls:
            raise Unavailable("too many functions are called")
        self.calls += 1

    def called(self) -> None:
        self.calls -= 1

    def admits(self, size: int) -> bool:
        """Whether one more request may come, with so many bytes of a body: where there is room for them, there is for
        answers."""
        return self.requests < self.most_requests and self.bytes + size <= self.most_bytes

    def has_room_for(self, size: int) -> bool:
        """Of more bytes of a body."""
        return self.bytes + size <= self.most_bytes

    def hold(self, size: int) -> None:
        """More bytes of a body. Raises Unavailable where they are too many."""
        if not self.has_room_for(size):
            raise Unavailable("too many bodies are on their way")
        self.bytes += size

    def hold_of_stream(self, size: int) -> None:
        """The same of what a stream tells: what is little has room, however many bytes there are already."""
        if size > LITTLE_BYTES:
            self.hold(size)
        else:
            self.bytes += size

    def release(self, size: int) -> None:
        self.bytes -= size


def _count_one_less(counts: Counter[K], of: K) -> None:
    counts[of] -= 1
    if not counts[of]:
        del counts[of]


Network: TypeAlias = IPv4Network | IPv6Network

ClientAddress: TypeAlias = Callable[[str, Mapping[str, str]], str]
"""From the peer's address and the request's headers to the client's address."""

MOST_HOPS = 100
"""Addresses that are looked at, from the right: no request goes through so many proxies."""

_FOR = re.compile(r'(?:^|[;,])[ \t]*for=(?:"([^"]*)"|([^;,"\s]*))', re.IGNORECASE)


def client_address(trusted: Sequence[Network]) -> ClientAddress:
    """Headers are believed of a trusted peer alone: X-Forwarded-For, or Forwarded (RFC 7239), read from the right
    up to the first address that is no trusted proxy's, `MOST_HOPS` at most. If both came, one of them is not the
    proxy's, and neither is believed."""
    if not trusted:
        return lambda peer, headers: peer

    def is_trusted(address: IPv4Address | IPv6Address | None) -> bool:
        return address is not None and any(address in network for network in trusted)

    def find(peer: str, headers: Mapping[str, str]) -> str:
        if not is_trusted(_address(peer)) or ("forwarded" in headers and "x-forwarded-for" in headers):
            return peer
        if "forwarded" in headers:
            hops = [quoted or plain for quoted, plain in _FOR.findall(headers["forwarded"])][-MOST_HOPS:]
        else:
            hops = headers.get("x-forwarded-for", "").rsplit(",", MOST_HOPS)[-MOST_HOPS:]
        client = peer
        for hop in reversed(hops):
            address = _address(hop.strip())
            if address is None:
                break
            client = str(address)
            if not is_trusted(address):
                break
        return client

    return find


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address as these headers write it: perhaps with a port, IPv6 in brackets."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
