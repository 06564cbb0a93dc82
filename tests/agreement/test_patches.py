"""What the comparison has found of JSON Patches (RFC 6902)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agreement.test_found import ITEM, KEYED, answers, contract, give
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
