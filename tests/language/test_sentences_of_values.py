"""What is written, ignored, shown of what is deleted, and whose credential is read: each test has the name of its
sentence."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.events.service import running
from tests.parts import contract, told

pytestmark = pytest.mark.serves

CONTRACT = contract(
    """
    user:
      primary key: id
      fields:
        id:  {type: integer, on create: serial()}
        key: {type: string, secret: token, on create: token()}
    cart:
      primary key: id
      fields:
        id:    {type: integer, on create: serial()}
        code:  {type: string, maxLength: 3}
        note:  {type: string, normalise: value.trim(), minLength: 2}
        more:  {type: object, properties: {a: {type: object, properties: {b: {type: integer}}}}}
        free:  {type: object, additionalProperties: true}
        parts: {type: integer, computed: cart.items.size()}
        owner: {references: user, on create: caller.user}
    item:
      primary key: id
      fields:
        id:   {type: integer, on create: serial()}
        cart: {references: cart, inverse: items, on delete: cascade}
    """,
    """
    POST /users: {does: create user, body: none, responses: {201: {key: issued.key}}}
    POST /carts:
      does: create cart
      body: [note, more, free]
      responses: {201: cart}
    POST /coded:
      does: create cart
      query: {c: {type: string}}
      body: none
      sets: {code: request.query.c}
      responses: {201: cart}
    POST /timed: {does: create cart, body: none, sets: {code: string(now)}, responses: {201: cart}}
    POST /items: {does: create item, body: [cart], responses: {201: item}}
    DELETE /carts/{id}: {does: delete cart, responses: {200: cart}}
    GET /open: {does: compute, responses: {200: {ok: true}}}
    GET /both: {does: compute, responses: {200: {ok: true}}}
    """,
    callers="""
    schemes: {key: {type: http, scheme: bearer, matches: user.key}}
    rows: all
    permissions: {GET /open: anyone, all others: [key, anyone]}
    """,
).replace("unknown members: refused", "unknown members: ignored", 1)


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("values") / "service.db", CONTRACT) as served:
        yield served.http


def test_ignored_holds_at_every_depth_where_properties_are_stated_and_a_free_form_object_keeps_all(
    http: httpx.Client,
) -> None:
    body = {"more": {"a": {"b": 1, "c": 2}, "d": 3}, "free": {"x": {"y": 1}}, "other": 1}
    shown = http.post("/carts", json=body).json()
    assert (shown["more"], shown["free"]) == ({"a": {"b": 1}}, {"x": {"y": 1}})


def test_the_schema_is_asked_of_the_value_as_it_is_normalised_and_the_pointer_leads_into_the_body(
    http: httpx.Client,
) -> None:
    assert http.post("/carts", json={"note": "  ab  "}).json()["note"] == "ab"
    refused = http.post("/carts", json={"note": " a      "})
    [field] = refused.json()["fields"]
    assert (told(refused), field["pointer"], field["rule"]) == ("invalid", "/note", "minLength")


def test_what_goes_through_sets_is_held_to_its_field_and_is_invalid_at_the_member_of_the_request(
    http: httpx.Client,
) -> None:
    assert told(http.post("/coded", params={"c": "abc"})) == 201
    refused = http.post("/coded", params={"c": "abcd"})
    [field] = refused.json()["fields"]
    assert (told(refused), field["place"], field["pointer"]) == ("invalid", "query", "/c")


def test_what_the_contract_gives_and_the_field_does_not_take_is_refused_as_by_a_check_without_a_code(
    http: httpx.Client,
) -> None:
    refused = http.post("/timed")
    assert (refused.status_code, refused.content) == (409, b"")


def test_a_row_that_is_deleted_is_shown_as_it_was_computed_included(http: httpx.Client) -> None:
    made = http.post("/carts", json={}).json()["id"]
    assert told(http.post("/items", json={"cart": made})) == 201
    assert http.delete(f"/carts/{made}").json()["parts"] == 1


def test_anyone_alone_looks_at_no_credential(http: httpx.Client) -> None:
    stale = {"Authorization": "Bearer stale"}
    assert told(http.get("/open", headers=stale)) == 200
    assert told(http.get("/both", headers=stale)) == "unauthenticated"
    assert told(http.get("/both")) == 200
