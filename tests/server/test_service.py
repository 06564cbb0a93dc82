"""A service over a real socket, with a real database."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from tests.server.conftest import Running, recorded, running
from tests.server.plans import PLAN, PROBLEMS, ROUTES

from ninefold.plan.limits import Limits
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import Version, Versions
from ninefold.runtime.http.access_log import lines as written_as

pytestmark = pytest.mark.serves

Run = Callable[[ServicePlan], Running]
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def service(run: Run) -> Running:
    return run(PLAN)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One service for requests that leave nothing behind."""
    with running(PLAN, tmp_path_factory.mktemp("shared") / "service.db") as service:
        yield service


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def note(service: Running, headers: dict[str, str], **values: Any) -> dict[str, Any]:
    made = service.http.post("/notes", json={"title": "a", **values}, headers=headers)
    assert made.status_code == 201, made.text
    found: dict[str, Any] = made.json()
    return found


# ── What goes well ────────────────────────────────────────────────────────────────────────────────────────────


def test_create_read_change_finish_delete(service: Running) -> None:
    ann, http = service.person(), service.http
    made = http.post("/notes", json={"title": "  One  ", "tags": ["b"]}, headers=ann)
    shown = made.json()
    assert made.status_code == 201
    assert made.headers["content-type"] == "application/json"
    assert made.headers["location"] == shown["id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", shown.pop("made_at"))
    assert shown == {"id": shown["id"], "title": "One", "remark": None, "tags": ["b"], "done": False}
    assert list(shown) == ["id", "title", "remark", "tags", "done"]

    path = f"/notes/{shown['id']}"
    assert http.get(path, headers=ann).json()["title"] == "One"
    assert http.patch(path, json={"stars": 2, "remark": "r"}, headers=ann).json()["stars"] == 2
    assert http.patch(path, json={"remark": None}, headers=ann).json()["remark"] is None
    assert http.patch(path, json={}, headers=ann).json()["stars"] == 2
    assert http.post(f"{path}/finish", headers=ann).json()["done"] is True
    assert code(http.post(f"{path}/finish", headers=ann)) == (409, "is_done")
    deleted = http.delete(path, headers=ann)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert "content-length" not in deleted.headers and "content-type" not in deleted.headers
    assert code(http.get(path, headers=ann)) == (404, "not_found")


def test_only_date_and_what_is_stated_is_said(shared: Running) -> None:
    response = shared.http.get("/notes", headers=shared.person())
    # `Vary` is HTTP's own: the header names one of several versions.
    assert set(response.headers) == {"date", "content-type", "content-length", "vary"}


def test_head_is_get_without_its_body(service: Running) -> None:
    ann = service.person()
    get, head = service.http.get("/notes", headers=ann), service.http.head("/notes", headers=ann)
    assert head.content == b""
    assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.content))


