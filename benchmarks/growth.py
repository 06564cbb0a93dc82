"""What a request costs as what it does not ask for becomes more.

    make growth                                  all tables, into docs/benchmarks.md: an hour, and 8 GB of disk
    make growth ARGS="--only contract rows --print"
    make growth ARGS="--most-rows 1000000 --most-requests 1000000"    a quarter of an hour

The measure is the CPU that the process of a service takes for a request, which others on the machine change little. All
sizes of one table are served at once and asked in turn, so that what changes with the time changes for all of them, and
medians of the rounds are told. Each table is written as soon as it is made.
Contracts, rows and memory are those of `peers/orders.md`; events and who hears of them those of `idle_streams.py`.
Needs Linux (/proc), wrk, and as many open files as there are connections: `ulimit -n 20000`.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TypeAlias

import idle_streams
import peers

import door

BEGIN, END = "<!-- made by `make growth`: {} -->", "<!-- end of what it makes of {} -->"

Row: TypeAlias = tuple[str, Sequence[float]]
"""What is measured, and a figure for each size."""


def table(title: str, told: str, sizes: Iterable[int], rows: Iterable[Row]) -> str:
    """In Markdown, with the last figure beside the first."""
    heads = [f"{size:,}" for size in sizes]
    lines = [f"### {title}", "", told, "", "| | " + " | ".join(heads) + " | last ÷ first |"]
    lines.append("| --- |" + " --- |" * (len(heads) + 1))
    for name, figures in rows:
        cells = [f"{figure:.1f}" if figure < 10 else f"{figure:,.0f}" for figure in figures]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {figures[-1] / figures[0]:.2f} |")
    return "\n".join(lines)


def in_turn(sides: Sequence[Callable[[], float]], rounds: int) -> list[float]:
    """The median of each. The first time counts for none of them."""
    for side in sides:
        side()
    taken = [[side() for side in sides] for _ in range(rounds)]
    return [median(each) for each in zip(*taken, strict=True)]


def resident(process: int) -> float:
    """MB of memory that a process has (proc(5), VmRSS)."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit(f"nothing is told of the memory of {process}")


# ── Contracts, and rows ───────────────────────────────────────────────────────────────────────────────────────────


def larger(resources: int) -> str:
    """The contract of orders, with so many resources in all; of each of the others one is read and made."""
    others = [f"other{number}" for number in range(resources - 2)]

    def lines(line: str) -> str:
        return "".join(line.replace("OTHER", each) + "\n" for each in others)

    fields = "{id: {type: string, format: uuid, on create: uuid()}, name: {type: string}}"
    text = door.CONTRACT.read_text(encoding="utf-8")
    for place, more in (
        ("order:\n  primary key", lines(f"OTHER: {{primary key: id, fields: {fields}, required: [name]}}")),
        ("order:\n  initial", lines("OTHER: none")),
        (
            "POST /orders:\n",
            lines("POST /OTHER: {does: create OTHER, body: [name], responses: {201: OTHER}}")
            + lines("GET /OTHER/{id}: {does: read OTHER, responses: {200: OTHER}}"),
        ),
        ("  order:    {key:", lines("  OTHER: {key: true}")),
    ):
        assert text.count(place) == 1, place
        text = text.replace(place, more + place)
    return text


def with_endpoints(endpoints: int) -> str:
    """The contract of orders, with so many endpoints in all; each of the others reads an order."""
    text, place = door.CONTRACT.read_text(encoding="utf-8"), "POST /orders:\n"
    own = 4
    assert text.count(place) == 1
    reads = "GET /way{}/{{id}}: {{does: read order, responses: {{200: order}}}}\n"
    return text.replace(place, "".join(reads.format(number) for number in range(endpoints - own)) + place)


def filled(folder: Path, orders: int) -> tuple[Path, Path]:
    """A database with so many orders, and what is asked of them."""
    folder.mkdir()
    peers.ORDERS = orders
    rows = peers.fill(folder, others=False)
    return rows.ninefold, rows.asked


