"""The real service in process: the plan, the server and its database as they are, SQLite or PostgreSQL, called without
a socket. What has no body is asked again without the steps, where it can be."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.agreement.functions import SERVED
from tests.postgresql import server
from tests.reference.messages import NOTHING, Request, Response
from tests.reference.streams import MEDIA_TYPE

from ninefold.diagnostics import frozen
from ninefold.expressions.operations import Sources as ChanceOfExpressions
from ninefold.expressions.operations import new_token, new_uuid, random_text
from ninefold.plan.environment import ENTERED_COLUMN, REVISION_COLUMN
from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.body import Whole
from ninefold.runtime.http.capacity import LITTLE_BYTES
from ninefold.runtime.http.cycle import Receive, Send
from ninefold.runtime.messages.message import Request as Asked
from ninefold.runtime.messages.message import joined
from ninefold.runtime.messages.notes import Notes
from ninefold.runtime.operations.credentials import hashed
from ninefold.runtime.request.left import Given
from ninefold.runtime.request.likewise import Likewise
from ninefold.runtime.request.rates import algorithm
from ninefold.runtime.request.service import ready
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Refused, Session, Store
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.sql.fragment import identifier
from ninefold.values.stored import to_sqlite

Fields = Mapping[str, Any]
Sent = tuple[int, Mapping[str, str], bytes]
"""A status, headers by their names in lower case, and the content."""

IN_MEMORY = Path("/dev/shm")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Fate:
    """What time it is, and what chance gives: both the same for the service and the interpreter."""

    now: str = "2026-01-01T00:00:00.000000Z"
    number: int = 0
    made: int = 0

    def clock(self) -> datetime:
        return datetime.fromisoformat(self.now)

    def elapsed(self) -> int:
        return (self.clock() - BEGIN) // timedelta(microseconds=1) * 1_000

    def bytes_for_values(self, count: int) -> bytes:
        """The same bytes for the whole of a request, whoever asks first."""
        return (sha256(f"chance {self.number}".encode()).digest() * (count // 32 + 1))[:count]

    def bytes_for_revisions(self, count: int) -> bytes:
        self.made += 1
        return (sha256(f"revision {self.made}".encode()).digest() * (count // 32 + 1))[:count]

    def uuid(self) -> str:
        return new_uuid(ChanceOfExpressions(self.bytes_for_values))

    def token(self) -> str:
        return new_token(ChanceOfExpressions(self.bytes_for_values))

    def text(self, length: int) -> str:
        return random_text(ChanceOfExpressions(self.bytes_for_values), length)


@frozen.dataclass(frozen=True)
class _Sources(Sources):
    """The service's own randomness (revisions) is apart from what expressions make."""

    fate: Fate = field(default_factory=Fate)

    def of_expressions(self) -> ChanceOfExpressions:
        return ChanceOfExpressions(self.fate.bytes_for_values)


