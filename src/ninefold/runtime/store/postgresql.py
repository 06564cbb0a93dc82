"""PostgreSQL: one writer in a thread, with a connection of its own, and connections of the event loop that read.

What is written goes through the one writer (`postgresql_writer.py`); whoever reads sees what is committed. Several
processes ("nodes") may serve a database, each with its writer, and write one after another, as one of them would. All
serve the same contract: each holds a lock that is called after its plan. A connection that is lost is made again.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from ninefold.runtime.store import record
from ninefold.runtime.store.postgresql_leases import Lease, PooledNodes
from ninefold.runtime.store.postgresql_nodes import Nodes
from ninefold.runtime.store.postgresql_readers import Readers
from ninefold.runtime.store.postgresql_replica import Replica
from ninefold.runtime.store.postgresql_servers import Servers
from ninefold.runtime.store.postgresql_writer import Writer
from ninefold.runtime.store.protocol import (
    Answered,
    BoundStatement,
    Pool,
    Row,
    Session,
    Statistics,
    Stored,
    Told,
    Unavailable,
)
from ninefold.runtime.store.writer import Waiting, transacted
from ninefold.values import LONGEST_SUM

T = TypeVar("T")


class PostgreSQL:
    """A database that is open (`ninefold.runtime.store.protocol.Store`)."""

    def __init__(
        self, servers: Servers, key: bytes, writer: Writer, replica: Replica | None = None, lease: Lease | None = None
    ) -> None:
        """`lease`: it has begun; what is held without a session is held by it."""
        self._servers = servers
        self.clock = servers.clock
        self._key = key
        self._writer = writer
        self.nodes = Nodes(servers) if lease is None else PooledNodes(servers, lease)
        self._lease = lease
        self.replica = replica
        self._readers: Readers | None = None
        self._reads = 0
        self._open = True

    def admit(self, size: int) -> None:
        self._writer.longest = max(LONGEST_SUM, size)

    def select(self, text: str, binds: Sequence[Stored]) -> Future[list[Row]]:
        """Rows of what is committed. To be called on an event loop. Raises Unavailable."""
        return self._reading().read(text, binds)

    def select_as_one(self, reads: Sequence[BoundStatement]) -> Future[list[list[Row]]]:
        return self._reading().read_as_one(reads)

    def tell(self, reads: Sequence[BoundStatement], told: Told) -> None:
        self._reading().tell(reads, told)

    def _reading(self) -> Readers:
        loop = asyncio.get_running_loop()
        if not self._open:
            raise Unavailable("the service is stopping")
        if self._readers is None or self._readers.loop is not loop:
            self._readers = Readers(self._servers, loop)
        self._reads += 1
        return self._readers

    def tables(self, text: str, binds: Sequence[Stored]) -> frozenset[str]:
        return frozenset()

    def state(self, tables: Collection[str]) -> int | None:
        """Nobody can say: others may write to the same tables."""
        return None

    def commits(self) -> int | None:
        return None

    def transact(self, work: Callable[[Session], T]) -> Future[T]:
        return transacted(self, work)

    def write(
        self,
        work: Callable[[Session], Any],
        done: Answered,
        again: bool = False,
        due: str | None = None,
        places: tuple[int, ...] = (),
    ) -> None:
        self._writer.queue.put(Waiting(work, again, done, asyncio.get_running_loop(), due, places))

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._writer.stop()
        self.nodes.close()
        if self._readers is not None:
            self._readers.close()
        if self._lease is not None:
            self._lease.stop()

    def key(self, name: str) -> bytes:
        """32 secret bytes for one use, the same as long as the database lives."""
        return record.derive(self._key, name)

    def reachable(self) -> bool:
        """Whether the connection that writes was there when it was last asked, and the lease of a pooled one is."""
        leased = self._lease is None or self._lease.failing is None
        return self._open and leased and self._writer.failing is None

    async def unwritable(self) -> str | None:
        return self._writer.failing

    def pool(self) -> Pool:
        busy, idle, waiting = (0, 0, 0) if self._readers is None else self._readers.standing()
        return Pool(busy, idle, waiting, self._writer.undone, None if self._lease is None else self._lease.left())

    def statistics(self) -> Statistics:
        busy = 0 if self._readers is None else self._readers.busy
        return Statistics(self._writer.queue.waiting, self._writer.batches, self._writer.works, 0, busy, self._reads)
