"""What a process holds without a session, where a pooler stands before PostgreSQL that gives each transaction another
connection (PgBouncer, `pool_mode = transaction`).

That a process is there is a row that it renews, its lease, by PostgreSQL's clock; whatever it holds is rows that name
it. Who has not renewed its lease for `LEASE_SECONDS` holds nothing any more: it writes nothing until it has a new one,
under another number, and for that nobody may serve another contract, nor have done so since.
"""

from __future__ import annotations

import asyncio
import secrets
from asyncio import AbstractEventLoop
from collections.abc import Callable, Collection
from hashlib import sha256
from threading import Event, Thread
from time import monotonic
from typing import Any, Final

from ninefold.runtime.store.postgresql_link import Link, Lost, meaning, words
from ninefold.runtime.store.postgresql_nodes import Nodes
from ninefold.runtime.store.postgresql_servers import Servers
from ninefold.runtime.store.postgresql_serving import SERVED, Noted, beside
from ninefold.runtime.store.protocol import Unavailable

LEASE_SECONDS: Final = 15
RENEWING_SECONDS: Final = 2.0
"""After so many seconds a lease is renewed."""

WORKING_SECONDS: Final = 8
"""Who works for all stops where its lease has not so many seconds left: so many may pass until that is done."""

LOOKING_SECONDS: Final = 5.0
"""How long a node may take to be told that it holds what it holds."""

# Of what a crash takes along all that was held is free: so it is of sessions.
_CREATE: Final = (
    'CREATE UNLOGGED TABLE IF NOT EXISTS "$node"'
    " (node bigint PRIMARY KEY, serves bigint NOT NULL, until timestamptz NOT NULL)",
    'CREATE UNLOGGED TABLE IF NOT EXISTS "$held" (name bigint PRIMARY KEY, node bigint NOT NULL)',
)
_UNTIL: Final = f"clock_timestamp() + interval '{LEASE_SECONDS} s'"
_TAKE: Final = f'INSERT INTO "$node" VALUES ($1, $2, {_UNTIL})'
_RENEW: Final = f'UPDATE "$node" SET until = {_UNTIL} WHERE node = $1 AND until > clock_timestamp() RETURNING node'
_END: Final = 'WITH gone AS (DELETE FROM "$node" WHERE node = $1) DELETE FROM "$held" WHERE node = $1'
_LIVES: Final = '(SELECT FROM "$node" AS lease WHERE lease.node = {} AND until > statement_timestamp())'
_CLEAN: Final = (
    f'DELETE FROM "$held" AS held WHERE NOT EXISTS {_LIVES.format("held.node")}',
    'DELETE FROM "$node" WHERE until < clock_timestamp()',
)
_HOLD: Final = (
    'INSERT INTO "$held" AS held SELECT DISTINCT each, $1::bigint FROM unnest($2::bigint[]) AS wanted(each)'
    f" WHERE EXISTS {_LIVES.format('$1')} ON CONFLICT (name) DO UPDATE SET node = excluded.node"
    f" WHERE held.node = excluded.node OR NOT EXISTS {_LIVES.format('held.node')} RETURNING name"
)
_FREE: Final = 'DELETE FROM "$held" WHERE node = $1 AND name = ANY($2::bigint[])'
_STILL: Final = (
    'SELECT count(*) FROM "$held" JOIN "$node" USING (node) WHERE node = $1 AND name = ANY($2::bigint[])'
    f" AND until > clock_timestamp() + interval '{WORKING_SECONDS} s'"
)


def writing(serves: int) -> str:
    """Held until the transaction ends: who begins to serve something else meanwhile sees it."""
    return f"SELECT pg_advisory_xact_lock_shared({SERVED}, {serves})"


