"""What codes say of the row acted on, whatever step it is at which a request is refused."""

from __future__ import annotations

from typing import Any, Final

import pytest
from tests.agreement.test_found import ITEM, answers, contract, give
from tests.agreement.writing import NONE
from tests.reference.messages import Request

CONDITIONS: Final = ("forbidden", "invalid", "conflict", "different", "precondition failed", "idempotency mismatch")
ROW: Final[dict[str, Any]] = {"body": ["a"], "responses": {200: "item"}}
ENDPOINTS: Final[dict[str, Any]] = {
    "GET /items/{id}": {
        "does": "read item",
        "etag": True,
        "query": {"n": {"type": "integer"}},
        "responses": {200: "item"},
    },
    "PATCH /items/{id}": {"does": "update item", "patch": "merge", "idempotency key": "optional", **ROW},
    "PATCH /items/{id}/edits": {"does": "update item", "patch": "json-patch", **ROW},
    "PATCH /items/{id}/allowed": {
        "does": "update item",
        "patch": "merge",
        "query": {"ok": {"type": "boolean"}},
        **ROW,
    },
    "PUT /items/{id}": {
        "does": "put item",
        "body": ["a"],
        "responses": {"created": {201: "item"}, "replaced": {200: "item"}},
    },
    "DELETE /items/{id}": {"does": "delete item", "responses": {204: NONE}},
}
ERRORS: Final = {
    "error shape": {"media type": "application/json", "body": {"code": "error.code", "detail": "error.detail"}},
    "codes": {
        name.replace(" ", "_"): {
            "status": 418,
            "for": name,
            "detail": "'of ' + item.a",
            "headers": {"X-Told": "item.a"},
        }
        for name in CONDITIONS
    },
}
AUTHENTICATION: Final[dict[str, Any]] = {
    "unseen rows": "not found",
    "rows": {"item": {"anyone": "item.a != 'hidden'"}},
    "permissions": {"PATCH /items/{id}/allowed": {"anyone": "has(request.query.ok)"}, "all others": "anyone"},
}
EDITS: Final = {"content-type": "application/json-patch+json"}
REFUSED: Final = {
    "invalid query": [Request("GET", "/items/{}?n=x")],
    "another condition": [Request("GET", "/items/{}", {"if-match": '"nothing"'})],
    "unknown parameter": [Request("DELETE", "/items/{}?n=1")],
    "invalid body": [give("PATCH", "/items/{}", {"a": 1})],
    "an invalid body of a put": [give("PUT", "/items/{}", {"a": 1})],
    "unknown member": [give("PATCH", "/items/{}", {"a": "y", "b": "z"})],
    "forbidden by the request": [give("PATCH", "/items/{}/allowed", {"a": "y"})],
    "forbidden and invalid": [give("PATCH", "/items/{}/allowed", {"a": 1})],
    "an edit of nothing": [give("PATCH", "/items/{}/edits", [{"op": "remove", "path": "/b"}], **EDITS)],
    "an edit of something else": [
        give("PATCH", "/items/{}/edits", [{"op": "test", "path": "/a", "value": "z"}], **EDITS)
    ],
    "no edits": [give("PATCH", "/items/{}/edits", {}, **EDITS)],
    "an edit that makes it invalid": [
        give("PATCH", "/items/{}/edits", [{"op": "replace", "path": "/a", "value": 1}], **EDITS)
    ],
    "another request with the key": [
        give("PATCH", "/items/{}", {"a": "x"}, **{"idempotency-key": "k"}),
        give("PATCH", "/items/{}", {"a": "z"}, **{"idempotency-key": "k"}),
    ],
    "an invalid one with the key": [give("PATCH", "/items/{}", {"a": 1}, **{"idempotency-key": "k"})],
}
"""Requests of which the last is refused, whichever row it is about."""


def told(of: str, refused: str) -> Any:
    """The status, the header and the detail of the last answer about a row: `1` is seen, `2` is hidden, `3` is none."""
    said = contract({"item": {"fields": ITEM}}, ENDPOINTS, ERRORS, **AUTHENTICATION)
    said["limits"]["idempotency keys kept"] = "PT1H"
    rows: list[Any] = [("item", {"id": "1", "a": "x"}), ("item", {"id": "2", "a": "hidden"})]
    asked = [Request(each.method, each.target.format(of), each.headers, each.body) for each in REFUSED[refused]]
    last = answers(said, rows, *asked)[-1]
    body = last.body if isinstance(last.body, dict) else {}
    return last.status, last.headers.get("x-told"), body.get("detail")


@pytest.mark.parametrize("refused", REFUSED)
def test_a_row_that_is_seen_is_told_of(refused: str) -> None:
    assert told("1", refused) == (418, "x", "of x")


@pytest.mark.parametrize("of", ["2", "3"])
@pytest.mark.parametrize("refused", REFUSED)
def test_of_a_row_that_is_hidden_or_is_not_there_nothing_is_told(refused: str, of: str) -> None:
    _, header, detail = told(of, refused)
    assert (header, detail) == (None, None) or "put" in refused
