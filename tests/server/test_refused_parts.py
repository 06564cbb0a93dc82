"""What is refused in a request is told, and nothing that is made of it (meaning "precedence"): every part of it, and
every way in which a field is given what it says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS

pytestmark = pytest.mark.serves

PARTS = {
    "path": ("request.path.v", {"path": {"v": {"type": "integer"}}}, "/x", {}, {}, ("nowhere", [])),
    "query": (
        "request.query.v",
        {"query": {"v": {"type": "integer"}}},
        "/1?v=x",
        {},
        {},
        ("wrong", [("query", "/v", "type")]),
    ),
    "header": (
        "request.headers.v",
        {"request headers": {"v": {"type": "integer"}}},
        "/1",
        {"v": "x"},
        {},
        ("wrong", [("header", "/v", "type")]),
    ),
    "body": ("request.body.v", {}, "/1", {}, {"v": "x"}, ("wrong", [("body", "/v", "type")])),
}
"""What reads it, how an endpoint declares it, and a request that is refused for it."""

VALUES = {
    "by itself": "V",
    "of what it says": "V + 0",
    "of a row": "all(w).filter(x, x.id == V).first().n",
    "of the row": "w.id + V",
    "of the row it says": "all(w).filter(x, x.id == V + w.id).first().n",
}

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "create": ("POST", {"does": "create w", "sets": {"n": "V"}, "responses": {201: "w"}}),
    "update": ("PATCH", {"does": "update w", "where": "w.id == 1", "sets": {"n": "V"}, "responses": {200: "w"}}),
    "put": ("PUT", {"does": "put w", "where": "w.id == 1", "sets": {"n": "V"}, "responses": {"replaced": {200: "w"}}}),
    "make or put": (
        "PUT",
        {"does": "put w", "sets": {"id": "1", "n": "V"}, "responses": {"created or replaced": {200: "w"}}},
    ),
    "transition": ("POST", {"does": "turn w", "where": "w.id == 1", "sets": {"n": "V"}, "responses": {200: "w"}}),
    "effect": (
        "POST",
        {"does": "create w", "also": [{"does": "create w", "sets": {"n": "V"}}], "responses": {201: "w"}},
    ),
}

CONTRACT = """# Parts

## 1. What the service does

Refuses.

## 2. Resources and their fields

```yaml
w:
  primary key: id
  fields:
    id:    {type: integer, on create: "all(w).size() + 1"}
    n:     {type: integer, on create: 1}
    state: {state: true}
types:
  given: {type: object, properties: {v: {type: integer}}}
```

## 3. States and transitions

```yaml
w: {initial: open, states: [open], transitions: {turn: {from: open, to: open}}}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /w: {does: create w, body: none, responses: {201: w}}
ENDPOINTS
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code, fields: error.fields}}
codes:
  wrong:    {status: 422, for: invalid}
  nowhere:  {status: 404, for: not found}
  conflict: {status: 409, for: [illegal transition, conflict, different]}
```
"""


def _flow(facts: Any, value: str) -> str:
    match facts:
        case dict():
            return "{" + ", ".join(f"{name}: {_flow(each, value)}" for name, each in facts.items()) + "}"
        case list():
            return "[" + ", ".join(_flow(each, value) for each in facts) + "]"
        case "V":
            return f'"{value}"'
        case _:
            return str(facts)


EVERY = tuple(product(WAYS, PARTS, VALUES))


def _endpoint(way: str, part: str, value: str) -> str:
    method, facts = WAYS[way]
    read, declared, *_ = PARTS[part]
    path = f"/{EVERY.index((way, part, value))}/" + ("{v}" if part == "path" else "1")
    body = "{$ref: '#/types/given'}" if part == "body" else "none"
    return f"{method} {path}: " + _flow({**facts, **declared, "body": body}, VALUES[value].replace("V", read))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    text = CONTRACT.replace("ENDPOINTS", "\n".join(_endpoint(*each) for each in EVERY)) + LIMITS_AND_VERSIONS
    with serving(plan_of(text), tmp_path_factory.mktemp("parts") / "db", {}) as client:
        assert client.post("/w").status_code == 201
        yield client


@pytest.mark.parametrize("way", WAYS)
def test_what_is_refused_is_told_alone(service: httpx.Client, way: str) -> None:
    wrong = []
    for each in EVERY:
        _, _, rest, headers, body, expected = PARTS[each[1]]
        if each[0] == way:
            answer = service.request(WAYS[way][0], f"/{EVERY.index(each)}{rest}", headers=headers, json=body or None)
            told = answer.json()
            fields = [(found["place"], found["pointer"], found["rule"]) for found in told["fields"]]
            if (told["code"], fields) != expected:
                wrong.append((*each[1:], told["code"], fields))
    assert not wrong