def asked(processes: Sequence[subprocess.Popen[str]], rounds: int, subjects: Iterable[str]) -> list[Row]:
    """Microseconds of CPU of each subject, of services that are asked in turn."""
    found = []
    for subject in subjects:
        sides = [lambda process=each, subject=subject: door.tell(process, "ask", subject) for each in processes]
        found.append((f"{door.SUBJECTS[subject]}, µs", in_turn(sides, rounds)))
    return found


def of_resources(folder: Path, arguments: argparse.Namespace) -> str:
    told = "Resources, each but two with two endpoints: CPU of a request without a socket, in turn."
    return _of_contracts("As a contract has more resources", told, larger, folder, arguments)


def of_endpoints(folder: Path, arguments: argparse.Namespace) -> str:
    told = "Endpoints of two resources: CPU of a request without a socket, in turn."
    return _of_contracts("As a contract has more endpoints", told, with_endpoints, folder, arguments)


def _of_contracts(
    title: str, told: str, contract_of: Callable[[int], str], folder: Path, arguments: argparse.Namespace
) -> str:
    sizes = [10, 100, 1_000]
    rows, lines = filled(folder / "rows", 10_000)
    with ExitStack() as services:
        processes, ready, memory = [], [], []
        for size in sizes:
            contract, database = folder / f"{size}.md", folder / f"{size}.db"
            contract.write_text(contract_of(size), encoding="utf-8")
            shutil.copy(rows, database)
            process = services.enter_context(door.side(door.HOUSE / "src", contract, database, lines))
            processes.append(process)
            ready.append(peers.cpu(process.pid))
            memory.append(resident(process.pid))
        found = asked(processes, arguments.rounds, door.SUBJECTS)
    return table(title, told, sizes, [*found, ("s until it is served", ready), ("MB", memory)])


def of_rows(folder: Path, arguments: argparse.Namespace) -> str:
    sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000) if size <= arguments.most_rows]
    with ExitStack() as services:
        processes = []
        for size in sizes:
            rows, lines = filled(folder / str(size), size)
            processes.append(services.enter_context(door.side(door.HOUSE / "src", door.CONTRACT, rows, lines)))
        found = asked(processes, arguments.rounds, door.SUBJECTS)
    told = (
        "Orders of a hundred customers, of 1,000 ten each, which is all of a list: CPU of a request without a socket, "
        "in turn."
    )
    return table("As there are more rows", told, sizes, found)


