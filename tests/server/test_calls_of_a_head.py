"""What a head says takes few calls for each of its bytes, whatever it says: nobody else is answered meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.contracts import ROOT, compiled
from tests.server.conftest import Running, running

pytestmark = pytest.mark.serves

SIZE = 8_000
MOST = 5
"""Calls for a byte."""

SHORT = 500
"""Calls of a request that says little."""

PIECES = (
    "%", "%&", "%=&", "%zz=&", "%c3&", "%41", "%41=%41&", "+&", "&", "=", "a&", "a=b&", "status=&", "/", "/a", "/%2f",
    "%3A/", ",", "a,", '"a",', 'W/"",', '"', '\\"', ";", "a=b;", "a/b,", "a/b;q=1,", "for=a,", "1,", ".", "-",
)  # fmt: skip
"""What stands in a head again and again: each is the least of something that is read by itself."""

FIELDS = (
    "accept", "authorization", "cookie", "content-type", "connection", "forwarded", "idempotency-key", "if-match",
    "if-none-match", "api-version", "x-forwarded-for",
)  # fmt: skip


class Counted:
    """The calls of threads that have begun since, of functions in Python and in C."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, frame: object, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            self.calls += 1


@pytest.fixture(scope="module")
def counted() -> Counted:
    return Counted()


@pytest.fixture(scope="module")
def services(counted: Counted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Running]]:
    """By the path of a list: of `examples/orders.md`, and of one whose response repeats what it was asked for."""
    contracts = {
        "/orders": (ROOT / "examples" / "orders.md", {"staff_issuer": "https://id.example"}),
        "/api/files": (ROOT / "tests/cases/links-that-repeat-the-request/contract.md", {"base": "https://a.example"}),
    }
    with ExitStack() as stack:
        threading.setprofile(counted)
        stack.callback(threading.setprofile, None)
        found = {}
        for at, (path, given) in contracts.items():
            plan = compiled(path).plan
            assert plan is not None
            rows = tmp_path_factory.mktemp("served") / "rows.db"
            found[at] = stack.enter_context(running(plan, rows, operator=given))
        threading.setprofile(None)  # what begins later is not counted
        yield found


@pytest.mark.parametrize("piece", PIECES)
def test_a_head_takes_few_calls_for_each_byte(piece: str, services: dict[str, Running], counted: Counted) -> None:
    long = piece * (SIZE // len(piece))
    for at, service in services.items():
        asked: list[tuple[str, dict[str, str]]] = [(f"{each}?{long}", {}) for each in (at, "/x")]
        asked += [(f"{at}/{long}", {}), *((at, {field: long}) for field in FIELDS)]
        for target, fields in asked:
            before = counted.calls
            answer = service.http.request("POST" if "idempotency-key" in fields else "GET", target, headers=fields)
            took, sent = counted.calls - before, len(answer.request.url.raw_path) + sum(map(len, fields.values()))
            told = f"{took} calls for {sent} bytes of {piece!r} in {[*fields] or target[:12]}"
            assert answer.status_code < 500 and took <= SHORT + MOST * sent, told
