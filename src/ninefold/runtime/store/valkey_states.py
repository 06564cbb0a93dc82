"""States that the processes of one service count on together, in Valkey in the place of the database
(`ninefold.runtime.store.protocol.Nodes.change`): what changes them is one script, which Valkey does alone."""

from __future__ import annotations

import logging
from asyncio import Future
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Final, TypeVar

from valkey.asyncio import Valkey
from valkey.asyncio.retry import Retry
from valkey.backoff import NoBackoff
from valkey.exceptions import ValkeyError

from ninefold.runtime.addresses import shown, unreachable
from ninefold.runtime.store.protocol import Changes, Unavailable
from ninefold.runtime.store.rounds import States, Swapped

log = logging.getLogger("ninefold.server")

ANSWER_SECONDS: Final = 2.0
"""How long Valkey may take to take a connection, and to answer."""

_SWAP: Final = """
local moment = redis.call('TIME')
local held, same = {}, true
for at = 1, #KEYS do
  held[at] = redis.call('GET', KEYS[at])
  if (held[at] and '=' .. held[at] or '') ~= ARGV[at] then same = false end
end
if not same then return {moment[1], moment[2], held} end
for at = #KEYS + 1, #ARGV, 3 do redis.call('SET', ARGV[at], ARGV[at + 1], 'PXAT', ARGV[at + 2]) end
return {moment[1], moment[2]}
"""
"""KEYS: what is asked. ARGV: of each, `=` and what it is said to hold, or nothing where there is none; then of each
that is changed its key, what it holds from now on, and until when, in milliseconds since 1970."""


class _Connection:
    """The client, which makes its connection anew by itself, and has its own time for each answer."""

    is_lost = False

    def __init__(self, client: Any, prefix: bytes) -> None:
        self.client, self.prefix = client, prefix
        self.script = client.register_script(_SWAP)

    def within(self, seconds: float) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def drop(self) -> None:
        """It is closed by whoever made it."""


async def _swap(
    link: _Connection, before: Mapping[bytes, bytes | None], changed: Mapping[bytes, tuple[bytes, int]]
) -> Swapped:
    arguments: list[bytes | int] = [b"" if value is None else b"=" + value for value in before.values()]
    for name, (value, until) in changed.items():
        arguments += [link.prefix + name, value, until // 1_000_000 + 1]
    seconds, microseconds, *held = await link.script([link.prefix + name for name in before], arguments)
    moment = (int(seconds) * 1_000_000 + int(microseconds)) * 1_000
    if not held:
        return Swapped(moment, None)
    there = zip(before, held[0], strict=True)
    return Swapped(moment, {name: value for name, value in there if value is not None})


T = TypeVar("T")


def _client(url: str) -> Any:
    """Raises ValueError, which says nothing of the URL."""
    # Unless told to, the client takes a certificate that was made for another name.
    own = {"ssl_check_hostname": True} if url.startswith("valkeys:") else {}
    try:
        return Valkey.from_url(
            url,
            socket_connect_timeout=ANSWER_SECONDS,
            socket_timeout=ANSWER_SECONDS,
            socket_keepalive=True,
            # What has no answer may have been done, and is not done twice. A connection that was lost before is made
            # anew by the next round.
            retry=Retry(NoBackoff(), 0),
            single_connection_client=True,
            **own,
        )
    except ValueError:
        raise ValueError("the URL of the Valkey cannot be read") from None


class ValkeyStates:
    """`ninefold.runtime.store.protocol.Counts`."""

    def __init__(self, url: str, service: bytes) -> None:
        """`url`: `valkey://USER:PASSWORD@HOST:PORT/NUMBER`, or `valkeys://`, over TLS. `service`: some bytes that all
        processes of a service have in common, and no other service. Nothing is asked of Valkey yet. Raises ValueError
        where the URL cannot be."""
        if not url.startswith(("valkey://", "valkeys://")):
            raise ValueError("the URL of a Valkey begins with valkey:// or valkeys://")
        self.name = shown(url)
        self._client = _client(url)
        # In braces: in a cluster all are on one node, as one script needs them to be.
        self._link = _Connection(self._client, b"ninefold:{%s}:" % service[:8].hex().encode())
        self._states = States(self._connected, self._swapped, self._meaning)
        self._told: str | None = None

    async def _connected(self) -> _Connection:
        return self._link

    async def _swapped(
        self, link: _Connection, before: Mapping[bytes, bytes | None], changed: Mapping[bytes, tuple[bytes, int]]
    ) -> Swapped:
        swapped = await _swap(link, before, changed)
        self._told = None
        return swapped

    def _meaning(self, error: Exception) -> Exception:
        if not isinstance(error, ValkeyError | OSError):
            return error
        why = f"rates cannot be counted: Valkey cannot be reached ({unreachable(error)})"
        # Said when it begins, and not with each request that is refused.
        if why != self._told:
            log.warning("%s", why)
        self._told = why
        return Unavailable(why)

    def change(self, names: Sequence[bytes], work: Changes[T]) -> Future[T]:
        return self._states.change(names, work)

    async def close(self) -> None:
        self._states.close()
        await self._client.aclose()
