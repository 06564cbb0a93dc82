"""What the comparison has found of older versions, each of which the interpreter has as a document of its own."""

from __future__ import annotations

from typing import Any, Final

import pytest
from tests.agreement.test_found import KEYED, answers, contract, give
from tests.agreement.writing import NONE
from tests.reference.messages import Request

ASKED: Final[dict[str, Any]] = {"does": "compute", "responses": {200: {"a": "'b'"}}}
NUMBER: Final = {"type": "integer"}
GRANT: Final[dict[str, Any]] = {
    "does": "sign in user",
    "grant": "client_credentials",
    "body": {"client_id": "user.id", "client_secret": "user.key"},
    "issues": "session",
    "responses": {200: {"token": "caller.credential"}},
}


@pytest.mark.parametrize(
    ("key", "gone", "condition"),
    [
        ("GET /asked", {**ASKED, "request headers": {"Times": NUMBER}}, "invalid header.Times"),
        ("GET /asked", {**ASKED, "query": {"n": NUMBER}}, "invalid query.n"),
        ("GET /asked/{n}", {**ASKED, "path": {"n": NUMBER}}, "not found path.n"),
        ("POST /token", GRANT, "invalid scope"),
    ],
)
def test_what_nothing_of_a_version_is_wrong_with_has_no_code_there(
    key: str, gone: dict[str, Any], condition: str
) -> None:
    said = contract(
        {"user": {"fields": {"id": {"type": "string"}, "key": KEYED}}},
        {"GET /now": ASKED, key: gone},
        errors={"codes": {"own": {"status": 418, "title": "Ours", "for": condition}}},
        schemes={
            "session": {
                "type": "http",
                "scheme": "bearer",
                "issued to": "user",
                "lasts": "PT1H",
                "scopes": ["a"],
                "granted": "['a']",
                "realm": "Users",
            },
        },
    )
    said["versioning"] = {
        "in": "header",
        "name": "v",
        "default": "2",
        "compatible": NONE,
        "versions": {"2": {}, "1": {"changes": [{"remove": key}]}},
    }
    asked = [
        request
        for v in ("1", "2")
        for request in (
            *(Request("GET", target, {"times": "x", "v": v}) for target in ("/now", "/asked?n=x", "/asked/x")),
            give(
                "POST",
                "/token",
                {"grant_type": "client_credentials", "client_id": "u", "client_secret": "k", "scope": "b"},
                v=v,
            ),
        )
    ]
    told = [each.status for each in answers(said, [("user", {"id": "u", "key": "k"})], *asked)]
    assert 418 in told[4:] and 418 not in told[:4]
