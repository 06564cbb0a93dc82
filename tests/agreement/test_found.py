"""What the comparison has found, each as small as it was made, so that it stays found whatever is thrown later."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.agreement.comparing import Asked, Pair, Scenario
from tests.agreement.versions import compiled
from tests.agreement.writing import NONE
from tests.reference.messages import Request, Response

NOW: Final = "2026-01-01T00:00:00.000000Z"
JSON: Final = {"content-type": "application/json"}
NUMBERED: Final = {"type": "integer", "on create": "serial()"}
KEYED: Final = {"type": "string", "secret": "token", "on create": "token()"}
ITEM: Final = {"id": {"type": "string"}, "a": {"type": "string"}}


def contract(
    resources: Mapping[str, Any], endpoints: Mapping[str, Any], errors: Any = NONE, **authentication: Any
) -> dict[str, Any]:
    common = {"media type": "application/json", "unknown members": "refused", "unknown parameters": "refused"}
    who = {"schemes": NONE, "rows": "all", "permissions": {"all others": "anyone"}} | authentication
    return {
        "purpose": "Something that was found.",
        "resources": {name: {"primary key": "id", **said} for name, said in resources.items()},
        "states": NONE,
        "endpoints": {"requests": common, "produces": "application/json", **endpoints},
        "authentication": who,
        "events": NONE,
        "errors": errors,
        "limits": {"rates": NONE, "timeout": NONE, "body size": NONE, "pages": NONE},
        "versioning": NONE,
    }


def answers(
    said: Mapping[str, Any], rows: list[tuple[str, Any]], *requests: Request, database: str = "sqlite"
) -> list[Response]:
    """What both answer. Raises Disagreement."""
    scenario = Scenario(said, tuple(rows), database=database)
    loaded = compiled(said)
    assert loaded.checked is not None and loaded.plan is not None, [each.message for each in loaded.diagnostics]
    with Pair(loaded.checked, scenario.plan(loaded), scenario) as pair:
        return [pair.tell(Asked(NOW, each)) for each in requests]


def give(method: str, target: str, body: Any, **headers: str) -> Request:
    return Request(method, target, {**JSON, **headers}, json.dumps(body).encode())


@pytest.mark.parametrize(
    "that",
    [
        "!(item.id == 3)",
        "!all(item).exists(i, i != item)",
        "!all(item).exists(i, i.a == item.a && i.id != item.id)",
        "all(item).all(i, i.id != item.id)",
    ],
)
def test_a_guard_of_a_new_row_reads_a_number_that_is_still_to_come(that: str) -> None:
    post = {"does": "create item", "body": ["a"], "check": {"that": that}, "responses": {201: "item"}}
    said = contract({"item": {"fields": {**ITEM, "id": NUMBERED}}}, {"POST /items": post})
    requests = [give("POST", "/items", {"a": "x"})]
    assert [each.status for each in answers(said, [("item", {"id": 1, "a": "x"})], *requests)] == [409]


def test_where_there_is_no_such_version_the_paths_are_those_of_the_newest() -> None:
    said = contract(
        {"item": {"fields": ITEM}},
        {"GET /items": {"does": "list item", "sort": ["id"], "responses": {200: "page.items"}}},
        errors={"error shape": NONE, "codes": {"nowhere": {"status": 404, "for": "no such path"}}},
    )
    changes = {"changes": [{"rename": "GET /items", "to": "GET /earlier"}]}
    said["versioning"] = {"in": "header", "name": "V", "default": "one", "versions": {"two": {}, "one": changes}}
    named = [Request("GET", path, {"v": name}) for name in ("two", "one", "none") for path in ("/items", "/earlier")]
    assert [each.status for each in answers(said, [], *named)] == [200, 404, 404, 200, 400, 404]


def test_what_a_client_says_in_two_ways_is_told_in_the_order_of_the_body() -> None:
    fields = {"id": {"type": "string"}, "key": KEYED}
    post = {
        "does": "sign in user",
        "grant": "client_credentials",
        "body": {"client_id": "user.id", "client_secret": "user.key"},
        "issues": "session",
        "responses": {200: {"token": "caller.credential", "left": "granted.expires_in"}},
    }
    scheme = {"type": "http", "scheme": "bearer", "issued to": "user", "lasts": "PT1H", "realm": "Users"}
    body = {"media type": "application/json", "body": {"fields": "error.fields"}}
    codes = {"wrong": {"status": 400, "title": "Wrong", "for": "invalid"}}
    said = contract(
        {"user": {"fields": fields}},
        {"POST /token": post},
        errors={"error shape": body, "codes": codes},
        schemes={"session": scheme},
    )
    own, basic = {"grant_type": "client_credentials", "client_id": "x"}, "Basic dTprZXk="  # u:key
    requests = [
        give("POST", "/token", own | {"client_secret": "y"}, authorization=basic),
        give("POST", "/token", own | {"client_id": "u", "client_secret": "key"}),
        give("POST", "/token", {"grant_type": "client_credentials"}, authorization=basic),
        give("POST", "/token", own | {"client_secret": "key"}),
    ]
    told = answers(said, [("user", {"id": "u", "key": "key"})], *requests)
    assert [each.status for each in told] == [400, 200, 200, 401]


def test_events_of_who_signs_in_and_out_know_the_row_as_it_was() -> None:
    fields = {"id": {"type": "string"}, "key": {"type": "string", "secret": "password"}}
    common = {"responses": {200: {"token": "caller.credential"}}}
    said = contract(
        {"user": {"fields": fields}},
        {
            "POST /sessions": {"does": "sign in user", "body": ["id", "key"], "issues": "session", **common},
            "DELETE /sessions": {"does": "sign out user", "ends": "presented", "responses": {204: NONE}},
            "GET /events": {"does": "list event", "sort": ["position"], "responses": {200: "page.items"}},
        },
        schemes={"session": {"type": "http", "scheme": "bearer", "issued to": "user", "lasts": "PT1H"}},
        permissions={"all others": "anyone", "DELETE /sessions": "session"},
    )
    kind = {"upon": ["sign in user", "sign out user"], "payload": {"was": "before.user.id"}}
    said["events"] = {"kinds": {"user.here": kind}, "delivery": {"stream": "server-sent events"}, "kept": "all"}
    loaded = compiled(said)
    assert loaded.checked is not None and loaded.plan is not None, [each.message for each in loaded.diagnostics]
    with Pair(loaded.checked, loaded.plan, Scenario(said, (("user", {"id": "u", "key": "word"}),))) as pair:
        signed = pair.tell(Asked(NOW, give("POST", "/sessions", {"id": "u", "key": "word"})))
        pair.tell(Asked(NOW, Request("DELETE", "/sessions", {"authorization": f"Bearer {signed.body['token']}"})))
        log = pair.tell(Asked(NOW, Request("GET", "/events")))
    assert [each["payload"] for each in log.body] == [{"was": "u"}, {"was": "u"}]


def test_a_reference_that_the_contract_gives_may_be_to_a_row_that_the_caller_does_not_see() -> None:
    fields = {"id": {"type": "string"}, "owner": {"references": "user", "on create": "caller.user"}}
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}, "secret": KEYED}}, "item": {"fields": fields}},
        {"POST /items": {"does": "create item", "body": ["id", "owner"], "responses": {201: "item"}}},
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.secret"}},
        rows={"user": {"key": "user.id == 'nobody'"}, "item": {"key": True}},
        permissions={"all others": "key"},
        **{"unseen rows": "not found"},
    )
    rows = [("user", {"id": "ann", "secret": "s"})]
    by_contract = give("POST", "/items", {"id": "one"}, authorization="Bearer s")
    by_client = give("POST", "/items", {"id": "two", "owner": "ann"}, authorization="Bearer s")
    assert [each.status for each in answers(said, rows, by_contract, by_client)] == [201, 422]


def test_what_is_set_reads_what_the_body_gives() -> None:
    fields = {"id": {"type": "string"}, "a": {"type": "integer"}, "b": {"type": "integer"}}
    patch = {"does": "update item", "body": ["a"], "patch": "merge", "sets": {"b": "item.a + 1"}}
    said = contract({"item": {"fields": fields}}, {"PATCH /items/{id}": patch | {"responses": {200: "item"}}})
    (response,) = answers(said, [("item", {"id": "x", "a": 1, "b": 1})], give("PATCH", "/items/x", {"a": 5}))
    assert response.body == {"id": "x", "a": 5, "b": 6}


def test_a_required_value_that_cannot_be_made_in_the_database_is_invalid() -> None:
    fields = {"id": {"type": "string"}, "a": {"type": "integer"}, "b": {"type": "integer"}}
    patch = {"does": "update item", "body": ["a"], "patch": "merge", "sets": {"b": "item.b / item.a"}}
    said = contract(
        {"item": {"fields": fields, "required": ["a", "b"]}},
        {"PATCH /items/{id}": patch | {"responses": {200: "item"}}},
    )
    (response,) = answers(said, [("item", {"id": "x", "a": 1, "b": 1})], give("PATCH", "/items/x", {"a": 0}))
    assert response.status == 422


def test_a_null_among_unique_values_takes_nothing() -> None:
    fields = {"id": {"type": "string"}, "a": {"type": ["string", "null"]}, "b": {"type": "string"}}
    patch = {"does": "update item", "body": ["a", "b"], "patch": "merge", "responses": {200: "item"}}
    said = contract({"item": {"fields": fields, "unique": [["a", "b"]]}}, {"PATCH /items/{id}": patch})
    rows = [("item", {"id": "x", "a": "p", "b": "q"}), ("item", {"id": "y", "a": "p", "b": "r"})]
    (response,) = answers(said, rows, give("PATCH", "/items/y", {"a": None, "b": "q"}))
    assert response.status == 200


def test_null_is_in_no_list_of_words() -> None:
    fields = {**ITEM, "flag": {"type": "boolean", "computed": "item.a in ['p', 'q']"}}
    lists = {"does": "list item", "sort": ["id"], "query": {"flag": "item.flag == value"}}
    said = contract({"item": {"fields": fields}}, {"GET /items": lists | {"responses": {200: "page.items"}}})
    (response,) = answers(said, [("item", {"id": "x", "a": None})], Request("GET", "/items?flag=false"))
    assert response.body == [{"id": "x", "flag": False}]


def test_an_entity_tag_changes_when_a_reference_is_cleared() -> None:
    fields = {"id": {"type": "string"}, "owner": {"references": "user", "on delete": "set null"}}
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}}}, "item": {"fields": fields}},
        {
            "GET /items/{id}": {"does": "read item", "etag": True, "responses": {200: "item"}},
            "DELETE /users/{id}": {"does": "delete user", "responses": {204: NONE}},
        },
    )
    rows = [("user", {"id": "ann"}), ("item", {"id": "x", "owner": "ann"})]
    get = Request("GET", "/items/x")
    first, _, second = answers(said, rows, get, Request("DELETE", "/users/ann"), get)
    assert first.headers["etag"] != second.headers["etag"]


OF_USER: Final = {"does": "delete user", "where": "user.id == this.id"}


@pytest.mark.parametrize("path", ["/users/ann", "/users", "/notes/ann"])
@pytest.mark.parametrize("by", [["id"], ["id", "part"]])
def test_what_holds_of_a_row_alone_holds_when_its_reference_is_cleared(path: str, by: list[str]) -> None:
    text = {"type": "string"}
    owner = {"references": "user", "on delete": "set null"}
    item = {"fields": {"id": text, "part": text, "owner": owner, "free": {"type": "boolean"}}}
    said = contract(
        {"user": {"fields": {"id": text}}, "note": {"fields": {"id": text}}, "item": item},
        {
            "GET /items": {"does": "list item", "sort": ["id"], "responses": {200: "page.items"}},
            "DELETE /users/{id}": {"does": "delete user", "responses": {204: NONE}},
            "DELETE /users": {"does": "delete all user", "responses": {200: {}}},
            "DELETE /notes/{id}": {"does": "delete note", "responses": {204: NONE}, "also": OF_USER},
        },
    )
    said["resources"]["item"] |= {"primary key": by, "check": {"that": "item.free || has(item.owner)", "else": "alone"}}
    shape = {"media type": "application/json", "body": {"code": "error.code"}}
    said["errors"] = {"error shape": shape, "codes": {"alone": {"status": 418}}}
    rows: list[Any] = [("user", {"id": "ann"}), ("note", {"id": "ann"})]
    rows += [("item", {"id": each, "part": "p", "owner": "ann", "free": each == "x"}) for each in "xy"]
    items = Request("GET", "/items")
    assert [each.status for each in answers(said, rows, Request("DELETE", path))] == [418]
    done = 200 if path == "/users" else 204
    told = answers(said, rows[:3], Request("DELETE", path), items)
    assert (told[0].status, [each.get("owner") for each in told[1].body]) == (done, [None])


def test_a_part_of_an_identifier_is_not_cleared() -> None:
    fields = {"user": {"references": "user", "on delete": "set null"}}
    said = contract({"user": {"fields": {"id": {"type": "string"}}}, "item": {"fields": fields}}, {})
    said["resources"]["item"]["primary key"] = ["user"]
    assert "NF0523" in {each.code.id for each in compiled(said).diagnostics}


def test_a_permission_that_reads_the_request_alone_takes_its_place_in_the_order() -> None:
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}, "level": {"type": "integer"}, "secret": KEYED}}},
        {"GET /users": {"does": "list user", "sort": ["id"], "responses": {200: "page.items"}}},
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.secret"}},
        permissions={"all others": {"key": "caller.user.level > 2"}},
    )
    rows = [("user", {"id": "ann", "level": 1, "secret": "s"})]
    request = Request("GET", "/users", {"authorization": "Bearer s", "accept": "text/html"})
    assert [each.status for each in answers(said, rows, request)] == [403]


def test_what_another_field_refers_to_is_judged_beside_members_that_are_not_known() -> None:
    fields = {"id": {"type": "string"}, "owner": {"references": "user"}}
    errors = {
        "error shape": {"media type": "application/json", "body": {"fields": "error.fields.map(f, f.rule)"}},
        "codes": {"invalid": {"status": 422, "for": "invalid"}},
    }
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}}}, "item": {"fields": fields}},
        {"PUT /items/{id}": {"does": "put item", "body": ["owner"], "responses": {"replaced": {200: "item"}}}},
        errors,
    )
    rows = [("item", {"id": "x", "owner": None})]
    (response,) = answers(said, rows, give("PUT", "/items/x", {"owner": "nobody", "more": 1}))
    assert response.body == {"fields": ["references", "unknown"]}


@pytest.mark.parametrize("unseen", ["not found", "forbidden"])
def test_nothing_is_told_of_values_below_a_row_that_is_not_seen(unseen: str) -> None:
    fields = {"id": {"type": "string"}, "owner": {"references": "user"}}
    post = {
        "does": "create item",
        "body": ["id"],
        "check": {"that": "item.owner.id == 'bob'", "else": "no"},
        "responses": {201: "item"},
    }
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}}}, "item": {"fields": fields}},
        {"POST /users/{owner.id}/items": post},
        {"error shape": NONE, "codes": {"no": {"status": 400}}, "precedence": ["check", "not found"]},
        rows={"user": {"anyone": "user.id == 'bob'"}, "item": "all"},
        **{"unseen rows": unseen},
    )
    (response,) = answers(said, [("user", {"id": "ann"})], give("POST", "/users/ann/items", {"id": "x"}))
    assert response.status == {"not found": 404, "forbidden": 403}[unseen]


def test_a_list_by_cursor_has_no_offset_of_other_lists() -> None:
    lists = {"does": "list item", "sort": ["id"], "responses": {200: "page.items"}}
    lists |= {"pages": {"by": "cursor", "default": 2, "maximum": 3, "at": "cursor"}}
    said = contract({"item": {"fields": ITEM}}, {"GET /items": lists})
    shared = {"default": 2, "maximum": 3, "by": "offset", "size": "limit", "at": "offset", "first": 0}
    said["limits"] = {**said["limits"], "pages": shared}
    assert [each.status for each in answers(said, [], Request("GET", "/items?offset=0"))] == [422]


def test_a_put_that_leaves_out_what_is_made_again_has_it_made() -> None:
    fields = {**ITEM, "slug": {"type": "string", "on change": {"a": "slug(item.a)"}}}
    put = {"does": "put item", "body": ["a", "slug"], "responses": {"replaced": {200: "item"}}}
    said = contract({"item": {"fields": fields}}, {"PUT /items/{id}": put})
    (response,) = answers(said, [("item", {"id": "x", "a": "p", "slug": "q"})], give("PUT", "/items/x", {}))
    assert response.status == 422  # there is no `a` any more, of which the slug could be made


def test_a_scenario_is_written_as_a_contract_and_requests() -> None:
    said = contract({"item": {"fields": ITEM}}, {})
    scenario = replace(Scenario(said), requests=(Asked(NOW, Request("GET", "/items")),))
    assert "  item:" in str(scenario) and "GET /items" in str(scenario)


OWNED: Final = {"id": NUMBERED, "owner": {"references": "user", "on create": "caller.user"}, "a": {"type": "string"}}


def of_nobody(errors: Any) -> dict[str, Any]:
    """A contract by which nobody creates what has to belong to the caller."""
    post = {"does": "create item", "body": ["a", "owner"], "idempotency key": "optional", "responses": {201: "item"}}
    said = contract(
        {
            "user": {"fields": {"id": {"type": "string"}, "secret": KEYED}},
            "item": {"fields": OWNED, "required": ["owner"]},
        },
        {"POST /items": post},
        errors,
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.secret"}},
        permissions={"all others": ["key", "anyone"]},
    )
    said["limits"]["idempotency keys kept"] = "PT1H"
    return said


def test_what_cannot_be_made_is_told_beside_what_else_is_invalid() -> None:
    shape = {"media type": "application/json", "body": {"fields": "error.fields.map(f, f.name)"}}
    said = of_nobody({"error shape": shape, "codes": {"invalid": {"status": 422, "for": "invalid"}}})
    request = give("POST", "/items", {"a": "x"}, **{"idempotency-key": '""'})
    (response,) = answers(said, [], request)
    assert response.body == {"fields": ["Idempotency-Key", "owner"]}


def test_what_is_made_of_a_valid_body_is_judged_beside_a_parameter_that_nobody_knows() -> None:
    slug = {"type": "string", "on create": "slug(item.a)", "unique": True}
    post = {"does": "create item", "body": ["id", "a"], "responses": {201: "item"}}
    errors = {"precedence": ["conflict", "invalid"]}
    said = contract({"item": {"fields": {**ITEM, "slug": slug}}}, {"POST /items": post}, errors)
    told = answers(
        said, [("item", {"id": "1", "a": "x", "slug": "x"})], give("POST", "/items?b=1", {"id": "2", "a": "x"})
    )
    assert [each.status for each in told] == [409], "a conflict comes before what is invalid"


def test_a_code_that_is_called_like_a_condition_does_not_move_the_others_that_it_answers() -> None:
    post = {"does": "create item", "body": ["id"], "responses": {201: "item"}}
    post |= {"check": {"that": "item.a == 'x'"}, "errors": {"conflict": "guard"}}
    said = contract({"item": {"fields": ITEM}}, {"POST /items": post}, {"codes": {"guard": {"status": 400}}})
    told = answers(said, [("item", {"id": "1"})], give("POST", "/items", {"id": "1"}))
    assert [each.status for each in told] == [409], "the guard comes before the conflict, and has no code"


def test_what_the_request_alone_makes_invalid_is_told_before_a_row_that_is_not_there() -> None:
    """`invalid` comes before `not found`; what is made of rows that are not there says nothing."""
    fields = {
        "id": NUMBERED,
        "owner": {"references": "user"},
        "a": {"type": "string"},
        "slug": {"type": "string", "on create": "slug(item.a)"},
        "b": {"type": "string", "on create": "item.c"},
        "c": {"type": "string"},
    }
    post = {"does": "create item", "body": ["a", "c"], "responses": {201: "item"}}
    patch = {"does": "update item", "body": ["a"], "patch": "merge", "responses": {200: "item"}}
    patch |= {"query": {"word": {"type": "string"}}, "sets": {"slug": "slug(request.query.word)"}}
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}}}, "item": {"fields": fields, "required": ["owner", "b"]}},
        {"POST /users/{owner.id}/items": post, "PATCH /users/{owner.id}/items/{id}": patch},
    )
    rows, bodies = [("user", {"id": "ann"})], [{"c": "c"}, {"a": "A b"}, {"a": "A b", "c": "c"}]
    made = [give("POST", f"/users/{each}/items", body) for each in ("ann", "eve") for body in bodies]
    assert [each.status for each in answers(said, rows, *made)] == [422, 422, 201, 422, 422, 404]
    changed = [
        give("PATCH", f"/users/{each}/items/7{query}", {}) for each in ("ann", "eve") for query in ("", "?word=b")
    ]
    assert [each.status for each in answers(said, rows, *changed)] == [422, 404, 422, 404]


@pytest.mark.parametrize(
    ("own", "status"),
    [
        ({}, 404),
        ({"not found path.near": "odd"}, 400),
        ({"not found item": "rare"}, 410),
        ({"not found item": "rare", "not found path.near": "odd"}, 400),
    ],
)
def test_a_text_in_a_path_that_is_no_value(own: dict[str, str], status: int) -> None:
    near = {"type": "integer", "maximum": 9}
    get: dict[str, Any] = {
        "does": "list item",
        "where": "item.n >= request.path.near",
        "sort": ["id"],
        "errors": own,
    }
    get |= {"path": {"near": near}, "responses": {200: {"all": "page.items.map(i, i.id)", "near": "request.path.near"}}}
    said = contract(
        {"item": {"fields": {"id": {"type": "string"}, "n": {"type": "integer"}}}},
        {"GET /items/{near}": get},
        {"codes": {"odd": {"status": 400}, "rare": {"status": 410}}},
    )
    rows = [("item", {"id": "a", "n": 1}), ("item", {"id": "b", "n": 7})]
    there, *refused = answers(said, rows, *(Request("GET", f"/items/{each}") for each in ("4", "10", "x", "%00")))
    assert there.body == {"all": ["b"], "near": 4}
    assert [each.status for each in refused] == [status] * 3


@pytest.mark.parametrize(("times", "of_each"), [(17, 1), (8, 2), (9, 2)])
def test_what_grows_beyond_all_bounds_is_too_large(times: int, of_each: int) -> None:
    """A text that `+` makes has a bound, and so has a row of several texts; what is refused is not done."""
    fields = {name: {"type": "string"} for name in ("id", "a", "b")}
    sets = {name: " + ".join(["item.a"] * times) for name in ("a", "b")[:of_each]}
    patch = {"does": "update item", "patch": "merge", "sets": sets, "responses": {200: {"id": "item.id"}}}
    read = {"does": "read item", "responses": {200: {"size": "item.a.size()"}}}
    said = contract(
        {"item": {"fields": fields}}, {"PATCH /items/{id}": patch | {"body": NONE}, "GET /items/{id}": read}
    )
    rows = [("item", {"id": "x", "a": "a" * 1_000_000})]
    changed, shown = answers(said, rows, give("PATCH", "/items/x", {}), Request("GET", "/items/x"))
    grown = times * of_each <= 16
    assert (changed.status, shown.body) == ((200, {"size": times * 1_000_000}) if grown else (413, {"size": 1_000_000}))


@pytest.mark.parametrize("verb", ["update", "put"])
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("first", ["item.a + 1", "7", "item.c"])
def test_what_is_set_reads_what_the_row_had_and_not_what_else_is_set(
    verb: str, order: tuple[str, str], first: str
) -> None:
    """What is made on change comes after, and reads the row as it becomes."""
    fields: dict[str, Any] = {"id": {"type": "string"}, **{name: {"type": "integer"} for name in ("a", "b", "c")}}
    fields["sum"] = {"type": "integer", "on change": "item.a + item.b"}
    sets = {name: {"a": first, "b": "item.a + 10"}[name] for name in order}
    shown: Any = {200: "item"} if verb == "update" else {"replaced": {200: "item"}}
    endpoint = {"does": f"{verb} item", "body": ["c"], "sets": sets, "responses": shown}
    method, more = ("PATCH", {"patch": "merge"}) if verb == "update" else ("PUT", {})
    said = contract({"item": {"fields": fields}}, {f"{method} /items/{{id}}": endpoint | more})
    row = {"id": "x", "a": 1, "b": 2, "c": 3, "sum": 3}
    (response,) = answers(said, [("item", row)], give(method, "/items/x", {"c": 5}))
    a = {"item.a + 1": 2, "7": 7, "item.c": 5}[first]
    assert response.body == {"id": "x", "a": a, "b": 11, "c": 5, "sum": a + 11}


THING: Final = {"fields": {"id": {"type": "string", "maxLength": 3}, "a": {"type": "string"}, "n": {"type": "integer"}}}


def test_each_case_does_what_it_says_with_rows_of_its_own() -> None:
    big = {"that": "item.n > 1", "else": "small"}
    one = {
        "query": {"of": {"enum": ["item", "box", "none"]}},
        "cases": {
            "by": "request.query.of",
            "item": {"does": "read item", "check": big, "responses": {200: "item"}},
            "box": {"does": "read box", "errors": {"not found": "no_box"}, "responses": {200: {"box": "box.id"}}},
        },
    }
    many = {
        "query": {"of": {"enum": ["item", "box"]}},
        "responses": {200: "page.items"},
        "cases": {
            "by": "request.query.of",
            "item": {"does": "list item", "where": "item.n > 1", "sort": ["-id"]},
            "all others": {"does": "list box", "sort": ["id"]},
        },
    }
    put = {
        "cases": {
            "by": "request.body.of",
            "item": {"does": "create item", "body": ["id", "a"], "sets": {"n": "3"}, "responses": {201: "item"}},
            "all others": {"does": "create box", "body": {"id": "box.id"}, "responses": {202: "box"}},
        }
    }
    change = {
        "patch": "merge",
        "cases": {
            "by": "request.body.a",
            "less": {"does": "update item", "body": ["a", "n"], "responses": {200: "item"}},
            "more": {"does": "update box", "body": ["a"], "sets": {"n": "box.n + 1"}, "responses": {200: "box"}},
        },
    }
    numbered = {"fields": {**THING["fields"], "id": {"type": "integer"}}}
    said = contract(
        {"item": THING, "box": numbered},
        {"GET /one/{id}": one, "GET /many": many, "POST /one": put, "PATCH /one/{id}": change},
        errors={
            "error shape": {"media type": "application/json", "body": {"code": "error.code", "fields": "error.fields"}},
            "codes": {
                "small": {"status": 409, "title": "small"},
                "no_box": {"status": 410, "title": "none"},
                "invalid": {"status": 422, "title": "invalid", "for": ["invalid"]},
                "forbidden": {"status": 403, "title": "forbidden", "for": ["forbidden"]},
            },
            "messages": NONE,
        },
    )
    rows = [("item", {"id": "x", "n": 1}), ("item", {"id": "y", "n": 2}), ("box", {"id": 4, "n": 1})]
    # fmt: off
    gets = ("/one/x?of=item", "/one/y?of=item", "/one/y?of=box", "/one/4?of=box", "/one/5?of=box", "/one/4?of=item",
            "/one/4?of=none", "/one/4", "/one/4?of=what", "/one/4?to=x", "/many?of=item", "/many", "/many?of=x")
    bodies: tuple[Any, ...] = (
        {"of": "item", "id": "z", "a": "b"}, {"of": "item", "id": "long", "a": "b"}, {"of": "item", "n": 1},
        {"of": "what", "id": 9}, {"id": 10}, {"of": 1, "id": 4}, [], {"of": "item", "id": "x", "a": "b"},
    )
    changes = [("x", {"a": "less", "n": 7}), ("x", {"a": "more"}), ("4", {"a": "more"}), ("4", {"a": "more", "n": 1}),
               ("4", {"a": "other"}), ("4", {}), ("4", {"a": None}), ("4", []), ("q", {"a": "less"})]
    # fmt: on
    requests = [Request("GET", each, {}, b"") for each in gets]
    requests += [give("POST", "/one", each) for each in bodies]
    requests += [give("PATCH", f"/one/{name}", each) for name, each in changes]
    told = [each.status for each in answers(said, rows, *requests)]
    assert told[:13] == [409, 200, 410, 200, 410, 404, 403, 403, 422, 422, 200, 200, 422]
    assert told[13:21] == [201, 422, 422, 202, 202, 409, 422, 409]
    assert told[21:] == [200, 404, 200, 422, 422, 422, 422, 422, 404]


def test_a_request_of_no_case_gives_no_values() -> None:
    slug = {"type": "string", "on change": {"a": "slug(item.a)"}}
    fields = {"id": {"type": "string", "on create": "uuid()"}, "a": {"type": "string"}, "slug": slug}
    cases = {"by": "request.query.of", "item": {"does": "create item", "body": ["a"], "responses": {201: "item"}}}
    post = {"query": {"of": {"enum": ["item", "nothing"]}}, "cases": cases}
    said = contract(
        {"item": {"fields": fields}},
        {"POST /items": post},
        errors={
            "error shape": NONE,
            "codes": {},
            "messages": NONE,
            "precedence": ["idempotency mismatch", "forbidden"],
        },
    )
    told = answers(said, [], give("POST", "/items", {"a": "x"}), give("POST", "/items?of=item", {"a": "x"}))
    assert [each.status for each in told] == [403, 201]


@pytest.mark.parametrize("outcomes", ["replaced", "created or replaced"])
def test_put_that_lacks_a_value_and_takes_anothers_is_invalid(outcomes: str) -> None:
    maker = {"references": "user", "on create": "caller.user"}
    fields = {"id": {"type": "string"}, "n": {"type": "integer", "unique": True}, "maker": maker}
    put = {"does": "put part", "body": ["n", "maker"], "responses": {outcomes: {200: "part"}}}
    said = contract(
        {
            "user": {"fields": {"id": {"type": "string"}, "key": KEYED}},
            "part": {"fields": fields, "required": ["maker"]},
        },
        {"PUT /parts/{id}": put},
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        permissions={"all others": ["key", "anyone"]},
    )
    parts = [("part", {"id": str(each), "n": each, "maker": "u"}) for each in (1, 2)]
    rows = [("user", {"id": "u", "key": "s"}), *parts]
    (response,) = answers(said, rows, give("PUT", "/parts/1", {"n": 2}))
    assert response.status == 422


@pytest.mark.parametrize(
    ("target", "header", "status"),
    [("/items/none", "if-match", 404), ("/items/unseen", "if-none-match", 403), ("/items/seen", "if-none-match", 412)],
)
@pytest.mark.parametrize("etag", [{}, {"etag": True}])
def test_a_condition_asks_nothing_of_a_row_that_is_not_there_or_not_seen(
    target: str, header: str, status: int, etag: dict[str, Any]
) -> None:
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}, "secret": KEYED}}, "item": {"fields": ITEM}},
        {
            "DELETE /items/{id}": {"does": "delete item", **etag, "responses": {200: {}}},
            "GET /items/{id}": {"does": "read item", **etag, "responses": {200: "item"}},
        },
        errors={"precedence": ["precondition failed", "forbidden", "not found"]},
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.secret"}},
        rows={"item": {"key": "item.id == 'seen'"}, "user": {"key": True}},
        permissions={"all others": "key"},
        **{"unseen rows": "forbidden"},
    )
    rows = [("user", {"id": "ann", "secret": "s"}), ("item", {"id": "seen", "a": "x"}), ("item", {"id": "unseen"})]
    asked = Request("DELETE", target, {"authorization": "Bearer s", header: '"x"' if header == "if-match" else "*"})
    assert [each.status for each in answers(said, rows, asked)] == [status]


def test_rows_that_are_written_together_may_have_one_tag_and_a_write_that_sets_nothing_gives_another() -> None:
    said = contract(
        {"item": {"fields": ITEM}, "part": {"fields": {"id": {"type": "string"}}}},
        {
            "GET /items/{id}": {"does": "read item", "etag": True, "responses": {200: "item"}},
            "DELETE /parts/{id}": {
                "does": "delete part",
                "responses": {200: {}},
                "also": [{"does": "update item", "where": "item.a == 'x'"}],
            },
        },
    )
    rows = [("item", {"id": each, "a": "x"}) for each in ("one", "two")] + [("part", {"id": "p"})]
    one, two = (Request("GET", f"/items/{each}") for each in ("one", "two"))
    before, _, *after = answers(said, rows, one, Request("DELETE", "/parts/p"), one, two)
    assert before.headers["etag"] not in {each.headers["etag"] for each in after}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_what_sets_gives_is_stored_whatever_a_body_that_may_name_it_gives(method: str) -> None:
    gives = {"body": ["id", "a"], "sets": {"a": "'set'"}}
    of_one = {"body": ["a"], "sets": {"a": "'set'"}, "responses": {200: "item"}}
    said = contract(
        {"item": {"fields": ITEM}},
        {
            "POST /items": {"does": "create item", **gives, "responses": {201: "item"}},
            "PUT /items/{id}": {"does": "put item", **of_one, "responses": {"created": {200: "item"}}},
            "PATCH /items/{id}": {"does": "update item", "patch": "merge", **of_one},
        },
    )
    target, body = ("/items", {"id": "x", "a": "given"}) if method == "POST" else ("/items/x", {"a": "given"})
    rows = [("item", {"id": "x", "a": "old"})] if method == "PATCH" else []
    (response,) = answers(said, rows, give(method, target, body))
    assert response.body == {"id": "x", "a": "set"}


def test_of_a_row_that_an_effect_makes_and_nobody_may_see_the_error_tells_nothing() -> None:
    """A code's text and header about the row that is made and may not be, by one item and by another."""
    resources = {
        "user": {"fields": {"id": {"type": "string"}, "key": KEYED, "old": {"type": "boolean"}}, "required": ["old"]},
        "item": {"fields": {"id": NUMBERED}},
        "part": {"fields": {"id": {"type": "string"}, "item": {"references": "item", "on delete": "cascade"}}},
    }
    endpoints = {
        f"POST /{verb}": {
            "does": "create item",
            "body": NONE,
            "also": [{"does": f"{verb} part", "sets": {"id": each, "item": "this"}, **items}],
            "responses": {"201": "item"},
        }
        for verb, each, items in (("create", "'a'", {}), ("put", "each", {"each": "['b', 'b']"}))
    }
    code = {"status": 409, "for": "conflict part", "detail": "'It is ' + part.id", "headers": {"X-Told": "part.id"}}
    wide = {"status": 400, "for": ["conflict", "invalid", "unauthenticated", "not found", "unavailable"]}
    said = contract(
        resources,
        endpoints,
        {
            "error shape": {"media type": "application/json", "body": {"detail": "error.detail"}},
            "codes": {"taken": code, "wide": wide},
        },
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        rows={"user": {"key": True}, "item": {"key": True}, "part": {"key": "caller.user.old"}},
        permissions={"all others": "key"},
    )
    said["authentication"]["unseen rows"] = "not found"
    users = [("user", {"id": who, "key": who, "old": who == "old"}) for who in ("old", "new")]
    asked = [
        Request("POST", path, {"authorization": f"Bearer {who}"})
        for path in ("/create", "/create", "/put")
        for who in ("old", "new")
    ]
    told = [each.headers.get("x-told") for each in answers(said, users, *asked)]
    assert told == [None, None, "a", None, "b", None]


