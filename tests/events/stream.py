"""A client of streams: of server-sent events, as WHATWG HTML 9.2.6 has it, or over WebSocket, by a client that others
wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

SERVER_SENT_EVENTS, WEBSOCKET = "server-sent events", "websocket"

_over = SERVER_SENT_EVENTS
"""How streams are listened to where it is not said."""


@pytest.fixture(params=[SERVER_SENT_EVENTS, WEBSOCKET])
def over(request: pytest.FixtureRequest) -> Iterator[str]:
    """A test that uses it listens in each of the ways."""
    global _over
    _over = request.param
    yield _over
    _over = SERVER_SENT_EVENTS


@dataclass(frozen=True)
class Event:
    """`id`: where a stream goes on that is resumed from it; it says nothing to anybody else."""

    id: str
    kind: str
    data: Any


class Lines:
    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.accepted = response.status_code == 200
        self._lines = response.iter_lines()

    def take(self, count: int) -> list[Event]:
        """The next so many events. Raises where the stream ends before, or nothing comes."""
        found: list[Event] = []
        fields: dict[str, str] = {}
        while len(found) < count:
            line = next(self._lines)
            if line == "":
                if "data" in fields:
                    found.append(Event(fields["id"], fields["event"], json.loads(fields["data"])))
                fields = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
        return found

    def rest(self) -> list[str]:
        """The lines until the stream ends."""
        return [line for line in self._lines if line and not line.startswith(":")]


class Messages:
    """`code`: by which it was closed."""

    def __init__(self, connection: ClientConnection | None) -> None:
        self.accepted = connection is not None
        self._connection = connection
        self.code: int | None = None

    @property
    def connection(self) -> ClientConnection:
        assert self._connection is not None
        return self._connection

    def take(self, count: int) -> list[Event]:
        messages = [json.loads(self.connection.recv(60)) for _ in range(count)]
        assert all(list(each) == ["id", "event", "data"] for each in messages)
        return [Event(each["id"], each["event"], each["data"]) for each in messages]

    def rest(self) -> list[str]:
        found: list[str] = []
        try:
            while True:
                found.append(str(self.connection.recv(60)))
        except ConnectionClosed as closed:
            self.code = None if closed.rcvd is None else closed.rcvd.code
        return found


Stream: TypeAlias = Lines | Messages


@contextmanager
def listening(
    http: httpx.Client, headers: dict[str, str], after: int | str | None = None, path: str = "/events"
) -> Iterator[Stream]:
    more = {} if after is None else {"Last-Event-ID": str(after)}
    if _over == WEBSOCKET:
        with over_websocket(http, {**headers, **more}, path) as stream:
            yield stream
        return
    with http.stream("GET", path, headers={**headers, **more}, timeout=60) as response:
        if response.status_code != 200:
            response.read()
        yield Lines(response)


@contextmanager
def over_websocket(http: httpx.Client, headers: dict[str, str], path: str = "/events") -> Iterator[Messages]:
    url = f"ws://{http.base_url.host}:{http.base_url.port}{path}"
    try:
        # It reads on whatever is taken: one that has stopped reading does not see that its close is answered.
        connection = connect(
            url, additional_headers=headers, compression=None, max_size=None, max_queue=None, ping_interval=None
        )
    except InvalidStatus:
        yield Messages(None)
        return
    with connection:
        yield Messages(connection)
