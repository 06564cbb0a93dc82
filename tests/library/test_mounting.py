"""A service inside another application: mounted in Starlette, over real sockets, and alone."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from subprocess import run
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from tests.serving import in_a_thread

import ninefold
from ninefold.runtime.http.run import Asgi

ROOT = Path(__file__).parents[2]
ORDERS = ROOT / "examples" / "orders.md"
NOTES = ROOT / "tests" / "cases" / "notes-open-to-anyone" / "contract.md"


@contextmanager
def listening(app: Asgi) -> Iterator[httpx.Client]:
    """An application on a free port, until the block ends."""
    with in_a_thread(app) as (host, port), httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as client:
        yield client


async def home(request: Request) -> PlainTextResponse:
    return PlainTextResponse("the shop")


def is_open(database: Path) -> bool:
    """Whether a process holds the database: the lock stands beside it."""
    return database.with_name(database.name + ".ninefold-lock").exists()


@pytest.mark.serves
def test_a_service_is_mounted_beside_other_routes(tmp_path: Path) -> None:
    database = tmp_path / "orders.db"
    orders = ninefold.application(ORDERS, database=f"sqlite:///{database}", operator={"staff_issuer": "https://id"})
    shop = Starlette(routes=[Route("/", home), Mount("/shop/v1", orders)], lifespan=orders.lifespan)
    assert not database.exists(), "a database is opened when the service starts, not when it is named"
    with listening(shop) as client:
        assert client.get("/").text == "the shop"  # once the service has started
        assert is_open(database)
        made = client.post("/shop/v1/customers", json={"email": "ada@b.example", "name": "Ada"}).json()
        caller = {"Authorization": f"Bearer {made['api_key']}"}
        lines = [{"sku": "ABC-1", "quantity": 2, "unit_price": 250}]
        placed = client.post("/shop/v1/orders", json={"lines": lines}, headers=caller)
        assert placed.status_code == 201
        assert placed.headers["location"] == f"/shop/v1/orders/{placed.json()['id']}"
        read = client.get(placed.headers["location"], headers=caller)
        assert (read.status_code, read.json()["total"]) == (200, 500)
        assert client.get("/shop/v1/orders", headers=caller).json()["data"] == [read.json()]
        assert client.get("/shop/v1/nothing").json()["title"] == "There is no such thing"
        assert client.get("/orders", headers=caller).status_code == 404
    assert not is_open(database)


@pytest.mark.serves
def test_without_a_lifespan_it_starts_with_the_first_request(tmp_path: Path) -> None:
    database = tmp_path / "notes.db"
    notes = ninefold.application(NOTES, database=str(database))
    with listening(Starlette(routes=[Mount("/board", notes)])) as client:
        assert not database.exists()
        made = client.post("/board/notes", json={"text": "milk"})
        assert made.status_code == 201 and is_open(database)
        assert made.headers["location"] == f"/board/notes/{made.json()['id']}"
    notes.close()
    notes.close()
    assert not is_open(database)
    with listening(notes) as client:
        assert client.get(f"/notes/{made.json()['id']}").json()["text"] == "milk", "it may be started again"
    assert not is_open(database)


@pytest.mark.serves
def test_two_services_in_one_lifespan(tmp_path: Path) -> None:
    notes = ninefold.application(NOTES, database=str(tmp_path / "notes.db"))
    orders = ninefold.load(ORDERS).application(database=str(tmp_path / "orders.db"))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with notes.lifespan(), orders.lifespan():
            yield

    with listening(Starlette(routes=[Mount("/n", notes), Mount("/o", orders)], lifespan=lifespan)) as client:
        assert client.post("/n/notes", json={"text": "milk"}).status_code == 201
        assert client.get("/o/orders").status_code == 401
    assert not is_open(tmp_path / "notes.db") and not is_open(tmp_path / "orders.db")


def test_a_path_is_what_is_below_the_mount(tmp_path: Path) -> None:
    """As servers and frameworks put it, encoded or not, and with or without the path as it was sent."""
    notes = ninefold.application(NOTES, database=str(tmp_path / "notes.db"))
    with notes_are_open(notes):
        for scope in (
            {"root_path": "/a b", "path": "/a b/notes", "raw_path": b"/a%20b/notes"},
            {"root_path": "/a b/", "path": "/a b/notes", "raw_path": b"/%61%20b/notes"},
            {"root_path": "/a b", "path": "/a b/notes"},
            {"root_path": "", "path": "/notes", "raw_path": b"/notes"},
            {"root_path": "/proxy", "path": "/notes", "raw_path": b"/notes"},
        ):
            assert status(notes, scope) == 200, scope
        assert status(notes, {"root_path": "/a", "path": "/ab/notes", "raw_path": b"/ab/notes"}) == 404


@contextmanager
def notes_are_open(application: ninefold.Application) -> Iterator[None]:
    application.open()
    try:
        yield
    finally:
        application.close()


def status(application: ninefold.Application, scope: dict[str, Any]) -> int:
    """The status of a GET whose scope a server would give so."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    whole = {"type": "http", "method": "GET", "query_string": b"", "headers": [], "client": None, **scope}
    asyncio.run(application(whole, receive, send))
    return int(sent[0]["status"])


