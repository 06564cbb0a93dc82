"""What the notes do not need: passwords, offsets, parameters of an endpoint's own, conditions over the request."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from secrets import token_bytes
from typing import Any

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace
from tests.looking import looking_into
from tests.server.conftest import Running, running
from tests.server.plans import (
    CREATE_NOTE,
    CREATE_PERSON,
    INTEGER,
    JSON,
    LIST_NOTES,
    NEW_NOTE,
    PLAN,
    TEXT,
    answer,
    columns,
    member,
    served,
    statement,
)

from ninefold.expressions.tree import Call, Constant
from ninefold.plan.operations import Compute, Paging
from ninefold.plan.responses import FromColumn, FromExpression, ObjectOf, Response
from ninefold.plan.routes import Body, BodyField, Parameter, Served
from ninefold.plan.service import OperatorValue, ServicePlan
from ninefold.plan.statement import Piece
from ninefold.plan.writes import Assign
from ninefold.runtime.sources import Sources
from ninefold.values import Array, Boolean

pytestmark = pytest.mark.serves

Run = Callable[[ServicePlan], Running]


def with_route(route: Served, **more: Any) -> ServicePlan:
    return replace(PLAN, routes=(route, *(each for each in PLAN.routes if each.key != route.key)), **more)


def test_a_password_is_kept_as_its_argon2id_hash(run: Run) -> None:
    operation = replace(
        CREATE_PERSON,
        assigns=(
            *CREATE_PERSON.assigns[:1],
            Assign("name", TEXT, given=True, secret="password"),
            CREATE_PERSON.assigns[2],
        ),
    )
    body = Body((JSON,), {"type": "object"}, (BodyField("name", ("password",), TEXT),))
    service = run(with_route(served("POST /people", "people", who="anyone", operation=operation, body=body)))
    hashed = service.http.post("/people", json={"password": "open sesame"}).json()["name"]
    assert hashed.startswith("$argon2id$")
    assert PasswordHasher().verify(hashed, "open sesame")


def test_a_token_is_kept_as_its_digest(run: Run, tmp_path: Path) -> None:
    service = run(PLAN)
    token = service.person()["Authorization"].removeprefix("Bearer ")
    with looking_into(service.database._path) as connection:
        connection.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
        written = "\n".join(copy.iterdump())
    assert "Ann" in written and token not in written and token.encode().hex() not in written.lower()


def test_pages_by_offset(run: Run) -> None:
    pieces = (
        *LIST_NOTES.select.pieces[:-1],
        Piece(" LIMIT ? OFFSET ?", (member("$list", "limit", INTEGER), member("$list", "offset", INTEGER))),
    )
    operation = replace(
        LIST_NOTES,
        select=replace(LIST_NOTES.select, pieces=pieces),
        paging=Paging("offset", default=2, maximum=None, size="limit", at="offset"),
    )
    service = run(with_route(served("GET /notes", "notes", operation=operation)))
    ann = service.person()
    for title in "abcde":
        service.http.post("/notes", json={"title": title}, headers=ann)
    page = service.http.get("/notes?offset=1", headers=ann).json()
    assert ([each["title"] for each in page["data"]], page["next"], page["total"]) == (["b", "c"], 3, 5)
    last = service.http.get("/notes?offset=4&limit=9223372036854775806", headers=ann).json()
    assert ([each["title"] for each in last["data"]], last["total"]) == (["e"], 5) and "next" not in last
    assert service.http.get("/notes?offset=9", headers=ann).json() == {"data": [], "total": 5}
    for query, rule in (("offset=-1", "minimum"), ("limit=0", "minimum")):
        assert service.http.get(f"/notes?{query}", headers=ann).json()["fields"][0]["rule"] == rule


def test_a_list_without_pages_is_given_whole(run: Run) -> None:
    operation = replace(
        LIST_NOTES, select=replace(LIST_NOTES.select, pieces=LIST_NOTES.select.pieces[:-1]), paging=Paging("none")
    )
    service = run(with_route(served("GET /notes", "notes", operation=operation)))
    ann = service.person()
    for title in "abcde":
        service.http.post("/notes", json={"title": title}, headers=ann)
    assert len(service.http.get("/notes", headers=ann).json()["data"]) == 5
    assert service.http.get("/notes?limit=1", headers=ann).status_code == 422


@pytest.fixture
def sums(run: Run) -> Running:
    """`GET /sum?n=1&n=2`: adds up, for those who say please."""
    numbers = Array(items=INTEGER)
    total = Call("sum", [_of_request("query", "n", numbers)], INTEGER)
    operation = Compute(
        response=answer(200, ObjectOf((("sum", FromExpression(total)), ("two", FromColumn(0))))),
        select=statement("SELECT 1 + 1", gives=columns(two=INTEGER)),
    )
    please = Call("startsWith", [_of_request("headers", "X-Please", TEXT), Constant("yes", TEXT)], Boolean())
    route = served(
        "GET /sum",
        "sum",
        who="anyone",
        operation=operation,
        query=(Parameter("n", numbers, {"type": "array", "maxItems": 2, "items": {"minimum": 0}}, required=True),),
        headers=(Parameter("X-Please", TEXT, {"type": "string", "maxLength": 3}),),
    )
    return run(with_route(replace(route, admissions=(replace(route.admissions[0], condition=please),))))


def _of_request(where: str, name: str, type_: Any) -> Any:
    return replace(member("request", name, type_), operand=member("request", where, TEXT))


@pytest.mark.parametrize(
    ("query", "headers", "expected"),
    [
        ("n=1&n=2", {"x-please": "yes"}, {"sum": 3, "two": 2}),
        ("n=5", {"x-please": "yes"}, {"sum": 5, "two": 2}),
        ("n=5", {"x-please": "no"}, 403),
        ("n=5", {}, 403),
        ("", {"x-please": "yes"}, ("query", "n", "required")),
        ("n=1&n=x", {"x-please": "yes"}, ("query", "n", "type")),
        ("n=1&n=2&n=3", {"x-please": "yes"}, ("query", "n", "maxItems")),
        ("n=-1", {"x-please": "yes"}, ("query", "n", "minimum")),
        ("n=1", {"x-please": "yes, please"}, ("header", "X-Please", "maxLength")),
    ],
)
def test_parameters_of_an_endpoints_own(sums: Running, query: str, headers: dict[str, str], expected: Any) -> None:
    response = sums.http.get(f"/sum?{query}", headers=headers)
    match expected:
        case dict():
            assert response.json() == expected
        case int():
            assert response.status_code == expected
        case _:
            found = response.json()["fields"]
            assert [(field["place"], field["name"], field["rule"]) for field in found] == [expected]


def test_a_value_at_random_that_is_taken_is_made_again(tmp_path: Path) -> None:
    """A conflict that the judge does not know of is tried once more, with new values; then it is our fault."""
    titles = iter(b"\0\0\1\1\1\2")

    def random_bytes(count: int) -> bytes:
        return bytes([next(titles)]) if count == 1 else token_bytes(count)

    operation = replace(
        CREATE_NOTE,
        judge=replace(CREATE_NOTE.judge, statement=statement("SELECT 0")),
        assigns=tuple(
            replace(each, given=False, otherwise=Call("random", [Constant(1, INTEGER)], TEXT))
            if each.field == "title"
            else each
            for each in CREATE_NOTE.assigns
        ),
    )
    plan = with_route(served("POST /notes", "notes", operation=operation, body=replace(NEW_NOTE, schema={})))
    with running(plan, tmp_path / "service.db", Sources(random_bytes=random_bytes)) as service:
        ann = service.person()
        made = [service.http.post("/notes", json={}, headers=ann) for _ in range(4)]
    assert [response.status_code for response in made] == [201, 201, 500, 201]
    assert [response.json().get("title") for response in made if response.status_code == 201] == ["a", "b", "c"]


def test_an_operator_value_that_is_not_given_blocks_what_needs_it(run: Run) -> None:
    plan = replace(PLAN, operator=(OperatorValue("issuer", (), ("GET /notes",)),))
    service = run(plan)
    assert service.http.get("/notes").status_code == 501
    assert service.http.post("/people", json={"name": "x"}).status_code == 201


def test_no_header_value_ends_its_line(run: Run) -> None:
    operation = replace(
        CREATE_NOTE,
        response=replace(
            CREATE_NOTE.response,
            headers=(("Location", FromColumn(1)), ("X-Remark", FromColumn(2)), ("X-Stars", FromColumn(3))),
        ),
    )
    service = run(with_route(served("POST /notes", "notes", operation=operation, body=NEW_NOTE)))
    made = service.http.post(
        "/notes", json={"title": "a\r\nSet-Cookie: x", "remark": "é 🍰", "stars": 3}, headers=service.person()
    )
    assert made.headers["location"] == "a%0D%0ASet-Cookie:%20x"
    assert made.headers["x-remark"] == "%C3%A9 %F0%9F%8D%B0"
    assert made.headers["x-stars"] == "3"
    assert "set-cookie" not in made.headers


def test_a_response_of_none_has_no_media_type(run: Run) -> None:
    operation = replace(CREATE_NOTE, response=Response(201))
    service = run(with_route(served("POST /notes", "notes", operation=operation, body=NEW_NOTE)))
    made = service.http.post("/notes", json={"title": "a"}, headers=service.person())
    assert (made.status_code, made.content, made.headers["content-length"]) == (201, b"", "0")
    assert "content-type" not in made.headers