class Lease:
    """That this process serves, in a thread that renews it. `failing`: why it is not renewed."""

    def __init__(self, servers: Servers, serves: int) -> None:
        self.node = 0
        self.failing: str | None = None
        self._since = monotonic()
        self._servers, self._serves = servers, serves
        self._noted = Noted(serves)
        self._loop: AbstractEventLoop | None = None
        self._ends = asyncio.Event()
        self._thread = Thread(target=self._live, name="ninefold-lease", daemon=True)
        self._begun = Event()

    def left(self) -> float:
        """Seconds for which it lasts if nobody renews it."""
        return max(0.0, self._since + LEASE_SECONDS - monotonic())

    def may(self) -> str:
        """One row as long as it lasts, none afterwards."""
        return f'SELECT FROM "$node" WHERE node = {self.node} AND until > clock_timestamp()'

    def take(self, ask: Callable[..., list[Any]]) -> None:
        """In the transaction that opens the database, at its end."""
        for statement in (*_CREATE, *_CLEAN):
            ask(statement)
        self.node = _number()
        ask(_TAKE, self.node, self._serves)
        ask(self._noted.begins(str(self.node)))

    def begin(self) -> None:
        """Renew it from now on: the transaction is committed."""
        self._thread.start()
        self._begun.wait()

    def stop(self) -> None:
        """Let all go that is held."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ends.set)
            self._thread.join()

    def _live(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            self._begun.set()
            runner.run(self._renewing())

    async def _renewing(self) -> None:
        link: Link | None = None
        while not self._ends.is_set():
            try:
                async with asyncio.timeout(RENEWING_SECONDS):
                    await self._ends.wait()
                break
            except TimeoutError:
                pass
            try:
                if link is None or link.is_lost:
                    link = await self._servers.open()
                async with link.within(LOOKING_SECONDS):
                    self.failing = await self._renewed(link)
            except Exception as error:
                self.failing = words(error)
        if link is None or link.is_lost:
            try:
                link = await self._servers.open()
            except Lost:
                return  # it lapses by itself
        try:
            async with link.within(LOOKING_SECONDS):
                await link.execute(_END, self.node)
                await link.execute(self._noted.ends())
        except Exception as error:
            if not isinstance(meaning(error), Unavailable):
                raise
        await link.close()

    async def _renewed(self, link: Link) -> str | None:
        """Why there is none; None: there is."""
        asked = monotonic()
        if await link.value(_RENEW, self.node):
            self._since = asked
            return None
        # It was forgotten in a crash, or has lapsed, and who served something else meanwhile may have ended.
        node = _number()
        await link.execute(f"BEGIN; {writing(self._serves)}")
        try:
            others = await beside(link, self._serves, again=True)
            if others is None:
                for statement in _CLEAN:
                    await link.execute(statement)
                await link.execute(_TAKE, node, self._serves)
                await link.execute(self._noted.begins(str(node)))
        except BaseException:
            if not link.is_lost:
                await link.execute("ROLLBACK")
            raise
        await link.execute("COMMIT" if others is None else "ROLLBACK")
        if others is not None:
            return "another contract is served from the database, or is to be"
        self.node, self._since = node, asked
        return None


def _number() -> int:
    return secrets.randbits(63)


class PooledNodes(Nodes):
    """The same by rows that name the lease of who holds them. Nobody listens: what others have written is looked for
    (`ninefold.runtime.store.bell`)."""

    def __init__(self, servers: Servers, lease: Lease) -> None:
        super().__init__(servers)
        self._lease = lease

    async def _hear(self, link: Link, ring: Callable[[], None]) -> None:
        pass

    async def _alone(self, link: Link, name: str) -> bool:
        return bool(await self._taken(link, [_key(name)]))

    async def _look(self, link: Link, names: Collection[str]) -> None:
        async with link.within(LOOKING_SECONDS):
            held = await link.value(_STILL, self._lease.node, [_key(name) for name in names])
        if held != len(names):
            raise Unavailable("what this node does for all another one may do")

    def _holder(self, link: Link) -> object:
        return self._lease.node

    async def _free(self, link: Link, keys: list[int]) -> None:
        await link.records(_FREE, self._lease.node, keys)

    async def _taken(self, link: Link, keys: list[int]) -> Collection[int]:
        return {int(name) for (name,) in await link.records(_HOLD, self._lease.node, keys)}


def _key(name: str) -> int:
    return int.from_bytes(sha256(b"job " + name.encode()).digest()[:8], signed=True)
