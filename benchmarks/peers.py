"""ninefold beside FastAPI, Litestar, Fastify and a C program: requests a second, and CPU and time of a request.

    make bench                       all candidates that can be made here, seven rounds, and docs/benchmarks.md
    make bench ARGS="--rounds 2 --seconds 2 --only ninefold fastify --print"

All serve what `peers/orders.md` says, over the same 100,000 rows of SQLite in WAL with synchronous=FULL, with one
process. Each round starts each candidate anew, one after another, on a copy of its rows; the candidate is kept on one
core and the load (wrk, https://github.com/wg/wrk) on another, where the system can do that. CPU is what the system
accounts to the candidate's process. Packages of the peers are installed into `.bench`: by pip from
`peers/requirements.txt`, by npm from `peers/fastify`, by a C compiler; who cannot be made here is named and left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent / "peers"
HOUSE = HERE.parent.parent
MADE = HOUSE / ".bench"
PAGE = HOUSE / "docs" / "benchmarks.md"
SUBJECTS = {"read": "read one", "list": "list 20", "create": "create", "move": "transition"}
CUSTOMERS, ORDERS = 100, 100_000
YARDSTICK = "Fastify + better-sqlite3"


@dataclass(frozen=True)
class Candidate:
    """`command` with `{port}`, `{database}` and `{folder}`. `needs`: the programs to make it. `differs`: how what it
    does is other than what the others do."""

    name: str
    command: tuple[str, ...]
    differs: str
    needs: tuple[str, ...] = ()
    schema: bool = True
    """Whether its rows are those of `peers/schema.sql`; ninefold makes tables of its own."""


PYTHON = str(MADE / "python" / "bin" / "python")
ASGI = ("--host", "127.0.0.1", "--port", "{port}", "--no-access-log", "--app-dir", str(HERE))
CANDIDATES = (
    Candidate(
        "ninefold",
        (
            *(sys.executable, "-m", "ninefold", "serve", str(HERE / "orders.md"), "--listen", "127.0.0.1:{port}"),
            *("--operator", "127.0.0.1:0", "--database", "{database}"),
        ),
        "Writes a log line for each request and counts it, bounds the size and the time of each request, tells every "
        "rule that a body breaks, and gives each response an identifier that leads to the lines of the contract.",
        schema=False,
    ),
    Candidate(
        "FastAPI + SQLAlchemy",
        (PYTHON, "-m", "uvicorn", "fastapi_app:app", *ASGI),
        "SQLAlchemy 2 async over aiosqlite, Pydantic, uvicorn with uvloop and httptools. Each write is a commit of its "
        "own; no access log.",
    ),
    Candidate(
        "Litestar + msgspec",
        (PYTHON, "-m", "uvicorn", "litestar_app:app", *ASGI),
        "The standard library's sqlite3 on the event loop, in handlers that wait for nothing. Each write is a commit "
        "of its own; no access log.",
    ),
    Candidate(
        YARDSTICK,
        ("node", "{folder}/server.js"),
        "Statements prepared once, schemas compiled to validators and serialisers. Each write is a commit of its own, "
        "on the event loop; no access log.",
        needs=("node", "npm"),
    ),
    Candidate(
        "Python by hand",
        (sys.executable, str(HERE / "by_hand.py")),
        "uvloop, httptools, apsw and msgspec in one thread; the writes of one turn of the loop are committed together. "
        "It knows a customer for ever, and has no log, no timeouts and no bounds.",
    ),
    Candidate(
        "C",
        (str(MADE / "c" / "server"),),
        "epoll and SQLite in one thread; the writes of one round of the loop are committed together. It knows these "
        "requests and no others, and has no log, no timeouts, and no bound of anything but its buffers.",
        needs=("cc",),
    ),
)


@dataclass
class Figures:
    """Of one candidate and subject, a value a round."""

    rate: list[float] = field(default_factory=list)
    """Requests a second."""
    cpu: list[float] = field(default_factory=list)
    """Microseconds of CPU a request."""
    p50: list[float] = field(default_factory=list)
    """Milliseconds."""
    p99: list[float] = field(default_factory=list)


def make(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Those that can be made on this machine, with what they need in `.bench`; says what it does."""
    made = []
    for each in candidates:
        lacking = [program for program in each.needs if shutil.which(program) is None]
        if lacking:
            print(f"{each.name}: left out, since there is no {' and no '.join(lacking)} on the PATH")
            continue
        try:
            _make(each)
        except subprocess.CalledProcessError as failed:
            print(f"{each.name}: left out, since it could not be made:\n{failed.stdout}\n{failed.stderr}")
            continue
        made.append(each)
    return tuple(made)