def test_options_and_allow(shared: Running) -> None:
    options = shared.http.options("/notes/1")
    assert (options.status_code, options.headers["allow"]) == (204, "DELETE, GET, HEAD, OPTIONS, PATCH")
    refused = shared.http.put("/notes/1")
    assert code(refused) == (405, "bad_method")
    assert refused.headers["allow"] == "DELETE, GET, HEAD, OPTIONS, PATCH"
    assert code(shared.http.options("/nothing")) == (404, "not_found")
    with socket.create_connection(shared.address) as connection:
        connection.sendall(b"OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert b"204" in connection.recv(1000).partition(b"\r\n")[0]


def test_a_caller_is_who_the_credential_belongs_to_now(service: Running, tmp_path: Path) -> None:
    ann, http = service.person(), service.http
    one = f"/notes/{note(service, ann)['id']}"

    def elsewhere(text: str) -> None:
        program = f"import apsw; apsw.Connection({str(tmp_path / 'service.db')!r}).execute({text!r}).fetchall()"
        subprocess.run([sys.executable, "-c", program], check=True)

    for _ in range(2):
        assert [http.get(one, headers=ann).status_code for _ in range(3)] == [200] * 3
        elsewhere("UPDATE person SET token = CAST(hex(token) AS BLOB)")
        assert [http.get(one, headers=ann).status_code for _ in range(3)] == [401] * 3
        service.person("Bob")
        elsewhere("UPDATE person SET token = unhex(CAST(token AS TEXT)) WHERE name = 'Ann'")


# ── Lists ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_pages_follow_each_other_also_under_inserts(service: Running) -> None:
    ann = service.person()
    for title in "aceg":
        note(service, ann, title=title)
    first = service.http.get("/notes", headers=ann).json()
    assert [each["title"] for each in first["data"]] == ["a", "c"]
    assert first["total"] == 4
    note(service, ann, title="b")
    note(service, ann, title="f")
    second = service.http.get("/notes", params={"cursor": first["next"]}, headers=ann).json()
    assert [each["title"] for each in second["data"]] == ["e", "f"]
    third = service.http.get("/notes", params={"cursor": second["next"]}, headers=ann).json()
    assert [each["title"] for each in third["data"]] == ["g"]
    assert "next" not in third
    down = service.http.get("/notes", params={"sort": "-title", "limit": 3}, headers=ann).json()
    assert [each["title"] for each in down["data"]] == ["g", "f", "e"]
    crossed = service.http.get("/notes", params={"cursor": down["next"]}, headers=ann)
    assert code(crossed) == (422, "invalid")


def test_filters(service: Running) -> None:
    ann, bob = service.person("Ann"), service.person("Bob")
    one = note(service, ann, title="a")
    note(service, ann, title="b")
    service.http.post(f"/notes/{one['id']}/finish", headers=ann)
    done = service.http.get("/notes", params={"done": "true"}, headers=ann).json()
    assert ([each["title"] for each in done["data"]], done["total"]) == (["a"], 1)
    assert service.http.get("/notes?since=9999-01-01T00:00:00Z", headers=ann).json()["data"] == []
    assert service.http.get("/notes?since=2000-01-01T00:00:00%2B02:00&done=false", headers=ann).json()["total"] == 1
    assert service.http.get("/notes", headers=bob).json() == {"data": [], "total": 0}


@pytest.mark.parametrize(
    ("query", "name", "rule"),
    [
        ("limit=0", "limit", "minimum"),
        ("limit=4", "limit", "maximum"),
        ("limit=99999999999999999999999", "limit", "range"),
        ("limit=x", "limit", "type"),
        ("limit=", "limit", "type"),
        ("limit=1&limit=1", "limit", "repeated"),
        ("limit=%2B1", "limit", "type"),
        ("done=yes", "done", "type"),
        ("since=today", "since", "format"),
        ("since=%00", "since", "format"),
        ("cursor=x", "cursor", "format"),
        ("cursor=", "cursor", "format"),
        ("sort=title", "sort", "enum"),
        ("sort=", "sort", "enum"),
        ("nothing=1", "nothing", "unknown"),
        ("%FF=1", "?", "unknown"),
    ],
)
def test_a_parameter_that_is_not_as_stated_is_invalid(shared: Running, query: str, name: str, rule: str) -> None:
    response = shared.http.get(f"/notes?{query}", headers=shared.person())
    assert code(response) == (422, "invalid")
    found = response.json()["fields"]
    assert [(field["place"], field["name"], field["rule"]) for field in found] == [("query", name, rule)]


def test_all_parameters_and_all_fields_are_reported_together(shared: Running) -> None:
    ann = shared.person()
    response = shared.http.post("/notes?a=1", json={"stars": "x"}, headers=ann)
    assert [field["pointer"] for field in response.json()["fields"]] == ["/a", "/title", "/stars"]


# ── Entity tags ───────────────────────────────────────────────────────────────────────────────────────────────


def test_conditional_requests(service: Running) -> None:
    ann, http = service.person(), service.http
    path = f"/notes/{note(service, ann)['id']}"
    read = http.get(path, headers=ann)
    tag = read.headers["etag"]
    for field in (tag, f'"x", W/{tag}', "*"):
        unchanged = http.get(path, headers={**ann, "If-None-Match": field})
        assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", tag)
        assert "content-type" not in unchanged.headers
    assert http.get(path, headers={**ann, "If-None-Match": '"x"'}).status_code == 200
    assert http.get(path, headers={**ann, "If-None-Match": "nonsense"}).status_code == 200
    assert code(http.get(path, headers={**ann, "If-Match": '"x"'})) == (412, "stale")
    assert http.get(path, headers={**ann, "If-Match": tag}).status_code == 200

    changed = http.patch(path, json={"stars": 1}, headers={**ann, "If-Match": tag})
    assert changed.status_code == 200 and changed.headers["etag"] != tag
    for field in (tag, f"W/{changed.headers['etag']}", "nonsense", '"v2-x"'):
        assert code(http.patch(path, json={"stars": 2}, headers={**ann, "If-Match": field})) == (412, "stale")
    both = f"{tag}, {changed.headers['etag']}"
    assert http.patch(path, json={"stars": 2}, headers={**ann, "If-Match": both}).status_code == 200
    assert http.patch(path, json={"stars": 3}, headers={**ann, "If-Match": "*"}).json()["stars"] == 3
    assert code(http.patch("/notes/no", json={}, headers={**ann, "If-Match": tag})) == (404, "not_found")


def test_of_writes_on_one_revision_one_is_done(service: Running) -> None:
    ann = service.person()
    made = service.http.post("/notes", json={"title": "a"}, headers=ann)
    path, tag = f"/notes/{made.json()['id']}", made.headers["etag"]

    def change(stars: int) -> int:
        with httpx.Client(base_url=service.http.base_url) as http:
            return http.patch(path, json={"stars": stars}, headers={**ann, "If-Match": tag}).status_code

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(change, range(16))) == [200] + [412] * 15


