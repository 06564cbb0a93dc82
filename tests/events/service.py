"""A service with events, served for real: a contract of notes that their owners and the staff see."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Any

import apsw
import httpx
from tests import contracts
from tests.postgresql import server
from tests.serving import in_a_thread
from tests.waiting import until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.background.brokers import to_broker
from ninefold.runtime.background.jobs import jobs
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.streams import Streams
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.request.service import ready
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened

CONTRACT = (Path(__file__).parent / "contract.md").read_text(encoding="utf-8")


KINDS = ("note.written", "note.changed", "note.finished", "note.deleted")


@cache
def plan_of(contract: str = CONTRACT, name: str = "contract.md", database: str = "sqlite") -> ServicePlan:
    return contracts.plan_of(contract, name, database)


@dataclass
class Running:
    """A service at work: `http` talks to it."""

    http: httpx.Client
    url: str
    path: Path | str
    streams: Streams

    def until_all_were_asked(self) -> None:
        """Until of all that happened everybody who listens was told what there was to tell."""
        [(last,)] = self.rows('SELECT coalesce(max(seq), 0) FROM "$event"')
        waiting = self.streams._waiting
        until(lambda: waiting.looked == last and not waiting.apart, lambda: (waiting.looked, last, len(waiting.apart)))

    def person(self, name: str, role: str = "member") -> dict[str, str]:
        """Headers of a new person."""
        made = self.http.post("/people", json={"name": name, "role": role})
        assert made.status_code == 201, made.text
        return {"Authorization": f"Bearer {made.json()['token']}"}

    def note(self, by: dict[str, str], title: str) -> str:
        made = self.http.post("/notes", json={"title": title}, headers=by)
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def subscribe(self, by: dict[str, str], url: str, *kinds: str) -> dict[str, Any]:
        made = self.http.post("/webhooks", json={"url": url, "kinds": kinds or list(KINDS)}, headers=by)
        assert made.status_code == 201, made.text
        subscription: dict[str, Any] = made.json()
        return subscription

    def position(self, id: str) -> int:
        """Where the event of a UUID is in the log, which no stream tells."""
        [(position,)] = self.rows(f"SELECT seq FROM \"$event\" WHERE id = '{id}'")
        return int(position)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """A statement run on the database beside the service."""
        if isinstance(self.path, str):
            return [tuple(row) for row in server.run(self.path, statement)]
        connection = apsw.Connection(str(self.path))
        connection.set_busy_timeout(2_000)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()


def bound(connection: socket.socket, buffer: int) -> None:
    """Let the machine keep no more than so many bytes in either direction, or some times as many: how many it keeps by
    itself is its own affair, up to tens of MiB. To be said before it is connected."""
    for direction in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        connection.setsockopt(socket.SOL_SOCKET, direction, buffer)


@contextmanager
def running(
    path: Path | str,
    contract: str = CONTRACT,
    sources: Sources = Sources(),  # noqa: B008 - frozen
    allowed: Sequence[str] = ("127.0.0.0/8",),
    given: Mapping[str, str] = MappingProxyType({}),
    name: str = "contract.md",
    buffer: int | None = None,
    broker: str | None = None,
) -> Iterator[Running]:
    """`path`: of a file, or the URL of PostgreSQL. `name`: of the document, which says how it is written. `buffer`:
    bytes, about, that the machine takes of what this side has said, and of what it does not read."""
    plan = plan_of(contract, name, "postgresql" if isinstance(path, str) else "sqlite")
    if broker is not None:
        sent = to_broker(plan, ("note.written", "note.finished", "note.deleted"), broker)
        assert not isinstance(sent, str), sent
        plan = sent
    opened = open_database(str(path), plan, stated_rows(plan, Caller(given)))
    assert isinstance(opened, Opened), opened
    listening = socket.create_server(("127.0.0.1", 0))
    if buffer is not None:
        bound(listening, buffer)
    service = ready(plan, opened.database.key("cursors"), given, sources)
    networks = [ip_network(each) for each in allowed]
    application = Application(service, opened.database, jobs=jobs(plan, service, opened.database, networks, broker))
    with closing(opened.database), in_a_thread(application, listening) as (host, port):
        with httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as http:
            yield Running(http, f"http://{host}:{port}", path, application._streams)