class RealService:
    """A service that is running in this process, from a database of its own. `given`: what the operator gives."""

    given: Mapping[str, str] = {}
    functions: Mapping[str, Callable[..., Any]] = SERVED

    def __init__(self, plan: ServicePlan, rows: Sequence[tuple[str, Fields]], fate: Fate) -> None:
        self._plan, self._rows, self._fate = plan, rows, fate
        self.sources = _Sources(fate.clock, fate.bytes_for_revisions, fate.elapsed, fate)
        self._loop = asyncio.new_event_loop()
        self._notes: dict[object, Notes] = {}
        self.settled = 0
        """Requests that were answered without the steps."""

    def __enter__(self) -> Self:
        within = str(IN_MEMORY) if IN_MEMORY.is_dir() else None
        with ExitStack() as opened:  # what is open is closed where what follows fails, and the next test is not blamed
            directory = opened.enter_context(tempfile.TemporaryDirectory(dir=within))
            opened.callback(self._loop.close)
            opened.callback(lambda: self._loop.run_until_complete(self._ended()))
            self._database = self._opened(Path(directory))
            opened.callback(self._database.close)
            service = ready(self._plan, b"k" * 32, self.given, self.sources, functions=self.functions)
            self._application = Application(service, self._database)
            opened.callback(self._application.close)
            self._open = opened.pop_all()
        # A client of a stream goes away once it was told all that there is, and only then waits.
        self._waits, waiting = asyncio.Event(), self._application._streams._waiting
        wait = waiting.wait

        def waits(listener: Any) -> None:
            wait(listener)
            self._waits.set()

        waiting.wait = waits  # type: ignore[method-assign]
        self._likewise = Likewise(self._application.service, self._application.works, LITTLE_BYTES)
        return self

    def _opened(self, directory: Path) -> Store:
        if self._plan.dialect == "postgresql":
            there = open_database(server.database(), self._plan, self._begin)
            assert not isinstance(there, Refused), there
            return there.database
        opened = open_sqlite(str(directory / "service.db"), self._plan.schema, self._begin)
        assert isinstance(opened, Opened), opened
        return opened.database

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    async def _looked_no_more(self) -> None:
        """Who looks at the log for all who wait goes on for a while when nobody does, and tells the next one later of
        what it has not seen: that one is to be told at once."""
        looking = self._application._streams._looking
        assert looking is not None
        looking.cancel()
        await asyncio.wait({looking})

    async def _ended(self) -> None:
        beside = asyncio.all_tasks() - {asyncio.current_task()}
        for each in beside:
            each.cancel()
        await asyncio.gather(*beside, return_exceptions=True)

    def _begin(self, session: Session) -> tuple[str, ...]:
        tables = {table.name: table for table in self._plan.schema.tables}
        for number, (resource, fields) in enumerate(self._rows):
            table = tables[resource]
            stored = {column.name: column for column in table.columns}
            columns = {
                name: hashed(value).encode()
                if name in table.passwords and value is not None
                else sha256(value.encode()).digest()
                if type(stored[name].type).__name__ == "Digest" and isinstance(value, str)
                else to_sqlite(stored[name].type, value)
                for name, value in fields.items()
            }
            columns[REVISION_COLUMN] = f"row-{number}"
            if table.states:
                columns[ENTERED_COLUMN] = self._fate.now
            names, marks = ", ".join(map(identifier, columns)), ", ".join("?" for _ in columns)
            session.run(f"INSERT INTO {identifier(resource)} ({names}) VALUES ({marks})", list(columns.values()))
        return ()

    def answer(self, request: Request) -> Response:
        status, named, body = self.sent(request)
        if named.get("content-length", "0") != "0" and not body and request.method != "HEAD":
            raise AssertionError("a length without content")
        if named.get("content-type") == MEDIA_TYPE and request.method != "HEAD":
            return Response(status, named, _events(body))
        return Response(status, named, json.loads(body) if body else NOTHING)

    def sent(self, request: Request) -> Sent:
        """The same as it goes over the wire."""
        return self._loop.run_until_complete(self._sent(request))

    async def _sent(self, request: Request) -> Sent:
        path, _, query = request.target.partition("?")
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in request.headers.items()]
        if request.body is not None:
            headers.append((b"content-length", str(len(request.body)).encode()))
        scope = {
            "type": "http",
            "method": request.method,
            "path": path,
            "raw_path": path.encode("ascii"),
            "query_string": query.encode("ascii"),
            "headers": headers,
            "client": (request.address, 1),
        }
        sent: list[Any] = []
        to_come = [{"type": "http.request", "body": request.body or b"", "more_body": False}]

        leaves = asyncio.Event()

        async def receive() -> Any:
            if not to_come:
                await leaves.wait()
            return to_come.pop() if to_come else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        # Over PostgreSQL the short way is the one that is taken (`tests/postgresql/test_likewise.py`).
        both_ways = request.body is None and self._plan.dialect == "sqlite"
        answer = self._without_asgi if both_ways else self._application
        answering = asyncio.ensure_future(answer(scope, receive, send))
        waits = asyncio.ensure_future(self._waits.wait())
        await asyncio.wait({answering, waits}, return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        leaves.set()
        await answering
        if self._waits.is_set():
            await self._looked_no_more()
        self._waits.clear()
        body = b"".join(message.get("body", b"") for message in sent[1:])
        named: dict[str, str] = {}
        for raw, value in sent[0]["headers"]:
            name = raw.decode("latin-1").lower()
            named[name] = ", ".join([*([named[name]] if name in named else []), value.decode("latin-1")])
        return sent[0]["status"], named, body

    async def _without_asgi(self, scope: Any, receive: Receive, send: Send) -> None:
        """The same of a request without a body. What is answered well is asked again: to what is like it the answer
        takes no steps, and is the same."""
        application, fields = self._application, scope["headers"]
        notes = self._notes.setdefault((scope["method"], scope["client"][0], tuple(fields)), Notes())
        request = Asked(
            scope["method"], scope["raw_path"], scope["query_string"], joined(fields), scope["client"][0], notes=notes
        )
        rates = application.service.rates
        before = [each.counts() for each in rates]
        asking = application.asking(request, Whole(b"", application.capacity, kept=False))
        asking.begin()
        if not asking.over:
            await asking.waited()
        response = asking.response()
        assert response is not None
        after, numbers = [each.counts() for each in rates], self._counted()
        for rate, counted in zip(rates, before, strict=True):
            rate.resume(counted)
        given = self._likewise.begun(request, b"") if request.method == "GET" else None
        if not isinstance(given, Given):
            for rate, counted in zip(rates, after, strict=True):
                rate.resume(counted)
        else:
            self.settled += 1
            assert given.response == response, f"{given.response} likewise, and {response} by the steps"
            assert self._counted() == numbers, "it counts otherwise"
        await application.go_on(asking, response, scope, receive, send)

    def _counted(self) -> list[list[tuple[str, list[int]]]]:
        """What each rate has counted, by its keys, to be compared: of those that are not as new, which it forgets when
        it comes to look at them."""
        ways = zip(map(algorithm, self._plan.limits.rates), self._application.service.rates, strict=True)
        now = self._fate.elapsed()
        return [
            [(key, [*way.numbers_of(state)]) for key, state in rate.counts() if way.standing(state, now).reset]
            for way, rate in ways
        ]


def _events(content: bytes) -> list[dict[str, Any]]:
    """Server-sent events (WHATWG HTML 9.2.6), each of which has one line of each field."""
    blocks = (block for block in content.decode().split("\n\n") if block.strip("\n:"))
    found = [dict(line.split(": ", 1) for line in block.splitlines() if line != ":") for block in blocks]
    return [{**each, "data": json.loads(each["data"])} for each in found]