# ── Who calls ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer x",
        "Basic eDp5",
        "Bearer x, Bearer y",
        "bearer\tx",
        "TOKEN",
        "\xff",
        "Bearer x y",
    ],
)
def test_a_bad_credential_is_unauthenticated(shared: Running, authorization: str) -> None:
    value = authorization.encode("latin-1")
    headers = {b"Authorization": value, b"Content-Type": b"application/json"}
    response = shared.http.get("/notes", headers=headers)
    assert code(response) == (401, "no_token")
    bad = ', error="invalid_token"' if authorization.startswith("Bearer ") else ""
    assert response.headers["www-authenticate"] == f'Bearer realm="notes"{bad}'
    # Where `anyone` alone may call, none is read.
    assert shared.http.post("/people", headers=headers, content=b'{"name": "x"}').status_code == 201


def test_no_credential_is_unauthenticated_but_where_anyone_may_call(shared: Running) -> None:
    assert code(shared.http.get("/notes")) == (401, "no_token")
    assert shared.http.post("/people", json={"name": "x"}).status_code == 201


def test_the_name_of_an_auth_scheme_has_no_case(shared: Running) -> None:
    token = shared.person()["Authorization"].removeprefix("Bearer ")
    assert shared.http.get("/notes", headers={"Authorization": f"bEARER  {token}"}).status_code == 200


def test_anyone_includes_those_with_a_good_credential(shared: Running) -> None:
    assert shared.http.post("/people", json={"name": "x"}, headers=shared.person()).status_code == 201


def test_a_good_credential_that_is_not_admitted_is_forbidden(run: Run) -> None:
    routes = tuple(replace(route, admissions=()) if route.key == "GET /notes" else route for route in ROUTES)
    service = run(replace(PLAN, routes=routes))
    assert code(service.http.get("/notes", headers=service.person())) == (403, "no_entry")
    assert code(service.http.get("/notes")) == (401, "no_token")


def test_another_persons_note_is_missing(service: Running) -> None:
    made = note(service, service.person("Ann"))
    bob = service.person("Bob")
    for method in ("GET", "PATCH", "DELETE"):
        response = service.http.request(method, f"/notes/{made['id']}", headers={**bob, **JSON}, content=b"{}")
        assert code(response) == (404, "not_found")


@pytest.mark.parametrize(
    ("where", "headers", "query"),
    [("header", {"X-Key": "{}"}, ""), ("query", {}, "?X-Key={}"), ("cookie", {"Cookie": 'a=b; X-Key="{}"'}, "")],
)
def test_other_places_of_credentials(run: Run, where: Any, headers: dict[str, str], query: str) -> None:
    scheme = replace(PLAN.schemes[0], where=where, name="X-Key", challenge="")
    service = run(replace(PLAN, schemes=(scheme,)))
    token = service.http.post("/people", json={"name": "x"}).json()["token"]
    for given, expected in ((token, 200), ("wrong", 401), ("", 401)):
        sent = {name: value.format(given) for name, value in headers.items()}
        response = service.http.get("/notes" + query.format(given), headers=sent)
        assert response.status_code == expected, (given, response.text)
        assert "www-authenticate" not in response.headers


# ── Bodies, media types, versions ─────────────────────────────────────────────────────────────────────────────


