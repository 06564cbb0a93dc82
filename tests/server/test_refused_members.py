"""Every place where an expression reads the request, by every way in which what it reads is refused: what is refused is
not evaluated further, and is what is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS

pytestmark = pytest.mark.serves


@dataclass(frozen=True)
class Source:
    """A member of the request: how it is read and stated, and how requests give it wrongly."""

    read: str
    stated: dict[str, Any]
    wrong: tuple[dict[str, Any], ...]
    right: dict[str, Any]
    in_path: bool = False


def _of_body(read: str, type_: str, wrong: tuple[Any, ...], right: Any) -> Source:
    stated = {"body": {"$ref": f"#/types/{type_}"}}
    return Source(read, stated, tuple({"json": each} for each in wrong), {"json": right})


BOUNDED = {"type": "integer", "minimum": 1}

BAD: tuple[Any, ...] = ({}, {"m": "x"}, {"m": None}, {"m": 0}, {"m": 1.5}, {"m": []}, {"m": 2**70}, [], "x", 1)
"""What is no object with a number from 1 on."""

NO_ITEMS: tuple[Any, ...] = ([], ["x"], [0], {}, "x", None)

SOURCES = {
    "member": _of_body("request.body.m", "bounded", BAD, {"m": 2}),
    "nested": _of_body("request.body.o.m", "nested", ({}, *({"o": each} for each in BAD)), {"o": {"m": 2}}),
    "item": _of_body("request.body.a[0]", "listed", ({}, *({"a": a} for a in NO_ITEMS)), {"a": [2]}),
    "all of": _of_body("request.body.b.m", "both", ({}, *({"b": each} for each in BAD)), {"b": {"m": 2}}),
    "form": Source(
        "request.body.m",
        {
            "requests": {"media type": "application/x-www-form-urlencoded"},
            "body": {"$ref": "#/types/bounded"},
        },
        tuple({"data": each} for each in ({}, {"m": "x"}, {"m": "0"}, {"m": "1.5"}, {"m": ""}, {"m": ["1", "2"]})),
        {"data": {"m": "2"}},
    ),
    "query": Source(
        "request.query.m",
        {"query": {"m": BOUNDED | {"required": True}}},
        tuple({"params": each} for each in ({}, {"m": "x"}, {"m": "0"}, {"m": ["1", "2"]}, {"m": ""})),
        {"params": {"m": "2"}},
    ),
    "header": Source(
        "request.headers['X-M']",
        {"request headers": {"X-M": BOUNDED | {"required": True}}},
        tuple({"headers": each} for each in ({}, {"X-M": "x"}, {"X-M": "0"}, {"X-M": ""})),
        {"headers": {"X-M": "2"}},
    ),
    "path": Source(
        "request.path.m",
        {"path": {"m": BOUNDED}},
        ({"path": "x"}, {"path": "0"}, {"path": "1.5"}),
        {"path": "2"},
        in_path=True,
    ),
}


def _one(verb: str, status: int = 200, **more: Any) -> dict[str, Any]:
    return {"does": verb, "where": "w.id == 1", "responses": {status: "w"}} | more


def _new(**more: Any) -> dict[str, Any]:
    return {"does": "create w", "responses": {201: "w"}} | more


def _check(that: str) -> dict[str, Any]:
    return {"check": {"that": that, "else": "refused"}}


USER = {"name": "ann", "password": "a long secret of hers"}
SIGN_IN: dict[str, Any] = {
    "does": "sign in u",
    "body": ["name", "password"],
    "issues": "badge",
    "responses": {201: {"badge": "caller.credential"}},
}

BODIES: dict[str, Any] = {
    "sets beside a merge patch": {"n": 1, "free": {"a": None, "b": 1}},
    "guard of a merge patch": {"n": 1},
    "sets beside a JSON Patch": [{"op": "add", "path": "/n", "value": 1}],
    "sets of a sign in": USER,
    "guard of a sign in": USER,
    "effect of a sign in": USER,
}
"""What is sent to the places that have a body of their own; members are read of the other parts of the request."""

PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "sets of the row": ("PATCH", _one("update w", patch="merge", sets={"n": "w.n + X"})),
    "sets": ("POST", _new(sets={"n": "X * 2"})),
    "sets of a required one": ("POST", _new(sets={"r": "X * 2"})),
    "sets of other rows": ("POST", _new(sets={"n": "all(w).filter(o, o.n > X).size()"})),
    "guard of a new row": ("POST", _new(**_check("X > 1 && w.n > -1"))),
    "guard of a row": ("PATCH", _one("update w", patch="merge", sets={"n": "1"}, **_check("w.n + X > 0"))),
    "guard of a read": ("GET", _one("read w", **_check("X > 1"))),
    "where of an update": ("PATCH", _one("update w", where="w.id == X", patch="merge", sets={"n": "1"})),
    "where of a read": ("GET", _one("read w", where="w.id == X")),
    "where of a list": (
        "GET",
        {
            "does": "list w",
            "where": "w.n > X",
            "sort": ["id"],
            "pages": {"by": "none"},
            "responses": {200: "page.items"},
        },
    ),
    "transition": ("POST", _one("finish w", sets={"n": "w.n + X"})),
    "effect": ("POST", _new(also=[{"does": "create v", "sets": {"n": "X + this.id"}}])),
    "where of an effect": ("POST", _new(also=[{"does": "update v", "where": "v.n < X", "sets": {"n": "v.n + X"}}])),
    "row of an effect": ("POST", _new(also=[{"does": "delete v", "where": "v.id == X"}])),
    "each": ("POST", _new(also=[{"does": "create v", "each": "[X, X + 1]", "sets": {"n": "each"}}])),
    "all rows": (
        "PATCH",
        {
            "does": "update all w",
            "where": "w.n > X",
            "patch": "merge",
            "sets": {"n": "w.n + X"},
            "responses": {204: "none"},
        },
    ),
    "response": (
        "POST",
        _new(responses={201: {"body": {"x": "X * 2", "w": "w.id"}, "headers": {"X-Of": "string(X)"}}}),
    ),
    "computed": ("POST", {"does": "compute", "responses": {200: {"x": "X * 2"}}}),
    "permission": ("POST", _new()),
    "detail": ("POST", _new(check={"that": "X > 9", "else": "told"})),
    "ensure": (
        "PUT",
        {
            "does": "put t",
            "sets": {"k": "X", "n": "X"},
            "responses": {"created": {201: "t"}, "unchanged": {200: "t"}},
        },
    ),
    "remove": (
        "DELETE",
        {"does": "delete t", "where": "t.k == X", "responses": {"deleted": {204: "none"}, "absent": {204: "none"}}},
    ),
    "call": ("POST", _new(sets={"n": "result.weigh"}) | {"does": ["call weigh", "create w"], "with": {"kilos": "X"}}),
    "case": (
        "POST",
        {
            "does": "compute",
            "cases": {"by": "X > 1 ? 'much' : 'little'"}
            | {each: {"responses": {200: {each: "X"}}} for each in ("much", "little")},
        },
    ),
    "sets beside a merge patch": (
        "PATCH",
        _one("update w", patch="merge", body=["n", "free"], sets={"r": "w.n + X"}, responses={200: "w"}),
    ),
    "guard of a merge patch": ("PATCH", _one("update w", patch="merge", body=["n"], **_check("w.n + X > 0"))),
    "sets beside a JSON Patch": ("PATCH", _one("update w", patch="json-patch", body=["n"], sets={"r": "w.n + X"})),
    "sets of a sign in": ("POST", SIGN_IN | {"sets": {"n": "u.n + X"}}),
    "guard of a sign in": ("POST", SIGN_IN | _check("u.n + X > 0")),
    "effect of a sign in": ("POST", SIGN_IN | {"also": [{"does": "create v", "sets": {"n": "X"}}]}),
    "guard of a deletion": (
        "DELETE",
        {"does": "delete w", "where": "w.id == X", "responses": {204: "none"}} | _check("X > 1"),
    ),
}
"""Where an expression reads the request, which stands there as X."""

CONTRACT = """# Members

