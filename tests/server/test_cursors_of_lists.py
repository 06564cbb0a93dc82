"""A cursor is of one list, in one order, of keys of these types: every other list, in whatever case of whatever
endpoint, and of whatever contract the service had when it made it, refuses it. Over SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.contracts import plan_of
from tests.events.service import running
from tests.parts import contract, told
from tests.postgresql import server

from ninefold.plan.operations import Sort
from ninefold.plan.statement import parts

pytestmark = pytest.mark.serves

ORDERS = ("at", "-at", "text", "-text", "n", "-n", "ok", "half", "maybe", "about", "twice", "id", "[n, text]")
RESOURCES = """
note:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    text:  {type: string}
    at:    {type: string, format: date-time, on create: now}
    n:     {type: integer}
    ok:    {type: boolean, on create: true}
    half:  {type: number, on create: 1.5}
    maybe: {type: integer}
    about: {references: memo}
    twice: {computed: note.much * 2}
    much:  {computed: note.n + 1}
  required: [text, n]
memo: {primary key: id, fields: {id: {type: string}, text: {type: string}}}
pair: {primary key: [a, b], fields: {a: {type: string}, b: {type: integer}}}
"""
SHOWN = "responses: {200: {data: page.items, next: page.next}}"
CASES = {each: ("note", each) for each in ORDERS} | {
    "again": ("note", "text"),
    "memo": ("memo", "text"),
    "memo by id": ("memo", "id"),
    "pair": ("pair", "a"),
    "all others": ("note", "-id"),
}


def edited(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def case(name: str, of: str, order: str) -> str:
    return f"    {name}: {{does: list {of}, sort: {order if order[0] == '[' else f'[{order}]'}, {SHOWN}}}"


CONTRACT = contract(
    RESOURCES,
    f"""
POST /notes: {{does: create note, body: [text, n], responses: {{201: note}}}}
POST /memos: {{does: create memo, body: [id, text], responses: {{201: memo}}}}
POST /pairs: {{does: create pair, body: [a, b], responses: {{201: pair}}}}
GET /plain: {{does: list note, sort: [text], {SHOWN}}}
GET /sorts:
  does: list note
  query: {{s: {{sorts: [{", ".join(each for each in ORDERS if each[0] != "[")}]}}}}
  sort: [-at]
  {SHOWN}
GET /cases:
  query: {{s: {{type: string}}}}
  cases:
    by: request.query.s
