"""Services that are really served: in a thread, SQLite in a file, httpx over a socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serving import in_a_thread
from tests.waiting import until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.http.app import Application
from ninefold.runtime.request.service import ready
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.sqlite import Opened, SQLite, open_sqlite


@dataclass
class Running:
    """A service at work: `http` talks to it, `records` are its access log."""

    http: httpx.Client
    address: tuple[str, int]
    database: SQLite
    records: list[Record] = field(default_factory=list)

    def person(self, name: str = "Ann") -> dict[str, str]:
        """Headers of a new person."""
        made = self.http.post("/people", json={"name": name})
        assert made.status_code == 201, made.text
        return {"Authorization": f"Bearer {made.json()['token']}"}


def recorded(records: Sequence[Record], count: int) -> Sequence[Record]:
    """So many lines of an access log: each is written once its response has gone, which may be after it has come."""
    until(lambda: len(records) >= count, lambda: records)
    return records


@contextmanager
def running(
    plan: ServicePlan,
    path: Path,
    sources: Sources = Sources(),  # noqa: B008 - frozen
    operator: Mapping[str, object] | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Iterator[Running]:
    opened = open_sqlite(str(path), plan.schema)
    assert isinstance(opened, Opened), opened
    records: list[Record] = []
    service = ready(plan, opened.database.key("cursors"), operator, sources, functions=functions or {})
    application = Application(service, opened.database, records.append)
    with closing(opened.database), in_a_thread(application) as address:
        with httpx.Client(base_url=f"http://{address[0]}:{address[1]}", timeout=60) as http:
            yield Running(http, address, opened.database, records)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[[ServicePlan], Running]]:
    """Serve a plan until the test ends."""
    with ExitStack() as stack:
        yield lambda plan: stack.enter_context(running(plan, tmp_path / "service.db"))
