"""What the comparison has found of versions, events, what `put` makes and what comes first, each as small as it was
made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from tests.agreement.functions import STATED
from tests.agreement.test_found import ITEM, KEYED, answers, contract, give
from tests.agreement.writing import NONE
from tests.reference.messages import Request

LOG: Final = {"GET /events": {"does": "list event", "sort": ["position"], "responses": {200: "page.items"}}}


def with_events(said: Mapping[str, Any], *upon: str) -> dict[str, Any]:
    kinds = {f"{each.rpartition(' ')[2]}.told": {"upon": each, "payload": {}} for each in upon}
    return {**said, "events": {"kinds": kinds, "delivery": {"stream": "server-sent events"}, "kept": "all"}}


def test_who_may_call_what_only_an_older_version_has_is_said_once_whatever_is_between() -> None:
    was = {"does": "list item", "sort": ["id"], "responses": {200: "page.items"}}
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}, "key": KEYED}}, "item": {"fields": ITEM}},
        {"GET /items": was},
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        permissions={"all others": NONE, "GET /old": ["anyone"]},
    )
    versions = {"three": {}, "two": {"changes": NONE}, "one": {"changes": [{"add": "GET /old", "was": was}]}}
    said["versioning"] = {"in": "header", "name": "V", "default": "one", "versions": versions}
    assert [each.status for each in answers(said, [], Request("GET", "/old"))] == [200]


@pytest.mark.parametrize("by", ["header", "query", "path"])
def test_what_only_an_older_version_has_needs_none_of_its_kind_above(by: str) -> None:
    was = {"does": "read item", "errors": {"not found": "no_item"}, "responses": {200: "item"}}
    said = contract({"item": {"fields": ITEM}}, {}, permissions={"all others": NONE, "GET /items/{id}": ["anyone"]})
    changes = [{"add": "GET /items/{id}", "was": was}, {"add": "no_item", "was": {"status": 418}}]
    named = {} if by == "path" else {"name": "V"}
    said["versioning"] = {"in": by, **named, "default": "one", "versions": {"two": {}, "one": {"changes": changes}}}
    rows = [("item", {"id": "i", "a": "x"})]
    told = answers(said, rows, Request("GET", "/items/i"), Request("GET", "/items/none"))
    assert [each.status for each in told] == [200, 418]


@pytest.mark.parametrize("base", [None, "/api"])
def test_a_path_that_is_none_is_of_the_version_that_it_names(base: str | None) -> None:
    get = {"does": "read item", "responses": {200: "item"}}
    said = contract({"item": {"fields": ITEM}}, {"GET /items/{id}": get} | ({} if base is None else {"base": base}))
    one = {"changes": NONE, "deprecated": "2026-01-01"}
    said["versioning"] = {"in": "path", "default": "one", "versions": {"two": {}, "one": one}}
    paths = ("/two/items/%zz", "/one/items/%ff", "/items/%zz", "/%zz", "/two/%zz/items")
    told = answers(said, [], *(Request("GET", (base or "") + path) for path in paths))
    assert ["deprecation" in each.headers for each in told] == [False, True, True, True, False]


OF_PARTS: Final = {"does": "delete part", "where": "part.name == this.a"}


@pytest.mark.parametrize("on_delete", ["cascade", "set null"])
@pytest.mark.parametrize("more", [[], [{"does": "delete piece", "where": "true"}]])
def test_what_an_effect_deletes_gives_its_events_and_what_fell_before_it_none(on_delete: str, more: list[Any]) -> None:
    item = {"references": "item", "on delete": on_delete}
    part = {"references": "part", "on delete": on_delete}
    text = {"type": "string"}
    said = contract(
        {
            "item": {"fields": ITEM},
            "part": {"fields": {"id": text, "item": item, "name": text}},
            "piece": {"fields": {"id": text, "part": part}},
        },
        {"DELETE /items/{id}": {"does": "delete item", "responses": {200: {}}, "also": [OF_PARTS, *more]}, **LOG},
    )
    rows = [("item", {"id": each, "a": "x"}) for each in "ij"]
    rows += [("part", {"id": "p" + each, "item": each, "name": "x"}) for each in "ij"]
    rows += [("piece", {"id": "e" + each, "part": "p" + each}) for each in "ij"]
    log = answers(
        with_events(said, "delete item", "delete part", "delete piece"),
        rows,
        Request("DELETE", "/items/i"),
        Request("GET", "/events"),
    )[-1]
    there = ["pj"] if on_delete == "cascade" else ["pi", "pj"]
    pieces = [] if on_delete == "cascade" or not more else ["ei", "ej"]
    assert [each["row"] for each in log.body] == ["i", *there, *pieces]


@pytest.mark.parametrize("by_effect", [True, False])
@pytest.mark.parametrize(("first", "second"), ["ab", "ba"])
def test_of_rows_that_are_deleted_together_each_gives_its_event(by_effect: bool, first: str, second: str) -> None:
    of_all = {"does": "delete all item", "responses": {200: {}}}
    also = {"does": "delete part", "responses": {200: {}}, "also": [{"does": "delete item", "where": "item.a == 'x'"}]}
    fields = {**ITEM, "under": {"references": "item", "on delete": "cascade"}}
    said = contract(
        {"item": {"fields": fields}, "part": {"fields": {"id": {"type": "string"}}}},
        {"DELETE /parts/{id}" if by_effect else "DELETE /items": also if by_effect else of_all, **LOG},
    )
    rows = [
        ("item", {"id": first, "a": "x"}),
        ("item", {"id": second, "a": "x", "under": first}),
        ("part", {"id": "p"}),
    ]
    asked = Request("DELETE", "/parts/p" if by_effect else "/items")
    log = answers(with_events(said, "delete item"), rows, asked, Request("GET", "/events"))[-1]
    assert [each["row"] for each in log.body] == ["a", "b"]


def test_the_events_of_one_row_stand_together_whatever_kinds_there_are() -> None:
    part = {"does": "create part", "each": "['c', 'a', 'b']", "sets": {"id": "each"}}
    said = contract(
        {"item": {"fields": ITEM}, "part": {"fields": {"id": {"type": "string"}}}},
        {
            "POST /items": {"does": "create item", "body": ["id"], "responses": {201: {}}, "also": [part]},
            "DELETE /parts": {"does": "delete all part", "responses": {200: {}}},
            **LOG,
        },
    )
    said = with_events(said, "create part", "delete part")
    kinds = {f"part.{name}": {"upon": ["create part", "delete part"], "payload": {}} for name in ("first", "second")}
    said["events"] = {**said["events"], "kinds": kinds}
    requests = (give("POST", "/items", {"id": "i"}), Request("DELETE", "/parts"), Request("GET", "/events"))
    log = answers(said, [], *requests)[-1]
    assert [(each["row"], each["kind"]) for each in log.body] == [(row, kind) for row in "abc" for kind in kinds] * 2


def test_an_idempotency_key_is_of_the_path_as_it_came() -> None:
    said = contract(
        {"item": {"fields": ITEM}},
        {"POST /items": {"does": "create item", "body": ["id"], "idempotency key": "required", "responses": {201: {}}}},
    )
    said["limits"] = {**said["limits"], "idempotency keys kept": "PT1H"}
    said["versioning"] = {"in": "path", "default": "one", "versions": {"two": {}, "one": {"changes": NONE}}}
    asked = [give("POST", path, {"id": "i"}, **{"idempotency-key": "k"}) for path in ("/items", "/items", "/one/items")]
    assert [each.status for each in answers(said, [], *asked)] == [201, 201, 422]


def test_who_signs_in_by_a_grant_signs_in() -> None:
    post = {
        "does": "sign in user",
        "grant": "client_credentials",
        "body": {"client_id": "user.id", "client_secret": "user.key"},
        "issues": "session",
        "responses": {200: {"token": "caller.credential"}},
    }
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}, "key": KEYED}}},
        {"POST /token": post, **LOG},
        schemes={"session": {"type": "http", "scheme": "bearer", "issued to": "user", "lasts": "PT1H", "realm": "Us"}},
    )
    asked = give("POST", "/token", {"grant_type": "client_credentials", "client_id": "u", "client_secret": "key"})
    rows = [("user", {"id": "u", "key": "key"})]
    log = answers(with_events(said, "sign in user"), rows, asked, Request("GET", "/events"))[-1]
    assert [each["kind"] for each in log.body] == ["user.told"]


@pytest.mark.parametrize(
    ("outcomes", "target", "name", "status"),
    [
        (("created", "unchanged"), "/items/there", "x", 200),
        (("created", "unchanged"), "/items/there", "y", 409),
        (("created", "unchanged"), "/items/new", "x", 422),
        (("created",), "/items/there", "x", 409),
        (("created", "replaced"), "/items/there", "y", 200),
    ],
)
def test_a_row_that_put_finds_lacks_nothing_that_the_contract_would_give_a_new_one(
    outcomes: tuple[str, ...], target: str, name: str, status: int
) -> None:
    fields = {**ITEM, "owner": {"references": "user", "on create": "caller.user"}}
    responses = {each: {200: "item"} for each in outcomes}
    said = contract(
        {
            "user": {"fields": {"id": {"type": "string"}, "key": KEYED}},
            "item": {"fields": fields, "required": ["owner"], "unique": [["a", "id"]]},
        },
        {"PUT /items/{id}": {"does": "put item", "body": ["a"], "responses": responses}},
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        permissions={"all others": ["key", "anyone"]},
    )
    rows = [("user", {"id": "u", "key": "s"}), ("item", {"id": "there", "a": "x", "owner": "u"})]
    by_nobody = give("PUT", target, {"a": name})
    assert [each.status for each in answers(said, rows, by_nobody)] == [status]


@pytest.mark.parametrize(("name", "status"), [("x", 200), ("y", 409)])
def test_where_nothing_is_made_or_replaced_nothing_lacks(name: str, status: int) -> None:
    made = {"type": "string", "on change": {"b": "slug(item.b)"}}
    fields = {**ITEM, "b": {"type": "string"}, "c": {"type": ["integer", "null"], "on create": "null"}, "slug": made}
    said = contract(
        {"item": {"fields": fields, "required": ["slug"]}},
        {"PUT /items/{id}": {"does": "put item", "body": ["a", "b"], "responses": {"unchanged": {200: "item"}}}},
    )
    rows = [("item", {"id": "there", "a": "x", "b": None, "slug": "b"})]
    assert [each.status for each in answers(said, rows, give("PUT", "/items/there", {"a": name}))] == [status]


@pytest.mark.parametrize("key", ["99", "00000000-0000-4000-8000-000000000000"])
def test_nothing_is_made_of_a_row_whose_path_gives_it_a_value_that_is_none(key: str) -> None:
    made = {"type": "string", "on change": {"a": "slug(item.a)"}}
    fields = {**ITEM, "id": {"type": "string", "format": "uuid"}, "slug": made}
    errors = {
        "error shape": {"media type": "application/json", "body": {"fields": "error.fields.map(f, f.rule)"}},
        "codes": {"invalid": {"status": 422, "for": "invalid"}},
    }
    put = {"does": "put item", "body": ["a"], "responses": {"created": {201: "item"}}}
    said = contract({"item": {"fields": fields}}, {"PUT /items/{id}": put}, errors)
    assert answers(said, [], give("PUT", f"/items/{key}", {}))[0].body == {
        "fields": ["format" if key == "99" else "stored"]
    }


@pytest.mark.parametrize(
    ("check", "sets", "of_new", "of_old"),
    [
        ("item.a == 'x'", None, 409, 409),
        ("request.query.n == 1", None, 422, 422),
        ("request.headers['X-N'] == 1", None, 422, 422),
        ("item.a == 'x'", "request.query.n", 422, 409),
        ("item.n == 7", "request.query.n", 422, 409),
    ],
)
def test_a_check_that_reads_no_parameter_is_asked_beside_one_that_is_refused(
    check: str, sets: str | None, of_new: int, of_old: int
) -> None:
    does: dict[str, Any] = {"body": ["a"], "check": {"that": check}, "responses": {200: "item"}}
    does |= {"query": {"n": {"type": "integer"}}, "request headers": {"X-N": {"type": "integer"}}}
    does |= {} if sets is None else {"sets": {"n": sets}}
    said = contract(
        {"item": {"fields": {**ITEM, "id": {"type": "string", "on create": "uuid()"}, "n": {"type": "integer"}}}},
        {
            "POST /items": {"does": "create item", **does},
            "PATCH /items/{id}": {"does": "update item", "patch": "merge", **does},
        },
        {
            "error shape": NONE,
            "codes": {"invalid": {"status": 422, "for": "invalid"}},
            "precedence": ["check", "invalid"],
        },
    )
    create, update = give("POST", "/items?n=x", {"a": "y"}), give("PATCH", "/items/i?n=x", {"a": "y"})
    told = answers(said, [("item", {"id": "i", "a": "y", "n": 1})], create, update)
    assert [each.status for each in told] == [of_new, of_old]


@pytest.mark.parametrize(
    ("outcomes", "there", "statuses"),
    [
        (("created", "replaced", "unchanged"), None, [200, 200]),
        (("replaced", "unchanged"), "x", [200, 200]),
        (("created", "unchanged"), "x", [409, 409]),
        (("created", "unchanged"), "xxxx", [202, 202]),
        (("created", "replaced", "unchanged"), "xxx", [200, 202]),
    ],
)
def test_what_sets_makes_of_a_row_is_compared_with_that_of_the_row_that_is_there(
    outcomes: tuple[str, ...], there: str | None, statuses: list[int]
) -> None:
    """A new row would have been given another value, and of some rows none could be made."""
    longer = "has(item.b) ? (item.b.size() < 4 ? item.b + 'x' : item.b) : 'x'"
    answered = {"created": 201, "replaced": 200, "unchanged": 202}
    responses = {each: {answered[each]: "item"} for each in outcomes}
    said = contract(
        {"item": {"fields": {**ITEM, "b": {"type": "string"}}}},
        {"PUT /items/{id}": {"does": "put item", "body": NONE, "sets": {"b": longer}, "responses": responses}},
    )
    put = give("PUT", "/items/there", {})
    rows = [("item", {"id": "there", "b": there})]
    assert [each.status for each in answers(said, rows, put, put)] == statuses


@pytest.mark.parametrize(
    ("outcomes", "secret", "status"),
    [
        (("created", "replaced", "unchanged"), {}, 200),
        (("replaced", "unchanged"), {}, 200),
        (("created", "unchanged"), {}, 409),
        (("created", "replaced", "unchanged"), {"on create": "token()"}, 202),
    ],
)
def test_a_secret_that_a_put_leaves_out_is_no_value_unless_the_contract_makes_it(
    outcomes: tuple[str, ...], secret: dict[str, str], status: int
) -> None:
    answered = {"created": 201, "replaced": 200, "unchanged": 202}
    responses = {each: {answered[each]: {"a": "item.a"}} for each in outcomes}
    key = {"type": "string", "secret": "token", **secret}
    said = contract(
        {"item": {"fields": {**ITEM, "key": key}}},
        {"PUT /items/{id}": {"does": "put item", "body": ["a", "key"], "responses": responses}},
    )
    rows = [("item", {"id": "there", "a": "x", "key": "s"})]
    put = give("PUT", "/items/there", {"a": "x"})
    assert [each.status for each in answers(said, rows, put)] == [status]


@pytest.mark.parametrize("verb", ["create", "update"])
def test_what_an_older_version_stores_is_held_to_the_field_that_stores_it(verb: str) -> None:
    few = {"type": "integer", "minimum": 0, "maximum": 9}
    endpoint = {"does": f"{verb} item", "body": ["n"], "responses": {200: {"n": "item.n"}}}
    endpoint |= {"patch": "merge"} if verb == "update" else {}
    method, path = ("POST", "/items") if verb == "create" else ("PATCH", "/items/{id}")
    identifier = {"type": "string", "on create": "uuid()"}
    said = contract({"item": {"fields": {"id": identifier, "n": few}}}, {f"{method} {path}": endpoint})
    was = {"is": "item.n + 1", "stored": "value - 1", "was": {"type": "integer", "maximum": 20}}
    changes = [{"change": "item.n", **was}]
    said["versioning"] = {
        "in": "header",
        "name": "V",
        "default": "one",
        "versions": {"two": {}, "one": {"changes": changes}},
    }
    json = {"content-type": "application/json"}
    asked = [Request(method, path.replace("{id}", "i"), json, f'{{"n": {n}}}'.encode()) for n in (10, 11, 0, 21)]
    told = answers(said, [("item", {"id": "i", "n": 1})], *asked)
    assert [each.status for each in told] == [200, 422, 422, 422]


STREAM: Final = LOG | {"GET /stream": {"does": "stream event", "responses": {200: "stream"}}}


def test_a_stream_of_which_no_kind_is_whole_tells_of_nothing() -> None:
    said = contract({"item": {"fields": ITEM}}, STREAM)
    said["events"] = {"kinds": {"item.told": {}}, "delivery": {"stream": "server-sent events"}, "kept": "all"}
    [told] = answers(said, [], Request("GET", "/stream", {"last-event-id": "0"}))
    assert (told.status, told.body) == (200, [])


def test_a_client_that_has_the_stream_is_told_not_to_store_it() -> None:
    said = with_events(contract({"item": {"fields": ITEM}}, STREAM), "update item")
    [told] = answers(said, [], Request("GET", "/stream", {"if-none-match": "*"}))
    assert (told.status, told.headers["cache-control"]) == (304, "no-store")


def test_members_that_a_statement_makes_come_in_the_order_of_their_names() -> None:
    numbers = {"type": "object", "additionalProperties": {"type": "integer"}}
    shown = {"o": "item.o.transformMap(k, x, x + 1)"}
    said = contract(
        {"item": {"fields": {"id": {"type": "string"}, "o": numbers}}},
        {"GET /items/{id}": {"does": "read item", "responses": {200: shown}}},
    )
    told = answers(said, [("item", {"id": "i", "o": {"b": 1, "é": 3, "a": 2}})], Request("GET", "/items/i"))
    assert [*told[0].body["o"]] == ["a", "b", "é"]


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json;q=0, application/json", 200),
        ("application/json, application/json;q=0", 200),
        ("*/*;q=0, */*;q=0.1", 200),
        ("*/*, application/json;q=0", 406),
    ],
)
def test_of_ranges_that_say_the_same_the_one_that_is_wished_for_counts(accept: str, status: int) -> None:
    get = {"does": "read item", "responses": {200: "item"}}
    said = contract({"item": {"fields": ITEM}}, {"GET /items/{id}": get, "produces": "application/json"})
    [told] = answers(said, [("item", {"id": "i", "a": "x"})], Request("GET", "/items/i", {"accept": accept}))
    assert told.status == status


@pytest.mark.parametrize(("there", "status"), [(True, 200), (False, 422)])
def test_what_is_put_and_found_does_not_lack_what_only_a_new_row_is_given(there: bool, status: int) -> None:
    item = {**ITEM, "user": {"references": "user", "on create": "caller.user"}}
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}, "key": KEYED}}, "item": {"fields": item, "required": ["user"]}},
        {"PUT /items/{id}": {"does": "put item", "body": ["a"], "responses": {"created or unchanged": {200: "item"}}}},
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        permissions={"all others": ["key", "anyone"]},
    )
    rows: list[Any] = [("user", {"id": "u", "key": "k"})]
    rows += [("item", {"id": "i", "a": "x", "user": "u"})] if there else []
    [told] = answers(said, rows, give("PUT", "/items/i", {"a": "x"}))
    assert told.status == status


@pytest.mark.parametrize("asked", ["if-none-match", "if-match"])
@pytest.mark.parametrize("tag", ["*", '"x"', "none"])
@pytest.mark.parametrize("etag", [{}, {"etag": True}], ids=["without tags", "with tags"])
@pytest.mark.parametrize("called", [False, True])
def test_of_a_row_that_may_be_absent_only_if_match_asks_that_it_is_there(
    asked: str, tag: str, etag: dict[str, Any], called: bool
) -> None:
    """Before a function is called it is asked for what the request would be refused."""
    calls = {"does": ["call weigh", "delete item"], "with": {"n": "1"}} if called else {"does": "delete item"}
    said = contract(
        {"item": {"fields": ITEM}},
        {
            "DELETE /items/{id}": {**calls, "responses": {"deleted or absent": {204: NONE}}, **etag},
            "GET /items/{id}": {"does": "read item", "responses": {200: "item"}, **etag},
            **({"functions": STATED} if called else {}),
        },
        {"error shape": NONE, "codes": {"too_heavy": {"status": 418}} if called else NONE},
    )
    rows = [("item", {"id": "i", "a": "x"})]
    told = answers(said, rows, *(Request("DELETE", f"/items/{each}", {asked: tag}) for each in ("none", "i")))
    assert told[0].status == (412 if asked == "if-match" else 204)


def test_what_cannot_be_selected_is_shown_where_it_is_asked_for_and_what_is_unseen_as_no_value() -> None:
    owner = {"references": "item", "type": ["string", "null"]}
    part = {"fields": {"id": {"type": "string"}, "owner": owner, "other": {"references": "item"}}}
    query = {
        "fields": {"selects": ["id", "owner"], "explode": False},
        "with": {"expands": {"owner": "short(part.owner)", "more": "short(part.other)"}, "explode": False},
    }
    said = contract(
        {"item": {"fields": ITEM, "views": {"short": {"name": "item.a"}}}, "part": part},
        {"GET /parts": {"does": "list part", "sort": ["id"], "query": query, "responses": {200: "page.items"}}},
    )
    said["authentication"]["rows"] = {"part": "all", "item": {"anyone": "item.a != 'y'"}}
    said["authentication"]["unseen rows"] = "not found"
    rows = [("item", {"id": each, "a": each}) for each in "xy"]
    rows += [("part", {"id": "p", "owner": "x", "other": "y"}), ("part", {"id": "q", "owner": "y", "other": "x"})]
    paths = ("/parts?fields=id&with=owner,more", "/parts?fields=owner&with=owner")
    told = answers(said, rows, *(Request("GET", path) for path in paths))
    assert [each.body for each in told] == [
        [{"id": "p"}, {"id": "q", "more": {"name": "x"}}],
        [{"owner": {"name": "x"}}, {"owner": None}],
    ]


@pytest.mark.parametrize("bodies", [[NONE, NONE], [["b"], NONE], [["b"], ["b"]]])
def test_no_body_is_missed_of_a_request_of_which_the_case_is_not_known_and_no_case_needs_one(bodies: list[Any]) -> None:
    cases = {
        name: {"does": "update item", "body": body, "sets": {"a": "'z'"}, "responses": {200: {}}}
        | ({} if body == NONE else {"patch": "merge"})
        for name, body in zip("xy", bodies, strict=True)
    }
    by = {"by": "request.query.what", **cases}
    query = {"what": {"type": "string", "required": True, "maxLength": 1}}
    said = contract(
        {"item": {"fields": {**ITEM, "b": {"type": "string"}}}}, {"POST /items/{id}": {"query": query, "cases": by}}
    )
    rows = [("item", {"id": "i", "a": "x"})]
    told = answers(said, rows, *(Request("POST", f"/items/i?what={each}", {}) for each in ("x", "yy", "y")))
    assert told[1].status == (422 if bodies == [NONE, NONE] else 400)


def test_who_signs_in_may_be_named_by_a_number_that_the_service_gives() -> None:
    user = {"id": {"type": "integer", "on create": "serial()"}, "word": {"type": "string", "secret": "password"}}
    sign_in = {"does": "sign in user", "body": ["id", "word"], "responses": {200: {"id": "user.id"}}}
    said = contract({"user": {"fields": user}}, {"POST /in": sign_in})
    given = (
        {"id": 1, "word": "w"},
        {"id": 2, "word": "w"},
        {"id": 1, "word": "v"},
        {"id": "1", "word": "w"},
        {"word": "w"},
    )
    told = answers(said, [("user", {"id": 1, "word": "w"})], *(give("POST", "/in", each) for each in given))
    assert [each.status for each in told] == [200, 401, 401, 422, 422]