"""
    + "\n".join(case(f'"{name}"', of, order) for name, (of, order) in CASES.items()),
    limits="pages: {by: cursor, default: 2, maximum: 10, size: limit, at: cursor}",
)
LISTS = (
    "/plain",
    *(f"/sorts?s={each}" for each in ORDERS if each[0] != "["),
    *(f"/cases?s={each}" for each in CASES),
)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    return tmp_path / "a.db" if request.param == "sqlite" else server.database()


@contextmanager
def serving(database: Path | str, text: str = CONTRACT) -> Iterator[httpx.Client]:
    with running(database, text) as service:
        yield service.http


def filled(http: httpx.Client) -> None:
    for n, text in enumerate("bdace"):
        for path, body in (
            ("/notes", {"text": text, "n": n}),
            ("/memos", {"id": text, "text": text}),
            ("/pairs", {"a": text, "b": n}),
        ):
            assert http.post(path, json=body).status_code == 201


def page(http: httpx.Client, path: str, cursor: str = "", limit: int = 2) -> httpx.Response:
    more = f"limit={limit}" + (f"&cursor={cursor}" if cursor else "")
    return http.get(f"{path}{'&' if '?' in path else '?'}{more}")


def test_no_list_takes_the_cursor_of_another_one(database: Path | str) -> None:
    with serving(database) as http:
        filled(http)
        pages = {path: page(http, path).json() for path in LISTS}
        assert len({each["next"] for each in pages.values()}) == len(LISTS)
        for of, first in pages.items():
            for path in LISTS:
                answer = page(http, path, first["next"], 10)
                if path != of:
                    assert told(answer) == "invalid", (of, path, answer.text)
                    [wrong] = answer.json()["fields"]
                    assert (wrong["name"], wrong["rule"]) == ("cursor", "format")
                else:
                    assert first["data"] + answer.json()["data"] == page(http, path, limit=10).json()["data"]


PLAIN = f"GET /plain: {{does: list note, sort: [text], {SHOWN}}}"
BY_SUM = (PLAIN, PLAIN.replace("[text]", "[twice]"))
OTHERS = {
    "the other direction": [(PLAIN, PLAIN.replace("[text]", "[-text]"))],
    "another field": [(PLAIN, PLAIN.replace("[text]", "[at]"))],
    "a field of another type": [(PLAIN, PLAIN.replace("[text]", "[n]"))],
    "a field more": [(PLAIN, PLAIN.replace("[text]", "[text, n]"))],
    "another resource": [(PLAIN, PLAIN.replace("list note", "list memo"))],
    "that may be without a value": [("required: [text, n]", "required: [n]")],
    "what is computed": [BY_SUM],
    "that has cases": [
        (
            PLAIN,
            f"GET /plain: {{query: {{c: {{type: string}}}}, cases: {{by: request.query.c, all others: {PLAIN[12:]}}}}}",
        )
    ],
}
SAME = {
    "nothing": [],
    "the primary key is stated": [(PLAIN, PLAIN.replace("[text]", "[text, id]"))],
    "it is an order of several": [(PLAIN, PLAIN.replace("sort:", "query: {by: {sorts: [-text, text]}}, sort:"))],
    "other rows, and more of each": [
        (PLAIN, PLAIN.replace("{does: list note", "{where: note.n > -5, does: list note")),
        ("    half:  {", "    more:  {computed: note.n * 3}\n    half:  {"),
    ],
    "another field is computed otherwise": [("note.much * 2", "note.much * 3")],
}


@pytest.mark.parametrize("change", OTHERS)
def test_a_list_in_another_order_takes_none_of_before(database: Path | str, change: str) -> None:
    with serving(database) as http:
        filled(http)
        cursor = page(http, "/plain").json()["next"]
    with serving(database, edited(CONTRACT, *OTHERS[change])) as http:
        assert told(page(http, "/plain", cursor)) == "invalid"
        assert told(page(http, "/plain", page(http, "/plain").json()["next"])) == 200


@pytest.mark.parametrize("change", SAME)
def test_a_list_in_the_same_order_takes_those_of_before(database: Path | str, change: str) -> None:
    with serving(database) as http:
        filled(http)
        cursor = page(http, "/plain").json()["next"]
    with serving(database, edited(CONTRACT, *SAME[change])) as http:
        assert page(http, "/plain").json()["next"] == cursor
        assert [each["text"] for each in page(http, "/plain", cursor).json()["data"]] == ["c", "d"]


@pytest.mark.parametrize("computed", ["note.much * 2", "note.n + 1"])
def test_what_an_order_is_computed_of_belongs_to_it(database: Path | str, computed: str) -> None:
    """Also where that is computed itself."""
    text = edited(CONTRACT, BY_SUM)
    with serving(database, text) as http:
        filled(http)
        cursor = page(http, "/plain").json()["next"]
    with serving(database, edited(text, (computed, f"{computed} - note.n * 9"))) as http:
        assert told(page(http, "/plain", cursor)) == "invalid"


def test_cursors_are_bound_to_the_same_on_each_database() -> None:
    """So that they go on where a database has moved."""

    here, there = (list(parts(plan_of(CONTRACT, database=each), Sort)) for each in ("sqlite", "postgresql"))
    assert here == there
    assert len({each.bound_to for each in here if each.bound_to}) == len(ORDERS) + len(CASES) - 1
