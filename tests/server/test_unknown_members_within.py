"""`unknown members` of `requests`: what an endpoint says of its own bodies goes before what part 4 says of all, at
every depth of a body and in whichever way it comes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

pytestmark = pytest.mark.serves

PART: Final = "{type: object, properties: {a: {type: integer}, more: {type: object, properties: {b: {type: integer}}}}}"
CONTRACT: Final = f"""
purpose: Keeps things.
resources:
  types:
    part: {PART}
    whole: {{type: object, properties: {{own: {PART}, beside: {{$ref: "#/types/part"}}}}}}
  thing:
    primary key: id
    fields:
      id: {{type: integer, on create: serial()}}
      own: {PART}
      several: {{type: array, items: {PART}}}
      shared: {{$ref: "#/types/part"}}
      kept: {PART}
      changed: {PART}
      text: {{type: string}}
states: none
endpoints:
  requests: {{media type: application/json, unknown parameters: ignored, unknown members: OF_ALL}}
  produces: application/json
  POST /things: {{does: create thing, OWN body: [own, several, shared, changed], responses: {{201: thing}}}}
  PUT /things/{{id}}:
    {{does: put thing, OWN body: [own, several, shared, changed], responses: {{replaced: {{200: thing}}}}}}
  PATCH /merged/{{id}}:
    {{does: update thing, OWN patch: merge, body: [own, several, shared, changed], responses: {{200: thing}}}}
  PATCH /edited/{{id}}:
    {{does: update thing, OWN patch: json-patch, body: [own, several, shared, changed], responses: {{200: thing}}}}
  POST /typed:
    does: create thing
    OWN_LINE
    body: {{$ref: "#/types/whole"}}
    sets: {{kept: request.body.beside}}
    responses: {{201: thing}}
  POST /forms: {{does: create thing, FORM body: [text], responses: {{201: thing}}}}
authentication: {{schemes: none, rows: all, permissions: {{all others: anyone}}}}
events: none
errors:
  error shape:
    media type: application/json
    body: {{code: error.code, fields: "error.fields.map(f, f.pointer + ' ' + f.rule)"}}
  codes:
    wrong: {{status: 422, for: invalid}}
    nothing: {{status: 404, for: not found}}
    conflict: {{status: 409, for: conflict}}
    other: {{status: 409, for: different}}
    unread: {{status: 400, for: malformed}}
    type: {{status: 415, for: unsupported media type}}
    large: {{status: 413, for: too large}}
    version: {{status: 400, for: unknown version}}
limits: {{rates: none, timeout: none, body size: 64 KiB}}
versioning:
  in: header
  name: Api-Version
  default: "2"
  versions:
    "2": {{}}
    "1":
      changes:
        - {{rename: thing.own, to: former}}
        - {{change: thing.changed, was: {PART}}}
  compatible: none
"""

SAID: Final = [(of_all, own) for of_all in ("refused", "ignored") for own in (None, "refused", "ignored")]
WITHIN: Final[dict[str, tuple[Any, str, Any]]] = {
    "an object": ({"a": 1, "x": 2}, "/x", {"a": 1}),
    "an object in it": ({"more": {"b": 1, "x": 2}}, "/more/x", {"more": {"b": 1}}),
}
"""What is given, where the member stands that nothing names, and what is kept without it."""


def contract(of_all: str, own: str | None) -> bytes:
    said = "" if own is None else f"unknown members: {own}"
    form = ", ".join(each for each in ("media type: application/x-www-form-urlencoded", said) if each)
    text = CONTRACT.replace("OF_ALL", of_all).replace("OWN_LINE", f"requests: {{{said}}}" if said else "")
    return (
        text.replace("OWN ", f"requests: {{{said}}}, " if said else "")
        .replace("FORM ", f"requests: {{{form}}}, ")
        .encode()
    )


def held(answer: httpx.Response, member: str, told: str, kept: Any, refused: bool) -> None:
    where = (answer.request.method, answer.request.url.path, answer.request.content, answer.text)
    if refused:
        assert answer.status_code == 422 and answer.json()["fields"] == [f"{told} unknown"], where
    else:
        assert answer.is_success and answer.json().get(member) == kept, where


@pytest.mark.parametrize(("of_all", "own"), SAID)
def test_what_an_endpoint_says_is_said_at_every_depth(tmp_path: Path, of_all: str, own: str | None) -> None:
    plan = plan_of(contract(of_all, own), "things.yaml")
    refused = (own or of_all) == "refused"
    older = {"Api-Version": "1"}
    edits = {"Content-Type": "application/json-patch+json"}
    with serving(plan, tmp_path / "things.db", {}) as http:
        assert http.post("/things", json={}).json() == {"id": 1}
        given: Any
        for value, at, left in WITHIN.values():
            cases = [(name, value, f"/{name}{at}", left) for name in ("own", "shared", "changed")]
            cases.append(("several", [{"a": 1}, value], f"/several/1{at}", [{"a": 1}, left]))
            for name, given, told, kept in cases:
                body = {name: given}
                held(http.post("/things", json=body), name, told, kept, refused)
                held(http.put("/things/1", json=body), name, told, kept, refused)
                held(http.patch("/merged/1", json=body), name, told, kept, refused)
                edit = json.dumps([{"op": "add", "path": f"/{name}", "value": given}])
                http.put("/things/1", json={})
                edited = told.replace(f"/{name}", "/0/value", 1)
                held(http.patch("/edited/1", content=edit, headers=edits), name, edited, kept, refused)
                former, path = name.replace("own", "former"), told.replace("/own", "/former")
                held(http.post("/things", json={former: given}, headers=older), former, path, kept, refused)
                held(http.patch("/merged/1", json={former: given}, headers=older), former, path, kept, refused)
            held(http.post("/typed", json={"own": value}), "own", f"/own{at}", left, refused)
            held(http.post("/typed", json={"beside": value}), "kept", f"/beside{at}", left, refused)
        for headers in ({}, older):
            held(http.post("/things", json={"x": 1}, headers=headers), "x", "/x", None, refused)
            held(http.put("/things/1", json={"x": 1}, headers=headers), "x", "/x", None, refused)
            held(http.patch("/merged/1", json={"x": 1}, headers=headers), "x", "/x", None, refused)
        held(http.post("/typed", json={"x": 1}), "x", "/x", None, refused)
        held(http.post("/forms", data={"text": "a", "x": "1"}), "text", "/x", "a", refused)
        edit = json.dumps([{"op": "add", "path": "/x", "value": 1}])
        held(http.patch("/edited/1", content=edit, headers=edits), "x", "/0/value", None, refused)
