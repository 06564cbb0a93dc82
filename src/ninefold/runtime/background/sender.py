"""One attempt to deliver: a request to an address that somebody else has chosen, and what came of it. Its address and
secrets are looked up at each attempt: what the row of a subscription, or of the contract's own, says now, counts.

The receiver is not trusted. It gets so much time and no more, little of what it answers is read, no redirect is
followed (a redirect is an answer, and not a good one), no cookie is kept and no proxy is asked.

Without bounds a subscriber's address reaches what only the service's own network does: other machines there, the host
itself, the metadata of a cloud. So an address is looked at after its name was resolved, for each connection, and
refused unless it is one of the public internet, or of a network that the operator allows.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import Future
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import import_module
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan import environment
from ninefold.plan import events as plan
from ninefold.runtime.operations import signing
from ninefold.runtime.request.schemes import Scheme
from ninefold.runtime.request.service import Service
from ninefold.runtime.store.protocol import Database, Row, Stored
from ninefold.runtime.store.statements import Prepared
from ninefold.runtime.unanswered import unanswered, unfit
from ninefold.sql import events as sql

if TYPE_CHECKING:
    import aiohttp

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_NAT64 = IPv6Network("64:ff9b::/96")
"""RFC 6052 2.1: the last 32 bits are an IPv4 address."""

_COMPATIBLE = IPv6Network("::/96")
"""RFC 4291 2.5.5.1, deprecated: the same."""

_NEVER: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        "192.0.0.0/24",  # RFC 6890, and the metadata of Oracle's cloud; earlier Pythons take it for public
        "168.63.129.16/32",  # the host of a virtual machine in Azure: a public address that is not routed
        "64:ff9b:1::/48",  # RFC 8215: NAT64 within a network
        "2001::/23",  # RFC 2928: protocols, among them Teredo (RFC 4380), which tunnels to any IPv4 address
        "3fff::/20",  # RFC 9637: documentation
        "5f00::/16",  # RFC 9602: segments of a network
        "fec0::/10",  # RFC 3879: the private addresses of earlier IPv6
    )
)


def refused(text: str, allowed: Sequence[Network]) -> bool:
    """Whether nothing may be sent to an address. What is no address is refused."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return True
    meant = _embedded(address)
    if any(each in network for network in allowed for each in (address, meant) if each.version == network.version):
        return False
    return _is_private(meant)


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for (RFC 4291 2.5.5, RFC 6052, RFC 3056), else the address."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_private(address: Address) -> bool:
    return (
        not address.is_global
        or address.is_multicast
        or address.is_reserved
        or any(address in network for network in _NEVER if network.version == address.version)
    )


SECONDS = 15.0
"""For all of an attempt: the name, the connection, the answer. Standard Webhooks 1.0 recommends 15 to 30."""

CONNECTIONS = 64
"""Attempts under way at once."""

READ_BYTES = 64 * 1024
"""Of an answer, at most."""

LONGEST_PAUSE = 24 * 60 * 60.0
"""Seconds that a receiver may ask to be left alone for."""

REFUSED = "the address is not one of the public internet, and no --allow-private admits it"

NO_ADDRESS = "the row has no address"

NO_SECRET = "the row has no secret to sign with"

NO_BASE64 = f"the row's secret begins with `{signing.PREFIX}`, and is not base64 behind it"

_SLOW = frozenset((429, 502, 503, 504))
"""Statuses by which a receiver, or what stands before it, says that it has too much to do."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """A status of 200 to 299."""


@dataclass(frozen=True, slots=True)
class Failed:
    """`why` is for the operator. `slow`: the receiver has too much to do, and may have said for how many seconds."""

    why: str
    slow: bool = False
    pause: float | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """410: the receiver wants nothing any more."""


Outcome: TypeAlias = Delivered | Failed | Gone


class _Refused(OSError):
    """The address is not one that anything may be sent to."""


class Sender:
    """To be used in an `async with`. `allowed`: networks that are not of the public internet and may be sent to."""

    def __init__(self, allowed: Sequence[Network] = (), seconds: float = SECONDS) -> None:
        self._allowed = tuple(allowed)
        self._seconds = seconds
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Sender:
        return self

    async def _open(self) -> aiohttp.ClientSession:
        """The session of all attempts. What sends takes a tenth of a second to load, beside the event loop: a service
        that has nothing to send does without."""
        await asyncio.to_thread(import_module, "ninefold.runtime.bounded")
        import aiohttp

        from ninefold.runtime.bounded import Connector

        if self._session is not None:
            return self._session
        connector = Connector(READ_BYTES, limit=CONNECTIONS, use_dns_cache=False, socket_factory=self._socket)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self._seconds),
            auto_decompress=False,
            trust_env=False,
            requote_redirect_url=False,
            skip_auto_headers=("accept-encoding",),
            headers={"user-agent": "ninefold", "accept": "*/*"},
        )
        return self._session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            # It may be begun again.
            session, self._session = self._session, None
            await session.close()

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        """The socket of every connection is made here, after the name was resolved and for the address that it is
        connected to: a name that resolves to something else the next time is looked at the next time."""
        family, type_, protocol, _, address = info
        if refused(str(address[0]), self._allowed):
            raise _Refused("no address that deliveries may go to")
        return socket.socket(family, type_, protocol)

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Outcome:
        """One attempt. Raises nothing but CancelledError."""
        if (why := unfit(url)) is not None:
            return Failed(why)
        session = self._session or await self._open()
        import aiohttp

        try:
            async with session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                outcome = _outcome(response.status, response.headers.get("retry-after", ""))
                await _read(response)
                return outcome
        except TimeoutError:
            return Failed("no answer in time")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Failed(REFUSED if _is_refused(error) else unanswered(error))


async def _read(response: aiohttp.ClientResponse) -> None:
    """Read what little there is, so that the connection can be used again. The status has been said by then: what goes
    wrong from here on changes nothing."""
    import aiohttp

    size = 0
    try:
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > READ_BYTES:
                response.close()
                return
    except (TimeoutError, aiohttp.ClientError, OSError):
        response.close()


def _outcome(status: int, retry_after: str) -> Outcome:
    if 200 <= status <= 299:
        return Delivered()
    if status == 410:
        return Gone()
    return Failed(f"answered {status}", status in _SLOW, _seconds(retry_after) if status in _SLOW else None)


def _seconds(retry_after: str) -> float | None:
    """Retry-After (RFC 9110 10.2.3): seconds, or a date."""
    text = retry_after.strip(" \t")
    if text.isascii() and text.isdecimal():
        return min(float(text[:20]), LONGEST_PAUSE)
    try:
        at = parsedate_to_datetime(text)
        seconds = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), LONGEST_PAUSE)


def _is_refused(error: BaseException | None) -> bool:
    """Whether an address was refused, however it was wrapped on its way here."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if isinstance(each, _Refused):
            return True
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            waiting += [each.__cause__, each.__context__, getattr(each, "os_error", None)]
            waiting += getattr(each, "exceptions", ())
    return False


