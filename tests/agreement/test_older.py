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


FILES: Final = {"fields": {"id": {"type": "string"}, "weight": {"type": ["integer", "null"]}}}
LISTED: Final[dict[str, Any]] = {
    "does": "list file",
    "sort": ["id"],
    "pages": NONE,
    "query": {"weight": "file.weight == value", "most": "file.weight <= value"},
    "responses": {200: {"n": "page.total"}},
}


def test_a_code_is_for_a_parameter_by_whatever_name_a_version_has_for_it() -> None:
    """And for none that an endpoint does not declare, whatever it is called."""
    said = contract(
        {"file": FILES},
        {"GET /files": LISTED, "GET /others": {**LISTED, "errors": {"invalid query.most": "own"}}, "GET /asked": ASKED},
        errors={
            "codes": {
                "wrong": {"status": 400, "title": "Wrong", "for": "invalid"},
                "weight": {"status": 418, "title": "Weight", "for": "invalid query.weight"},
                "most": {"status": 417, "title": "Most", "for": "invalid query.most"},
                "own": {"status": 416, "title": "Most of these"},
            }
        },
    )
    said["endpoints"]["requests"]["unknown parameters"] = "refused"
    changes = [
        {"rename": "file.weight", "to": "bytes"},
        {"rename": "GET /files.query.most", "to": "weight"},
        {"rename": "GET /others.query.most", "to": "up_to"},
    ]
    said["versioning"] = {
        "in": "header",
        "name": "v",
        "default": "2",
        "compatible": NONE,
        "versions": {"2": {}, "1": {"changes": changes}},
    }

    def told(path: str, v: str) -> dict[str, int]:
        names = ("weight", "most", "bytes", "up_to")
        asked = [Request("GET", f"{path}?{name}=x", {"v": v}) for name in names]
        return {name: each.status for name, each in zip(names, answers(said, [], *asked), strict=True)}

    assert told("/asked", "2") == {"weight": 400, "most": 400, "bytes": 400, "up_to": 400}
    assert told("/files", "2") == {"weight": 418, "most": 417, "bytes": 400, "up_to": 400}
    assert told("/others", "2") == {"weight": 418, "most": 416, "bytes": 400, "up_to": 400}
    assert told("/files", "1") == {"weight": 417, "most": 400, "bytes": 418, "up_to": 400}
    assert told("/others", "1") == {"weight": 400, "most": 400, "bytes": 418, "up_to": 416}
