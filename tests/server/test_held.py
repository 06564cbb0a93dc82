"""What is stored is as its schema says: every way in which a contract gives a field a value, by values of all kinds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS

pytestmark = pytest.mark.serves

FIELDS: dict[str, dict[str, Any]] = {
    "small": {"type": "integer", "minimum": 1, "maximum": 10},
    "number": {"type": "number", "exclusiveMinimum": 0},
    "short": {"type": "string", "minLength": 1, "maxLength": 3},
    "day": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "date-time"},
    "kind": {"enum": ["a", "b"]},
    "flag": {"type": "boolean"},
    "list": {"type": "array", "items": {"type": "object"}, "maxItems": 2},
    "tags": {"type": "array", "items": {"type": "string", "maxLength": 2}, "uniqueItems": True},
    "deep": {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 3}, "s": {"type": "string", "pattern": "^x"}},
        "required": ["n"],
    },
}

VALUES: tuple[Any, ...] = (
    5, 11, 0, -1, 2.5, True, "a", "abcd", "", "2026-01-31", "2026-01-31T09:30:00Z", [], [{}], [{}, {}, {}], ["a", "a"],
    ["a", "bcd"], [1], {}, {"n": 1}, {"n": 9}, {"n": 1, "s": "y"}, {"n": 1, "s": "x"},
)  # fmt: skip

V = "request.body.v"
ONE = {"where": "w.id == 1", "patch": "merge", "responses": {200: "w"}}
ENDS = {"created": {201: "w"}, "unchanged": {200: "w"}}
CALL = {"does": ["call same", "create w"], "with": {"v": V}, "responses": {201: "w"}}
NEW = {"does": "create w", "responses": {201: "w"}}

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "sets of a new row": ("POST", {**NEW, "sets": {"F": V}}),
    "sets": ("PATCH", {"does": "update w", **ONE, "sets": {"F": V}}),
    "sets that read the row": ("PATCH", {"does": "update w", **ONE, "sets": {"F": f"w.id > 0 ? {V} : {V}"}}),
    "sets that read rows": ("POST", {**NEW, "sets": {"F": f"all(w).size() > 0 ? {V} : {V}"}}),
    "replace": (
        "PUT",
        {"does": "put w", "where": "w.id == 1", "sets": {"F": V}, "responses": {"replaced": {200: "w"}}},
    ),
    "ensure": (
        "PUT",
        {"does": "put w", "sets": {"F": V, "id": "999"}, "responses": ENDS},
    ),
    "transition": ("POST", {"does": "turn w", "where": "w.id == 1", "sets": {"F": V}, "responses": {200: "w"}}),
    "all rows": ("PATCH", {"does": "update all w", "patch": "merge", "sets": {"F": V}, "responses": {204: "none"}}),
    "a new row of an effect": ("POST", {**NEW, "also": [{"does": "create w", "sets": {"F": V}}]}),
    "the rows of an effect": ("POST", {**NEW, "also": [{"does": "update w", "where": "w.id < 3", "sets": {"F": V}}]}),
    "rows that read themselves": (
        "POST",
        {**NEW, "also": [{"does": "update w", "where": "w.id < 3", "sets": {"F": f"w.id > 0 ? {V} : {V}"}}]},
    ),
    "each": ("POST", {**NEW, "also": [{"does": "create w", "each": "['x']", "sets": {"F": V}}]}),
    "what a function gives": ("POST", {**CALL, "sets": {"F": "result.same"}}),
}  # fmt: skip
"""Where a contract gives a field F what a request has."""

CONTRACT = """# Ways

## 1. What the service does

Stores what comes, however it comes.

## 2. Resources and their fields

```yaml
w:
  primary key: id
  fields:
    id:    {type: integer, on create: "all(w).size() + 1"}
    state: {state: true}
FIELDS
types:
  any: {type: object, properties: {v: {type: [string, number, boolean, array, object]}}, required: [v]}
LOOSE
```

## 3. States and transitions

