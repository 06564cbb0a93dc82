"""A connection that is cut in the middle of a write, at each of its messages: what was answered is there, what was not
is not known to have failed, and the same request with its key is done once.

Between ninefold and PostgreSQL stands a relay that knows the messages of the protocol (PostgreSQL's documentation,
"Message Formats": a byte of kind and four of length) and lets so many of a transaction through.
"""

from __future__ import annotations

import asyncio
import tempfile
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import httpx
import pytest
from tests.contracts import compiled
from tests.http_cases import serving
from tests.postgresql import server
from tests.slices import LONG

CONTRACT = Path(__file__).parent / "contract.md"
BEGIN = b"BEGIN ISOLATION"
COMMIT = b"COMMIT\0"

pytestmark = pytest.mark.serves


class Relay:
    """`left`: messages, in either direction and counted from a BEGIN on, after which the connection is cut, once; None:
    none is. `last`: what came before the cut, by kind: a query of the client, or `<` and the kind of an answer.
    `at_commit`: what is done once in the place of a COMMIT, which is not let through."""

    def __init__(self, to: Path) -> None:
        self.left: int | None = None
        self.at_commit: Callable[[], object] | None = None
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
        there, answers = await asyncio.open_unix_connection(str(self._to))
        first = await reader.readexactly(4)
        answers.write(first + await reader.readexactly(int.from_bytes(first) - 4))
        writing: list[bool] = []
        ends = writer, answers
        for source, target, asks in ((reader, answers, True), (there, writer, False)):
            task = asyncio.create_task(self._pass(source, target, writing, asks, ends))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(
        self,
        source: StreamReader,
        target: StreamWriter,
        writing: list[bool],
        asks: bool,
        ends: tuple[StreamWriter, StreamWriter],
    ) -> None:
        """`writing`: has a member once the connection has begun a transaction."""
        try:
            while True:
                head = await source.readexactly(5)
                message = head + await source.readexactly(int.from_bytes(head[1:]) - 4)
                if asks and BEGIN in message and not writing:
                    writing.append(True)
                if writing and self.left is not None:
                    if self.left == 0:
                        self.left = None
                        break
                    self.left -= 1
                    self.last.append(("" if asks else "<") + message[:1].decode() + (message[5:40].decode("latin-1")))
                if asks and self.at_commit is not None and COMMIT in message:
                    instead, self.at_commit = self.at_commit, None
                    await asyncio.to_thread(instead)
                    break
                target.write(message)
                await target.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # one of the two has ended, and so does the other
        finally:
            for each in ends:
                each.transport.abort()


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
    """Who makes seats of their own name, each with that as its key."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self.client, self.url = client, url
        made = client.post("/people", json={"name": "p"}).json()
        self.who = {"Authorization": f"Bearer {made['token']}"}
        self.hall: int = client.post("/halls", json={"most": 1000}).json()["id"]

    def make(self, name: str) -> httpx.Response:
        headers = {**self.who, "Idempotency-Key": name}
        return self.client.post("/seats", json={"hall": self.hall, "name": name}, headers=headers)

    def there(self, name: str) -> int:
        [(found,)] = server.run(self.url, f"SELECT count(*) FROM seat WHERE name = '{name}'")
        return int(found)


def test_a_write_that_is_cut_anywhere_is_done_once_or_not_at_all(tmp_path: Path) -> None:
    """What the answer said is so; what it did not say is found out by the key, whichever of the two it was."""
    url = server.database()
    with relayed(tmp_path, url) as (relay, client):
        seats = Seats(client, url)
        seat, there = seats.make, seats.there
        assert [seat(name).status_code for name in ("warm", "warmer")] == [201, 201]
        relay.left = most = 1000
        assert seat("whole").status_code == 201
        whole, outcomes = most - relay.left, set[tuple[int, int]]()
        # The last messages are those of the COMMIT: that it is asked for, and what came of it.
        for messages in range(whole) if LONG else sorted({*range(0, whole, 20), *range(whole - 4, whole)}):
            relay.last, relay.left = [], messages
            answer = seat(name := f"cut-{messages}")
            relay.left = None
            outcome = answer.status_code, there(name)
            assert outcome in {(201, 1), (503, 0)}, (relay.last[-9:], answer.text)
            outcomes.add(outcome)
            again = seat(name)
            assert again.status_code == 201, (relay.last[-9:], again.text)
            assert answer.status_code == 503 or again.json() == answer.json()
            assert there(name) == 1
        assert outcomes == {(201, 1), (503, 0)}
        # Events as rows: one for each, in order and without holes.
        log = server.run(url, "SELECT seq FROM \"$event\" WHERE kind = 'seat.made' ORDER BY seq")
        rows = server.run(url, "SELECT id FROM seat ORDER BY id")
        assert len(log) == len(rows) and [each[0] for each in rows] == list(range(1, len(rows) + 1))
