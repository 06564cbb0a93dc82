"""What a request costs from its bytes to those of its answer, without a socket; and where.

    make profile                              where a read, a list, a create and a transition spend their time
    make profile ARGS="--base REV"            CPU of each, beside the sources of another commit, the two in turn
    make profile ARGS="--only read create"    of these alone

The service is made as `ninefold serve` makes it, with its log and its metrics, over 20,000 rows of `peers/orders.md`.
Its connections are given bytes by this program, 32 of them at a time, and have a transport that keeps what is written.
CPU is that of the whole process, so the writer's thread counts, and what others do on the machine does not, except for
its caches. Places are found by looking at the stacks of all threads after each millisecond of CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve().parent
HOUSE = HERE.parent
CONTRACT = HERE / "peers" / "orders.md"
SUBJECTS = {"read": "read one", "list": "list 20", "create": "create", "move": "transition"}
CONNECTIONS = 32
ORDERS = 20_000
BATCH = 320
"""Requests between two looks at the time."""

ROUNDS = 40
PROFILED_SECONDS = 4.0


# ── One side: a service that does what it is told by lines, and tells what it took ────────────────────────────────


class Wire(asyncio.Transport):
    """What a connection writes to."""

    def __init__(self, came: Callable[[bytes], None]) -> None:
        super().__init__()
        self.write = came  # type: ignore[method-assign,assignment]

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"sockname": ("127.0.0.1", 8080), "peername": ("127.0.0.1", 50_000)}.get(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def served(contract: Path, url: str, came: Sequence[Callable[[bytes], None]]) -> tuple[Any, Any, list[Any]]:
    """A contract, served from a database to as many connections as there are of who is told what is written to each:
    the application, its database, the connections. To be called on the event loop."""
    from ninefold.pipeline import load
    from ninefold.runtime.http import access_log, protocol
    from ninefold.runtime.http.app import Application
    from ninefold.runtime.http.direct import Door
    from ninefold.runtime.request.service import ready
    from ninefold.runtime.store.opening import kind_of, open_database
    from ninefold.runtime.store.protocol import Opened

    plan = load(str(contract)).plan_for(kind_of(url))
    assert plan is not None
    opening = open_database(url, plan)
    assert isinstance(opening, Opened), opening
    metrics = _at_any_commit("Metrics", "runtime.operator.metrics", "operator.metrics")(opening.database)
    causes = _at_any_commit("Causes", "runtime.operator.trouble", "operator.trouble")(plan, {})
    log = _at_any_commit("Lines", "runtime.http.access_log", "cli.service", "cli.serve")
    lines = log(Path(os.devnull).open("w"), access_log.lines("text", contract.name))
    observe = lines.write
    if hasattr(metrics, "gather"):
        lines.count = metrics.requests.count
    else:  # as it was before November 30, 2026

        def observe(record: Any) -> None:
            metrics.observe(record)
            lines.write(record)

    service = ready(plan, opening.database.key("cursors"))
    application = Application(service, opening.database, observe, reasons=causes.reasons)
    fields = [(b"date", b"Sun, 22 Nov 2026 23:30:00 GMT")]
    # Nobody is cut off for having waited while another side was measured.
    protocol.HEAD_SECONDS = protocol.IDLE_SECONDS = 3600.0
    door = Door(lambda *told: None, 3600.0, core=application)
    connections = []
    for each in came:
        connection = _connection(protocol, application, fields, door)
        connection.connection_made(Wire(each))
        connections.append(connection)
    return application, opening.database, connections


def _connection(protocol: Any, application: Any, fields: list[tuple[bytes, bytes]], door: Any) -> Any:
    """As a server makes one. Sources before November 29, 2026 had uvicorn's."""
    if hasattr(protocol, "State"):
        if hasattr(door, "lines"):
            door.tells(fields)
            return protocol.Protocol(application, protocol.State(), door)
        return protocol.Protocol(application, protocol.State(fields=fields), door)
    import uvicorn
    from uvicorn.server import ServerState

    config, state = uvicorn.Config(application, log_config=None, lifespan="off"), ServerState()
    config.load()
    state.default_headers = fields
    return protocol.Protocol(config, state, {}, asyncio.get_running_loop(), door=door)