def test_a_body_that_is_too_large_is_refused_while_it_is_read(service: Running) -> None:
    ann = {**service.person(), **JSON}

    def chunks() -> Any:
        yield b'{"title": "'
        for _ in range(1000):
            yield b"x" * 1000

    assert code(service.http.post("/notes", content=b"x" * 1001, headers=ann)) == (413, "too_large")
    assert code(service.http.post("/notes", content=chunks(), headers=ann)) == (413, "too_large")
    assert service.http.get("/notes", headers=ann).status_code == 200
    exactly = json.dumps({"title": "a"}).ljust(1000).encode()
    assert service.http.post("/notes", content=exactly, headers=ann).status_code == 201


def test_a_body_that_is_not_read_is_not_asked_for(shared: Running) -> None:
    """With `Expect: 100-continue` a client waits before it sends; what is refused already is not asked for."""
    with socket.create_connection(shared.address) as connection:
        connection.sendall(
            b"POST /notes HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500\r\n"
            b"expect: 100-continue\r\n\r\n"
        )
        connection.settimeout(60)
        answer = b""
        while chunk := connection.recv(10_000):
            answer += chunk
        assert answer.startswith(b"HTTP/1.1 401") and b"connection: close" in answer


def test_the_body_of_an_endpoint_without_one_is_ignored(shared: Running) -> None:
    ann = shared.person()
    response = shared.http.request("GET", "/notes", headers=ann, content=b"x" * 100_000)
    assert response.status_code == 200
    assert shared.http.get("/notes", headers=ann).status_code == 200


@pytest.mark.parametrize(
    ("content", "media_type", "expected"),
    [
        (b"", "application/json", (400, "not_json")),
        (b"", None, (400, "not_json")),
        (b"{}", None, (415, "media_type")),
        (b"{}", "text/plain", (415, "media_type")),
        (b"{}", "application/merge-patch+json", (415, "media_type")),
        (b"{", "application/json", (400, "not_json")),
        (b"{}", "application/json", (422, "invalid")),
    ],
)
def test_what_cannot_be_read(
    shared: Running, content: bytes, media_type: str | None, expected: tuple[int, str]
) -> None:
    headers = shared.person() | ({} if media_type is None else {"Content-Type": media_type})
    assert code(shared.http.post("/notes", content=content, headers=headers)) == expected


def test_a_body_of_none_may_be_an_empty_object(service: Running) -> None:
    ann = service.person()
    for title, content, expected in (("a", b"", 200), ("b", b"{}", 200), ("c", b'{"x": 1}', 422), ("d", b"x", 400)):
        path = f"/notes/{note(service, ann, title=title)['id']}/finish"
        assert service.http.post(path, content=content, headers={**ann, **JSON}).status_code == expected


def test_accept(service: Running) -> None:
    ann = service.person()
    assert service.http.get("/notes", headers={**ann, "Accept": "text/html, */*;q=0.1"}).status_code == 200
    refused = service.http.get("/notes", headers={**ann, "Accept": "text/html"})
    assert code(refused) == (406, "not_acceptable")
    assert refused.headers["content-type"] == "application/problem+json"
    made = note(service, ann)
    assert service.http.delete(f"/notes/{made['id']}", headers={**ann, "Accept": "text/html"}).status_code == 204


def test_what_is_not_in_force_is_501_and_empty(shared: Running) -> None:
    ann = shared.person()
    for response in (
        shared.http.get("/feed"),
        shared.http.get("/notes", headers={"Api-Version": "1"}),
    ):
        assert (response.status_code, response.content) == (501, b"")
    assert code(shared.http.put("/feed")) == (405, "bad_method")
    assert code(shared.http.get("/notes", headers={**ann, "Api-Version": "3"})) == (400, "old")
    assert shared.http.get("/notes", headers={**ann, "Api-Version": "2"}).status_code == 200


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/2/notes", 401),
        ("/api/notes", 401),
        ("/api/1/notes", 501),
        ("/api/3/notes", 400),
        ("/api/2/x", 404),
        ("/notes", 404),
    ],
)
def test_versions_in_the_path(run: Run, path: str, expected: int) -> None:
    service = run(
        replace(
            PLAN, base=("api",), versions=Versions("path", "2", "", "2", (Version("2"), Version("1", served=False)))
        )
    )
    assert service.http.get(path).status_code == expected


def test_what_is_not_http_is_a_bare_400(shared: Running) -> None:
    with socket.create_connection(shared.address) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        head, _, body = connection.recv(10_000).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400") and body == b""


def answered(address: tuple[str, int], request: bytes) -> tuple[bytes, bytes]:
    """The head and the body of what comes, until the connection ends."""
    with socket.create_connection(address) as connection:
        connection.settimeout(60)
        connection.sendall(request)
        with connection.makefile("rb") as coming:
            head, _, body = coming.read().partition(b"\r\n\r\n")
            return head, body


