"""What a write costs while streams are open for whom nothing happens.

    PYTHONPATH=src python benchmarks/idle_streams.py [--streams 10000] [--callers 100] [--writes 1000] [--rounds 11]

Serves one contract twice, each as a process of its own with a database of its own: to one of them so many streams are
open over real sockets, to the other none. Writes go to both in turn, over four connections; each write is an event that
none of those who listen may see. Printed is the processor time of the process for one write: the median of the rounds.
What streams cost without any writes (a sign of life each 15 seconds, credentials that may have ended) is in it, and is
printed besides.

Needs Linux (/proc), and as many open files as there are streams, in this process and in the service:
`ulimit -n 20000`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

CONNECTIONS = 4

CONTRACT = """
purpose: Keeps notes, which their owners hear of.
resources:
  person:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      role:  {type: string}
      token: {type: string, secret: token, on create: token()}
    required: [role]
  note:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      owner: {references: person, on create: caller.person, on delete: restrict}
      title: {type: string}
    required: [title]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /people: {does: create person, body: [role], responses: {201: {token: issued.token}}}
  POST /notes:  {does: create note, body: [title], responses: {201: note}}
  GET /events:  {does: stream event, responses: {200: stream}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: person.token}}
  rows:
    person: {key: true, anyone: true}
    note:   {key: "caller.person.role == 'staff' || note.owner == caller.person"}
  unseen rows: not found
  permissions: {POST /people: anyone, all others: key}
events:
  kinds: {noted: {upon: create note, payload: note}}
  delivery: {stream: server-sent events, envelope: none}
  kept: PT1H
errors: none
limits: none
versioning: none
"""


class Service:
    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        parts = urlsplit(url)
        self.address = (parts.hostname or "", parts.port or 80)
        self.pid = process.pid
        self.key = {"authorization": f"Bearer {self.person()}"}

    def person(self) -> str:
        [made] = self.posted("/people", [{"role": "member"}], {})
        return str(made["token"])

    def posted(self, path: str, bodies: Iterable[object], headers: dict[str, str]) -> list[dict[str, object]]:
        """What comes of requests that follow each other on one connection."""
        connection, found = http.client.HTTPConnection(*self.address, timeout=60), []
        for body in bodies:
            connection.request("POST", path, json.dumps(body), {"content-type": "application/json", **headers})
            answer = connection.getresponse()
            content = answer.read()
            assert answer.status == 201, (answer.status, content)
            found.append(json.loads(content))
        connection.close()
        return found

    def cpu(self) -> float:
        """Seconds of processor time of all its threads so far."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def write(self, count: int) -> float:
        """Milliseconds of processor time for one write, of so many."""
        began = self.cpu()
        bodies = [{"title": f"{number}"} for number in range(count // CONNECTIONS)]
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(lambda _: self.posted("/notes", bodies, self.key), range(CONNECTIONS)))
        return (self.cpu() - began) / (len(bodies) * CONNECTIONS) * 1000

    def listen(self, token: str) -> socket.socket:
        stream = socket.create_connection(self.address, timeout=60)
        stream.sendall(f"GET /events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n".encode())
        head = stream.recv(1024)
        assert head.startswith(b"HTTP/1.1 200 "), head
        return stream


@contextmanager
def serving(folder: Path, text: str = CONTRACT) -> Iterator[Service]:
    folder.mkdir()
    contract = folder / "notes.yaml"
    contract.write_text(text.strip() + "\n")
    command = [sys.executable, "-m", "ninefold", "serve", str(contract), "--database", str(folder / "notes.db")]
    command += ["--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        reading = None
        try:
            found = next(filter(None, (re.match(r"service\s+(\S+)", line) for line in process.stdout)), None)
            if found is None:
                raise SystemExit("the service did not start")
            # What else it says goes where nobody reads it.
            reading = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
            yield Service(process, found[1])
        finally:
            process.terminate()
            process.wait()
            if reading is not None:
                reading.wait()


def main() -> None:
    options = argparse.ArgumentParser(description="What a write costs while streams are open.")
    for name, default in (("streams", 10_000), ("callers", 100), ("writes", 1_000), ("rounds", 11)):
        options.add_argument(f"--{name}", type=int, default=default)
    asked = options.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    assert most > asked.streams + 100, f"{most} files may be open: too few for {asked.streams} streams"
    os.environ.setdefault("PYTHONPATH", "src")
    with tempfile.TemporaryDirectory() as folder:
        with serving(Path(folder) / "with") as busy, serving(Path(folder) / "without") as quiet:
            tokens = [busy.person() for _ in range(asked.callers)]
            began = time.monotonic()
            streams = [busy.listen(tokens[number % asked.callers]) for number in range(asked.streams)]
            print(f"{len(streams)} streams of {asked.callers} callers, opened in {time.monotonic() - began:.1f} s")
            for each in (busy, quiet):
                each.write(asked.writes)
            found: dict[str, list[float]] = {"without streams": [], "with streams": []}
            for _ in range(asked.rounds):
                found["without streams"].append(quiet.write(asked.writes))
                found["with streams"].append(busy.write(asked.writes))
            before = busy.cpu()
            time.sleep(10)
            resting = (busy.cpu() - before) / 10
            for stream in streams:
                stream.close()
    for what, times in found.items():
        first, median, third = statistics.quantiles(times, n=4)
        print(f"{what:>15}: median {median:.3f} ms a write, half of them from {first:.3f} to {third:.3f}")
    without, with_streams = (statistics.median(times) for times in found.values())
    print(f"difference: {(with_streams / without - 1) * 100:+.1f} %; while nothing is written: {resting:.1%} of a core")


if __name__ == "__main__":
    main()
