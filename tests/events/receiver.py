"""Receivers of webhooks that really listen: they answer as they are told to, and keep what came."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
from tests.waiting import until


@dataclass(frozen=True)
class Came:
    """One request. `answered` is the status that it got."""

    headers: dict[str, str]
    body: bytes
    answered: int
    at: float

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def row(self) -> object:
        """What tells of one row has one order; an event that names no row has that of all the others that name none."""
        told = self.json
        return told.get("subject") or (told["data"].get("id") if isinstance(told.get("data"), dict) else None)


@dataclass
class Answer:
    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    wait: float = 0.0
    until: threading.Event | None = None
    """It is given when this has come."""


@dataclass
class Receiver:
    """`answers` gives the answer to each request, counted from 0.

    Webhooks keep the order of each row, and of several rows the order is nobody's. What came while nobody looked is
    therefore given in the order that a test is least likely to expect: the row that was heard of last comes first.
    """

    url: str
    answers: Callable[[int], Answer]
    came: list[Came] = field(default_factory=list)
    seen: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def until(self, count: int) -> list[Came]:
        """The first so many requests. Raises where they do not come in time."""
        until(
            lambda: len(self.came) >= count,
            lambda: f"{len(self.came)} of {count} requests came: {[each.json for each in self.came]}",
        )
        with self.lock:
            self._mixed()
            self.seen = max(self.seen, count)
            return self.came[:count]

    def good(self) -> list[Came]:
        with self.lock:
            self._mixed()
            self.seen = len(self.came)
            return [each for each in self.came if 200 <= each.answered <= 299]

    def _mixed(self) -> None:
        unseen = self.came[self.seen :]
        last = {each.row: at for at, each in enumerate(unseen)}
        self.came[self.seen :] = sorted(unseen, key=lambda each: -last[each.row])


@contextmanager
def receiving(answers: Callable[[int], Answer] = lambda number: Answer()) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with receiver.lock:
                answer = receiver.answers(len(receiver.came))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.came.append(Came(headers, body, answer.status, time.monotonic()))
            if answer.wait:
                time.sleep(answer.wait)
            if answer.until is not None:
                answer.until.wait(60)
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                pass  # who asked has gone

        def handle(self) -> None:
            with suppress(ConnectionError):  # whoever was killed resets its connections
                super().handle()

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook", answers)
    thread = threading.Thread(target=lambda: server.serve_forever(0.02))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