def of_callers(folder: Path, arguments: argparse.Namespace) -> str:
    sizes = [100, 1_000, 10_000]
    with ExitStack() as services:
        processes = []
        for size in sizes:
            peers.CUSTOMERS = size
            rows, lines = filled(folder / str(size), 20_000)
            process = services.enter_context(door.side(door.HOUSE / "src", door.CONTRACT, rows, lines))
            for _ in range(2 * size // door.BATCH):  # most of them have come before
                door.tell(process, "ask", "read")
            processes.append(process)
        found = asked(processes, arguments.rounds, ("read", "create"))
        found.append(("MB", [resident(each.pid) for each in processes]))
    told = (
        "Customers, each with a key of his own, who ask for what is theirs of 20,000 orders, of 10,000 some 4,000: CPU "
        "of a request without a socket, in turn."
    )
    return table("As there are more callers", told, sizes, found)


# ── Over sockets ──────────────────────────────────────────────────────────────────────────────────────────────────


def of_connections(folder: Path, arguments: argparse.Namespace) -> str:
    sizes = [1, 10, 100, 1_000, 5_000]
    ours = peers.CANDIDATES[0]
    rows = peers.fill(folder, others=False)
    found: dict[str, list[float]] = {}
    with peers.served(ours, rows.ninefold, folder) as (address, process):

        def spent(subject: str, connections: int) -> float:
            peers.CONNECTIONS = connections
            before = peers.cpu(process)
            told = peers.ask(address, subject, rows.asked, round(arguments.seconds + connections / 500))
            return (peers.cpu(process) - before) / told["requests"] * 1e6

        for subject in ("read", "create"):
            sides = [lambda subject=subject, size=size: spent(subject, size) for size in sizes]
            found[f"{peers.SUBJECTS[subject]}, µs"] = in_turn(sides, arguments.rounds // 5)
    told = (
        "Connections that ask without pause, over sockets: CPU of a request, with what it takes to open them. One "
        "alone has the loop wake for each request."
    )
    return table("As there are more connections", told, sizes, found.items())


def of_listeners(folder: Path, arguments: argparse.Namespace) -> str:
    sizes = [1, 10, 100, 1_000, 5_000]
    callers = 100
    with ExitStack() as open_files:
        services = []
        for size in sizes:
            service = open_files.enter_context(idle_streams.serving(folder / str(size)))
            tokens = [service.person() for _ in range(min(size, callers))]
            for number in range(size):
                open_files.callback(service.listen(tokens[number % len(tokens)]).close)
            services.append(service)
        sides = [lambda each=each: each.write(800) * 1000 for each in services]
        found = [("write with an event, µs", in_turn(sides, arguments.rounds // 5))]
    told = f"Streams of at most {callers} callers, of whom none may see what happens: CPU of a write, over sockets."
    return table("As more listen", told, sizes, found)


def of_subscribers(folder: Path, arguments: argparse.Namespace) -> str:
    sizes = [1, 10, 100, 1_000, 5_000]
    callers = 100
    with ExitStack() as open_files:
        services = []
        for size in sizes:
            service = open_files.enter_context(idle_streams.serving(folder / str(size), WITH_WEBHOOKS))
            each = -(-size // callers)
            for number in range(min(size, callers)):
                key = {"authorization": f"Bearer {service.person()}"}
                hooks = [{"url": f"https://{number}.example/{hook}", "kinds": ["noted"]} for hook in range(each)]
                service.posted("/webhooks", hooks, key)
            services.append(service)
        sides = [lambda each=each: each.write(800) * 1000 for each in services]
        found = [("write with an event, µs", in_turn(sides, arguments.rounds // 5))]
    told = (
        f"Webhooks of at most {callers} callers, of whom none may see what happens, so that nothing is sent: CPU of a "
        "write with the search for those who are told, over sockets."
    )
    return table("As more subscribe", told, sizes, found)


WITH_WEBHOOKS = idle_streams.CONTRACT
for _place, _instead in (
    (
        "  GET /events:",
        "  POST /webhooks: {does: create subscription, body: {url: subscription.url, kinds: subscription.kinds}, "
        "responses: {201: {id: subscription.id}}}\n  GET /events:",
    ),
    ("  unseen rows:", "    subscription: {key: true}\n  unseen rows:"),
    (
        "  delivery: {stream: server-sent events, envelope: none}",
        "  delivery:\n    webhooks: {to: subscription, signature: standard-webhooks, attempts: 3, "
        "backoff: [PT1S, PT1S]}\n    stream: server-sent events\n    envelope: none",
    ),
):
    assert WITH_WEBHOOKS.count(_place) == 1, _place
    WITH_WEBHOOKS = WITH_WEBHOOKS.replace(_place, _instead)


def of_events(folder: Path, arguments: argparse.Namespace) -> str:
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    with ExitStack() as open_files:
        services = []
        for size in sizes:
            service = open_files.enter_context(idle_streams.serving(folder / str(size)))
            service.write(100)
            _more_events(folder / str(size) / "notes.db", size)
            services.append(service)
        sides = [lambda each=each: each.write(800) * 1000 for each in services]
        found = [("write with an event, µs", in_turn(sides, arguments.rounds // 5))]
    return table("As more events are kept", "Events: CPU of a write, over sockets, in turn.", sizes, found)


def _more_events(database: Path, events: int) -> None:
    """So many more than there are, each like the first."""
    with sqlite3.connect(database, timeout=60) as connection:
        connection.execute(
            """with recursive n (i) as (values (1) union all select i + 1 from n where i < ?)
               insert into "$event" (id, kind, resource, row, seen, time, payload)
               select lower(hex(randomblob(16))), kind, resource, row, seen, time, payload
               from n, (select * from "$event" limit 1)""",
            (events,),
        )


def of_memory(folder: Path, arguments: argparse.Namespace) -> str:
    sizes = [size for size in (0, 10_000, 100_000, 1_000_000, 10_000_000) if size <= arguments.most_requests]
    rows, memory = peers.fill(folder, others=False), list[float]()
    with peers.served(peers.CANDIDATES[0], rows.ninefold, folder) as (address, process):
        memory.append(resident(process))
        answered = 0
        for _, wanted in pairwise(sizes):
            while answered < wanted:
                for subject in peers.SUBJECTS:
                    answered += peers.ask(address, subject, rows.asked, 1 if wanted < 1_000_000 else 5)["requests"]
            memory.append(resident(process))
    told = (
        "Requests that were answered over 32 connections, of all four kinds: what `ninefold serve` has in memory then."
    )
    return table("As more was asked", told, sizes, [("MB", memory)])


def of_rest(folder: Path, arguments: argparse.Namespace) -> str:
    lines = ["| | resident | proportional |", "| --- | --- | --- |"]
    for name, options in (("one process", ()), ("two, `--readers 1`", ("--readers", "1"))):
        with _example(folder, options) as (process, operator):
            lines.append(f"| {name} | {_held(process)} |")
            if not options:
                urllib.request.urlopen(f"{operator}/metrics").read()
                lines.append(f"| {name}, its metrics read | {_held(process)} |")
    told = (
        "What `ninefold serve examples/orders.md` holds before anybody asks anything, in MB: pages that are resident, "
        "and the same with each page that several have divided among them (proc(5), `Pss`), as it has to be where "
        "there are more processes than one. Sealing cursors and stored answers takes some 7 MB more from the first "
        "on, sending webhooks or verifying tokens some 10."
    )
    return "\n".join(["### At rest", "", told, "", *lines])


@contextmanager
def _example(folder: Path, options: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Served over a new database: its process, and the URL of its operator's port."""
    house = Path(__file__).parents[1]
    database = str(folder / f"rest{len(options)}.db")
    command = [sys.executable, "-m", "ninefold", "serve", str(house / "examples" / "orders.md"), *options]
    command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0", "--database", database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        [operator] = (line.split()[1] for line in _until(process.stdout, "Try:") if line.startswith("operator "))
        operator = operator.removesuffix("/health/live")
        time.sleep(3)  # until what begins with it has begun
        try:
            yield process.pid, operator
        finally:
            process.terminate()
            process.communicate()


def _until(lines: Iterable[str], end: str) -> Iterator[str]:
    for line in lines:
        yield line
        if line.startswith(end):
            return


def _held(process: int) -> str:
    """MB of a process and of those that it began (proc(5), smaps_rollup)."""
    begun = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    found = {"Rss:": 0, "Pss:": 0}
    for each in (str(process), *begun):
        for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
            name, *figures = line.split()
            if name in found:
                found[name] += int(figures[0])
    return " | ".join(f"{figure * 1024 / 1e6:.1f}" for figure in found.values())


TABLES = {
    "rest": of_rest,
    "contract": of_resources,
    "endpoints": of_endpoints,
    "rows": of_rows,
    "callers": of_callers,
    "connections": of_connections,
    "listeners": of_listeners,
    "subscribers": of_subscribers,
    "events": of_events,
    "memory": of_memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--rounds", type=int, default=15, help="of what is asked over sockets, a fifth")
    parser.add_argument("--seconds", type=float, default=2, help="of a round over sockets")
    parser.add_argument("--most-rows", type=int, default=10_000_000)
    parser.add_argument("--most-requests", type=int, default=10_000_000)
    parser.add_argument("--print", action="store_true", help="print, and leave docs/benchmarks.md as it is")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("the load is made by wrk (https://github.com/wg/wrk), which is not on the PATH")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for name in arguments.only:
        was = peers.machine()
        with tempfile.TemporaryDirectory() as folder:
            made = TABLES[name](Path(folder), arguments)
        print(f"{made}\n", flush=True)
        if not arguments.print:
            begin, end = BEGIN.format(name), END.format(name)
            said = f"On {datetime.now(UTC):%Y-%m-%d}: {was}."
            peers.write(f"{begin}\n\n{made}\n\n{said}\n\n{end}", begin, end)


if __name__ == "__main__":
    main()
