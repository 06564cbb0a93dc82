"""A disk that is full and a file that may not be written: a clear answer, nothing lost, and work again afterwards."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import httpx
import pytest
from tests.events.process import process, rows
from tests.events.service import plan_of
from tests.faults.contracts import EVENTS_KEPT
from tests.ports import free_port
from tests.server.conftest import Running, running

pytestmark = pytest.mark.serves

CONTRACT = EVENTS_KEPT.replace("timeout: PT1S", "timeout: PT30S")


def person(http: httpx.Client) -> dict[str, str]:
    """Headers of somebody new."""
    token = http.post("/people", json={"name": "Ann", "role": "member"}).json()["token"]
    return {"Authorization": f"Bearer {token}"}


def made(http: httpx.Client, headers: dict[str, str], number: int) -> httpx.Response:
    body = {"seat": f"D{number}", "price": 1, "note": "confidential" * 800}
    return http.post("/tickets", json=body, headers={**headers, "Idempotency-Key": f"key-{number}"})


def fill(http: httpx.Client, headers: dict[str, str], most: int = 2_000) -> list[str]:
    """Make tickets until the disk is full: the identifiers of those that were acknowledged."""
    acknowledged: list[str] = []
    for number in range(most):
        answer = made(http, headers, number)
        if answer.status_code != 201:
            assert (answer.status_code, answer.json()["code"]) == (503, "busy"), answer.text
            assert "confidential" not in answer.text and "full" not in answer.text
            return acknowledged
        acknowledged.append(answer.json()["id"])
    raise AssertionError("the disk never got full")


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """A file system of its own, of so many bytes."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only the superuser can mount a file system")
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def ready(operator: str) -> tuple[int, str]:
    answer = httpx.get(f"http://{operator}/health/ready", timeout=30)
    return answer.status_code, answer.text


NOT_READY = "not ready: the database cannot be written: the disk is full\n"


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    contract = tmp_path / "contract.md"
    contract.write_text(CONTRACT, encoding="utf-8")
    operator = f"127.0.0.1:{free_port()}"
    with small_disk(tmp_path / "disk", "4m") as disk:
        database, ballast = disk / "service.db", disk / "ballast"
        ballast.write_bytes(bytes(1_000_000))
        with process(contract, database, operator) as (_, url), httpx.Client(base_url=url, timeout=60) as http:
            ann = person(http)
            assert ready(operator) == (200, "ready\n")
            acknowledged = fill(http, ann)
            # What is there can be read, and there is room again as soon as somebody makes it.
            assert http.get(f"/tickets/{acknowledged[-1]}", headers=ann).status_code == 200
            assert ready(operator) == ready(operator) == (503, NOT_READY)
            ballast.unlink()
            # Nobody has to write for it to be ready again.
            assert ready(operator) == (200, "ready\n")
            again = made(http, ann, len(acknowledged))
            assert again.status_code == 201
            acknowledged.append(again.json()["id"])
        kept_is_what_was_acknowledged(database, acknowledged)


@contextmanager
def serving(path: Path) -> Iterator[tuple[Running, apsw.Connection]]:
    """A service, and the connection by which it writes."""
    with running(plan_of(CONTRACT), path) as service:
        yield service, service.database._connections[2]


def test_a_database_that_may_not_grow(tmp_path: Path) -> None:
    """The same without a file system of its own: SQLite refuses pages as it does when the disk has none."""
    with serving(tmp_path / "service.db") as (service, connection):
        ann = person(service.http)
        connection.pragma("max_page_count", connection.pragma("page_count") + 100)
        acknowledged = fill(service.http, ann)
        assert service.http.get(f"/tickets/{acknowledged[-1]}", headers=ann).status_code == 200
        connection.pragma("max_page_count", 1_000_000)
        again = made(service.http, ann, len(acknowledged))
        assert again.status_code == 201
    kept_is_what_was_acknowledged(tmp_path / "service.db", [*acknowledged, again.json()["id"]])


def kept_is_what_was_acknowledged(database: Path, acknowledged: list[str]) -> None:
    """Rows, their keys and their events: all of the acknowledged requests, and none of the refused ones."""
    assert {id for (id,) in rows(database, "SELECT id FROM ticket")} == set(acknowledged)
    assert rows(database, 'SELECT count(*) FROM "$idempotency"') == [(len(acknowledged),)]
    told = rows(database, "SELECT json_extract(row, '$[0]') FROM \"$event\" WHERE kind = 'ticket.made' ORDER BY seq")
    assert [id for (id,) in told] == acknowledged
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]


def test_a_database_that_becomes_read_only(tmp_path: Path) -> None:
    """Reads go on; a write is `unavailable` and leaves nothing."""
    with serving(tmp_path / "service.db") as (service, connection):
        ann = person(service.http)
        first = made(service.http, ann, 0)
        assert first.status_code == 201
        connection.pragma("query_only", True)
        refused = made(service.http, ann, 1)
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert service.http.get(f"/tickets/{first.json()['id']}", headers=ann).status_code == 200
        assert asyncio.run(service.database.unwritable()) == "it may not be written"
        connection.pragma("query_only", False)
        assert asyncio.run(service.database.unwritable()) is None
        second = made(service.http, ann, 1)
        assert second.status_code == 201
    kept_is_what_was_acknowledged(tmp_path / "service.db", [first.json()["id"], second.json()["id"]])
