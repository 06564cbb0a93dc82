"""What the comparison has found of JSON Patches (RFC 6902), and of what else was asked first beside them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agreement.functions import STATED
from tests.agreement.test_found import ITEM, KEYED, answers, contract, give
from tests.agreement.writing import NONE
from tests.reference.messages import Request

PATCH = [{"op": "replace", "path": "/a", "value": "y"}]
NONE_SUCH = [{"op": "remove", "path": "/none"}]


@pytest.mark.parametrize("patch", [PATCH, NONE_SUCH], ids=["that can be done", "that cannot"])
@pytest.mark.parametrize(
    ("path", "key", "status"),
    [("/items/1", "k", 403), ("/items/x", "k", 404), ("/items/2", "k", 404), ("/items/1", "none", 401)],
)
def test_a_patch_of_a_row_that_is_not_to_be_had_is_not_held_to_anything(
    path: str, key: str, status: int, patch: Any
) -> None:
    """Nobody is admitted, or no row is there: what would be invalid comes before `forbidden` and `not found`."""
    item = {**ITEM, "id": {"type": "integer"}, "user": {"references": "user"}}
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}, "key": KEYED}}, "item": {"fields": item}},
        {
            "PATCH /items/{id}": {
                "does": "update item",
                "body": ["a"],
                "patch": "json-patch",
                "responses": {200: "item"},
            }
        },
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        permissions={"all others": {"key": "item.user == caller.user"}},
    )
    rows: list[Any] = [("user", {"id": "u", "key": "k"}), ("user", {"id": "v", "key": "l"})]
    rows.append(("item", {"id": 1, "a": "x", "user": "v"}))
    asked = give("PATCH", path, patch)
    headers = {**asked.headers, "authorization": f"Bearer {key}"}
    [told] = answers(said, rows, Request("PATCH", path, headers, asked.body))
    assert told.status == status


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
