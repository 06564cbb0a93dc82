"""What the comparison has found of JSON Patches (RFC 6902)."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import pytest
from tests.agreement.test_found import ITEM, KEYED, answers, contract, give
from tests.agreement.writing import NONE
from tests.reference.messages import Request

PATCH = [{"op": "replace", "path": "/a", "value": "y"}]
NONE_SUCH = [{"op": "remove", "path": "/none"}]
ABSENT: Final = object()


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


def test_what_is_wrong_with_an_edit_is_told_member_by_member() -> None:
    """Each member that an edit may have is left out, is no text, or is nothing that it can be, whatever it does."""
    patch = {"does": "update item", "body": ["a"], "patch": "json-patch", "responses": {200: "item"}}
    errors = {
        "error shape": {
            "media type": "application/json",
            "body": {"faults": "error.fields.map(f, {'at': f.pointer, 'rule': f.rule})"},
        },
        "codes": {"invalid": {"status": 422, "for": "invalid"}},
        "messages": NONE,
    }
    said = contract({"item": {"fields": {**ITEM, "id": {"type": "integer"}}}}, {"PATCH /items/{id}": patch}, errors)
    pointers = (ABSENT, "/a", "a", 1)
    members = {
        "op": (ABSENT, "add", "move", "remove", "no", 1),
        "path": pointers,
        "from": pointers,
        "value": (ABSENT, 1),
    }
    edits = [
        {name: value for name, value in zip(members, each, strict=True) if value is not ABSENT}
        for each in product(*members.values())
    ]
    asked = [give("PATCH", "/items/1", edits[first : first + 6]) for first in range(0, len(edits), 6)]
    told = answers(said, [("item", {"id": 1, "a": "x"})], *asked)
    assert {each.status for each in told} == {422}
