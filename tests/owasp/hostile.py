"""A million requests that nobody sends in good faith, to services of complete contracts over real sockets.

    python -m tests.owasp.hostile [--answered 1000000] [--seed 7] [--contract WORD]

Each contract is served by `ninefold serve` over a database of many people's rows. What is sent are requests made from
the contract, as its people would make them, with something broken: a value, a member, a header, a method, the path,
the framing, the order of the pieces; on kept connections, up to 32 behind each other without waiting. What counts is
what was answered. An answer of 5xx has a line of the service's log that says why, and none is `internal`; the service
lives to the end, writes no traceback and stops when it is asked to. Whatever is not so is printed with the request, and
the exit status is 1. The seed is printed, and makes the same choices again. Few requests to each service make it look
at a password, which costs 200 ms by intent; of those of which all do, the name is printed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
from tests.contracts import ALL, title
from tests.owasp.asking import Asking
from tests.owasp.broken import Hostile, good_requests
from tests.owasp.test_owasp import given, of
from tests.owasp.world import made
from tests.server.identity import providing
from tests.waiting import until

TOGETHER: Final = 32
"""Requests behind each other, at most."""

PATIENCE: Final = 60.0
"""Seconds within which something of an answer comes."""


@dataclass
class Told:
    """What has come of it all."""

    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    cut: int = 0
    """Requests behind one after which nothing is read, or with which the connection was closed."""

    @property
    def answered(self) -> int:
        return self.statuses.total()


class Ended(Exception):
    """The service closed the connection."""


class Connection:
    """A kept connection, on which requests are behind each other."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._socket = socket.create_connection(address, PATIENCE)
        self._socket.setblocking(False)
        self._out, self._in = b"", b""

    def close(self) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._out += data

    def answer(self, method: str) -> tuple[int, bool]:
        """The status of the next answer, and whether its connection goes on. Raises Ended; TimeoutError where nothing
        comes."""
        while True:
            head = self._until(b"\r\n\r\n")
            status = int(head[9:12])
            if status >= 200:
                break
            if status == 101:
                return status, False
        low = head.lower()
        if b"\r\ncontent-type: text/event-stream" in low and method != "HEAD":
            return status, False
        if method != "HEAD" and status not in (204, 304):
            if found := re.search(rb"\r\ncontent-length: *(\d+)", low):
                self._take(int(found[1]))
            elif b"\r\ntransfer-encoding: chunked" in low:
                while size := int(self._until(b"\r\n"), 16):
                    self._take(size + 2)
                self._take(2)
        return status, b"\r\nconnection: close" not in low

    def _until(self, end: bytes) -> bytes:
        while (at := self._in.find(end)) < 0:
            self._read()
        found, self._in = self._in[:at], self._in[at + len(end) :]
        return found

    def _take(self, size: int) -> None:
        while len(self._in) < size:
            self._read()
        self._in = self._in[size:]

    def _read(self) -> None:
        while True:
            readable, writable, _ = select.select([self._socket], [self._socket] if self._out else [], [], PATIENCE)
            if not readable and not writable:
                raise TimeoutError
            try:
                if writable:
                    self._out = self._out[self._socket.send(self._out[:65_536]) :]
                if readable:
                    came = self._socket.recv(262_144)
                    if not came:
                        raise Ended
                    self._in += came
                    return
            except BlockingIOError:
                continue
            except (ConnectionError, BrokenPipeError):
                if not readable:
                    self._out = b""  # what was answered before may still be read
                    continue
                raise Ended from None


def attack(address: tuple[str, int], hostile: Hostile, count: int, chance: random.Random, told: Told) -> list[str]:
    """Send requests until so many more are answered; those that were answered by 5xx, as text."""
    bad, until = [], told.answered + count
    connection: Connection | None = None
    while told.answered < until:
        waiting = deque(hostile.requests(chance.choice((1, 2, 8, TOGETHER))))
        is_last = chance.random() < 0.05
        if is_last:
            waiting.append(hostile.attack())
        connection = connection or Connection(address)
        connection.send(b"".join(sent for _, sent in waiting))
        goes_on = True
        try:
            while waiting and goes_on:
                status, goes_on = connection.answer(waiting[0][0])
                told.statuses[status] += 1
                _, sent = waiting.popleft()
                if status >= 500:
                    bad.append(f"{status} {sent[:600]!r}")
        except Ended:
            goes_on = False
        except (TimeoutError, ValueError) as error:
            goes_on = False
            bad.append(f"{type(error).__name__} {error}: no answer to {waiting[0][1][:600]!r}")
            told.faults.append(bad[-1])
            print("  " + bad[-1], flush=True)
        told.cut += len(waiting)
        if not goes_on or is_last:
            connection.close()
            connection = None
    if connection is not None:
        connection.close()
    return bad


