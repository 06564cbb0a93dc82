"""The model of `many_nodes.py`: nodes, each with a core, over one PostgreSQL with some, as queues that are served in
the order in which they are asked. Times are microseconds.

As in ninefold, reads that wait at a node go together, 64 at most, over ten connections; of writes all that wait go in
one transaction, which holds the lock of all nodes from its statement until the disk has its commit (decision 0078).
What is not in it: memory (all that is read is there), locks of rows, checkpoints and vacuum, and a busy network.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush

CONNECTIONS, TOGETHER, BATCH = 10, 64, 512

Then = Callable[[], None]


@dataclass(frozen=True)
class Cost:
    """Of a request: CPU of its node and of PostgreSQL, its own, and what those share that go together."""

    node: float
    node_shared: float
    own: float
    shared: float


@dataclass(frozen=True)
class Costs:
    """`level`: of PostgreSQL for each level of an index. `rest`: its part of a core that a node takes which is asked
    nothing. `listener`: its CPU of a commit for each that listens. `flush`: until the disk has a commit."""

    read: Cost
    write: Cost
    level: float
    rest: float
    listener: float
    flush: float


@dataclass(frozen=True)
class Place:
    """`clients`: of each node, which ask as soon as they are answered. `cores`: PostgreSQL's. `shared_core`: all nodes
    have one. `trip`: there and back between a node and PostgreSQL. `listening`: somebody at each node hears of what is
    written."""

    nodes: int
    clients: int = 64
    cores: int = 1
    rows: int = 100_000
    shared_core: bool = False
    trip: float = 200.0
    listening: bool = False

    def of(self, nodes: int) -> Place:
        return replace(self, nodes=nodes)


@dataclass(frozen=True)
class Outcome:
    """`together`: requests of one transaction, on average. `busy`: the part of PostgreSQL's cores that works."""

    a_second: float
    together: float
    busy: float


def levels(rows: int) -> int:
    """Of a B-tree of 8-byte keys: 366 entries of a leaf, 285 of a page above (nbtree, 90 and 70 % full)."""
    pages, found = math.ceil(rows / 366), 1
    while pages > 1:
        pages, found = math.ceil(pages / 285), found + 1
    return found


class _Time:
    """What happens, one after another."""

    def __init__(self) -> None:
        self.now = 0.0
        self._to_come: list[tuple[float, int, Then]] = []
        self._number = 0

    def after(self, microseconds: float, then: Then) -> None:
        self._number += 1
        heappush(self._to_come, (self.now + microseconds, self._number, then))

    def until(self, end: float) -> None:
        while self._to_come and self._to_come[0][0] <= end:
            self.now, _, then = heappop(self._to_come)
            then()


class _Cores:
    """So many, of which each does one thing at a time. A lock is one that is let go by who has it."""

    def __init__(self, time: _Time, count: int) -> None:
        self._time, self._free = time, count
        self._waiting: deque[Then] = deque()
        self.worked = 0.0

    def take(self, then: Then) -> None:
        if self._free:
            self._free -= 1
            then()
        else:
            self._waiting.append(then)

    def let_go(self) -> None:
        if self._waiting:
            self._waiting.popleft()()
        else:
            self._free += 1

    def work(self, microseconds: float, then: Then) -> None:
        def done() -> None:
            self.worked += microseconds
            self.let_go()
            then()

        self.take(lambda: self._time.after(microseconds, done))


class _World:
    def __init__(self, costs: Costs, place: Place, writes: float) -> None:
        self.costs, self.place, self.writes = costs, place, writes
        self.time, self.chance = _Time(), random.Random(1)
        self.postgresql = _Cores(self.time, place.cores)
        self.lock = _Cores(self.time, 1)
        self.answered = self.transactions = 0
        # What nodes at rest take is not there for others, and each level of an index costs its part more.
        self.slower = 1 / max(0.01, 1 - costs.rest * place.nodes / place.cores)
        self.deeper = costs.level * (levels(place.rows) - levels(100_000))
        core = _Cores(self.time, 1)
        self.nodes = [_Node(self, core if place.shared_core else _Cores(self.time, 1)) for _ in range(place.nodes)]


class _Node:
    def __init__(self, world: _World, core: _Cores) -> None:
        self.world, self.core = world, core
        self.reads = self.to_write = self.reading = 0
        self.is_writing = False
        for _ in range(world.place.clients):
            world.time.after(world.chance.uniform(0, 1000), self.asked)

    def asked(self) -> None:
        if self.world.chance.random() < self.world.writes:
            self.core.work(self.world.costs.write.node, self.writes)
        else:
            self.core.work(self.world.costs.read.node, self.reads_row)

    def reads_row(self) -> None:
        self.reads += 1
        if self.reading < CONNECTIONS:
            self.reading += 1
            self.read_next()

    def read_next(self) -> None:
        count = min(self.reads, TOGETHER)
        self.reads -= count
        if not count:
            self.reading -= 1
            return
        cost, trip = self.world.costs.read, self.world.place.trip / 2
        spent = (cost.shared + count * (cost.own + self.world.deeper)) * self.world.slower
        after, work = self.world.time.after, self.world.postgresql.work

        def came() -> None:
            self.done(count)
            self.read_next()

        self.core.work(
            cost.node_shared,
            lambda: after(trip, lambda: work(spent, lambda: after(trip, came))),
        )

    def writes(self) -> None:
        self.to_write += 1
        if not self.is_writing:
            self.is_writing = True
            self.write_next()

    def write_next(self) -> None:
        count = min(self.to_write, BATCH)
        self.to_write -= count
        if not count:
            self.is_writing = False
            return
        world, cost = self.world, self.world.costs.write
        trip, place = world.place.trip / 2, world.place
        told = world.costs.listener * place.nodes if place.listening else 0.0
        spent = (cost.shared + count * (cost.own + world.deeper) + told) * world.slower
        after = world.time.after

        def committed() -> None:
            world.lock.let_go()
            after(trip, came)

        def came() -> None:
            self.done(count)
            self.write_next()

        def locked() -> None:
            # The statement, there and back, then COMMIT, which waits for the disk.
            world.postgresql.work(spent, lambda: after(2 * trip, lambda: after(world.costs.flush, committed)))

        self.core.work(cost.node_shared, lambda: after(trip, lambda: world.lock.take(locked)))

    def done(self, count: int) -> None:
        self.world.answered += count
        self.world.transactions += 1
        for _ in range(count):
            self.asked()


def run(costs: Costs, place: Place, writes: float, seconds: float = 0.4) -> Outcome:
    """`writes`: the part of the requests that write. What is counted comes after a tenth of a second."""
    world = _World(costs, place, writes)
    world.time.until(100_000)
    before, transactions, worked = world.answered, world.transactions, world.postgresql.worked
    world.time.until(100_000 + seconds * 1e6)
    answered = world.answered - before
    return Outcome(
        answered / seconds,
        answered / max(1, world.transactions - transactions),
        (world.postgresql.worked - worked) / (seconds * 1e6 * place.cores),
    )
