"""Idempotency keys over a real socket: done once, given again, through races, restarts, kills and time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import apsw
import httpx
import pytest
from tests.looking import looking_into
from tests.server.conftest import Running, running
from tests.server.payments import Clock, new_key, payments

from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.request.idempotency import LONGEST, Held, read_key
from ninefold.runtime.store.sqlite import Opened, open_sqlite

pytestmark = pytest.mark.serves

Run = Callable[[ServicePlan], Running]


@pytest.fixture
def service(run: Run) -> Running:
    return run(payments())


def customer(service: Running) -> dict[str, str]:
    made = service.http.post("/customers", json={"name": "Ann"})
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['secret']}"}


def pay(service: Running, headers: dict[str, str], key: str, amount: int = 1) -> httpx.Response:
    return service.http.post("/payments", json={"amount": amount}, headers={**headers, "Idempotency-Key": key})


def total(service: Running) -> int:
    found: int = service.http.get("/payments").json()["total"]
    return found


def same(first: httpx.Response, second: httpx.Response) -> bool:
    told = {"date", "content-length"}
    one, other = ({k: v for k, v in each.headers.items() if k not in told} for each in (first, second))
    return (first.status_code, first.content, one) == (second.status_code, second.content, other)


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ('"abc"', "abc"),
        ("abc", "abc"),
        (' "a b" ', "a b"),
        (r'"a\"b\\c"', 'a"b\\c'),
        ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        ('""', "minLength"),
        ("", "format"),
        ("a, b", "format"),
        ('"a", "b"', "format"),
        ('"a', "format"),
        (r'"a\b"', "format"),
        ("ä", "format"),
        ("a" * LONGEST, "a" * LONGEST),
        ("a" * (LONGEST + 1), "maxLength"),
    ],
)
def test_a_key_is_a_string_or_stands_bare(field: str, key: str) -> None:
    assert key in read_key(field)


def test_a_repeated_request_is_given_the_first_response(service: Running) -> None:
    ann, key = customer(service), new_key()
    first = pay(service, ann, key)
    assert first.status_code == 201 and first.headers["location"] == f"/payments/{first.json()['id']}"
    assert same(first, pay(service, ann, f'"{key}"')) and total(service) == 1
    # Also when the row is another by now, or gone.
    path = first.headers["location"]
    assert service.http.patch(path, json={"amount": 9}, headers=ann).status_code == 200
    assert service.http.delete(path, headers=ann).status_code == 204
    assert same(first, pay(service, ann, key)) and total(service) == 0


def test_every_verb_that_writes(service: Running) -> None:
    ann = customer(service)
    path = pay(service, ann, new_key()).headers["location"]
    change, remove = ({**ann, "Idempotency-Key": new_key()} for _ in range(2))
    first = service.http.patch(path, json={"amount": 5}, headers=change)
    service.http.patch(path, json={"amount": 6}, headers=ann)
    assert same(first, service.http.patch(path, json={"amount": 5}, headers=change))
    gone = service.http.delete(path, headers=remove)
    again = service.http.delete(path, headers=remove)
    assert same(gone, again) and again.status_code == 204 and "content-type" not in again.headers


def test_another_request_with_the_key_is_a_mismatch(service: Running) -> None:
    ann, key = customer(service), new_key()
    paid = pay(service, ann, key)
    other = pay(service, ann, key, amount=2)
    assert (other.status_code, other.json()["code"]) == (422, "reused")
    assert same(paid, pay(service, ann, key)) and total(service) == 1
    # The path is part of the request: one key does not change two rows.
    second = pay(service, ann, new_key()).headers["location"]
    change = {**ann, "Idempotency-Key": key}
    assert service.http.patch(paid.headers["location"], json={"amount": 3}, headers=change).status_code == 200
    crossed = service.http.patch(second, json={"amount": 3}, headers=change)
    assert crossed.json()["code"] == "reused"


def test_keys_are_a_callers_and_an_endpoints_own(service: Running) -> None:
    ann, bob, key = customer(service), customer(service), new_key()
    paid = [pay(service, each, key) for each in (ann, bob)]
    assert len({each.json()["id"] for each in paid}) == 2
    made = service.http.post("/customers", json={"name": "x"}, headers={"Idempotency-Key": key})
    assert made.status_code == 201 and "secret" in made.json()


def test_a_key_that_is_required_or_is_none(service: Running) -> None:
    ann = customer(service)
    without = service.http.post("/payments", json={"amount": 1}, headers=ann)
    assert (without.status_code, without.json()) == (
        422,
        {"code": "invalid", "fields": ["Idempotency-Key required"]},
    )
    assert pay(service, ann, "a, b").json()["fields"] == ["Idempotency-Key format"]
    assert total(service) == 0


def test_a_refused_request_leaves_its_key_free(service: Running) -> None:
    ann, key = customer(service), new_key()
    assert pay(service, ann, key, amount=0).status_code == 422
    assert pay(service, {}, key).status_code == 401
    assert pay(service, ann, key).status_code == 201
    path, other = "/payments/00000000-0000-4000-8000-000000000000", {**ann, "Idempotency-Key": new_key()}
    assert service.http.patch(path, json={"amount": 1}, headers=other).status_code == 404
    assert service.http.patch(path, json={"amount": 2}, headers=other).status_code == 404


def test_precedence_between_a_mismatch_and_what_else_is_wrong(run: Run) -> None:
    service = run(payments(precedence="[not found, idempotency mismatch, invalid]"))
    ann, key = customer(service), new_key()
    path = pay(service, ann, key).headers["location"]
    assert pay(service, ann, key, amount=0).json()["code"] == "reused"
    change = {**ann, "Idempotency-Key": new_key()}
    assert service.http.patch(path, json={"amount": 4}, headers=change).status_code == 200
    assert service.http.delete(path, headers=ann).status_code == 204
    assert service.http.patch(path, json={"amount": 5}, headers=change).json()["code"] == "not_found"


def test_a_key_expires_and_goes(tmp_path: Path) -> None:
    clock = Clock()
    with running(payments(), tmp_path / "a.db", clock.sources()) as service:
        ann, key = customer(service), new_key()
        first = pay(service, ann, key)
        clock.move(minutes=59, seconds=59.999999)
        assert same(first, pay(service, ann, key))
        clock.move(microseconds=1)
        assert pay(service, ann, key, amount=2).status_code == 201
        assert total(service) == 2
        for _ in range(20):
            pay(service, ann, new_key())
        clock.move(hours=1)
        for _ in range(5):
            pay(service, ann, new_key())
    with looking_into(tmp_path / "a.db") as connection:
        assert connection.execute('SELECT count(*) FROM "$idempotency"').fetchone() == (5,)


def test_it_is_given_again_after_a_restart(tmp_path: Path) -> None:
    with running(payments(), tmp_path / "a.db") as service:
        ann, key = customer(service), new_key()
        first = pay(service, ann, key)
    with running(payments(), tmp_path / "a.db") as service:
        assert same(first, pay(service, ann, key)) and total(service) == 1


def test_a_stored_response_does_not_give_its_secret_away(tmp_path: Path) -> None:
    with running(payments(), tmp_path / "a.db") as service:
        key = {"Idempotency-Key": new_key()}
        made = service.http.post("/customers", json={"name": "Ann"}, headers=key)
        assert same(made, service.http.post("/customers", json={"name": "Ann"}, headers=key))
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert made.json()["secret"].encode() not in stored and key["Idempotency-Key"].encode() not in stored


# ── Races ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_racing_requests_of_one_key_leave_one_row(service: Running) -> None:
    ann, rounds, racers = customer(service), 60, 25
    keys = [new_key() for _ in range(rounds)]

    def race(_: int) -> list[httpx.Response]:
        with httpx.Client(base_url=service.http.base_url, timeout=60) as http:
            return [http.post("/payments", json={"amount": 1}, headers={**ann, "Idempotency-Key": key}) for key in keys]

    with ThreadPoolExecutor(racers) as pool:
        answers = list(zip(*pool.map(race, range(racers)), strict=True))
    assert total(service) == rounds
    for answered in answers:
        bodies = {each.content for each in answered if each.status_code == 201}
        assert len(bodies) == 1 and {each.status_code for each in answered} <= {201, 409}
        assert all(each.json()["code"] == "running" for each in answered if each.status_code == 409)


def test_a_key_is_in_progress_while_its_request_waits(
    service: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program has the database locked, so the first request waits, however long that takes."""
    ann, key = customer(service), new_key()
    service.database._connections[-1].set_busy_timeout(60_000)
    begun, begin = threading.Event(), Held.begin

    def noted(held: Held) -> Failure | None:
        found = begin(held)
        begun.set()
        return found

    monkeypatch.setattr(Held, "begin", noted)
    with ThreadPoolExecutor(1) as pool, locked(tmp_path / "service.db") as unlock:
        first = pool.submit(lambda: pay(service, ann, key))
        assert begun.wait(60)
        assert _in_progress(service, ann, key)
        assert pay(service, ann, key, amount=2).json()["code"] == "reused"
        unlock()
        assert first.result().status_code == 201
    assert same(first.result(), pay(service, ann, key)) and total(service) == 1


