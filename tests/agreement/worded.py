"""Random contracts of expressions: of rows and of requests, shown, filtered by, computed and stored. Together they say
whatever the language declares."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any, Final
from urllib.parse import quote

from tests.agreement.comparing import Asked
from tests.agreement.expressions import DECLARED, OF_INTEGERS, Expressions, Place
from tests.agreement.writing import NONE
from tests.reference.messages import Request

from ninefold.expressions.scope import Model, ResourceShape, Scope
from ninefold.values import Array, Boolean, Integer, Number, Object, Row, Text, Timestamp, Type, optional

ALONE: Final[Mapping[str, str]] = {
    "function serial": "it is the whole `on create` of a field, as each of these contracts has it",
}
"""What is declared and is in no random expression; why."""

MOST: Final = 14
"""Expressions of each endpoint."""

TEXT = {"type": "string"}
INTEGERS = {"type": "array", "items": {"type": "integer"}}
TIME = {"type": "string", "format": "date-time"}
OBJECT = {"type": "object", "additionalProperties": {"type": "integer"}}
SCHEMAS: Final[Mapping[str, dict[str, Any]]] = {
    "i": {"type": "integer"},
    "d": {"type": "number"},
    "s": TEXT,
    "b": {"type": "boolean"},
    "m": TIME,
    "ints": INTEGERS,
    "texts": {"type": "array", "items": TEXT},
    "nums": {"type": "array", "items": {"type": "number"}},
    "times": {"type": "array", "items": TIME},
    "truths": {"type": "array", "items": {"type": "boolean"}},
    "o": OBJECT,
}
TYPES: Final[Mapping[str, Type]] = {
    "i": Integer(),
    "d": Number(),
    "s": Text(),
    "b": Boolean(),
    "m": Timestamp(),
    "ints": Array(items=Integer()),
    "texts": Array(items=Text()),
    "nums": Array(items=Number()),
    "times": Array(items=Timestamp()),
    "truths": Array(items=Boolean()),
    "o": OF_INTEGERS,
}
VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "i": (0, 1, -1, 3, 7, 2**62, 2**63 - 1, -(2**63), 1_767_225_600),
    "d": (0.0, 0.5, -1.5, 1.0, 100.25, 1e21, -1e-7, 9.3e18, 0.1),
    "s": (
        "",
        "a",
        "ab",
        " B ",
        "é👍",
        "a,b,,c",
        "12",
        "-0",
        "1.50",
        "true",
        "2026-02-28T23:59:59.5+05:30",
        "PT1.5S",
        "ﬀ Ünï-x",
    ),
    "b": (True, False),
    "m": ("2026-01-01T00:00:00.000000Z", "2024-02-29T12:34:56.789012Z", "0001-01-01T00:00:00.000000Z"),
    "ints": ([], [1], [3, -1, 3], [2**62, 2**62]),
    "texts": ([], ["b", "a", "b"], ["", "é"]),
    "nums": ([], [0.1, 0.2, 0.3], [-1.5, 1e300]),
    "times": ([], ["2026-01-01T00:00:00.000000Z", "2025-01-01T00:00:00.000000Z"]),
    "truths": ([], [True, False], [True]),
    "o": ({}, {"a": 1}, {"b": 2, "a": -3, "é": 0}),
}
OPTIONAL: Final = {"j": "i", "e": "d", "t": "s", "c": "b", "n": "m"}
"""Of which there may be no value, and as which they are otherwise."""


_NEEDED: Final = [name for name, schema in SCHEMAS.items() if schema["type"] in ("array", "object")]
_WHOLE: Final = {"content": "application/json", "required": True}
"""Of a parameter that is JSON: a request cannot leave it out, so that its items are there."""


def _model() -> Model:
    fields = {**TYPES, **{name: optional(TYPES[of]) for name, of in OPTIONAL.items()}}
    thing: dict[str, Type] = {"id": Integer(), **fields, "owner": Row(resource="owner")}
    owner: dict[str, Type] = {"id": Text(), "level": Integer(nullable=True)}
    return {
        "thing": ResourceShape("thing", ("id",), thing),
        "owner": ResourceShape("owner", ("id",), owner, {"things": ("thing", "owner")}),
    }


MODEL: Final = _model()


def _of_rows() -> Place:
    leaves = [(f"thing.{name}", type_) for name, type_ in MODEL["thing"].fields.items() if name != "owner"]
    leaves += [("thing.owner.level", Integer(nullable=True)), ("thing.owner.id", Text()), ("now", Timestamp())]
    rows = Array(items=Row(resource="thing"))
    leaves += [("thing.owner.things", rows), ("all(thing)", rows)]
    scope = Scope({"thing": Row(resource="thing"), "now": Timestamp()}, MODEL)
    return Place(scope, MODEL, tuple(leaves), ("thing",))


def _of_requests() -> Place:
    of = {name: type_ if name in _NEEDED else optional(type_) for name, type_ in TYPES.items()}
    leaves = [(f"request.query.{name}", type_) for name, type_ in of.items()]
    request = Object(members={"query": Object(members=dict(of))})
    scope = Scope({"request": request, "now": Timestamp()}, {}, request_only=True)
    return Place(scope, {}, (*leaves, ("now", Timestamp())))


OF_ROWS, OF_REQUESTS = _of_rows(), _of_requests()


@dataclass(frozen=True)
class Worded:
    """A contract; and of what each member of its answers is an expression, by the endpoint and its name."""

    contract: Mapping[str, Any]
    of: Mapping[tuple[str, str], str]


@cache
def worded(number: int) -> Worded:
    """The contract of a number: the same each time. What is declared goes round."""
    random, first = Random(f"words {number}"), number * MOST
    of: dict[tuple[str, str], str] = {}
    by_rows, by_requests = Expressions(random, OF_ROWS), Expressions(random, OF_REQUESTS)

    def shown(endpoint: str, expressions: Expressions, begin: int, *depths: int) -> dict[str, str]:
        found: dict[str, str] = {}
        names = [DECLARED[(begin + index) % len(DECLARED)] for index in range(MOST)]
        for name, depth in product(names, depths):
            text = None if name in ALONE else expressions.of(name, depth)
            if text is not None:
                member = f"m{len(found)}"
                found[member], of[endpoint, member] = text, name
        return found

    def condition() -> str:
        names = ["&&", "||", "!", "==", "!=", "in", "exists", "all", "existsOne", "has", "operator less_text"]
        return by_rows.of(random.choice(names)) or "true"

    listed = [{name: text} for name, text in shown("GET /things", by_rows, first + len(DECLARED) // 2, 1).items()]
    resources = _resources(random.choice(["uuid()", "token()", "random(6)"]), condition(), listed)
    query = {name: {**schema, **(_WHOLE if name in _NEEDED else {})} for name, schema in SCHEMAS.items()}
    requests = {"media type": "application/json", "unknown members": "refused", "unknown parameters": "ignored"}
    told = shown("GET /told", by_requests, first, 0, 0, 2)
    endpoints = {
        "requests": requests,
        "produces": "application/json",
        "GET /told": {"does": "compute", "query": query, "responses": {200: told}},
        "GET /things/{id}": {"does": "read thing", "responses": {200: shown("GET /things/{id}", by_rows, first, 2)}},
        "GET /things": {
            "does": "list thing",
            "where": condition(),
            "sort": ["id"],
            "pages": NONE,
            "responses": {200: "told(page.items)"},
        },
        "POST /things": {"does": "create thing", "body": resources["thing"]["required"], "responses": {201: "thing"}},
    }
    return Worded(_contract(resources, endpoints), of)


def _resources(made: str, flag: str, listed: list[dict[str, str]]) -> dict[str, Any]:
    owner = {"primary key": "id", "fields": {"id": TEXT, "level": {"type": ["integer", "null"]}}, "required": ["id"]}
    fields: dict[str, Any] = {"id": {"type": "integer", "on create": "serial()"}, **SCHEMAS}
    fields |= {name: SCHEMAS[as_] | {"type": [SCHEMAS[as_]["type"], "null"]} for name, as_ in OPTIONAL.items()}
    fields["owner"] = {"references": "owner", "inverse": "things", "on delete": "cascade"}
    fields["made"] = {"type": ["string", "null"], "on create": made}
    fields["flag"] = {"type": "boolean", "computed": flag}
    views = {"told": ["id", "flag", *listed]}
    thing = {"primary key": "id", "fields": fields, "required": [*SCHEMAS, "owner"], "views": views}
    return {"owner": owner, "thing": thing}


def _contract(resources: dict[str, Any], endpoints: dict[str, Any]) -> dict[str, Any]:
    return {
        "purpose": "Expressions made at random.",
        "resources": resources,
        "states": NONE,
        "endpoints": endpoints,
        "authentication": {"schemes": NONE, "rows": "all", "permissions": {"all others": "anyone"}},
        "events": NONE,
        "errors": {"error shape": NONE, "codes": NONE},
        "limits": NONE,
        "versioning": NONE,
    }


def rows(number: int) -> list[tuple[str, dict[str, Any]]]:
    random = Random(f"rows of words {number}")
    found: list[tuple[str, dict[str, Any]]] = [
        ("owner", {"id": name, "level": random.choice([None, 1, 5])}) for name in ("o1", "o2")
    ]
    for key in range(1, 5):
        thing: dict[str, Any] = {"id": key, "owner": random.choice(["o1", "o2"]), "made": None}
        thing |= {name: random.choice(values) for name, values in VALUES.items()}
        thing |= {name: random.choice([None, *VALUES[of]]) for name, of in OPTIONAL.items()}
        found.append(("thing", thing))
    return found


def requests(number: int) -> Iterator[Asked]:
    random = Random(f"requests of words {number}")
    at = "2026-03-01T08:09:10.000001Z"
    for key in (1, 2, 3, 4):
        yield Asked(at, Request("GET", f"/things/{key}"))
    yield Asked(at, Request("GET", "/things"))
    for text in VALUES["s"]:
        chosen = {name: random.choice(values) for name, values in VALUES.items()} | {"s": text}
        pairs = [f"{name}={_text(value, name)}" for name, value in chosen.items()]
        given = [pair for pair in pairs if pair.partition("=")[0] in (*_NEEDED, "s") or random.random() < 0.85]
        yield Asked(at, Request("GET", f"/told?{'&'.join(given)}"))
    body = {name: random.choice(values) for name, values in VALUES.items()} | {"owner": "o1"}
    yield Asked(at, Request("POST", "/things", {"content-type": "application/json"}, json.dumps(body).encode()))
    yield Asked(at, Request("GET", "/things/5"))
    yield Asked(at, Request("GET", "/things"))


def _text(value: Any, name: str) -> str:
    written = json.dumps(value) if name in _NEEDED or isinstance(value, bool) else str(value)
    return quote(written, safe="")