@dataclass(frozen=True, slots=True)
class Receiver:
    """While a secret takes the place of another, both sign; without one nothing is signed."""

    url: str
    secrets: tuple[bytes, ...]


class Receivers(Protocol):
    async def find(self, subscription: str, position: int) -> Receiver | Failed | None:
        """Where the event at a position goes for a subscription. None: it is not to be told. Raises Unavailable."""


class OfSubscriptions:
    """The subscriptions that the language has itself. Who subscribed is told of no row that it may not see."""

    def __init__(self, webhooks: plan.Webhooks, service: Service, database: Database) -> None:
        self._signed = webhooks.signed
        self._sees = {who: Prepared(statement) for who, statement in webhooks.sees.items()}
        self._schemes = {scheme.name: scheme for scheme in service.schemes}
        self._service = service
        self._database = database

    async def find(self, subscription: str, position: int) -> Receiver | Failed | None:
        found = await rows(self._database, sql.RECEIVER, [subscription])
        if not found:
            return None
        url, who, caller, generation, overlap = found[0]
        if not await self._may_see(str(who), str(caller), position):
            return None
        return Receiver(str(url), self._secrets(subscription, int(str(generation)), overlap) if self._signed else ())

    def _secrets(self, subscription: str, generation: int, overlap: Stored) -> tuple[bytes, ...]:
        """The secret of a subscription, and for some time the one before it."""
        key = self._service.env[environment.SIGNING]["key"]
        both = isinstance(overlap, str) and generation > 0 and self._service.sources.now() < overlap
        return tuple(signing.secret(key, subscription, each) for each in (generation, generation - 1)[: 1 + both])

    async def _may_see(self, who: str, caller: str, position: int) -> bool:
        """Whether who subscribed may see the row that the event is about: what row rules say of streams as well."""
        sees = self._sees.get(who)
        if sees is None:
            return False
        values = await self._caller(self._schemes.get(who), msgspec.json.decode(caller))
        if values is None:
            return False
        env = {
            **self._service.env,
            "now": self._service.sources.now(),
            "caller": values,
            "request": {},
            environment.LOG: {"position": position},
        }
        return any(row[0] for row in await rows(self._database, *sees.bound(env)))

    async def _caller(self, scheme: Scheme | None, kept: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The root `caller` as it is now; None: the row that the credential belonged to is gone."""
        if scheme is None or scheme.rows is None:
            return kept
        found = await rows(self._database, *scheme.rows.again(kept, self._service.env))
        env = {**self._service.env, "now": self._service.sources.now()}
        return scheme.caller(found[0], env, scopes=kept.get("scopes", ())).values if found else None


class OfRows:
    """Rows of the contract's own: it has said which events go to which."""

    def __init__(self, to: plan.Subscribers, service: Service, database: Database, signed: bool) -> None:
        self._signed = signed
        self._receiver = Prepared(to.receiver)
        self._service = service
        self._database = database

    async def find(self, subscription: str, position: int) -> Receiver | Failed | None:
        env = {
            **self._service.env,
            "now": self._service.sources.now(),
            environment.LOG: {"position": position, "subscription": subscription},
        }
        found = await rows(self._database, *self._receiver.bound(env))
        if not found:
            return None
        url, written = found[0]
        if not isinstance(url, str) or not url:
            return Failed(NO_ADDRESS)
        if not self._signed:
            return Receiver(url, ())
        if not isinstance(written, str) or written in ("", signing.PREFIX):
            return Failed(NO_SECRET)
        secret = signing.read(written)
        return Failed(NO_BASE64) if secret is None else Receiver(url, (secret,))


async def rows(database: Database, text: str, binds: Sequence[Stored]) -> list[Row]:
    """What a select gives. Raises Unavailable."""
    found = database.select(text, binds)
    return await found if isinstance(found, Future) else found
