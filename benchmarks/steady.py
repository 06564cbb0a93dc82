"""Whether writes stay as quick as they began, and the log of SQLite as small, for ten minutes under full load.

    python benchmarks/steady.py [--minutes 10] [--subject create]

`peers/orders.md` is served over 100,000 rows, and 32 connections write without pause. Told of each minute are requests
a second, CPU of a request, the median of the 99th percentiles of its windows of ten seconds and the largest of them,
and how large the write-ahead log was at most, looked at ten times a second.
Needs Linux (/proc) and wrk.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Event, Thread

import peers

WINDOW = 10.0
"""Seconds."""

LOOKS = 0.1


class Log:
    """How long a file was at most since it was asked."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._most = 0
        self._over = Event()

    def look(self) -> None:
        while not self._over.wait(LOOKS):
            self._most = max(self._most, self._file.stat().st_size if self._file.exists() else 0)

    def most(self) -> int:
        found, self._most = self._most, 0
        return found

    def end(self) -> None:
        self._over.set()


@contextmanager
def looked_at(file: Path) -> Iterator[Log]:
    log = Log(file)
    thread = Thread(target=log.look)
    thread.start()
    try:
        yield log
    finally:
        log.end()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--subject", choices=("create", "move"), default="create")
    parser.add_argument("--window", type=float, default=WINDOW, help="seconds")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("the load is made by wrk (https://github.com/wg/wrk), which is not on the PATH")
    print(f"{peers.machine()}; {peers.SUBJECTS[arguments.subject]}, {peers.CONNECTIONS} connections\n")
    print("| minute | requests/s | CPU µs | p99 ms, median | p99 ms, most | log, MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = peers.fill(folder, others=False)
        with (
            peers.served(peers.CANDIDATES[0], rows.ninefold, folder) as (address, process),
            looked_at(folder / "served.db-wal") as log,
        ):
            peers.ask(address, arguments.subject, rows.asked, 1)
            for minute in range(1, arguments.minutes + 1):
                waits, requests, microseconds, before = [], 0, 0, peers.cpu(process)
                log.most()
                for _ in range(round(60 / arguments.window)):
                    told = peers.ask(address, arguments.subject, rows.asked, arguments.window)
                    waits.append(told["p99"] / 1e3)
                    requests += told["requests"]
                    microseconds += told["microseconds"]
                cpu = (peers.cpu(process) - before) / requests * 1e6
                print(
                    f"| {minute} | {requests / microseconds * 1e6:,.0f} | {cpu:.0f} | {median(waits):.1f} | "
                    f"{max(waits):.1f} | {log.most() / 1e6:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
