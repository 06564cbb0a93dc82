"""Rows that change together and would have one value that no two may have: it is the conflict of that value, at the
place that gives it, as where another row has it already; one row may have it, and all may have none."""

from __future__ import annotations

from typing import Any, Final

from tests.agreement.test_found import answers, contract, give
from tests.agreement.writing import NONE
from tests.reference.messages import Request

TEXT: Final = {"type": ["string", "null"]}
FIELDS: Final = {"id": {"type": "integer"}, "code": {**TEXT, "unique": True}, "a": TEXT, "b": TEXT}
ERRORS: Final = {
    "error shape": {"media type": "application/json", "body": {"code": "error.code", "fields": "error.fields"}},
    "codes": {
        "code taken": {"status": 409, "for": "conflict item.code"},
        "pair taken": {"status": 409, "for": "conflict item"},
        "other": {"status": 400, "for": ["invalid", "malformed", "not found", "no such path", "conflict"]},
    },
}
ALL: Final = {"does": "update all item", "patch": "merge", "query": {"id": "item.id == value"}}
ENDPOINTS: Final[dict[str, dict[str, Any]]] = {
    "PATCH /body": {**ALL, "body": ["code"]},
    "PATCH /pair": {**ALL, "body": ["b"]},
    "PATCH /set": {**ALL, "body": ["a"], "sets": {"code": "'x'"}},
    "PATCH /looked-up": {**ALL, "body": ["b"], "sets": {"code": "all(item).filter(i, i.id == 3).first().code + 'x'"}},
    "POST /items": {"does": "create item", "body": ["id", "code", "a", "b"]},
    "POST /hosts": {"does": "create host", "body": ["id"]},
    "PATCH /effect/{id}": {
        "does": "update host",
        "body": ["code"],
        "patch": "merge",
        "also": {"does": "update item", "where": "item.id > 0", "sets": {"code": "this.code"}},
    },
    "POST /transition": {"does": "shut all item", "body": NONE, "query": {"id": "item.id == value"}},
}
ITEMS: Final = {"does": "list item", "sort": ["id"], "responses": {200: "page.items.map(i, [i.code, i.b])"}}
SHUT: Final = {"from": "open", "to": "shut", "sets": {"code": "item.a"}}
ROWS: Final = [("item", {"id": n, "code": f"c{n}", "a": "same", "b": f"b{n}", "state": "open"}) for n in (1, 2, 3)]


def contract_of_items() -> dict[str, Any]:
    item = {"fields": {**FIELDS, "state": {"state": True}}, "unique": [["a", "b"]]}
    host = {"fields": {"id": {"type": "integer"}, "code": {"type": "string"}}}
    endpoints = {
        key: {**said, "responses": {201 if said["does"].startswith("create") else 200: {}}}
        for key, said in ENDPOINTS.items()
    }
    said = contract({"item": item, "host": host}, {**endpoints, "GET /items": ITEMS}, errors=ERRORS)
    machine = {"initial": "open", "states": ["open", "shut"], "transitions": {"shut": SHUT}}
    return said | {"states": {"host": NONE, "item": machine}}


REFUSED: Final[tuple[tuple[str, str, Any, str, list[str]], ...]] = (
    ("PATCH", "/body", {"code": "x"}, "code taken", ["/code"]),
    ("PATCH", "/pair", {"b": "x"}, "pair taken", ["/b"]),
    ("PATCH", "/set", {"a": "y"}, "code taken", []),
    ("PATCH", "/looked-up", {"b": None}, "code taken", []),
    ("PATCH", "/effect/1", {"code": "x"}, "code taken", []),
    ("POST", "/transition", None, "code taken", []),
)
DONE: Final = (
    ("PATCH", "/body?id=1", {"code": "x"}, [["x", "b1"], ["c2", "b2"], ["c3", "b3"]]),
    ("PATCH", "/pair?id=2", {"b": "x"}, [["x", "b1"], ["c2", "x"], ["c3", "b3"]]),
    ("POST", "/transition?id=2", None, [["x", "b1"], ["same", "x"], ["c3", "b3"]]),
    ("PATCH", "/body", {"code": None}, [[None, "b1"], [None, "x"], [None, "b3"]]),
    ("PATCH", "/pair", {"b": None}, [[None, None]] * 3),
)


def asked(method: str, target: str, body: Any) -> Request:
    return Request(method, target, {}) if body is None else give(method, target, body)


def test_the_value_is_told_that_two_of_them_would_have() -> None:
    listed = Request("GET", "/items", {})
    requests = [asked(method, target, body) for method, target, body, *_ in REFUSED]
    requests += [each for method, target, body, _ in DONE for each in (asked(method, target, body), listed)]
    found = answers(contract_of_items(), [*ROWS, ("host", {"id": 1, "code": "h"})], *requests)
    refused, done = found[: len(REFUSED)], found[len(REFUSED) :]
    for (*_, code, pointers), answer in zip(REFUSED, refused, strict=True):
        fields = [{"place": "body", "pointer": each, "name": each[1:], "rule": "unique"} for each in pointers]
        told = [{name: each[name] for name in ("place", "pointer", "name", "rule")} for each in answer.body["fields"]]
        assert (answer.status, answer.body["code"], told) == (409, code, fields)
    assert [each.status for each in done] == [200] * len(done)
    assert [each.body for each in done[1::2]] == [rows for *_, rows in DONE]