def _in_progress(service: Running, headers: dict[str, str], key: str) -> bool:
    with httpx.Client(base_url=service.http.base_url, timeout=60) as http:
        found = http.post("/payments", json={"amount": 1}, headers={**headers, "Idempotency-Key": key})
    assert found.status_code in (201, 409)
    return found.status_code == 409


@contextmanager
def locked(path: Path) -> Iterator[Callable[[], object]]:
    """A write lock on a database, held until the function is called."""
    # Of the same SQLite as the service: two of them in one process do not see each other's locks.
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    try:
        yield lambda: other.execute("ROLLBACK")
    finally:
        other.close()


@pytest.mark.usefixtures("hashes_that_cost")
def test_a_password_is_hashed_outside_of_the_transaction_and_once(service: Running) -> None:
    key = {"Idempotency-Key": new_key()}

    def sign_up(_: int) -> httpx.Response:
        return httpx.post(
            f"{service.http.base_url}/accounts", json={"name": "Ann", "password": "hunter2"}, headers=key, timeout=30
        )

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(sign_up, range(8)))
    assert {each.status_code for each in answers} == {201, 409}
    assert same(sign_up(0), next(each for each in answers if each.status_code == 201))
    assert service.database.select("SELECT count(*) FROM customer", ()) == [(1,)]


