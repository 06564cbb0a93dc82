"""Part 7: each condition of the closed list is provoked over a socket, and answered as the contract states."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import apsw
import httpx
import pytest
from tests.events.service import Running, running

from ninefold.language.conditions import STATUSES

pytestmark = pytest.mark.serves

CONTRACT = (Path(__file__).parent / "contract.md").read_text(encoding="utf-8")

CANNOT_ARISE = {
    "precondition required": "`etag: true` acts on a precondition that is sent; no key asks for one",
}
"""The conditions that nothing in this build can give, and why."""

OF_THE_INSIDE = ("sqlite", "apsw", "traceback", 'file "', "select ", "no such table", "constraint", "confidential")
"""What no answer may hold: words of the database, of a stack trace, and the value that every row here has."""


class Theatre:
    """A service with an open ticket, and what may be asked of it."""

    def __init__(self, service: Running) -> None:
        self.service = service
        self.http = service.http
        self.ann = service.person("Ann")
        self.staff = service.person("Bob", role="staff")
        self._seats = iter(range(10_000))

    def ticket(self, **values: object) -> str:
        """The path of a new ticket."""
        body = {"seat": f"A{next(self._seats)}", "price": 100, "note": "confidential"} | values
        made = self.http.post("/tickets", json=body, headers=self.ann)
        assert made.status_code == 201, made.text
        return f"/tickets/{made.json()['id']}"

    def post(self, path: str, json: object = None, **headers: str) -> httpx.Response:
        return self.http.post(path, json=json, headers={**self.ann, **headers})

    def send(self, content: bytes, **headers: str) -> httpx.Response:
        """A body for a new ticket, byte for byte. Underscores in the names of headers stand for hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post("/tickets", content=content, headers={**self.ann, **named})


IN_TIME = CONTRACT.replace("timeout: PT1S", "timeout: PT30S")
"""Where a slow machine does not end a request."""


@pytest.fixture
def theatre(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Theatre]:
    ends = getattr(request.node, "callspec", None) and request.node.callspec.params.get("condition") == "timed out"
    with running(tmp_path / "service.db", CONTRACT if ends else IN_TIME) as service:
        yield Theatre(service)


JSON = "application/json"


def rate_limited(at: Theatre) -> httpx.Response:
    assert at.http.get("/rare").status_code == 200
    return at.http.get("/rare")


def sign_in(at: Theatre) -> httpx.Response:
    nobody = "00000000-0000-4000-8000-000000000000"
    return at.http.post("/session", json={"id": nobody, "word": "confidential"})


def mismatch(at: Theatre) -> httpx.Response:
    key = {"Idempotency-Key": "k"}
    assert at.post("/tickets", {"seat": "K1", "price": 1}, **key).status_code == 201
    return at.post("/tickets", {"seat": "K2", "price": 1}, **key)


def gone(at: Theatre) -> httpx.Response:
    path = at.ticket()
    assert at.post(f"{path}/withdraw").status_code == 200
    return at.http.get(path, headers=at.ann)


def stale(at: Theatre) -> httpx.Response:
    path = at.ticket()
    tag = at.http.get(path, headers=at.ann).headers["etag"]
    assert at.http.patch(path, json={"price": 2}, headers=at.ann).status_code == 200
    return at.http.patch(path, json={"price": 3}, headers={**at.ann, "If-Match": tag})


def sold_twice(at: Theatre) -> httpx.Response:
    path = at.ticket()
    assert at.post(f"{path}/buy").status_code == 200
    return at.post(f"{path}/buy")


def taken(at: Theatre) -> httpx.Response:
    seat = at.http.get(at.ticket(), headers=at.ann).json()["seat"]
    return at.post("/tickets", {"seat": seat, "price": 1})


def slow(at: Theatre) -> httpx.Response:
    """A body of which one byte comes."""
    address = at.http.base_url
    head = f"POST /people HTTP/1.1\r\nhost: x\r\ncontent-type: {JSON}\r\ncontent-length: 9\r\n\r\n"
    with socket.create_connection((address.host, address.port or 80), timeout=60) as connection:
        connection.sendall(head.encode() + b"{")
        received = b""
        while b"}" not in received:
            received += connection.recv(10_000)
    head_, _, body = received.decode().partition("\r\n\r\n")
    return httpx.Response(int(head_.split()[1]), content=body.encode())


