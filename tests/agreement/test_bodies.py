"""What a body gives beside fields, and which of what is wrong with it is told first."""

from __future__ import annotations

from typing import Any, Final

import pytest
from tests.agreement.test_found import ITEM, answers, contract, give

TOLD: Final = {
    "error shape": {"media type": "application/problem+json", "body": {"all": "error.fields"}},
    "codes": {"invalid": {"status": 422, "for": "invalid"}},
}
PART: Final = {
    "id": {"type": "string", "maxLength": 2},
    "n": {"type": "integer", "maximum": 5},
    "item": {"references": "item", "inverse": "parts", "on delete": "cascade"},
}
PARTS: Final = {
    "type": "array",
    "maxItems": 2,
    "items": {"type": "object", "properties": {"n": {"type": "integer"}, "id": {"type": "string"}}, "required": ["id"]},
}
MADE: Final = {"does": "create part", "each": "request.body.parts"}
MADE_OF: Final = {"id": "each.id", "n": "each.n", "item": "this"}
GOOD: Final = {"id": "p", "n": 1}


def rules(body: Any) -> list[tuple[str, str]]:
    return [(each["pointer"], each["rule"]) for each in body["all"]]


def test_the_rules_of_a_field_come_before_those_of_the_type_of_the_body() -> None:
    types = {"a": {"type": ["boolean", "string"]}, "b": {"type": ["string", "integer"], "minimum": 2}}
    whole = {"type": "object", "properties": types}
    put = {"does": "put item", "body": {"$ref": "#/types/whole"}, "responses": {"replaced": {200: "item"}}}
    fixed: dict[str, Any] = {"type": "string", "immutable": True}
    said = contract(
        {"item": {"fields": {**ITEM, "a": fixed, "b": {"type": "string", "maxLength": 2}}}},
        {"PUT /items/{id}": put},
        errors=TOLD,
    )
    said["resources"]["types"] = {"whole": whole}
    rows = [("item", {"id": "i", "a": "x", "b": ""})]
    asked = [give("PUT", "/items/i", each) for each in ({"a": True}, {"b": 1})]
    one, other = (each.body for each in answers(said, rows, *asked))
    assert rules(one) == [("/a", "immutable"), ("/a", "type")]
    assert rules(other) == [("/b", "type"), ("/b", "minimum")]


@pytest.mark.parametrize("unknown", ["refused", "ignored"])
def test_members_of_a_type_are_known_whoever_reads_them(unknown: str) -> None:
    """Also where an effect alone does, item by item."""
    requests = {"media type": "application/json", "unknown members": unknown, "unknown parameters": "refused"}
    shown = {"of": "item.parts.map(p, p.n)", "extra": "request.body.extra"}
    check = {"that": "!has(request.body.extra) || request.body.extra != 7"}
    make: dict[str, Any] = {
        "does": "create item",
        "body": {"$ref": "#/types/order"},
        "requests": requests,
        "check": check,
    }
    make |= {"also": [{**MADE, "sets": MADE_OF}], "responses": {201: shown}}
    resources = {"item": {"fields": ITEM}, "part": {"fields": PART, "required": ["n"]}}
    said = contract(resources, {"POST /items": make}, errors=TOLD)
    members = {"id": {"type": "string"}, "a": {"type": "string"}, "extra": {"type": "integer"}, "parts": PARTS}
    said["resources"]["types"] = {"order": {"type": "object", "properties": members}}
    several: tuple[Any, ...] = (
        *({"parts": [GOOD]}, {"parts": [{"id": "p", "n": 9}], "extra": 4}, {"parts": [{"id": "long"}]}),
        *({"parts": [{"n": "x"}, 1, {**GOOD, "z": 3}], "a": 1}, {"parts": 3, "z": 1}, {"extra": "4", "a": 1}),
        *({"parts": [GOOD, GOOD]}, {"extra": 7}, {"extra": 7, "a": 1}, {"parts": [GOOD, GOOD, GOOD]}, {}),
    )
    asked = [give("POST", "/items", {"id": f"i{at}", **each}) for at, each in enumerate(several)]
    told = answers(said, [], *asked)
    assert [each.status for each in told] == [201, 422, 422, 422, 422, 422, 409, 409, 422, 422, 201]
    assert rules(told[2].body) == [("/parts/0/n", "required"), ("/parts/0/id", "maxLength")]


