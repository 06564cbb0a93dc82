"""Events over WebSocket (RFC 6455): the handshake, the messages, and why it is closed. What streams have in common
is asked of both in `test_stream.py` and `test_standing.py`."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha1
from itertools import takewhile
from pathlib import Path
from time import monotonic

import httpx
import pytest
import uvicorn
from tests.door.fronts import FRONTS, before
from tests.events.service import CONTRACT, Running, bound, running
from tests.events.stream import over_websocket
from tests.waiting import until

import ninefold
from ninefold.runtime.http import streams

pytestmark = pytest.mark.serves

BOTH = "[server-sent events, websocket]"
KEY = base64.b64encode(b"a key of 16 byte").decode()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db") as service:
        yield service


def serving(*changes: tuple[str, str]) -> str:
    contract = CONTRACT
    for old, new in changes:
        assert old in contract
        contract = contract.replace(old, new)
    return contract


def handshake(service: Running, headers: dict[str, str], path: str = "/events", **more: str) -> bytes:
    asked = {
        "Host": "x",
        "Connection": "keep-alive, Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": KEY,
        **headers,
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in asked.items() if value), "", ""]
    return "\r\n".join(lines).encode()


@contextmanager
def raw(service: Running, buffer: int | None = None) -> Iterator[socket.socket]:
    """`buffer`: bytes, about, that the machine takes of what either side does not read."""
    with socket.socket() as connection:
        if buffer is not None:
            bound(connection, buffer)
        connection.connect((service.http.base_url.host, service.http.base_url.port or 0))
        connection.settimeout(60)
        yield connection


def head_of(connection: socket.socket) -> str:
    received = b""
    while not received.endswith(b"\r\n\r\n"):
        received += connection.recv(1)
    return received.decode("latin-1").lower()


def frame(opcode: int, payload: bytes = b"", length: int | None = None) -> bytes:
    """A frame of a client. `length`: what it says, if it says more than has come."""
    mask, size = os.urandom(4), len(payload) if length is None else length
    sizes = bytes((0x80 | size,)) if size < 126 else b"\xff" + struct.pack(">Q", size)
    return bytes((0x80 | opcode,)) + sizes + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


def exactly(connection: socket.socket, size: int) -> bytes:
    """So many bytes. (MSG_WAITALL gives fewer where a connection has a time limit.)"""
    received = b""
    while len(received) < size:
        more = connection.recv(size - len(received))
        assert more, "the connection has ended"
        received += more
    return received


def frame_of(connection: socket.socket) -> tuple[int, bytes]:
    """The next short one that comes."""
    opcode, size = exactly(connection, 2)
    assert size < 126
    return opcode & 15, exactly(connection, size)


def frames(connection: socket.socket) -> list[tuple[int, bytes]]:
    """What comes until the connection ends: opcodes and payloads."""
    received, found = b"", []
    while data := connection.recv(65536):
        received += data
    while received:
        opcode, size, at = received[0] & 15, received[1] & 127, 2
        if size == 126:
            size, at = struct.unpack(">H", received[2:4])[0], 4
        found.append((opcode, received[at : at + size]))
        received = received[at + size :]
    return found


def codes(connection: socket.socket) -> list[int]:
    return [struct.unpack(">H", payload[:2])[0] for opcode, payload in frames(connection) if opcode == 8]


def test_a_handshake_is_accepted_as_the_standard_says(service: Running) -> None:
    ann = service.person("Ann")
    with raw(service) as connection:
        connection.sendall(handshake(service, ann))
        head = head_of(connection)
    accept = base64.b64encode(sha1(f"{KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
    assert head.startswith("http/1.1 101 switching protocols\r\n")
    assert "upgrade: websocket\r\n" in head and "connection: upgrade\r\n" in head
    assert f"sec-websocket-accept: {accept.lower()}\r\n" in head
    assert not any(name in head for name in ("content-type", "transfer-encoding", "cache-control", "extensions"))


def test_a_message_is_an_event_and_where_it_is(service: Running) -> None:
    ann = service.person("Ann")
    with over_websocket(service.http, ann) as stream:
        note = service.note(ann, "tea \u00e9\u2028")
        message = json.loads(stream.connection.recv(20))
    assert list(message) == ["id", "event", "data"]
    assert (message["event"], message["data"]["type"]) == ("note.written", "note.written")
    assert (message["data"]["subject"], message["data"]["data"]["title"]) == (note, "tea \u00e9\u2028")
    with service.http.stream("GET", "/events", headers={**ann, "Last-Event-ID": "0"}) as lines:
        line = next(each for each in lines.iter_lines() if each.startswith("id: "))
    assert line == f"id: {message['id']}"


def test_what_was_seen_last_may_be_told_by_a_parameter(service: Running) -> None:
    ann = service.person("Ann")
    for title in ("one", "two", "three"):
        service.note(ann, title)

    def first(path: str, **headers: str) -> str:
        with over_websocket(service.http, {**ann, **headers}, path) as stream:
            [event] = stream.take(1)
        with service.http.stream("GET", path, headers={**ann, **headers}) as lines:
            read = [next(lines.iter_lines()) for _ in range(1)]
            assert read == [":"]
        ids[event.data["data"]["title"]] = event.id
        return str(event.data["data"]["title"])

    ids: dict[str, str] = {}
    assert first("/events?last-event-id=0") == "one"
    assert first(f"/events?last-event-id={ids['one']}") == "two"
    # A browser that comes again names in the header what it saw since, and its URL is still the first one.
    assert first("/events?last-event-id=0", **{"Last-Event-ID": ids["two"]}) == "three"
    for wrong in ("x", "", "0&last-event-id=0", ids["one"][:-1]):
        assert service.http.get(f"/events?last-event-id={wrong}", headers=ann).status_code == 422
        with over_websocket(service.http, ann, f"/events?last-event-id={wrong}") as stream:
            assert not stream.accepted
    assert service.http.get("/notes?last-event-id=0", headers=ann).status_code in (404, 405)


@pytest.mark.parametrize("sent", [b"", b"a", b"\xff"])
@pytest.mark.parametrize("opcode", [1, 2])
def test_whoever_speaks_is_closed_at_the_first_word(service: Running, opcode: int, sent: bytes) -> None:
    ann = service.person("Ann")
    with raw(service) as connection:
        connection.sendall(handshake(service, ann))
        head_of(connection)
        connection.sendall(frame(opcode, sent, 2**40 if sent == b"a" else None))
        assert codes(connection) in ([1008], [1007] if sent == b"\xff" and opcode == 1 else [1008])


def test_what_is_no_frame_of_a_client_ends_it(service: Running) -> None:
    ann = service.person("Ann")
    for wrong in (b"\x81\x01a", frame(3), b"\xff" + frame(9)[1:], frame(9, b"", 126), b"GET / HTTP/1.1\r\n\r\n"):
        with raw(service) as connection:
            connection.sendall(handshake(service, ann) + wrong)
            head_of(connection)
            assert codes(connection) == [1002], wrong


def test_a_ping_is_answered_and_one_is_sent_in_silence(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", 0.1)
    ann = service.person("Ann")
    with raw(service) as connection:
        connection.sendall(handshake(service, ann))
        head_of(connection)
        began = monotonic()
        connection.sendall(frame(9, b"are you there") + frame(10, b"so am I"))
        answered, pinged, came = (10, b"are you there"), (9, b""), list[tuple[int, bytes]]()
        while not {answered, pinged} <= set(came):
            came.append(frame_of(connection))
        connection.sendall(frame(8, struct.pack(">H", 1000)))
        came += frames(connection)
        most = (monotonic() - began) / streams.CHECK_SECONDS + 1
    assert came.pop() == (8, struct.pack(">H", 1000))
    assert came.count(answered) == 1 and came.count(pinged) == len(came) - 1 <= most


def test_pings_are_read_as_their_answers_are(tmp_path: Path) -> None:
    """What is owed to a client that reads nothing is not heaped up; once it reads, it has the answer to the last. Of
    those that come together the last alone is answered (RFC 6455 5.5.3)."""
    one, buffer = frame(9, b"p" * 125), 65_536
    with running(tmp_path / "service.db", buffer=buffer) as service, raw(service, buffer) as connection:
        connection.sendall(handshake(service, service.person("Ann")))
        head_of(connection)
        connection.setblocking(False)
        sent = waited = 0
        while waited < 50:  # the service goes on answering others, and takes nothing more from this one
            rest = one[sent % len(one) :] + one * 500
            try:
                sent, waited = sent + connection.send(rest), 0
            except BlockingIOError:
                waited += service.http.get("/nothing").status_code == 404
            assert sent < 100 * buffer
        connection.settimeout(60)
        last = threading.Thread(target=connection.sendall, args=[one[sent % len(one) :] + frame(9, b"the last")])
        last.start()
        answers = list(takewhile((10, b"the last").__ne__, iter(lambda: frame_of(connection), None)))
        last.join()
        assert set(answers) == {(10, b"p" * 125)} and len(answers) <= sent // len(one) + 1


def test_whoever_leaves_without_a_code_is_let_go(service: Running) -> None:
    ann = service.person("Ann")
    with raw(service) as connection:
        connection.sendall(handshake(service, ann))
        head_of(connection)
        connection.sendall(frame(8))
        assert frames(connection) == [(8, b"")]


def test_an_ended_credential_is_1008_and_the_end_of_the_service_1001(tmp_path: Path) -> None:
    with running(tmp_path / "service.db") as service:
        ann, bob = service.person("Ann"), service.person("Bob")
        with over_websocket(service.http, ann) as of_ann, over_websocket(service.http, bob) as of_bob:
            service.rows("DELETE FROM person WHERE name = 'Ann'")
            assert (of_ann.rest(), of_ann.code) == ([], 1008)
            service.note(bob, "after")
            assert len(of_bob.take(1)) == 1
        left = ExitStack()
        last = left.enter_context(over_websocket(service.http, bob))
    with left:
        assert (last.rest(), last.code) == ([], 1001)


def test_who_reads_slowly_is_told_to_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "SLOW_SECONDS", 0.3)
    with running(tmp_path / "service.db", buffer=4096) as service:
        ann = service.person("Ann")
        with raw(service, 4096) as deaf:
            deaf.sendall(handshake(service, ann, Last_Event_ID="0"))
            until(lambda: service.streams._silent)
            for number in range(250):
                service.note(ann, f"{number} " + "x" * 70)
            until(lambda: not service.streams._silent)
            came = frames(deaf_after_head(deaf))
            assert came[-1] == (8, struct.pack(">H", 1013))
            seen = [json.loads(payload) for opcode, payload in came if opcode == 1]
        # It is told no more than was on its way, and goes on from there.
        assert 0 < len(seen) < 250
        with over_websocket(service.http, {**ann, "Last-Event-ID": seen[-1]["id"]}) as stream:
            rest = stream.take(250 - len(seen))
        titles = [each["data"]["data"]["title"] for each in seen] + [each.data["data"]["title"] for each in rest]
        assert [title.split()[0] for title in titles] == [str(number) for number in range(250)]


def deaf_after_head(connection: socket.socket) -> socket.socket:
    head_of(connection)
    return connection


@pytest.mark.parametrize(
    ("stated", "origin", "admitted"),
    [
        ("", "https://shop.example", False),
        ("", None, True),
        ("[https://shop.example]", "https://shop.example", True),
        ("[https://shop.example]", "https://shop.example.evil", False),
        ("[https://shop.example]", "null", False),
        ("[https://shop.example]", None, True),
        ("all", "https://evil.example", True),
        ("all, by cookie", "https://evil.example", False),
        ("[https://shop.example], by cookie", "https://shop.example", True),
    ],
)
def test_a_page_opens_what_cors_opens(tmp_path: Path, stated: str, origin: str | None, admitted: bool) -> None:
    origins, by_cookie, _ = stated.partition(", by cookie")
    changes = [("produces:", f"cors: {{origins: {origins}, preflight: 204}}\nproduces:")] if origins else []
    if by_cookie:
        scheme = "  cookie: {type: apiKey, in: cookie, name: sid, matches: person.token}\n"
        changes.append(("schemes:\n", "schemes:\n" + scheme))
    contract = serving(*changes)
    with running(tmp_path / "service.db", contract) as service:
        ann = service.person("Ann")
        more = {} if origin is None else {"Origin": origin}
        with raw(service) as connection:
            connection.sendall(handshake(service, {**ann, **more}))
            assert head_of(connection).split()[1] == ("101" if admitted else "403")
        # Others are what they were: a browser asks before it shows them to a page.
        with service.http.stream("GET", "/events", headers={**ann, **more}) as response:
            assert response.status_code == 200


def test_what_refuses_a_get_refuses_a_handshake(service: Running) -> None:
    ann = service.person("Ann")
    for headers, path, status in (
        ({}, "/events", 401),
        ({"Authorization": "Bearer nobody"}, "/events", 401),
        ({**ann, "Last-Event-ID": "x"}, "/events", 422),
        (ann, "/events?x=1", 422),
        (ann, "/nothing", 404),
        ({**ann, "Accept": "application/json"}, "/events", 101),
    ):
        with raw(service) as connection:
            connection.sendall(handshake(service, headers, path))
            head = head_of(connection)
            assert head.split()[1] == str(status), (headers, path)
            assert ("connection: close" in head) == (status != 101)
        with over_websocket(service.http, headers, path) as stream:
            assert stream.accepted == (status == 101)


def test_what_comes_behind_a_refused_handshake_is_no_request(service: Running) -> None:
    """A proxy that believes in the upgrade lets anything through after it."""
    ann = service.person("Ann")
    with raw(service) as connection:
        connection.sendall(handshake(service, {}))
        connection.sendall(
            b"GET /webhooks HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n\r\n" % ann["Authorization"].encode()
        )
        received = b""
        while data := connection.recv(65536):
            received += data
    assert received.count(b"HTTP/1.1 ") == 1 and received.startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "change",
    [
        {"Upgrade": "websockets"},
        {"Connection": "keep-alive"},
        {"Sec-WebSocket-Version": "12"},
        {"Sec-WebSocket-Key": ""},
        {"Sec-WebSocket-Key": "short"},
        {"Content-Length": "1"},
    ],
    ids=str,
)
def test_what_is_no_whole_handshake_is_a_get(service: Running, change: dict[str, str]) -> None:
    ann = service.person("Ann")
    with raw(service) as connection:
        connection.sendall(handshake(service, {**ann, **change}))
        head = head_of(connection)
        assert head.startswith("http/1.1 200") and "text/event-stream" in head


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_stream_over_websocket_alone_asks_for_an_upgrade(tmp_path: Path, method: str) -> None:
    with running(tmp_path / "service.db", serving((BOTH, "websocket"))) as service:
        ann = service.person("Ann")
        found = service.http.request(method, "/events", headers={**ann, "Accept": "text/event-stream"})
        assert (found.status_code, found.headers["upgrade"]) == (426, "websocket")
        assert (found.headers["connection"], found.headers["sec-websocket-version"]) == ("Upgrade", "13")
        assert service.http.request(method, "/events").status_code == 401
        with over_websocket(service.http, ann) as stream:
            service.note(ann, "tea")
            assert len(stream.take(1)) == 1


def test_elsewhere_an_upgrade_is_ignored(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", serving((BOTH, "server-sent events"))) as service:
        ann = service.person("Ann")
        for path, kind in (("/events", "text/event-stream"), ("/webhooks", "application/json")):
            with raw(service) as connection:
                connection.sendall(handshake(service, ann, path))
                head = head_of(connection)
                assert head.startswith("http/1.1 200") and f"content-type: {kind}" in head


def test_both_ways_tell_the_same_together(service: Running) -> None:
    ann = service.person("Ann")
    lines: list[str] = []
    with over_websocket(service.http, ann) as first, over_websocket(service.http, ann) as second:
        with service.http.stream("GET", "/events", headers=ann) as response:
            for number in range(20):
                service.note(ann, f"{number}")
            told = [each.take(20) for each in (first, second)]
            for line in response.iter_lines():
                lines += [line.removeprefix("id: ")] if line.startswith("id: ") else []
                if len(lines) == 20:
                    break
    assert told[0] == told[1] and [event.id for event in told[0]] == lines


def test_a_client_that_goes_away_without_a_word_leaves_its_place(service: Running) -> None:
    ann = service.person("Ann")

    def is_let_in() -> bool:
        with raw(service) as connection:
            connection.sendall(handshake(service, ann))
            status = head_of(connection).split()[1]
        assert status in ("101", "503")
        return status == "101"

    for _ in range(130):  # more than one caller may have at once
        until(is_let_in)


def told_through(http: httpx.Client) -> None:
    """A WebSocket is opened, told, resumed and closed; what is refused is answered."""
    made = http.post("/people", json={"name": "Ann", "role": "member"})
    ann = {"Authorization": f"Bearer {made.json()['token']}"}
    with over_websocket(http, {}) as stream:
        assert not stream.accepted
    with over_websocket(http, ann) as stream:
        assert stream.accepted
        assert http.post("/notes", json={"title": "tea"}, headers=ann).status_code == 201
        [event] = stream.take(1)
        stream.connection.send("what?")
        assert (stream.rest(), stream.code) == ([], 1008)
    assert http.post("/notes", json={"title": "milk"}, headers=ann).status_code == 201
    with over_websocket(http, {**ann, "Last-Event-ID": event.id}) as stream:
        assert [each.data["data"]["title"] for each in stream.take(1)] == ["milk"]


def test_a_reverse_proxy_passes_it_through(service: Running, tmp_path: Path) -> None:
    caddy = FRONTS[0]
    assert caddy.name == "caddy"
    behind = str(service.http.base_url.host), service.http.base_url.port or 0
    with before(caddy, behind, tmp_path) as (host, port), httpx.Client(base_url=f"http://{host}:{port}") as http:
        told_through(http)


@pytest.mark.parametrize("ws", ["websockets-sansio", "wsproto"])
def test_it_is_had_where_the_service_is_mounted(ws: str, tmp_path: Path) -> None:
    contract = tmp_path / "contract.md"
    contract.write_text(CONTRACT, encoding="utf-8")
    notes = ninefold.application(str(contract), database=str(tmp_path / "notes.db"))
    listening = socket.create_server(("127.0.0.1", 0))
    host, port = listening.getsockname()
    server = uvicorn.Server(uvicorn.Config(notes, ws=ws, log_config=None))
    thread = threading.Thread(target=lambda: server.run([listening]))
    thread.start()
    try:
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as http:
            told_through(http)
    finally:
        server.should_exit = True
        thread.join()