@pytest.mark.parametrize("fields", [b"", b"Host: a\r\nHost: b\r\n"], ids=["none", "two"])
def test_http_1_1_names_its_host_once(shared: Running, fields: bytes) -> None:
    head, body = answered(shared.address, b"GET /notes HTTP/1.1\r\n" + fields + b"\r\n")
    assert head.startswith(b"HTTP/1.1 400") and body == b""


def test_http_1_0_need_not_name_its_host(shared: Running) -> None:
    head, _ = answered(shared.address, b"GET /notes HTTP/1.0\r\n\r\n")
    assert not head.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("method", [b"BREW", b"get", b"PROPFIND", b"TRACE", b"GETS", b"M-SEARCH"])
def test_a_method_that_nobody_knows_is_one_that_is_not_allowed(shared: Running, method: bytes) -> None:
    expected = shared.http.request("PUT", "/notes")
    head, body = answered(shared.address, method + b" /notes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 405") and expected.status_code == 405
    assert b"allow: " + expected.headers["allow"].encode() in head.split(b"\r\n")
    assert body == expected.content


def test_after_a_method_that_nobody_knows_the_connection_goes_on(shared: Running) -> None:
    with socket.create_connection(shared.address) as connection, connection.makefile("rb") as coming:
        connection.settimeout(60)
        for method, status in ((b"BREW", b"405"), (b"GET", b"401"), (b"BREW", b"405")):
            connection.sendall(method + b" /notes HTTP/1.1\r\nHost: a\r\n\r\n")
            assert coming.readline().split(b" ")[1] == status
            fields = dict(line.rstrip().split(b": ", 1) for line in iter(coming.readline, b"\r\n"))
            coming.read(int(fields[b"content-length"]))


def test_a_head_without_end_is_refused(shared: Running) -> None:
    with socket.create_connection(shared.address) as connection:
        connection.settimeout(60)
        connection.sendall(b"GET /notes HTTP/1.1\r\nx-long: ")
        try:
            for _ in range(200):
                connection.sendall(b"x" * 10_000)
            answer = connection.recv(10_000)
        except OSError:
            return  # refused and closed while it was still sent
        assert answer.startswith(b"HTTP/1.1 431")


# ── Precedence ────────────────────────────────────────────────────────────────────────────────────────────────


def order(*first: str) -> ServicePlan:
    rest = tuple(name for name in PROBLEMS.precedence if name not in first)
    return replace(PLAN, problems=replace(PROBLEMS, precedence=(*first, *rest)))


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (("unauthenticated", "malformed"), (401, "no_token")),
        (("malformed", "unauthenticated"), (400, "not_json")),
        (("too large", "unauthenticated"), (401, "no_token")),
        (("not found", "unauthenticated"), (401, "no_token")),
    ],
)
def test_without_a_credential_what_can_be_told_is_told(
    run: Run, first: tuple[str, ...], expected: tuple[int, str]
) -> None:
    service = run(order(*first))
    assert code(service.http.post("/notes", content=b"{", headers=JSON)) == expected


@pytest.mark.parametrize(
    ("first", "path", "content", "accept", "expected"),
    [
        (("not found", "invalid"), "/notes/no", '{"title": 1}', "*/*", (404, "not_found")),
        (("invalid", "not found"), "/notes/no", '{"title": 1}', "*/*", (422, "invalid")),
        (("not found", "malformed"), "/notes/no", "{", "*/*", (404, "not_found")),
        (("not found", "malformed"), "{path}", "{", "*/*", (400, "not_json")),
        (("not found", "not acceptable"), "/notes/no", "{}", "text/html", (404, "not_found")),
        (("not found", "not acceptable"), "{path}", "{}", "text/html", (406, "not_acceptable")),
        (("conflict", "not acceptable"), "{path}", '{"title": "taken"}', "text/html", (409, "taken")),
        (("conflict", "not acceptable"), "{path}", '{"title": "free"}', "text/html", (406, "not_acceptable")),
        (("check", "invalid"), "{done}", '{"title": 1}', "*/*", (409, "is_done")),
        (("invalid", "check"), "{done}", '{"title": 1}', "*/*", (422, "invalid")),
        (("check", "conflict"), "{done}", '{"title": "taken"}', "*/*", (409, "is_done")),
        (("conflict", "check"), "{done}", '{"title": "taken"}', "*/*", (409, "taken")),
    ],
)
def test_the_contract_says_which_failure_counts(
    run: Run, first: tuple[str, ...], path: str, content: str, accept: str, expected: tuple[int, str]
) -> None:
    service = run(order(*first))
    ann = service.person()
    note(service, ann, title="taken")
    plain, done = (f"/notes/{note(service, ann, title=title)['id']}" for title in ("plain", "done"))
    service.http.post(f"{done}/finish", headers=ann)
    path = path.format(path=plain, done=done)
    headers = {**ann, **JSON, "Accept": accept}
    assert code(service.http.patch(path, content=content, headers=headers)) == expected
    if expected != (409, "is_done"):
        assert "detail" not in service.http.patch(path, content=content, headers=headers).json()
    else:
        assert service.http.patch(path, content=content, headers=headers).json()["detail"] == "Done: done"
    assert service.http.get(plain, headers=ann).json()["title"] == "plain"


