"""Answers that nobody reads, of every kind: what they take of memory is bounded all together."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import plan_of

from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.streams import Streams
from ninefold.runtime.http.wire import ServerSentEvents
from ninefold.runtime.operations.flow import Chunk
from ninefold.runtime.operations.stream import CHUNK_BYTES, _shown
from ninefold.runtime.request.service import ready
from ninefold.runtime.store.protocol import Unavailable
from ninefold.runtime.store.sqlite import Opened, open_sqlite

CONTRACT = """purpose: Keeps notes.
resources:
  note:
    primary key: id
    fields:
      id:   {type: string, format: uuid, on create: uuid()}
      text: {type: string, maxLength: 100000}
    required: [text]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: [text], responses: {201: {id: note.id}}}
  GET /notes:  {does: list note, query: none, sort: none, pages: {by: none}, responses: {200: page.items}}
  GET /events: {does: stream event, responses: {200: stream}}
authentication:
  schemes: none
  permissions: {all others: anyone}
  rows: all
  unseen rows: not found
events:
  kinds: {note.made: {upon: create note, payload: note}}
  delivery:
    webhooks: none
    stream: [server-sent events, websocket]
    envelope: {format: cloudevents 1.0, source: "'/notes'"}
  kept: P7D
errors: none
limits: {rates: none, body size: 1 MiB, timeout: none}
versioning: none
"""

SERVED = """
import asyncio, socket, sys
from ninefold.pipeline import compile_document
from ninefold.runtime.http.app import Application
from ninefold.pipeline import compile_document
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.http.run import serve
from ninefold.runtime.request.service import ready
from ninefold.runtime.store.sqlite import open_sqlite
plan = compile_document("notes.yaml", sys.stdin.buffer.read()).plan
database = open_sqlite(sys.argv[1], plan.schema).database
service = Application(ready(plan, database.key("cursors")), database, capacity=Capacity(most_bytes=8_000_000))
asyncio.run(serve(service, [socket.socket(fileno=int(sys.argv[2]))]))
"""

ROWS, LONG = 100, 40_000
ASKED = 60

WEBSOCKET = (
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)

KINDS = {
    "lists": (b"GET /notes", b""),
    "server-sent events": (b"GET /events", b"Last-Event-ID: 0\r\n"),
    "websockets": (b"GET /events", b"Last-Event-ID: 0\r\n" + WEBSOCKET),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, tuple[str, int]]]:
    """The number of a process that serves rows of 4 MB, and where."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1_000)
    address = listening.getsockname()
    root = str(Path(__file__).parents[2])
    places = os.pathsep.join([root, *(entry for entry in sys.path if entry)])
    file = str(tmp_path_factory.mktemp("notes") / "a.db")
    command = [sys.executable, "-c", SERVED, file, str(listening.fileno())]
    environment = {**os.environ, "PYTHONPATH": places}
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listening.fileno()], env=environment) as child:
        listening.close()
        try:
            assert child.stdin is not None
            child.stdin.write(CONTRACT.encode())
            child.stdin.close()
            with httpx.Client(base_url=f"http://127.0.0.1:{address[1]}", timeout=60) as http:
                for _ in range(ROWS):
                    assert http.post("/notes", json={"text": "a" * LONG}).status_code == 201
            yield child.pid, address
        finally:
            child.send_signal(signal.SIGKILL)


def highest(process: int) -> int:
    """MiB of memory, at most, since it was last forgotten (proc_pid_clear_refs(5))."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


@pytest.mark.serves
@pytest.mark.slow
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="memory is read from /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_reads_takes_no_more_than_there_is_room_for(served: tuple[int, tuple[str, int]], kind: str) -> None:
    process, address = served
    line, fields = KINDS[kind]
    Path(f"/proc/{process}/clear_refs").write_text("5")
    before = highest(process)
    with ExitStack() as open_:
        connections = []
        for _ in range(ASKED):
            connection = open_.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(60)
            connection.connect(address)
            connection.sendall(line + b" HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n")
            connections.append(connection)
        heads = [connection.recv(12) for connection in connections]
        assert set(heads) <= {b"HTTP/1.1 200", b"HTTP/1.1 101", b"HTTP/1.1 503"} and len(set(heads)) <= 2
        begun = [each for each, head in zip(connections, heads, strict=True) if head != b"HTTP/1.1 503"]
        assert begun
        for connection in begun:
            # Behind the head there is something of what it is about; on a slow machine it may have been cut off.
            with suppress(ConnectionError):
                connection.recv(2_000, socket.MSG_WAITALL)
        # 240 MB were asked for: read all at once, or held twice, they would be there.
        assert highest(process) < before + 120


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_response_counts_until_it_is_sent_also_where_only_its_head_is(tmp_path: Path, method: str) -> None:
    plan = plan_of(CONTRACT, "notes.yaml")
    opened = open_sqlite(str(tmp_path / "a.db"), plan.schema)
    assert isinstance(opened, Opened)
    capacity = Capacity()
    application = Application(ready(plan, opened.database.key("cursors")), opened.database, capacity=capacity)
    counted: list[int] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        counted.append(capacity.bytes)

    async def asked() -> None:
        wait = httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://x")
        assert (await wait.post("/notes", json={"text": "a" * LONG})).status_code == 201
        scope = {"type": "http", "method": method, "path": "/notes", "query_string": b"", "headers": ()}
        await application(scope, receive, send)

    try:
        asyncio.run(asked())
    finally:
        application.close()
        opened.database.close()
    assert LONG < counted[0] < 2 * LONG and capacity.bytes == 0


def test_what_a_stream_tells_counts_until_it_is_taken_and_needs_room() -> None:
    """Little always has room, and what is little goes together."""
    capacity = Capacity(most_bytes=100_000)
    sent: list[tuple[int, int]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append((len(message["body"]), capacity.bytes))

    wire = ServerSentEvents(receive, send, lambda _: False)
    streams = Streams(None, None, None, capacity)  # type: ignore[arg-type]
    events = (b"a" * 60_000, b"b" * 10_000, b"c" * 5_000, b"d" * 5_000)
    assert asyncio.run(streams._said(wire, events)) == 80_000
    assert sent == [(60_000, 80_000), (15_000, 80_000), (5_000, 80_000)]
    assert capacity.bytes == 0
    capacity.bytes = 50_000
    with pytest.raises(Unavailable):
        asyncio.run(streams._said(wire, events))
    capacity.bytes = 200_000
    assert asyncio.run(streams._said(wire, events[2:])) == 10_000
    assert capacity.bytes == 200_000


async def receive() -> dict[str, Any]:
    await asyncio.Event().wait()
    raise AssertionError


def test_events_are_told_a_bounded_part_at_a_time() -> None:
    rows = [(at, 1, f"{at}", "note.made", "1", "now", "a" * 50_000) for at in range(1, 101)]

    def shown(position: int) -> Chunk:
        return _shown(lambda id, event: event.payload.encode(), str, rows[position:], position)

    position, told = 0, 0
    while (chunk := shown(position)).events:
        assert sum(map(len, chunk.events)) < CHUNK_BYTES + 50_000
        assert chunk.more == (chunk.position < 100 or len(rows[position:]) == 100)
        position, told = chunk.position, told + len(chunk.events)
    assert (position, told) == (100, 100)
