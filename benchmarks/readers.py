"""What a request costs where `serve --readers` has it answered: by a process that reads, or passed on by one.

    python benchmarks/readers.py [--rounds 6]

The contract is `peers/orders.md`, and the same with a rate that counts each of its requests. One service has no
processes beside the first, the other has one; each has 16 connections that are asked in turn, without pause: all at the
process that is measured, which of the shared port's connections are its own is told by the system (Linux). CPU is that
of all processes of a service, as the scheduler accounts it, in µs a request: of the one that writes, and of the one
that reads. The services take turns, and medians of the rounds are printed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import peers

CONNECTIONS = 16
REQUESTS = 1_500
ORDERS = 6_000
RATES = (
    "rates: none",
    "rates:\n  all: {of: caller, allow: 1000000000, per: PT1H, algorithm: token bucket, burst: 1000000000,"
    " endpoints: [POST /orders, 'GET /orders/{id}']}\nrate headers: [RateLimit]",
)


class Service:
    def __init__(self, contract: Path, database: Path, readers: int) -> None:
        command = [sys.executable, "-m", "ninefold", "serve", str(contract), "--database", str(database)]
        command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0", "--readers", str(readers)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        said = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said += line
            if found := re.match(r"service +http://(\S+):(\d+)", line):
                self.address = found[1], int(found[2])
            if line.startswith("Try:"):
                break
        else:
            raise SystemExit(said)
        self.log = subprocess.Popen(["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL)
        self.readers: list[int] = []
        while len(self.readers) < readers:
            time.sleep(0.2)
            listed = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True
            )
            self.readers = [int(each) for each in listed.stdout.split()]
        time.sleep(3)

    def connections(self, pid: int) -> list[socket.socket]:
        """Those that this process has taken."""
        found: list[socket.socket] = []
        while len(found) < CONNECTIONS:
            new = [socket.create_connection(self.address) for _ in range(8)]
            for each in new:
                each.sendall(b"OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n")
                each.recv(4096)
            held = {os.readlink(each) for each in links(pid)}
            inodes = theirs(self.address[1])
            for each in new:
                (found.append if inodes.get(each.getsockname()[1]) in held else socket.socket.close)(each)
        return found[:CONNECTIONS]

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.log.wait()


def links(pid: int) -> Iterator[Path]:
    yield from Path(f"/proc/{pid}/fd").iterdir()


def theirs(port: int) -> dict[int, str]:
    """By the port of a client, the socket of the service's end."""
    found = {}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].split(":")[1], 16) == port:
            found[int(fields[2].split(":")[1], 16)] = f"socket:[{fields[9]}]"
    return found


def spent(pid: int) -> int:
    """Nanoseconds of CPU of all threads."""
    return sum(int((each / "schedstat").read_text().split()[0]) for each in Path(f"/proc/{pid}/task").iterdir())


def ask(connections: list[socket.socket], requests: list[bytes], status: bytes) -> None:
    waiting = {each.fileno(): each for each in connections}
    queue = list(requests)
    poll = select.epoll()
    for each in connections:
        poll.register(each, select.EPOLLIN)
        each.sendall(queue.pop())
    left = len(requests)
    while left:
        for number, _ in poll.poll():
            came = waiting[number].recv(1 << 20)
            assert came.startswith(b"HTTP/1.1 " + status), came
            left -= 1
            if queue:
                waiting[number].sendall(queue.pop())
    poll.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    rounds = parser.parse_args().rounds
    peers.ORDERS = ORDERS
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), rounds)


def measure(folder: Path, rounds: int) -> None:
    rows = peers.fill(folder)
    contract = peers.HERE / "orders.md"
    counted = folder / "counted.md"
    counted.write_text(contract.read_text().replace(*RATES))
    print(
        f"| CPU µs a request, medians of {rounds} rounds of {REQUESTS} | alone | of it the writer, of it the reader |"
    )
    print("| --- | --- | --- |")
    for name, document in (("", contract), (", counted by a rate", counted)):
        with ExitStack() as stack:
            services = []
            for number in range(2):
                own = folder / f"{number}{len(name)}.db"
                own.write_bytes(rows.ninefold.read_bytes())
                services.append(Service(document, own, number))
                stack.callback(services[-1].end)
            for subject in ("read one", "create"):
                print(row(subject + name, services, requests_of(rows, subject), rounds), flush=True)


def requests_of(rows: peers.Rows, subject: str) -> list[bytes]:
    chance, asked = random.Random(1), [line.split() for line in rows.asked.read_text().splitlines()]
    body = b'{"sku":"ABC-123","quantity":3,"unit_price":1999}'
    more = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    found = []
    for _ in range(REQUESTS):
        token, path = (each.encode() for each in chance.choice(asked))
        line = b"GET " + path if subject == "read one" else b"POST /orders"
        head = b"%b HTTP/1.1\r\nhost: a\r\nauthorization: Bearer %b\r\n" % (line, token)
        found.append(head + (b"\r\n" if subject == "read one" else more))
    return found


def row(name: str, services: list[Service], requests: list[bytes], rounds: int) -> str:
    alone, together = services
    status = b"201" if name.startswith("create") else b"200"
    took: list[tuple[float, float, float]] = []
    for _ in range(rounds + 1):
        connections = alone.connections(alone.process.pid)
        before = spent(alone.process.pid)
        ask(connections, requests, status)
        single = spent(alone.process.pid) - before
        connections += (others := together.connections(together.readers[0]))
        pids = together.process.pid, together.readers[0]
        before_each = [spent(each) for each in pids]
        ask(others, requests, status)
        time.sleep(0.2)
        writer, reader = (spent(each) - had for each, had in zip(pids, before_each, strict=True))
        took.append((single, writer, reader))
        for each in connections:
            each.close()
    single, writer, reader = (median(each) / len(requests) / 1000 for each in zip(*took[1:], strict=True))
    return f"| {name} | {single:.0f} | {writer:.0f} + {reader:.0f} |"


if __name__ == "__main__":
    main()
