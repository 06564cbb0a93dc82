"""Where a webhook goes: the address and the secrets of a subscription, or of a row of the contract's own.

Both are looked up at each attempt: what a row says now is what counts.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan import environment
from ninefold.plan import events as plan
from ninefold.runtime.background.sender import Failed
from ninefold.runtime.operations import signing
from ninefold.runtime.request.schemes import Scheme
from ninefold.runtime.request.service import Service
from ninefold.runtime.store.protocol import Database, Row, Stored
from ninefold.runtime.store.statements import Prepared
from ninefold.sql import events as sql


@dataclass(frozen=True, slots=True)
class Receiver:
    """While a secret takes the place of another, both sign."""

    url: str
    secrets: tuple[bytes, ...]


class Receivers(Protocol):
    async def find(self, subscription: str, position: int) -> Receiver | Failed | None:
        """Where the event at a position goes for a subscription. None: it is not to be told. Raises Unavailable."""


class OfSubscriptions:
    """The subscriptions that the language has itself. Who subscribed is told of no row that it may not see."""

    def __init__(self, webhooks: plan.Webhooks, service: Service, database: Database) -> None:
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
        return Receiver(str(url), self._secrets(subscription, int(str(generation)), overlap))

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

    def __init__(self, to: plan.Subscribers, service: Service, database: Database) -> None:
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
        secret = signing.read(written) if isinstance(written, str) else None
        if secret is None:
            return Failed("the row has no secret to sign with")
        if not isinstance(url, str) or not _is_address(url):
            return Failed("the row has no address of http or https")
        return Receiver(url, (secret,))


def _is_address(url: str) -> bool:
    """Whether it is http or https, with a host, and without anybody's name or password."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


async def rows(database: Database, text: str, binds: Sequence[Stored]) -> list[Row]:
    """What a select gives. Raises Unavailable."""
    found = database.select(text, binds)
    return await found if isinstance(found, Future) else found
