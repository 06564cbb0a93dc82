"""A connection that is cut in the middle of a request, at each of its messages, whichever way: what was answered is so,
what was not was not done, and the same request with its key is done once.

Between ninefold and PostgreSQL stands a relay that knows the messages of the protocol (PostgreSQL's documentation,
"Message Formats": a byte of kind and four of length) and lets so many of a request through.
"""

from __future__ import annotations

import asyncio
import tempfile
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any, Final

import httpx
import pytest
from tests.contracts import compiled
from tests.http_cases import serving
from tests.postgresql import server
from tests.postgresql.test_series import single, together
from tests.slices import LONG

from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened, Unavailable

CONTRACT = Path(__file__).parent / "contract.md"
LISTEN = b"LISTEN"
COMMITS = (b"COMMIT\0", b"COMMIT AND CHAIN\0")
MOST: Final = 100_000
"""More messages than any request takes."""

pytestmark = pytest.mark.serves


FATAL = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
WAYS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "gone": lambda message: b"",
    "in the middle of a message": lambda message: message[: len(message) // 2],
    "with a last word": lambda message: b"E" + (4 + len(FATAL)).to_bytes(4) + FATAL,
}
"""What comes in the place of the message at which a connection is cut."""


class Relay:
    """`left`: messages, in either direction, after which the connection is cut, once; None: none is. What listens to
    others is not counted. `way`: one of WAYS. `last`: what came before the cut, by kind: a query of the client, or `<`
    and the kind of an answer. `at_commit`: what is done once in the place of a COMMIT, which is let through where
    `commits`, and its answer never. `delay`: seconds that each message takes."""

    def __init__(self, to: Path) -> None:
        self.left: int | None = None
        self.way = "gone"
        self.at_commit: Callable[[], object] | None = None
        self.commits = False
        self.delay = 0.0
        self.last: list[str] = []
        self._to = to / ".s.PGSQL.5432"
        self._tasks: set[asyncio.Task[None]] = set()

    @contextmanager
    def listening(self) -> Iterator[Path]:
        """The directory of its socket."""
        with tempfile.TemporaryDirectory(prefix="ninefold-relay-") as directory, asyncio.Runner() as runner:
            path = Path(directory) / ".s.PGSQL.5432"
            server = runner.run(asyncio.start_unix_server(self._taken, str(path)))
            loop = runner.get_loop()
            thread = Thread(target=loop.run_forever)
            thread.start()
            try:
                yield path.parent
            finally:
                loop.call_soon_threadsafe(loop.stop)
                thread.join()
                server.close()
                # What is left of the runner's tasks it cancels.

    async def _taken(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            there, answers = await asyncio.open_unix_connection(str(self._to))
        except OSError:
            writer.transport.abort()
            return
        first = await reader.readexactly(4)
        answers.write(first + await reader.readexactly(int.from_bytes(first) - 4))
        listens: list[bool] = []
        ends = writer, answers
        for source, target, asks in ((reader, answers, True), (there, writer, False)):
            task = asyncio.create_task(self._pass(source, target, listens, asks, ends))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(
        self,
        source: StreamReader,
        target: StreamWriter,
        listens: list[bool],
        asks: bool,
        ends: tuple[StreamWriter, StreamWriter],
    ) -> None:
        """`listens`: has a member once the connection listens to others."""
        try:
            while True:
                head = await source.readexactly(5)
                message = head + await source.readexactly(int.from_bytes(head[1:]) - 4)
                if asks and LISTEN in message:
                    listens.append(True)
                if not listens and self.left is not None:
                    if self.left == 0:
                        self.left = None
                        if not asks:
                            target.write(WAYS[self.way](message))
                            await target.drain()
                        break
                    self.left -= 1
                    self.last.append(("" if asks else "<") + message[:1].decode() + (message[5:40].decode("latin-1")))
                if asks and self.at_commit is not None and message.endswith(COMMITS):
                    instead, self.at_commit = self.at_commit, None
                    await asyncio.to_thread(instead)
                    if self.commits:
                        target.write(message)
                        await target.drain()
                    break
                if self.delay:
                    await asyncio.sleep(self.delay)
                target.write(message)
                await target.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # one of the two has ended, and so does the other
        finally:
            for each in ends:
                # What was written before is still sent.
                each.close()


@contextmanager
def relayed(directory: Path, url: str) -> Iterator[tuple[Relay, httpx.Client]]:
    """A relay before a database, and a service behind it. Seats do not lapse: nothing else is written."""
    contract = directory / "contract.md"
    contract.write_text(CONTRACT.read_text(encoding="utf-8").replace(", after: PT2S", ""), encoding="utf-8")
    plan = compiled(contract).plan_for("postgresql")
    assert plan is not None
    name, _, host = url.rpartition("?host=")
    relay = Relay(Path(host))
    with relay.listening() as directory, serving(plan, f"{name}?host={directory}", {}) as client:
        yield relay, client
        relay.left = None


class Seats:
    """Who makes seats of their own name, each with that as its key, and asks what became of them."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self.client, self.url = client, url
        self.who = self.person("p")
        self.hall: int = client.post("/halls", json={"most": 1000}).json()["id"]

    def person(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.client.post('/people', json={'name': name}).json()['token']}"}

    def make(self, name: str, key: bool = True) -> httpx.Response:
        headers = {**self.who, "Idempotency-Key": name} if key else self.who
        return self.client.post("/seats", json={"hall": self.hall, "name": name}, headers=headers)

    def count(self, what: str) -> int:
        [(found,)] = server.run(self.url, f"SELECT count(*) FROM {what}")
        return int(found)

    def signed_in(self, name: str) -> int:
        [(found,)] = server.run(self.url, f"SELECT count(*) FROM \"$credential person\" WHERE name = '{name}'")
        return int(found)

    def there(self, name: str) -> int:
        return self.count(f"seat WHERE name = '{name}'")


@dataclass(frozen=True)
class Kind:
    """A request of one kind: what has to be there before, what it is, the status of its success, and how often what it
    does was done (None: it only reads)."""

    before: Callable[[Seats, str], Any]
    ask: Callable[[Seats, str, Any], httpx.Response]
    good: int
    done: Callable[[Seats, str], int] | None


KINDS: Final = {
    "read": Kind(
        lambda seats, name: seats.make("read").json()["id"],
        lambda seats, name, id: seats.client.get(f"/seats/{id}", headers=seats.who),
        200,
        None,
    ),
    "list": Kind(
        lambda seats, name: seats.make("read"),
        lambda seats, name, _: seats.client.get("/seats", headers=seats.who),
        200,
        None,
    ),
    "create": Kind(lambda *_: None, lambda seats, name, _: seats.make(name, key=False), 201, Seats.there),
    "create with a key": Kind(lambda *_: None, lambda seats, name, _: seats.make(name), 201, Seats.there),
    "transition": Kind(
        lambda seats, name: seats.make(name).json()["id"],
        lambda seats, name, id: seats.client.post(f"/seats/{id}/keep", headers=seats.who),
        200,
        lambda seats, name: seats.count(f"seat WHERE name = '{name}' AND status = 'kept'"),
    ),
    "create without events": Kind(
        lambda seats, name: seats.count("hall"),
        lambda seats, name, most: seats.client.post("/halls", json={"most": 100_000 + most}),
        201,
        lambda seats, name: seats.count("hall") - seats.count("hall WHERE most < 100000"),
    ),
    "sign up": Kind(
        lambda *_: None,
        lambda seats, name, _: seats.client.post("/people", json={"name": name}),
        201,
        lambda seats, name: seats.count(f"person WHERE name = '{name}'"),
    ),
    "sign out": Kind(
        lambda seats, name: seats.person(name),
        lambda seats, name, who: seats.client.post("/sign-out", headers=who),
        204,
        lambda seats, name: seats.count(f"person WHERE name = '{name}'") - seats.signed_in(name),
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_request_that_is_cut_anywhere_is_done_or_not(tmp_path: Path, kind: str) -> None:
    """What the answer said is so; and the service goes on at once."""
    url, of = server.database(), KINDS[kind]
    with relayed(tmp_path, url) as (relay, client):
        seats, numbers = Seats(client, url), count()

        def asked(messages: int | None) -> tuple[int, int]:
            """The status, and how often it was done; cut after so many messages."""
            name = f"{kind.replace(' ', '-')}-{next(numbers)}"
            given = of.before(seats, name)
            done = 0 if of.done is None else of.done(seats, name)
            relay.last, relay.left = [], messages
            answer = of.ask(seats, name, given)
            left, relay.left = relay.left, None
            if messages == MOST:
                whole.append(MOST - (left or 0))
            if answer.status_code == of.good and kind == "create with a key":
                assert seats.make(name).json() == answer.json(), "the same request is done once"
            return answer.status_code, 0 if of.done is None else of.done(seats, name) - done

        whole = list[int]()
        yes, no = (of.good, 0 if of.done is None else 1), (503, 0)
        assert [asked(None), asked(None), asked(MOST)] == [yes] * 3
        [messages] = whole
        some = (
            range(messages)
            if LONG
            else sorted({*range(0, messages, 1 + messages // 4), *range(messages - 3, messages)})
        )
        outcomes = set[tuple[int, int]]()
        for place, after in enumerate(some):
            for way in WAYS if LONG else [[*WAYS][place % len(WAYS)]]:
                relay.way = way
                outcomes.add(outcome := asked(after))
                assert outcome in (yes, no), (after, way, relay.last[-9:])
                assert asked(None) == yes, "it goes on"
        # A read that was foreseen is asked again, and a transaction that had not begun is begun again.
        assert no in outcomes or of.done is None or not LONG
        # Events as rows: one for each, in order and without holes.
        log = server.run(url, "SELECT seq FROM \"$event\" WHERE kind = 'seat.made' ORDER BY seq")
        rows = server.run(url, "SELECT id FROM seat ORDER BY id")
        assert len(log) == len(rows) and [each[0] for each in rows] == list(range(1, len(rows) + 1))


@pytest.mark.long
def test_what_goes_together_is_cut_together() -> None:
    """Reads and writes that go as one: each is answered with what is so, or as what was not done."""
    name, _, host = (url := server.database()).rpartition("?host=")
    plan = compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    relay = Relay(Path(host))
    with relay.listening() as directory:
        opened = open_database(f"{name}?host={directory}", plan)
        assert isinstance(opened, Opened), opened
        database, one = opened.database, ("SELECT 6 / CAST(? AS bigint)", (2,))
        server.run(url, "CREATE TABLE t (n bigint NOT NULL)")

        async def read() -> list[Any]:
            asked: list[Any] = [database.select(one[0], (each,)) for each in (1, 2, 3)]
            asked.append(database.select_as_one([one, one]))
            return await asyncio.gather(*asked, return_exceptions=True)

        def cut_read(messages: int | None) -> list[Any]:
            relay.left = messages
            return runner.run(read())

        def cut_write(messages: int | None) -> list[Any]:
            def cut() -> None:
                relay.left = messages

            [(before,)] = server.run(url, "SELECT count(*) FROM t")
            text = "INSERT INTO t VALUES (CAST(? AS bigint)) RETURNING n"
            found = together(database, *(single(text, each) for each in range(5)), before=cut)
            [(after,)] = server.run(url, "SELECT count(*) FROM t")
            assert after - before == sum(isinstance(each, tuple) for each in found), (relay.last[-9:], found)
            return found

        reads: list[Any] = [[(6,)], [(3,)], [(2,)], [[(3,)], [(3,)]]]
        writes: list[Any] = [(each,) for each in range(5)]
        with asyncio.Runner() as runner:
            for ask, good in ((cut_read, reads), (cut_write, writes)):
                assert [ask(None), ask(None), ask(MOST)] == [good] * 3
                assert relay.left is not None
                messages = MOST - relay.left
                for after in range(messages) if LONG else range(0, messages, 3):
                    for way in WAYS if LONG else [[*WAYS][after // 3 % len(WAYS)]]:
                        relay.way, relay.last = way, []
                        for each, whole in zip(ask(after), good, strict=True):
                            assert each == whole or isinstance(each, Unavailable), (after, way, relay.last[-9:], each)
                        assert ask(None) == good, "it goes on"
        database.close()