# ── The service ───────────────────────────────────────────────────────────────────────────────────────────────


def _begun(process: subprocess.Popen[bytes], log: Path) -> re.Match[str] | None:
    """Where it says that it serves."""
    written = log.read_text("utf-8")
    assert process.poll() is None, written
    return re.search(r"^service +(\S+)", written, re.MULTILINE)


@contextmanager
def serving(
    path: Path, database: Path, log: Path, settings: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], tuple[str, int]]]:
    command = [sys.executable, "-m", "ninefold", "serve", str(path), "--database", str(database), "--log", "json"]
    command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0", "--trusted-proxy", "127.0.0.1/32"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            found = until(lambda: _begun(process, log), lambda: f"{path} is not served: {log.read_text('utf-8')}")
            parts = urlsplit(found[1])
            yield process, (parts.hostname or "", parts.port or 80)
        finally:
            process.kill()


def judged(process: subprocess.Popen[bytes], log: Path, statuses: Counter[int]) -> tuple[list[str], Counter[str]]:
    """What is wrong with how the service went through it, and why it answered 5xx."""
    faults, why, explained = [], Counter[str](), Counter[int]()
    if process.poll() is not None:
        faults.append(f"the service ended by itself: {process.returncode}")
    process.send_signal(signal.SIGTERM)
    try:
        if process.wait(PATIENCE) != 0:
            faults.append(f"it ended with {process.returncode}")
    except subprocess.TimeoutExpired:
        faults.append("it did not stop")
    for line in log.read_text("utf-8", "replace").splitlines():
        if "Traceback" in line:
            faults.append("a traceback: " + line)
        row = json.loads(line) if line.startswith('{"time"') else {}
        if (row.get("status") or 0) >= 500 and row["reasons"]:
            explained[row["status"]] += 1
            why.update(f"{row['status']} {each['condition']}" for each in row["reasons"])
    faults += [f"`internal`, {count} times" for told, count in why.items() if told.endswith(" internal")]
    for status, count in statuses.items():
        if status >= 500 and explained[status] < count:
            faults.append(f"{count} answers of {status}, and the log says why of {explained[status]}")
    return faults, why


def against(path: Path, count: int, chance: random.Random, told: Told) -> None:
    stated = of(path)
    assert stated is not None
    plan, checked = stated
    before = Counter(told.statuses)
    with tempfile.TemporaryDirectory() as name, providing() as provider:
        folder = Path(name)
        world = made(plan, checked, folder / "rows.db", given(plan, provider), provider)
        with httpx.Client() as nobody:
            good = good_requests(Asking(world, nobody, plan, provider), chance)
        if all(each.looks_at_password for each in good):
            print(f"{title(path):60} not asked: each request looks at a password, or there is none", flush=True)
            return
        log = folder / "log"
        with serving(path, world.path, log, world.given) as (process, address):
            began = time.monotonic()
            bad = attack(address, Hostile(good, chance), count, chance, told)
            seconds = time.monotonic() - began
            statuses = told.statuses - before
            faults, why = judged(process, log, statuses)
    classes = Counter[str]()
    for status, answers in statuses.items():
        classes[f"{status // 100}xx"] += answers
    what = f"{dict(sorted(classes.items()))} {dict(why)}"
    print(f"{title(path):60} {statuses.total():8} answered in {seconds:6.1f} s  {what}", flush=True)
    if faults:
        told.faults += [f"{title(path)}: {each}" for each in (*faults, *bad[:20])]
        print("  " + "\n  ".join((*faults, *bad[:20])), flush=True)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    options.add_argument("--answered", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    options.add_argument("--contract", default="", help="only those in whose names it is")
    asked = options.parse_args()
    print(f"--seed {asked.seed}", flush=True)
    paths = [each for each in ALL if asked.contract in title(each) and of(each) is not None]
    told = Told()
    for number, path in enumerate(paths):
        if (count := (asked.answered - told.answered) // (len(paths) - number)) > 0:
            against(path, count, random.Random(f"{asked.seed} {title(path)}"), told)
    print(f"{told.answered} requests answered by {len(paths)} services, {told.cut} not read; {len(told.faults)} faults")
    print("statuses:", dict(sorted(told.statuses.items())))
    return 1 if told.faults else 0


if __name__ == "__main__":
    sys.exit(main())