def test_a_failed_invariant_leaves_nothing(service: Running) -> None:
    ann = service.person()
    refused = service.http.post("/notes", json={"title": "a", "stars": 6}, headers=ann)
    assert code(refused) == (409, "too_many_stars")
    assert service.http.get("/notes", headers=ann).json()["total"] == 0


def test_a_conflict_says_which_member(service: Running) -> None:
    ann = service.person()
    note(service, ann)
    refused = service.http.post("/notes", json={"title": "a"}, headers=ann)
    assert code(refused) == (409, "taken")
    assert [(field["pointer"], field["rule"]) for field in refused.json()["fields"]] == [("/title", "unique")]


# ── When things break ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_fault_of_ours_is_internal_and_tells_nothing(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    broken = replace(PLAN, routes=tuple(_with_broken_select(route) for route in ROUTES))
    service = run(broken)
    response = service.http.get("/notes", headers=service.person())
    assert code(response) == (500, "broken")
    assert "no such column" not in response.text
    assert "GET /notes failed" in caplog.text
    assert service.http.get("/nothing").status_code == 404


def _with_broken_select(route: Any) -> Any:
    if route.key != "GET /notes":
        return route
    operation = route.admissions[0].operation
    first = replace(operation.select.pieces[0], text="SELECT nothing FROM note WHERE owner = ?")
    select = replace(operation.select, pieces=(first, *operation.select.pieces[1:]))
    return replace(route, admissions=(replace(route.admissions[0], operation=replace(operation, select=select)),))


def test_a_database_that_takes_no_work_is_unavailable(run: Run) -> None:
    service = run(PLAN)
    ann = service.person()
    service.database._writer.stop()
    assert code(service.http.post("/notes", json={"title": "a"}, headers=ann)) == (503, "busy")
    assert service.http.get("/notes", headers=ann).status_code == 200


def test_a_request_that_takes_too_long_is_timed_out(run: Run) -> None:
    service = run(replace(PLAN, limits=Limits(said={"body size": 1000, "timeout": 2_000_000})))
    with socket.create_connection(service.address) as connection:
        connection.sendall(
            b"POST /people HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"
        )
        connection.settimeout(60)
        assert b" 503 " in connection.recv(10_000)
    assert service.person()


def test_a_client_that_goes_away_is_noted_and_nothing_else(run: Run) -> None:
    service = run(PLAN)
    with socket.create_connection(service.address) as connection:
        connection.sendall(
            b"POST /people HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"
        )
    ann = service.person()
    assert service.http.get("/notes", headers=ann).status_code == 200
    assert {record.status for record in recorded(service.records, 3)} == {None, 201, 200}


def test_the_access_log_names_no_value_of_the_request(service: Running) -> None:
    ann = service.person()
    made = note(service, ann, title="confidential")
    service.http.get(f"/notes/{made['id']}?hush=1", headers=ann)
    service.http.get("/hush?hush=2", headers=ann)
    lines: list[str] = []
    for record in recorded(service.records, 4):
        lines.append(written_as("text")(record))
        lines.append(written_as("json")(record))
    written = "".join(lines)
    for secret in ("hush", "confidential", made["id"], ann["Authorization"].split()[1]):
        assert secret not in written
    last = json.loads(lines[-3])
    assert (last["route"], last["status"], last["scheme"]) == ("GET /notes/{id}", 422, "key")
    assert json.loads(lines[-1])["route"] is None
    assert "POST /people 201" in lines[0]