@pytest.mark.parametrize(
    "written", ["9007199254740993.5", "1.0000000000000000000001", "1e-400", "-0.9999999999999999999999"]
)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_number_with_a_fraction_is_no_integer_though_its_double_is(written: str, database: str) -> None:
    fields = {
        **ITEM,
        "n": {"type": "integer"},
        "m": {"type": ["integer", "string"]},
        "e": {"enum": [0, 1, 9007199254740994]},
        "l": {"type": "array", "items": {"type": "integer"}},
        "o": {"type": "object", "properties": {"n": {"type": "integer"}, "f": {"type": "number"}}},
        "f": {"type": "number", "exclusiveMinimum": 0},
    }
    post = {"does": "create item", "body": ["id", "n", "m", "e", "l", "o", "f"], "responses": {201: "item"}}
    patch = {"does": "update item", "patch": "json-patch", "body": ["n", "l"], "responses": {200: "item"}}
    of_json = {"content": "application/json", "where": "item.n == value"}  # of the type that the expression says
    query = {"n": "item.n == value", "j": of_json}
    get = {"does": "list item", "sort": ["id"], "query": query, "responses": {200: "page.items"}}
    said = contract({"item": {"fields": fields}}, {"POST /items": post, "PATCH /items/{id}": patch, "GET /items": get})
    bodies = ["n: {}", "m: {}", "e: {}", "l: [1, {}]", "o: {n: {}}", "o: {f: {}}", "f: {}"]
    asked = [
        Request("POST", "/items", JSON, ('{"id": "' + str(at) + '", ' + as_json(body, written) + "}").encode())
        for at, body in enumerate(bodies)
    ]
    edit = f'[{{"op": "add", "path": "/n", "value": {written}}}]'.encode()
    asked += [Request("PATCH", "/items/5", JSON, edit)]
    asked += [Request("GET", f"/items?{name}={written}") for name in query]
    told = answers(said, [], *asked, database=database)
    is_kept = 201 if float(written) > 0 else 422
    assert [each.status for each in told] == [422, 422, 422, 422, 422, 201, is_kept, 422, 422, 422]


def as_json(body: str, number: str) -> str:
    return re.sub(r"[a-z]+(?=:)", r'"\g<0>"', body).replace("{}", number)