class Side:
    """A service in this process, and connections to it."""

    def __init__(self, contract: Path, database: Path, asked: Path) -> None:
        self._came: list[bytes] = []
        self._all_came = asyncio.Event()
        self.application, self.database, self.connections = served(
            contract, str(database), [self._answered] * CONNECTIONS
        )
        self._asked = [line.split() for line in asked.read_text().splitlines()]
        self._chance = random.Random(1)

    def request(self, subject: str) -> bytes:
        """As `peers/requests.lua` makes it."""
        token, path = self._chance.choice(self._asked)
        method, body = "GET", ""
        match subject:
            case "list":
                path = "/orders?limit=20"
            case "create":
                method, path, body = "POST", "/orders", '{"sku":"ABC-123","quantity":3,"unit_price":1999}'
            case "move":
                method, path = "POST", path + "/hold"
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer {token}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n{body}".encode("ascii")

    async def asked(self, subject: str, count: int) -> float:
        """Microseconds of CPU that a request took."""
        rounds = [[self.request(subject) for _ in self.connections] for _ in range(count // CONNECTIONS)]
        self._came.clear()
        began = time.process_time_ns()
        for requests in rounds:
            self._all_came.clear()
            for connection, request in zip(self.connections, requests, strict=True):
                connection.data_received(request)
            await self._all_came.wait()
        spent = time.process_time_ns() - began
        wanted = b"201" if subject == "create" else b"200"
        wrong = [each for each in self._came if each[9:12] != wanted]
        if wrong:
            raise SystemExit(f"{subject} was answered {wrong[0]!r}")
        await asyncio.sleep(0.06)  # the log is written
        return spent / (len(rounds) * CONNECTIONS) / 1000

    def _answered(self, response: bytes) -> None:
        self._came.append(response)
        if len(self._came) % CONNECTIONS == 0:
            self._all_came.set()

    async def profiled(self, subject: str) -> dict[str, Any]:
        """Microseconds of CPU of a request in all, and by the function and by the module where threads had it."""
        looks = Looks()
        took = []
        until = time.process_time() + PROFILED_SECONDS
        while time.process_time() < until:
            with looks:
                took.append(await self.asked(subject, BATCH))
        each = len(took) * (BATCH // CONNECTIONS) * CONNECTIONS * 1000
        modules = Counter[str]()
        for (module, _), spent in looks.spent.items():
            modules[module] += spent
        return {
            "took": median(took),
            "functions": {f"{module}:{name}": spent / each for (module, name), spent in looks.spent.items()},
            "modules": {module: spent / each for module, spent in modules.items()},
        }


def _at_any_commit(name: str, *modules: str) -> Any:
    """What goes by a name, from where it is now or was at an earlier commit."""
    for module in modules:
        with suppress(ImportError):
            found = getattr(import_module(f"ninefold.{module}"), name, None)
            if found is not None:
                return found
    raise SystemExit(f"there is no {name}")


class Looks:
    """Looks at where each thread is, after each millisecond of CPU: what it has had since the last look, it had there.
    `spent`: nanoseconds by module and function."""

    def __init__(self) -> None:
        self.spent = Counter[tuple[str, str]]()
        self._had: dict[int, int] = {}
        signal.signal(signal.SIGPROF, self._look)

    def __enter__(self) -> None:
        self._had.clear()
        signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)

    def __exit__(self, *raised: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _look(self, number: int, frame: FrameType | None) -> None:
        for thread, found in sys._current_frames().items():
            has = time.clock_gettime_ns(time.pthread_getcpuclockid(thread))
            had = self._had.get(thread, has)
            self._had[thread] = has
            at = frame if thread == threading.main_thread().ident else found
            if at is not None and has > had:
                self.spent[_place(at)] += has - had


def _place(frame: FrameType) -> tuple[str, str]:
    path = frame.f_code.co_filename
    _, is_ours, name = path.partition("/ninefold/")
    if not is_ours:
        name = "(this program)" if path == __file__ else "/".join(path.rsplit("/", 2)[-2:])
    return name.removesuffix(".py"), frame.f_code.co_qualname


async def _side(contract: Path, database: Path, asked: Path) -> None:
    from ninefold.runtime.http import run

    side = Side(contract, database, asked)
    loop = asyncio.get_running_loop()
    gc.collect()
    with run._kept():  # as `ninefold serve` does
        print(json.dumps("ready"), flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            what, subject = line.split()
            told = await side.profiled(subject) if what == "profile" else await side.asked(subject, BATCH)
            print(json.dumps(told), flush=True)
    side.application.close()
    side.database.close()


# ── The one who asks ──────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def side(source: Path, contract: Path, database: Path, asked: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, __file__, "--side", str(contract), str(database), str(asked)]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=source
    )
    try:
        told(process)
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def tell(process: subprocess.Popen[str], what: str, subject: str) -> Any:
    assert process.stdin is not None
    process.stdin.write(f"{what} {subject}\n")
    process.stdin.flush()
    return told(process)


def told(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise SystemExit("the service has ended")
    return json.loads(line)


@contextmanager
def sources(revision: str) -> Iterator[Path]:
    """The sources of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", revision, "src"], cwd=HOUSE, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
        yield Path(folder) / "src"


def copies(folder: Path) -> tuple[Path, Path, Path]:
    """Two databases with the same rows, and what is asked of them."""
    import peers

    peers.ORDERS = ORDERS
    rows = peers.fill(folder)
    other = folder / "other.db"
    other.write_bytes(rows.ninefold.read_bytes())
    return rows.ninefold, other, rows.asked


def compare(revision: str, subjects: list[str], rounds: int, folder: Path) -> None:
    own, other, asked = copies(folder)
    with (
        sources(revision) as before,
        side(before, CONTRACT, other, asked) as first,
        side(HOUSE / "src", CONTRACT, own, asked) as second,
    ):
        print(f"| CPU µs, medians of {rounds} pairs of {BATCH} requests | {revision} | now | ratio |")
        print("| --- | --- | --- | --- |")
        for subject in subjects:
            for process in (first, second):
                tell(process, "ask", subject)
            pairs = [(tell(first, "ask", subject), tell(second, "ask", subject)) for _ in range(rounds)]
            was, now = (median(each) for each in zip(*pairs, strict=True))
            ratio = median(one / other for one, other in pairs)
            print(f"| {SUBJECTS[subject]} | {was:.0f} | {now:.0f} | {ratio:.2f} |", flush=True)


def profile(subjects: list[str], most: int, folder: Path) -> None:
    own, _, asked = copies(folder)
    with side(HOUSE / "src", CONTRACT, own, asked) as process:
        for subject in subjects:
            tell(process, "ask", subject)
            found = tell(process, "profile", subject)
            print(
                f"\n{SUBJECTS[subject]}: {found['took']:.0f} µs of CPU, the median; on average, while it is looked at:"
            )
            for kind in ("modules", "functions"):
                print(f"\n  by {kind}")
                for name, spent in Counter(found[kind]).most_common(most):
                    print(f"{spent:8.1f}  {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", metavar="REV", help="compare with the sources of this commit")
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--most", type=int, default=40, help="places that are shown")
    parser.add_argument("--side", nargs=3, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_side(*arguments.side))
        return
    with tempfile.TemporaryDirectory() as folder:
        if arguments.base is not None:
            compare(arguments.base, arguments.only, arguments.rounds, Path(folder))
        else:
            profile(arguments.only, arguments.most, Path(folder))


if __name__ == "__main__":
    main()