@pytest.mark.parametrize(
    ("extensions", "answers"),
    [
        ({}, [{"type": "websocket.close"}]),
        ({"websocket.http.response": {}}, ["websocket.http.response.start", "websocket.http.response.body"]),
    ],
)
def test_a_web_socket_where_there_is_none_is_answered_as_a_get(
    tmp_path: Path, extensions: dict[str, Any], answers: list[Any]
) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    notes = ninefold.application(NOTES, database=str(tmp_path / "notes.db"))
    scope = {"type": "websocket", "path": "/notes", "query_string": b"", "headers": [], "extensions": extensions}
    asyncio.run(notes(scope, receive, send))
    assert [each if each["type"] == "websocket.close" else each["type"] for each in sent] == answers
    assert extensions == {} or sent[0]["status"] == 200


def test_a_contract_as_a_value() -> None:
    service = ninefold.load(ORDERS)
    assert service.title == "Service Specification: Orders"
    assert "POST /orders" in service.endpoints
    assert not service.blocked
    assert ninefold.load(ROOT / "tests" / "cases" / "facts-that-are-proposed" / "contract.md").blocked
    assert service.operator == ("staff_issuer",)
    assert not service.gaps
    assert service.openapi()["openapi"].startswith("3.1")
    with pytest.raises(ValueError, match=r"no operator\.issuer"):
        service.application(database="orders.db", operator={"issuer": "https://id"})


def test_errors_are_told_with_their_places(tmp_path: Path) -> None:
    broken = tmp_path / "broken.md"
    broken.write_text(NOTES.read_text(encoding="utf-8").replace("{201: note}", "{201: nota}"), encoding="utf-8")
    with pytest.raises(ninefold.ContractError, match=r"nota(.|\n)*broken\.md:\d+:\d+") as raised:
        ninefold.load(broken)
    assert raised.value.diagnostics
    with pytest.raises(FileNotFoundError):
        ninefold.load(tmp_path / "nothing.md")


def test_a_database_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    taken = tmp_path / "taken.db"
    taken.write_text("not a database, and not ours to change")
    notes = ninefold.application(NOTES, database=str(taken))
    with pytest.raises(ninefold.DatabaseRefused):
        notes.open()
    assert "not ours" in taken.read_text()


def test_a_program_that_never_closes_it_ends_all_the_same(tmp_path: Path) -> None:
    database = tmp_path / "notes.db"
    program = f"import ninefold; ninefold.application({str(NOTES)!r}, database={str(database)!r}).open()"
    done = run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert database.exists() and not is_open(database)


def test_the_library_is_imported_when_it_is_asked_for() -> None:
    program = "import sys, ninefold; assert 'ninefold.library' not in sys.modules; ninefold.load; ninefold.nothing"
    done = run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "has no attribute 'nothing'" in done.stderr