def broken(at: Theatre) -> httpx.Response:
    """Somebody takes a table away while the service runs."""
    path = at.ticket()
    at.service.rows("ALTER TABLE ticket RENAME TO elsewhere")
    return at.http.get(path, headers=at.ann)


PROVOKED: MappingProxyType[str, tuple[int, str, Callable[[Theatre], httpx.Response]]] = MappingProxyType(
    {
        "no such path": (404, "no_path", lambda at: at.http.get("/nowhere")),
        "method not allowed": (405, "bad_method", lambda at: at.http.put("/tickets")),
        "unknown version": (400, "no_version", lambda at: at.http.get("/tickets", headers={"Api-Version": "9"})),
        "retired version": (410, "too_old", lambda at: at.http.get("/tickets", headers={"Api-Version": "0"})),
        "too many requests": (429, "slow_down", rate_limited),
        "unauthenticated": (401, "who", lambda at: at.http.get("/tickets")),
        "sign in refused": (401, "not_you", sign_in),
        "forbidden": (403, "not_yours", lambda at: at.http.delete(at.ticket(), headers=at.ann)),
        "too large": (413, "too_large", lambda at: at.send(b" " * 20_000, content_type=JSON)),
        "unsupported media type": (415, "media_type", lambda at: at.send(b"seat", content_type="text/plain")),
        "not acceptable": (406, "unacceptable", lambda at: at.send(b"{}", content_type=JSON, accept="text/html")),
        "malformed": (400, "malformed", lambda at: at.send(b'{"seat": "confidential"', content_type=JSON)),
        "invalid": (422, "invalid", lambda at: at.post("/tickets", {"price": "confidential"})),
        "idempotency mismatch": (422, "reused", mismatch),
        "not found": (404, "missing", lambda at: at.http.get("/tickets/confidential", headers=at.ann)),
        "gone": (410, "withdrawn", gone),
        "precondition failed": (412, "stale", stale),
        "illegal transition": (409, "wrong_state", sold_twice),
        "check": (409, "not_now", lambda at: at.post(f"{at.ticket(price=0)}/buy")),
        "conflict": (409, "taken", taken),
        "different": (
            409,
            "otherwise",
            lambda at: at.http.put(at.ticket(), json={"seat": "Z", "price": 1}, headers=at.ann),
        ),
        "timed out": (504, "too_slow", slow),
        "internal": (500, "broken", broken),
    }
)
"""Status, code and the request that ends so. Two more need another program (below)."""

WITH_A_LOCKED_DATABASE = ("idempotency in progress", "unavailable")


def test_each_condition_is_provoked_or_cannot_arise() -> None:
    assert {*PROVOKED, *WITH_A_LOCKED_DATABASE, *CANNOT_ARISE} == set(STATUSES)
    assert len(PROVOKED) + len(WITH_A_LOCKED_DATABASE) + len(CANNOT_ARISE) == len(STATUSES)


def test_so_is_a_check_of_what_has_become(theatre: Theatre) -> None:
    answer = theatre.http.patch(theatre.ticket(price=5), json={"discount": 6}, headers=theatre.ann)
    assert (answer.status_code, answer.json()["code"]) == (422, "too_cheap")


@pytest.mark.parametrize("condition", PROVOKED)
def test_it_is_answered_as_stated(theatre: Theatre, condition: str) -> None:
    status, code, provoke = PROVOKED[condition]
    answer = provoke(theatre)
    assert (answer.status_code, answer.json()["code"], answer.json()["status"]) == (status, code, status)
    tells_nothing_of_the_inside(answer)