def _make(candidate: Candidate) -> None:
    match candidate.needs:
        case ("node", "npm"):
            _fastify()
        case ("cc",):
            _c()
        case _ if candidate.schema:
            _python()


def _run(*command: str, folder: Path = HOUSE) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)


def _python() -> None:
    wanted, folder = HERE / "requirements.txt", MADE / "python"
    if _is_newer(folder / "bin" / "uvicorn", wanted):
        return
    print("installing the packages of FastAPI and Litestar into .bench/python")
    _run(sys.executable, "-m", "venv", "--clear", str(folder))
    _run(PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(wanted))


def _fastify() -> None:
    folder = MADE / "fastify"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "node_modules" / "better-sqlite3" / "build" / "Release" / "better_sqlite3.node"
    if not _is_newer(made, HERE / "fastify" / "package-lock.json"):
        print("installing Fastify and better-sqlite3 into .bench/fastify (it may have to be compiled: minutes)")
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / "fastify" / name, folder)
        _run("npm", "ci", "--no-audit", "--no-fund", folder=folder)
        made.touch()
    shutil.copy(HERE / "fastify" / "server.js", folder)


def _c() -> None:
    """With the SQLite that better-sqlite3 brings, if it is there: the same version with the same speed."""
    program, source = MADE / "c" / "server", HERE / "server.c"
    if _is_newer(program, source):
        return
    print("compiling the C program into .bench/c")
    program.parent.mkdir(parents=True, exist_ok=True)
    amalgamation = MADE / "fastify" / "node_modules" / "better-sqlite3" / "deps" / "sqlite3"
    own = (f"-I{amalgamation}", str(amalgamation / "sqlite3.c")) if amalgamation.exists() else ("-lsqlite3",)
    _run("cc", "-O2", "-o", str(program), str(source), *own, "-lpthread", "-ldl", "-lm")


def _is_newer(made: Path, wanted: Path) -> bool:
    return made.exists() and made.stat().st_mtime >= wanted.stat().st_mtime


@dataclass(frozen=True)
class Rows:
    """Databases to copy, one with the tables that ninefold makes, and a file for wrk: in each line a token and the path
    of an order that its customer has."""

    ninefold: Path
    others: Path
    asked: Path


def fill(folder: Path, others: bool = True) -> Rows:
    """The same rows for all: customers that ninefold has made, since it alone makes its tokens, and orders. `others`:
    there is to be a database for the others."""
    rows = Rows(folder / "ninefold.db", folder / "others.db", folder / "asked")
    customers = _made_by_ninefold(rows.ninefold)
    owners = [key for key, _name, _token in customers]
    if others:
        with sqlite3.connect(rows.others) as database:
            database.executescript((HERE / "schema.sql").read_text(encoding="utf-8"))
            digests = ((key, name, hashlib.sha256(token.encode()).digest()) for key, name, token in customers)
            database.executemany("insert into customer values (?, ?, ?)", digests)
            database.executemany('insert into "order" values (?, ?, ?, ?, ?, ?, ?, ?, ?)', _orders(owners))
    wanted = random.Random(1).sample(range(ORDERS), min(5_000, ORDERS))
    found = dict.fromkeys(wanted, ("", ""))

    def noting() -> Iterator[tuple[str | int | None, ...]]:
        for number, order in enumerate(_orders(owners)):
            if number in found:
                found[number] = str(order[1]), str(order[0])
            yield order

    with sqlite3.connect(rows.ninefold) as database:
        database.executemany(
            """insert into "order" (id, customer, sku, quantity, unit_price, note, status, created_at, updated_at,
               "$revision", "$entered") values (?, ?, ?, ?, ?, ?, ?, ?, ?, hex(randomblob(8)), ?8)""",
            noting(),
        )
    for path in (rows.ninefold, rows.others) if others else (rows.ninefold,):
        with sqlite3.connect(path) as database:
            database.execute("analyze")
            database.execute("pragma wal_checkpoint(truncate)")
    tokens = {key: token for key, _name, token in customers}
    lines = "".join(f"{tokens[customer]} /orders/{order}\n" for customer, order in map(found.__getitem__, wanted))
    rows.asked.write_text(lines, encoding="ascii")
    return rows


