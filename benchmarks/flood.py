"""What a flood of sign ins, or of reads, from some addresses leaves to others.

    PYTHONPATH=src python benchmarks/flood.py [--addresses 20] [--at-once 10] [--seconds 10]

Serves a contract as a process of its own. From each address (127.0.0.2 and on, which Linux admits) so many
connections ask again as soon as they are answered: they sign in with a wrong password, or read. Meanwhile another
address (127.0.0.1) reads and signs in, one request after another. Printed are the statuses that the flood got and how
long it waited for them at most, and how long the other address waited.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Event as event
from multiprocessing import Process, Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from sign_in import CONTRACT

Told: TypeAlias = tuple[dict[int, int], float]
"""The statuses, and the longest wait in seconds."""

RIGHT, WRONG = "a long password of hers", "a long password of nobody"


class Caller:
    """Asks from an address, and notes the statuses and the seconds of the answers."""

    def __init__(self, service: tuple[str, int], address: str) -> None:
        self.statuses: Counter[int] = Counter()
        self.seconds: dict[str, list[float]] = {"sign in": [], "read": []}
        self._connection = http.client.HTTPConnection(*service, timeout=120, source_address=(address, 0))

    def asks(self, what: str, password: str = WRONG) -> None:
        began = time.monotonic()
        if what == "sign in":
            body = json.dumps({"email": "ann@example.org", "password": password})
            self._connection.request("POST", "/sessions", body, {"content-type": "application/json"})
        else:
            self._connection.request("GET", "/nothing")
        answer = self._connection.getresponse()
        answer.read()
        self.statuses[answer.status] += 1
        self.seconds[what].append(time.monotonic() - began)


@contextmanager
def serving() -> Iterator[tuple[str, int]]:
    with tempfile.TemporaryDirectory() as folder:
        contract = Path(folder, "users.yaml")
        contract.write_bytes(CONTRACT.strip() + b"\n")
        command = [sys.executable, "-m", "ninefold", "serve", str(contract), "--database", f"{folder}/users.db"]
        command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            try:
                found = next(filter(None, (re.match(r"service\s+(\S+)", line) for line in process.stdout)))
                reading = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
                parts = urlsplit(found[1])
                yield parts.hostname or "", parts.port or 80
            finally:
                process.terminate()
                process.wait()
                reading.wait()


def flooding(service: tuple[str, int], what: str, addresses: int, at_once: int, over: Event, told: Queue[Told]) -> None:
    """In a process of its own, so that only the service is what the other address waits for."""
    callers = [Caller(service, f"127.0.0.{2 + number}") for number in range(addresses) for _ in range(at_once)]

    def again_and_again(caller: Caller) -> None:
        while not over.is_set():
            caller.asks(what)

    threads = [threading.Thread(target=again_and_again, args=(each,)) for each in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    longest = max(second for each in callers for second in each.seconds[what])
    told.put((dict(sum((each.statuses for each in callers), Counter[int]())), longest))


def flood(service: tuple[str, int], what: str, addresses: int, at_once: int, seconds: float) -> None:
    over = event()
    told: Queue[Told] = Queue()
    process = Process(target=flooding, args=(service, what, addresses, at_once, over, told))
    process.start()
    time.sleep(1)
    other = Caller(service, "127.0.0.1")
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for each in ("read", "sign in"):
            other.asks(each, RIGHT)
    over.set()
    statuses, longest = told.get()
    process.join()
    print(f"\n{addresses * at_once} connections of {addresses} addresses: {what}")
    print(f"  they got {statuses}, and waited {longest:.2f} s at most")
    print(f"  the other address got {dict(other.statuses)}")
    for name, times in other.seconds.items():
        print(f"  its {name}: median {statistics.median(times) * 1e3:.1f} ms, {max(times) * 1e3:.1f} ms at most")


def main() -> None:
    options = argparse.ArgumentParser(description="What a flood leaves to others.")
    for name, default in (("addresses", 20), ("at-once", 10), ("seconds", 10)):
        options.add_argument(f"--{name}", type=int, default=default)
    asked = options.parse_args()
    os.environ.setdefault("PYTHONPATH", "src")
    with serving() as service:
        connection = http.client.HTTPConnection(*service)
        body = json.dumps({"email": "ann@example.org", "password": RIGHT})
        connection.request("POST", "/users", body, {"content-type": "application/json"})
        assert connection.getresponse().status == 201
        for what in ("sign in", "read"):
            flood(service, what, asked.addresses, asked.at_once, asked.seconds)


if __name__ == "__main__":
    main()