## 1. What the service does

Reads what requests give wherever it can be read.

## 2. Resources and their fields

```yaml
w:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    n:     {type: integer, on create: "0"}
    r:     {type: integer, on create: "0"}
    at:    {type: string, format: date-time, on create: now}
    free:  {type: object}
    state: {state: true}
  required: [r]
u:
  primary key: id
  fields:
    id:       {type: integer, on create: serial()}
    name:     {type: string, unique: true}
    password: {type: string, secret: password}
    n:        {type: integer, on create: "1"}
  required: [name, password]
v:
  primary key: id
  fields:
    id: {type: integer, on create: serial()}
    n:  {type: integer}
t:
  primary key: k
  fields:
    k: {type: integer}
    n: {type: integer}
types:
  bounded: {type: object, properties: {m: {type: integer, minimum: 1}}, required: [m]}
  nested:  {type: object, properties: {o: {$ref: "#/types/bounded"}}, required: [o]}
  listed:
    type: object
    properties: {a: {type: array, minItems: 1, items: {type: integer, minimum: 1}}}
    required: [a]
  both:
    type: object
    properties:
      b: {type: object, properties: {m: {type: integer}}, allOf: [{$ref: "#/types/bounded"}, {minProperties: 1}]}
    required: [b]
```

## 3. States and transitions

```yaml
w:
  initial: open
  states: [open, done]
  transitions: {finish: {from: [open, done], to: done}}
v: none
t: none
u: none
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
functions: {weigh: {takes: {kilos: {type: integer}}, gives: {type: integer}}}
POST /w: {does: create w, body: none, responses: {201: w}}
POST /u: {does: create u, body: [name, password], responses: {201: {id: u.id}}}
ENDPOINTS
```