```yaml
w:
  initial: open
  states: [open]
  transitions: {turn: {from: open, to: open}}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
functions: {same: {takes: {v: ANY}, gives: ANY}}
POST /w: {does: create w, body: none, responses: {201: w}}
GET /w: {does: list w, sort: [id], pages: {by: none}, responses: {200: page.items}}
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
error shape: {media type: application/problem+json, body: {code: error.code, fields: error.fields}}
codes:
  wrong:    {status: 422, title: Wrong, for: invalid}
  nowhere:  {status: 404, title: Nowhere, for: not found}
  conflict: {status: 409, title: Refused, for: [illegal transition, conflict, different]}
```
"""


def _filled(facts: Any, field: str) -> Any:
    match facts:
        case dict():
            return {re.sub(r"\bF\b", field, str(name)): _filled(each, field) for name, each in facts.items()}
        case list():
            return [_filled(each, field) for each in facts]
        case str():
            return re.sub(r"\bF\b", field, facts)
        case _:
            return facts


def _path(way: str, field: str) -> str:
    return f"/{way}-{field}".replace(" ", "-")


def _contract() -> str:
    endpoints = []
    for way, field in product(WAYS, FIELDS):
        method, facts = WAYS[way]
        of = f"loose_{field}" if "?" in str(facts) else "any"
        stated = json.dumps(_filled(facts, field) | {"body": {"$ref": f"#/types/{of}"}})
        endpoints.append(f"{method} {_path(way, field)}: {stated}".replace('"none"', "none"))
    fields = [f"    {name}: {json.dumps(schema)}" for name, schema in FIELDS.items()]
    loose = [
        f"  loose_{name}: {{type: object, properties: {{v: {json.dumps(_loose(schema))}}}, required: [v]}}"
        for name, schema in FIELDS.items()
    ]
    text = CONTRACT.replace("ANY", "{type: [string, number, boolean, array, object]}")
    for name, lines in (("FIELDS", fields), ("LOOSE", loose), ("ENDPOINTS", endpoints)):
        text = text.replace(name, "\n".join(lines))
    return text + LIMITS_AND_VERSIONS


def _loose(schema: dict[str, Any]) -> dict[str, Any]:
    """The type alone. What the database works out has one type, which is known beforehand."""
    stated = {"type": schema.get("type", "string")}
    if schema.get("format") == "date-time":
        return stated | {"format": "date-time"}
    return stated | ({"items": {"type": schema["items"]["type"]}} if "items" in schema else {})


@contextmanager
def _with_two_rows(contract: str, path: Path, body: object = None) -> Iterator[httpx.Client]:
    """A service of which each row `w` was made of a body."""
    plan = plan_of(contract)
    with serving(plan, path, {}, functions={"same": lambda v: v}) as client:
        for _ in range(2):
            assert client.post("/w", json=body).status_code == 201
        yield client


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with _with_two_rows(_contract(), tmp_path_factory.mktemp("ways") / "db") as client:
        yield client


@pytest.mark.parametrize("way", WAYS)
def test_what_is_stored_is_as_its_schema_says(service: httpx.Client, way: str) -> None:
    found, method = [], WAYS[way][0]
    validators = {
        name: jsonschema_rs.Draft202012Validator(schema, validate_formats=True) for name, schema in FIELDS.items()
    }
    for field, value in product(FIELDS, VALUES):
        response = service.request(method, _path(way, field), json={"v": value})
        fits = validators[field].is_valid(value)
        if way == "ensure" and fits:
            assert response.status_code in (201, 200, 409), response.text  # it is there, with another value
            continue
        if fits != (response.status_code < 300):
            found.append(f"{field} given {value!r}: {response.status_code} {response.text}")
        elif not fits:
            # What a function gave, the request did not: no code speaks for it.
            is_given = "result" in str(WAYS[way])
            told = [] if is_given else [(each["place"], each["pointer"]) for each in response.json()["fields"]]
            pointers = [(place, pointer) for place, pointer in told if not pointer.startswith("/v")]
            if pointers or response.status_code != (409 if is_given else 422):
                found.append(f"{field} given {value!r}: {response.status_code} {told}")
    rows = service.get("/w").json()
    for row, (name, validator) in product(rows, validators.items()):
        if name in row and not validator.is_valid(row[name]):
            found.append(f"{name} of {row['id']} is {row[name]!r}")
    assert not found, "\n".join(found)


GIVES = {
    "what the request leaves out": "request.body.v",
    "what is made of it": "request.body.v + 1",
    "what a row lacks": "has(request.body.v) ? request.body.v : all(w).exists(x, x.note == 1) ? 1 : null",
    "what no row has": "has(request.body.v) ? request.body.v : 10 / all(w).filter(x, x.note == 1).size()",
}
"""What gives no value, where a request has no `v` and no row a `note`."""


def _gives(way: str) -> dict[str, str]:
    """What is made of a request for a function, and no function takes, is `internal`; and it is called with no rows."""
    return {what: gives for what, gives in GIVES.items() if gives == V or "with" not in WAYS[way][1]}


def _needing() -> str:
    endpoints = []
    for (way, (method, facts)), (what, gives) in product(WAYS.items(), GIVES.items()):
        stated = {**facts, "body": {"$ref": "#/types/any"}}
        if what not in _gives(way):
            continue
        if "also" in facts:
            stated["sets"] = {"F": "5"}
        text = json.dumps(_filled(stated, "need")).replace('"none"', "none")
        endpoints.append(f"{method} {_path(way, what)}: {text.replace(V, f'({gives})')}")
    text = CONTRACT.replace("body: none, resp", "body: [need], resp").replace("ANY", "{type: integer}")
    text = text.replace(
        "FIELDS", "    need: {type: integer, maximum: 9}\n    note: {type: integer}\n  required: [need]"
    )
    text = text.replace("{v: {type: [string, number, boolean, array, object]}}, required: [v]", "{v: {type: integer}}")
    return text.replace("LOOSE\n", "").replace("ENDPOINTS", "\n".join(endpoints)) + LIMITS_AND_VERSIONS


@pytest.fixture(scope="module")
def needing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with _with_two_rows(_needing(), tmp_path_factory.mktemp("needing") / "db", {"need": 5}) as client:
        yield client


@pytest.mark.parametrize("way", WAYS)
def test_what_gives_no_value_is_refused_where_a_row_needs_one(needing: httpx.Client, way: str) -> None:
    before = needing.get("/w").json()
    for what in _gives(way):
        response = needing.request(WAYS[way][0], _path(way, what), json={})
        assert response.status_code in (409, 422), (what, response.text)
    assert needing.get("/w").json() == before