# ── Crashes ───────────────────────────────────────────────────────────────────────────────────────────────────

_SERVE = """
import asyncio, socket, sys
from tests.server.payments import payments
from ninefold.runtime.store.sqlite import open_sqlite
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.run import serve
from ninefold.runtime.request.service import ready
plan = payments()
database = open_sqlite(sys.argv[1], plan.schema).database
service = Application(ready(plan, database.key("cursors")), database)
asyncio.run(serve(service, [socket.socket(fileno=int(sys.argv[2]))]))
"""


@contextmanager
def process(path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    listening = socket.create_server(("127.0.0.1", 0))
    command = [sys.executable, "-c", _SERVE, str(path), str(listening.fileno())]
    places = os.pathsep.join(entry for entry in sys.path if entry)
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        command, pass_fds=[listening.fileno()], env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{places}"}
    ) as child:
        port = listening.getsockname()[1]
        listening.close()
        try:
            yield child, f"http://127.0.0.1:{port}"
        finally:
            child.kill()


@pytest.mark.slow
def test_a_killed_service_has_done_it_with_its_key_or_not_at_all(tmp_path: Path) -> None:
    """Each key is sent until it is answered, while the service is killed in between. Every key makes one payment."""
    database = tmp_path / "a.db"
    keys: list[str] = []
    answered: dict[str, str] = {}
    headers: dict[str, str] = {}
    for number in range(5):
        with process(database) as (child, url), httpx.Client(base_url=url, timeout=60) as http:
            if not headers:
                made = http.post("/customers", json={"name": "Ann"})
                headers = {"Authorization": f"Bearer {made.json()['secret']}"}

            def send(key: str, http: httpx.Client = http, ann: dict[str, str] = headers) -> bool:
                try:
                    paid = http.post("/payments", json={"amount": 1}, headers={**ann, "Idempotency-Key": key})
                except httpx.HTTPError:
                    return False
                assert paid.status_code == 201, paid.text
                assert answered.setdefault(key, paid.json()["id"]) == paid.json()["id"]
                return True

            for key in [key for key in keys if key not in answered] + list(answered)[-20:]:
                assert send(key)
            if number == 4:
                break
            ends = monotonic() + 0.2 + number / 17
            with ThreadPoolExecutor(8) as pool:
                while monotonic() < ends:
                    fresh = [new_key() for _ in range(16)]
                    keys += fresh
                    waiting = [pool.submit(send, key) for key in fresh]
                    if monotonic() + 0.02 > ends:
                        child.send_signal(signal.SIGKILL)
                    for each in waiting:
                        each.result()
    plan = payments()
    opened = open_sqlite(str(database), plan.schema)
    assert isinstance(opened, Opened)
    try:
        stored = {str(row[0]) for row in opened.database.select("SELECT id FROM payment", ())}
        rows = opened.database.select('SELECT count(*) FROM "$idempotency"', ())
    finally:
        opened.database.close()
    assert set(answered.values()) == stored and len(stored) == len(keys)
    assert rows == [(len(keys),)]