## 5. Authentication

```yaml
schemes: {badge: {type: apiKey, in: header, name: X-Badge, issued to: u, lasts: PT1H}}
rows: all
permissions:
PERMISSIONS
  all others: anyone
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape:
  media type: application/problem+json
  body: {code: error.code, fields: error.fields, detail: error.detail}
codes:
  wrong:   {status: 422, title: Wrong, for: invalid}
  nowhere: {status: 404, title: Nowhere, for: not found}
  refused: {status: 409, title: Refused}
CODES
precedence: [check, forbidden, conflict, not found, invalid]
```
"""


@dataclass(frozen=True)
class Combined:
    """An endpoint at which one place reads one member."""

    place: str
    source: str

    @property
    def of(self) -> Source:
        return SOURCES[self.source]

    @property
    def method(self) -> str:
        return PLACES[self.place][0]

    @property
    def path(self) -> str:
        return f"/{self.place}-{self.source}".replace(" ", "-") + ("/{m}" if self.of.in_path else "")

    @property
    def stated(self) -> dict[str, Any]:
        facts = PLACES[self.place][1]
        if self.place == "detail":
            facts = facts | {"check": facts["check"] | {"else": self.code}}
        takes_none = self.method != "GET" and self.method != "DELETE"
        read: dict[str, Any] = _reading(facts, self.of.read)
        none = {"body": "none"} if takes_none and "body" not in self.of.stated and "body" not in read else {}
        return read | none | self.of.stated

    @property
    def code(self) -> str:
        return f"told_{self.source}".replace(" ", "_")


def _reading(facts: Any, read: str) -> Any:
    match facts:
        case dict():
            return {str(name): _reading(each, read) for name, each in facts.items()}
        case list():
            return [_reading(each, read) for each in facts]
        case str():
            return re.sub(r"\bX\b", lambda _: read, facts)
        case _:
            return facts


OF_NO_BODY = ("permission", "case", "detail", "ensure")
"""Places that read nothing of bodies."""

COMBINED = [
    Combined(place, source)
    for place, source in product(PLACES, SOURCES)
    if "body" not in SOURCES[source].stated
    or not (PLACES[place][0] in ("GET", "DELETE") or place in OF_NO_BODY or place in BODIES)
]


def _contract() -> str:
    endpoints = [f"{each.method} {each.path}: {json.dumps(each.stated)}".replace('"none"', "none") for each in COMBINED]
    permissions = [
        f'  {each.method} {each.path}: {{anyone: "{each.of.read} > 1"}}'
        for each in COMBINED
        if each.place == "permission"
    ]
    codes = [
        f'  {each.code}: {{status: 409, title: Told, detail: "string({each.of.read} * 2)"}}'
        for each in COMBINED
        if each.place == "detail"
    ]
    text = CONTRACT
    for name, lines in (("ENDPOINTS", endpoints), ("PERMISSIONS", permissions), ("CODES", codes)):
        text = text.replace(name, "\n".join(lines))
    return text + LIMITS_AND_VERSIONS


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    plan = plan_of(_contract())
    path: Path = tmp_path_factory.mktemp("members") / "db"
    with serving(plan, path, {}, functions={"weigh": lambda kilos: kilos}) as client:
        for _ in range(3):
            assert client.post("/w").status_code == 201
        assert client.post("/u", json=USER).status_code == 201
        yield client


def _told(service: httpx.Client, each: Combined, how: dict[str, Any]) -> httpx.Response:
    given = dict(how)
    if each.place in BODIES:
        kind = "application/json-patch+json" if "JSON Patch" in each.place else "application/json"
        own = {"content": json.dumps(BODIES[each.place]), "headers": given.pop("headers", {}) | {"Content-Type": kind}}
        given |= own
    return service.request(each.method, each.path.replace("{m}", given.pop("path", "")), **given)


def test_what_is_refused_is_not_evaluated_further(service: httpx.Client) -> None:
    found = []
    for each in COMBINED:
        for wrong in each.of.wrong:
            response = _told(service, each, wrong)
            if response.status_code != (404 if each.of.in_path else 422):
                found.append(f"{each.place}, {each.source}: {wrong} is {response.status_code} {response.text}")
    assert not found, "\n".join(found)


OTHERWISE = {"detail": (409,), "guard of a deletion": (204, 404)}
"""What comes of what is right, where it is not done; a row is deleted once."""


def test_what_is_right_is_evaluated(service: httpx.Client) -> None:
    """Else the other test would say nothing."""
    found = []
    for each in COMBINED:
        response = _told(service, each, each.of.right)
        if response.status_code not in OTHERWISE.get(each.place, (200, 201, 204)):
            found.append(f"{each.place}, {each.source}: {response.status_code} {response.text}")
    assert not found, "\n".join(found)
