"""How long a reader waits while others create at full load, with the checkpoints that this takes.

    python benchmarks/beside_creates.py                 three rounds of 6 s
    python benchmarks/beside_creates.py --base REV      beside the sources of another commit, the two in turn

wrk creates orders of `peers/orders.md` over 32 connections, then over 400, among 100,000 orders. Meanwhile this program
reads single orders, one each 2 ms, over a connection that it has kept, and once over one that it makes while those who
create are still connecting. Printed are medians of the rounds: in milliseconds the median and the 99th percentile of
the reads, the first answer on the new connection, and the 99th percentile of the creates; creates a second; and the
megabytes to which the write-ahead log grew.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import peers

import door

CREATORS = (32, 400)
PAUSE = 0.002
CONNECTING_SECONDS = 0.3
"""From the first of those who create until the new connection is made."""

COLUMNS = ("read p50", "read p99", "new", "create p99", "creates/s", "log MB")


class Reader:
    """A connection that reads."""

    def __init__(self, address: str, asked: list[list[str]]) -> None:
        host, port = address.removeprefix("http://").split(":")
        self._connection = socket.create_connection((host, int(port)))
        self._asked = asked

    def read(self) -> float:
        """The milliseconds that one order took."""
        token, path = random.choice(self._asked)
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode("ascii")
        began = time.perf_counter()
        self._connection.sendall(request)
        answer = self._connection.recv(64 * 1024)
        if answer[9:12] != b"200":
            raise SystemExit(f"a read was answered {answer!r}")
        return (time.perf_counter() - began) * 1_000

    def close(self) -> None:
        self._connection.close()


@contextmanager
def growing(log: Path, found: list[float]) -> Iterator[None]:
    """Notes the megabytes of a file, again and again."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            found.append(log.stat().st_size / 1e6)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join()


def measured(rows: peers.Rows, folder: Path, creators: int, seconds: float) -> tuple[float, ...]:
    """One round, in the order of `COLUMNS`."""
    asked = [line.split() for line in rows.asked.read_text(encoding="ascii").splitlines()]
    with peers.served(peers.CANDIDATES[0], rows.ninefold, folder) as (address, _):
        for subject in ("read", "create"):
            peers.ask(address, subject, rows.asked, 1)
        kept, log, taken = Reader(address, asked), list[float](), list[float]()
        command = [*peers.on_core(1), "wrk", "-t1", f"-c{creators}", f"-d{seconds:g}s", "--latency", "--timeout", "30s"]
        command += ["-s", str(peers.HERE / "requests.lua"), address, "--", "create", str(rows.asked)]
        with growing(folder / "served.db-wal", log):
            end = time.monotonic() + seconds
            creating = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            time.sleep(CONNECTING_SECONDS)
            late = Reader(address, asked)
            new = late.read()
            while time.monotonic() < end:
                taken.append(kept.read())
                time.sleep(PAUSE)
            told = json.loads(creating.communicate()[0].splitlines()[-1])
        kept.close()
        late.close()
    rate = told["requests"] / told["microseconds"] * 1e6
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98], new, told["p99"] / 1e3, rate, max(log)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", metavar="REV", help="compare with the sources of this commit")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6)
    arguments = parser.parse_args()
    print("| creators | sources |", " | ".join(COLUMNS), "|\n| --- | --- |", " --- |" * len(COLUMNS))
    before = nullcontext() if arguments.base is None else door.sources(arguments.base)
    with tempfile.TemporaryDirectory() as name, before as base:
        rows = peers.fill(Path(name))
        sides = {"now": peers.HOUSE / "src"} if base is None else {arguments.base: base, "now": peers.HOUSE / "src"}
        for creators in CREATORS:
            rounds: dict[str, list[tuple[float, ...]]] = {side: [] for side in sides}
            for _ in range(arguments.rounds):
                for side, source in sides.items():
                    os.environ["PYTHONPATH"] = str(source)
                    rounds[side].append(measured(rows, Path(name), creators, arguments.seconds))
            for side, found in rounds.items():
                medians = (f"{statistics.median(each):.1f}" for each in zip(*found, strict=True))
                print(f"| {creators} | {side} |", " | ".join(medians), "|", flush=True)


if __name__ == "__main__":
    main()