def test_members_are_told_in_the_order_of_the_body_whatever_they_are() -> None:
    """Fields, members that are none, and those that are always the same."""
    order = {"type": "object", "properties": {name: {"type": "string"} for name in ("id", "extra", "a")}}
    enveloped = {"data": {"a": "item.a", "type": "'items'", "id": "item.id"}, "version": "1"}
    responses = {201: {"of": "item", "extra": "request.body.extra"}}
    posts = {
        "POST /items": {"does": "create item", "body": {"$ref": "#/types/order"}, "responses": responses},
        "POST /envelopes": {"does": "create item", "body": enveloped, "responses": {201: "item"}},
        "POST /computed": {
            "does": "compute",
            "body": {"$ref": "#/types/order"},
            "responses": {200: "[request.body.extra, request.body.a, request.body.id]"},
        },
    }
    said = contract({"item": {"fields": ITEM}}, posts, errors=TOLD)
    said["resources"]["types"] = {"order": order}
    wrong: dict[str, Any] = {"z": 1, "a": 1, "extra": 2, "id": 3}
    several = (
        ("/items", wrong),
        ("/envelopes", {"version": 2, "data": {"id": 1, "type": "x", "a": 2}}),
        ("/envelopes", {"version": 1, "data": {"a": 2}}),
        ("/computed", wrong),
        ("/computed", {"extra": "e", "a": "f", "id": "g"}),
        ("/items", {"extra": "e", "id": "g"}),
    )
    told = [each.body for each in answers(said, [], *(give("POST", path, body) for path, body in several))]
    assert [[pointer for pointer, _ in rules(body)] for body in told[:4]] == [
        ["/id", "/extra", "/a", "/z"],
        ["/data/a", "/data/type", "/data/id", "/version"],
        ["/data/a", "/data/type", "/data/id"],
        ["/id", "/extra", "/a", "/z"],
    ]
    assert told[4:] == [["e", "f", "g"], {"of": {"id": "g"}, "extra": "e"}]


def test_of_an_object_both_a_field_and_a_type_speak_member_by_member() -> None:
    def of(**rules: Any) -> dict[str, Any]:
        members = {name: {"type": "array", "items": {"type": "string", **rules}} for name in ("v", "w")}
        return {"type": "object", "properties": members, "minProperties": 2 + len(rules)}

    said = contract(
        {"item": {"fields": {**ITEM, "b": of()}}},
        {"POST /items": {"does": "create item", "body": {"$ref": "#/types/whole"}, "responses": {201: "item"}}},
        errors=TOLD,
    )
    said["resources"]["types"] = {
        "whole": {"type": "object", "properties": {"id": {"type": "string"}, "b": of(pattern="x")}}
    }
    asked = give("POST", "/items", {"id": "i", "b": {"w": [1, "a"], "v": ["a", 1]}})
    (response,) = answers(said, [], asked)
    assert rules(response.body) == [
        *[("/b", "minProperties"), ("/b/v/0", "pattern"), ("/b/v/1", "type")],
        *[("/b/w/0", "type"), ("/b/w/1", "pattern")],
    ]


@pytest.mark.parametrize("asks", [{}, {"oneOf": [{"minProperties": 2}]}, {"minProperties": 2}], ids=str)
@pytest.mark.parametrize("patch", [None, "merge", "json-patch"])
def test_what_nobody_knows_counts_as_it_came_and_does_not_then(patch: str | None, asks: dict[str, Any]) -> None:
    """Where it is ignored, the type of a body is asked twice."""
    does = {"does": "create item"} if patch is None else {"does": "update item", "patch": patch}
    key = "POST /items" if patch is None else "PATCH /items/{id}"
    ends = {201 if patch is None else 200: "item"}
    said = contract(
        {"item": {"fields": {**ITEM, "id": {"type": "string", "on create": "uuid()"}}}},
        {key: {**does, "body": {"$ref": "#/types/whole"}, "responses": ends}},
    )
    said["endpoints"]["requests"]["unknown members"] = "ignored"
    said["resources"]["types"] = {"whole": {"type": "object", "properties": {"a": {"type": "string"}}, **asks}}
    method, target = key.replace("{id}", "i").split()
    for body in ({"a": "x", "unheard": 1}, {"unheard": 1, "of": 2}):
        sent = [{"op": "add", "path": f"/{name}", "value": value} for name, value in body.items()]
        [told] = answers(
            said, [("item", {"id": "i", "a": "z"})], give(method, target, sent if patch == "json-patch" else body)
        )
        assert (told.status == 422) is bool(asks), body