def _made_by_ninefold(database: Path) -> list[tuple[str, str, str]]:
    """Of each customer the identifier, the name and the token."""
    command = [sys.executable, "-m", "ninefold", "add", str(HERE / "orders.md"), "customer", "--from", "-"]
    given = "".join(json.dumps({"name": f"Customer {number}"}) + "\n" for number in range(CUSTOMERS))
    printed = subprocess.run(
        [*command, "--database", str(database), "--format", "json"],
        input=given,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return [(row["id"], row["name"], row["api_key"]) for row in map(json.loads, printed.splitlines())]


def _orders(customers: list[str]) -> Iterator[tuple[str | int | None, ...]]:
    chance, first = random.Random(9), datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(ORDERS):
        at = (first + timedelta(seconds=number)).isoformat(timespec="microseconds").replace("+00:00", "Z")
        key = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        quantity, price = chance.randrange(1, 20), chance.randrange(100, 90_000)
        note = "as usual" if number % 3 else None
        yield key, customers[number % CUSTOMERS], f"ABC-{quantity}", quantity, price, note, "open", at, at


def on_core(core: int) -> list[str]:
    return ["taskset", "-c", str(core)] if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else []


@contextmanager
def served(candidate: Candidate, database: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """Its address and process, on a copy of its rows. Raises SystemExit where it does not answer within a minute."""
    copy, log = folder / "served.db", folder / "log"
    for left in folder.glob("served.db*"):
        left.unlink()
    shutil.copy(database, copy)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = {"port": str(port), "database": str(copy), "folder": str(MADE / "fastify")}
    command = [*on_core(0), *(part.format(**said) for part in candidate.command)]
    environment = {**os.environ, "DATABASE": str(copy), "PORT": str(port), "NODE_ENV": "production"}
    with log.open("w") as written:
        process = subprocess.Popen(command, env=environment, stdout=written, stderr=subprocess.STDOUT)
    try:
        _wait(port, process, candidate.name, log)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(port: int, process: subprocess.Popen[bytes], name: str, log: Path) -> None:
    """Until it refuses a request without a credential, as all of them do."""
    for _ in range(600):
        if process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/orders", timeout=1)
            except urllib.error.HTTPError as answered:
                if answered.code == 401:
                    return
            except OSError:
                pass
            time.sleep(0.1)
    raise SystemExit(f"{name} did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


def cpu(process: int) -> float:
    """Seconds of CPU that a process and its children have had, threads that have ended among them (proc(5), stat)."""
    _name, _, fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")
    user, system = fields.split()[11:13]
    children = Path(f"/proc/{process}/task/{process}/children")
    spent = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return spent + sum(cpu(int(child)) for child in (children.read_text().split() if children.exists() else ()))


def ask(address: str, subject: str, asked: Path, seconds: float, *more: str) -> dict[str, int]:
    """`more`: what else `requests.lua` is told."""
    command = [*on_core(1), "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--latency", "--timeout", "30s"]
    command += ["-s", str(HERE / "requests.lua"), address, "--", subject, str(asked), *more]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    told: dict[str, int] = json.loads(printed.splitlines()[-1])
    if told["refused"] or told["lost"] or not told["requests"]:
        raise SystemExit(f"{address} did not answer as it should to {subject}:\n{printed}")
    return told


def measure(candidate: Candidate, rows: Rows, folder: Path, seconds: float, into: Mapping[str, Figures]) -> None:
    """One round of one candidate: a second of each subject to warm up, then each of them."""
    with served(candidate, rows.others if candidate.schema else rows.ninefold, folder) as (address, process):
        for subject in SUBJECTS:
            ask(address, subject, rows.asked, 1)
        for subject, figures in into.items():
            before = cpu(process)
            told = ask(address, subject, rows.asked, seconds)
            spent = cpu(process) - before
            figures.rate.append(told["requests"] / told["microseconds"] * 1e6)
            figures.cpu.append(spent / told["requests"] * 1e6)
            figures.p50.append(told["p50"] / 1e3)
            figures.p99.append(told["p99"] / 1e3)


Results = dict[str, dict[str, Figures]]


def tables(results: Results) -> str:
    """In Markdown: of each candidate and subject the median of each figure, and how far the rounds differ."""
    median = statistics.median
    yardstick = results.get(YARDSTICK)
    parts = []
    for subject, title in SUBJECTS.items():
        lines = [
            f"### {title}",
            "",
            "| | requests/s | rounds from … to | ÷ Fastify | CPU µs a request | p50 ms | p99 ms |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for name, by_subject in results.items():
            it = by_subject[subject]
            ratio = f"{median(it.rate) / median(yardstick[subject].rate):.2f}" if yardstick else ""
            span = f"{min(it.rate):,.0f} … {max(it.rate):,.0f}"
            cells = (name, f"{median(it.rate):,.0f}", span, ratio, f"{median(it.cpu):.0f}", f"{median(it.p50):.2f}")
            lines.append("| " + " | ".join((*cells, f"{median(it.p99):.2f}")) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def machine() -> str:
    cores = os.cpu_count() or 1
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            model = line.partition(": ")[2]
            break
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{cores} cores ({model}), {system}; load before: {os.getloadavg()[0]:.1f}"


BEGIN, END = "<!-- made by `make bench` -->", "<!-- end of what is made -->"


def write(made: str, begin: str, end: str) -> None:
    """What was measured, into its place in docs/benchmarks.md."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    PAGE.write_text(head + made + rest.partition(end)[2], encoding="utf-8")
    print(f"written: {PAGE.relative_to(HOUSE)}")


def page(results: Results, candidates: tuple[Candidate, ...], arguments: argparse.Namespace, was: str) -> str:
    """What was measured, as it stands in docs/benchmarks.md."""
    differ = "\n".join(f"- **{each.name}.** {each.differs}" for each in candidates)
    return (
        f"{BEGIN}\n\nMeasured on {datetime.now(UTC):%Y-%m-%d}: {was}. Medians of {arguments.rounds} rounds of "
        f"{arguments.seconds:g} s, in turn; {CONNECTIONS} connections, {ORDERS:,} rows.\n\n{tables(results)}\n\n"
        f"### How they differ\n\n{differ}\n\n{END}"
    )


CONNECTIONS = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="candidates whose names begin so")
    parser.add_argument("--print", action="store_true", help="print, and leave docs/benchmarks.md as it is")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("the load is made by wrk (https://github.com/wg/wrk), which is not on the PATH")
    wanted = tuple(name.lower() for name in arguments.only or ("",))
    candidates = make(tuple(each for each in CANDIDATES if each.name.lower().startswith(wanted)))
    results: Results = {each.name: {subject: Figures() for subject in SUBJECTS} for each in candidates}
    was = machine()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        print(f"filling databases with {ORDERS:,} orders")
        rows = fill(folder)
        for number in range(arguments.rounds):
            for each in candidates:
                measure(each, rows, folder, arguments.seconds, results[each.name])
            print(f"round {number + 1} of {arguments.rounds}")
    print(tables(results))
    if not arguments.print:
        write(page(results, candidates, arguments, was), BEGIN, END)


if __name__ == "__main__":
    main()