def tells_nothing_of_the_inside(answer: httpx.Response) -> None:
    told = (answer.text + str(answer.headers)).lower()
    assert [word for word in OF_THE_INSIDE if word in told] == []


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Another program has the database locked."""
    other = apsw.Connection(str(database))
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
        other.execute("ROLLBACK")
    finally:
        other.close()


def test_while_another_program_holds_the_database(tmp_path: Path) -> None:
    """One request with a key waits until it is `unavailable`; another is told meanwhile that it runs. Neither has done
    anything, and reads go on."""
    with running(tmp_path / "service.db", IN_TIME) as service:
        theatre = Theatre(service)
        path = theatre.ticket()
        body, key = {"seat": "L1", "price": 1}, {"Idempotency-Key": "k"}
        with locked(Path(service.path)), ThreadPoolExecutor(2) as pool:
            both = [pool.submit(lambda: theatre.post("/tickets", body, **key)) for _ in range(2)]
            assert theatre.http.get(path, headers=theatre.ann).status_code == 200
            answers = [each.result() for each in both]
        assert {(each.status_code, each.json()["code"]) for each in answers} == {(503, "busy"), (409, "running")}
        for answer in answers:
            tells_nothing_of_the_inside(answer)
        # A refused request leaves its key free.
        assert theatre.post("/tickets", body, **key).status_code == 201


# ── Several at once ───────────────────────────────────────────────────────────────────────────────────────────


def _request(theatre: Theatre, wrong: set[str]) -> str:
    """The code of the answer to a new ticket's request with so much wrong."""
    headers = {"Content-Type": JSON, **theatre.ann}
    content = b'{"price": -1}' if "invalid" in wrong else b'{"seat": "P1", "price": 1}'
    if "malformed" in wrong:
        content = b"{"
    if "too_large" in wrong:
        content = content[:1] * 20_000
    for code, header in (
        ("no_version", {"Api-Version": "9"}),
        ("who", {"Authorization": "Bearer nobody"}),
        ("media_type", {"Content-Type": "text/plain"}),
        ("unacceptable", {"Accept": "text/html"}),
    ):
        if code in wrong:
            headers |= header
    answer = theatre.http.post("/tickets", content=content, headers=headers)
    tells_nothing_of_the_inside(answer)
    return str(answer.json()["code"])


CLOSED = ("no_version", "who", "too_large", "media_type", "unacceptable", "malformed", "invalid")
STATED = ("media_type", "too_large", "malformed", "invalid", "unacceptable", "no_version", "who")


CALLED = {
    "no_version": "unknown version",
    "who": "unauthenticated",
    "too_large": "too large",
    "media_type": "unsupported media type",
    "unacceptable": "not acceptable",
    "malformed": "malformed",
    "invalid": "invalid",
}


@pytest.mark.parametrize("order", [CLOSED, STATED])
def test_of_several_the_precedence_decides(tmp_path: Path, order: tuple[str, ...]) -> None:
    contract = IN_TIME
    if order is STATED:
        contract = contract.replace(
            "codes:\n", f"precedence: [{', '.join(CALLED[each] for each in order)}]\ncodes:\n", 1
        )
    with running(tmp_path / "service.db", contract) as service:
        theatre = Theatre(service)
        for first in range(len(order)):
            assert _request(theatre, set(order[first:])) == order[first]


@pytest.mark.parametrize(
    ("stated", "change", "purchase"),
    [((), "withdrawn", "withdrawn"), (("illegal transition", "precondition failed", "gone"), "stale", "wrong_state")],
)
def test_of_several_that_a_row_fails_too(tmp_path: Path, stated: tuple[str, ...], change: str, purchase: str) -> None:
    """A ticket that is gone, of another entity tag, and in no state to be bought."""
    contract = IN_TIME
    if stated:
        contract = contract.replace("codes:\n", f"precedence: [{', '.join(stated)}]\ncodes:\n", 1)
    with running(tmp_path / "service.db", contract) as service:
        theatre = Theatre(service)
        path = theatre.ticket()
        assert theatre.post(f"{path}/withdraw").status_code == 200
        changed = theatre.http.patch(path, json={"price": 1}, headers={**theatre.ann, "If-Match": '"of another"'})
        assert (changed.json()["code"], theatre.post(f"{path}/buy").json()["code"]) == (change, purchase)
