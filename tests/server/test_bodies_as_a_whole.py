"""A type that is a body is asked of the whole body: what is taken, left out and refused of many schemas and many values
is what a JSON Schema validator says that knows nothing of bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from jsonschema_rs import Draft202012Validator
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import LIMITS_AND_VERSIONS
from tests.slices import LONG, some

from ninefold.pipeline import compile_document
from ninefold.plan import routes
from ninefold.runtime.messages.decode import Body
from ninefold.runtime.messages.plain import Given

Json = dict[str, Any]

TEXT, NUMBER, EITHER = {"type": "string"}, {"type": "integer"}, {"type": ["string", "integer"]}


def _one(**said: Any) -> Json:
    return {"type": "object", "properties": {"a": TEXT, "b": TEXT}, **said}


STATED: Final[dict[str, Json]] = {
    "least": _one(minProperties=1),
    "most": _one(maxProperties=1),
    "one_of_two": _one(anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "just_one": _one(oneOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "not_both": _one(**{"not": {"required": ["a", "b"]}}),
    "brings": _one(dependentRequired={"a": ["b"]}),
    "is_then": _one(dependentSchemas={"a": {"properties": {"c": NUMBER}, "required": ["c"]}}),
    "decides": _one(**{"if": {"properties": {"a": {"const": "s"}}, "required": ["a"]}, "then": {"required": ["b"]}}),
    "or_else": _one(**{"if": {"required": ["a"]}, "then": {"properties": {"c": TEXT}}, "else": {"required": ["b"]}}),
    "names": _one(propertyNames={"maxLength": 1}, minProperties=1),
    "patterns": _one(patternProperties={"^x": NUMBER}),
    "closed": _one(additionalProperties=False),
    "of_numbers": _one(additionalProperties=NUMBER),
    "open": _one(additionalProperties=True, maxProperties=2),
    "unnamed": _one(anyOf=[{"properties": {"c": TEXT}}, {"required": ["b"]}], unevaluatedProperties=NUMBER),
    "twice": {"type": "object", "allOf": [_one(required=["a"]), {"properties": {"a": {"maxLength": 1}, "c": NUMBER}}]},
    "referred": {
        "allOf": [{"$ref": "#/types/least"}, {"$ref": "#/types/decides"}],
        "type": "object",
        "maxProperties": 2,
    },
    "either": {
        "type": "object",
        "properties": {"d": TEXT},
        "oneOf": [
            {"properties": {"d": {"const": "s"}, "a": TEXT}, "required": ["a"]},
            {"properties": {"d": {"const": "t"}, "b": TEXT, "c": NUMBER}, "required": ["b"]},
        ],
    },
    "either_type": {"type": "object", "anyOf": [{"$ref": "#/types/brings"}, {"$ref": "#/types/just_one"}]},
    "of_two_types": {
        "type": "object",
        "if": {"required": ["b"]},
        "then": {"properties": {"a": TEXT, "b": EITHER}},
        "else": {"properties": {"a": NUMBER}},
    },
    "map": {"type": "object", "additionalProperties": TEXT},
    "free": {"type": "object"},
    "free_but": {"type": "object", "maxProperties": 2, "required": ["d"]},
    "given": {"type": "object", "properties": {"a": EITHER, "b": EITHER}, "enum": [{"a": "s"}, {"a": "s", "b": 1}, {}]},
    "never": _one(allOf=[{"not": {"required": ["a"]}}], required=["a"]),
}

NAMES: Final = ("a", "b", "c", "d", "x1", "long")
FIELDS: Final[Json] = {"a": {"type": ["string", "integer", "null"], "enum": ["s", "t", 1, None]}, "c": EITHER}
"""The members that are fields of the resource; of these the first has a rule of its own."""

NOTHING: Final = object()
DOCUMENTS: Final[list[Json]] = [
    {name: value for name, value in zip(NAMES, given, strict=True) if value is not NOTHING}
    for given in product(*[(NOTHING, "s", "tt", 1)] * 2, *[(NOTHING, "s", 1)] * 2, *[(NOTHING, 1)] * 2)
]
UNKNOWN: Final = ("refused", "ignored")


def drawn(random: Random, depth: int = 2) -> Json:
    """A schema of objects whose parts weigh each other."""
    said: Json = {"type": "object"} if depth == 2 else {}
    some = [name for name in NAMES[:4] if random.random() < 0.4]
    said |= {"properties": {name: random.choice([TEXT, NUMBER, EITHER]) for name in some}} if some else {}
    said |= {"required": [random.choice(some)]} if some and random.random() < 0.3 else {}
    for keyword in random.sample(["anyOf", "oneOf", "allOf", "if", "not", "dependentSchemas"], 2 if depth else 0):
        if keyword == "not":
            said["not"] = {"required": random.sample(NAMES[:4], 2)}
        elif keyword == "if":
            said |= {each: drawn(random, depth - 1) for each in ("if", "then", "else")}
        elif keyword == "dependentSchemas":
            said[keyword] = {random.choice(NAMES[:4]): drawn(random, depth - 1)}
        else:
            said[keyword] = [drawn(random, depth - 1) for _ in range(2)]
    return said | random.choice([{}, {}, {}, {"minProperties": 2}, {"patternProperties": {"^x": EITHER}}])


TYPES: Final = STATED | {f"drawn_{seed}": drawn(Random(seed)) for seed in range(24 if LONG else 8)}


def contract(types: Mapping[str, Json], more: Mapping[str, Json] | None = None, **others: Json) -> str:
    """Each type is a body of what makes a row and of what makes none, where unknown members are refused and where they
    are not; and what there is `more` of endpoints, and of types."""
    endpoints: Json = {
        "requests": {"media type": "application/json", "unknown members": "refused", "unknown parameters": "refused"},
        "produces": "application/json",
    }
    for name, unknown in product(types, UNKNOWN):
        common = {"body": {"$ref": f"#/types/{name}"}, "requests": {"unknown members": unknown}}
        shown = {"does": "compute", **common, "responses": {"200": {"rest": "request.body"}}}
        made = {
            "does": "create note",
            **common,
            "responses": {"201": {"a": "note.a", "c": "note.c", "rest": "request.body"}},
        }
        endpoints |= {f"POST /shown/{name}/{unknown}": shown, f"POST /made/{name}/{unknown}": made}
    parts = {
        "1. What the service does": None,
        "2. Resources and their fields": {
            "note": {"primary key": "id", "fields": {"id": {"type": "integer", "on create": "serial()"}, **FIELDS}},
            "slot": {"primary key": "id", "fields": {"id": {"type": "integer"}, **FIELDS}},
            "types": {**types, **others},
        },
        "3. States and transitions": None,
        "4. Endpoints": endpoints | {**(more or {})},
        "5. Authentication": {"schemes": "none", "rows": "all", "permissions": {"all others": "anyone"}},
        "6. Events": None,
        "7. Errors": {
            "error shape": {
                "media type": "application/json",
                "body": {"at": "error.fields.map(f, f.pointer + ' ' + f.rule)"},
            },
            "codes": {
                "wrong": {"status": 422, "title": "Wrong", "for": "invalid"},
                "barred": {"status": 409, "title": "Barred"},
            },
        },
    }
    said = {"3. States and transitions": "States: none.", "6. Events": "Events: none."}
    words = {'"none"': "none", '"all"': "all", '"refused"': "refused", '"ignored"': "ignored", '"anyone"': "anyone"}
    told = []
    for title, part in parts.items():
        text = json.dumps(part)
        for quoted, word in words.items():
            text = text.replace(quoted, word)
        told.append(
            f"## {title}\n\n" + (said.get(title, "It keeps notes.") if part is None else f"```yaml\n{text}\n```")
        )
    return "# Wholes\n\n" + "\n\n".join(told) + "\n\n" + LIMITS_AND_VERSIONS


def validator(schema: Json) -> Draft202012Validator:
    defined = json.dumps({**schema, "$defs": STATED}).replace("#/types/", "#/$defs/")
    return Draft202012Validator(json.loads(defined))


STATING: Final = ("properties", "patternProperties")


def says_members(schema: Any) -> bool:
    """Whether it says which members there are."""
    if not isinstance(schema, dict):
        return False
    if "$ref" in schema:
        return says_members(STATED[schema["$ref"].removeprefix("#/types/")])
    several = [*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    several += [*schema.get("dependentSchemas", {}).values(), *(schema.get(each) for each in ("if", "then", "else"))]
    return any(each in schema for each in STATING) or any(map(says_members, several))


class Asked:
    """What a validator says of a type."""

    def __init__(self, schema: Json) -> None:
        says = says_members(schema)
        is_closed = "additionalProperties" in schema or "unevaluatedProperties" in schema
        self.open = validator(schema)
        self.closed = validator(schema if is_closed or not says else {**schema, "unevaluatedProperties": False})
        self._alone = {
            name: validator(
                {
                    "allOf": [schema],
                    "properties": dict.fromkeys({*NAMES} - {name}, True),
                    "unevaluatedProperties": False,
                }
            )
            for name in (NAMES if says else ())
        }

    def named(self, document: Json) -> Json:
        """A valid one without what is not evaluated."""
        kept = {name for name in document if name not in self._alone or self._alone[name].is_valid(document)}
        return {name: value for name, value in document.items() if name in kept}

    def taken(self, document: Json, unknown: str) -> Json | None:
        """What is taken of a document; None: it is refused."""
        if unknown == "refused":
            return document if self.closed.is_valid(document) else None
        kept = self.named(document) if self.open.is_valid(document) else None
        return kept if kept is not None and self.open.is_valid(kept) else None


def bodies(types: Mapping[str, Json]) -> dict[tuple[str, str, str], Body]:
    loaded = compile_document("contract.md", contract(types).encode())
    assert loaded.plan is not None, [(each.code.id, each.message) for each in loaded.diagnostics]
    served = [each for each in loaded.plan.routes if isinstance(each, routes.Served) and each.body is not None]
    assert len(served) == len(types) * 4, loaded.open_questions
    found = {}
    for each in served:
        assert each.body is not None
        how, name, unknown = each.key.removeprefix("POST /").split("/")
        found[how, name, unknown] = Body(each.body)
    return found


RULES: Final = {name: Draft202012Validator(schema) for name, schema in FIELDS.items()}


def refused_for_a_field(kept: Json, described: str) -> bool:
    """What no schema describes by its name is no field, whatever it is called."""
    return any(name in kept and f'"{name}": ' in described and not RULES[name].is_valid(kept[name]) for name in FIELDS)


def has_no_place(given: Given, document: Json) -> bool:
    """Whether a failure is told of what is neither there nor needed."""
    told = () if given.wrong is None else given.wrong.fields
    return any(each.pointer and each.rule != "required" and each.pointer[1:] not in document for each in told)


@pytest.mark.long
def test_a_body_is_what_a_validator_says() -> None:
    # A type that needs what nothing names is no body, and is refused before.
    types = {name: each for name, each in TYPES.items() if not lacks(each)}
    assert len(types) > len(STATED) + (15 if LONG else 5)
    wrong, met = [], {True: 0, False: 0}
    for (how, name, unknown), body in bodies(types).items():
        asked, described = Asked(types[name]), json.dumps(types[name])
        one_of = 5 if how == "shown" else 7
        described += json.dumps(STATED) if "$ref" in described else ""
        for document in some(DOCUMENTS, one_of):
            given, expected = body.valid({**document}), asked.taken(document, unknown)
            if how == "made" and expected is not None and refused_for_a_field(expected, described):
                expected = None
            taken = None if given.wrong is not None else given.values.keys() | given.others.keys()
            met[taken is None] += 1
            if taken != (None if expected is None else expected.keys()) or has_no_place(given, document):
                wrong.append((how, unknown, types[name], document, expected, given))
    assert not wrong, (len(wrong), *wrong[:3])
    assert min(met.values()) > 1_000, met


def lacks(schema: Json) -> bool:
    return bool({*schema.get("required", ())} - {*schema.get("properties", ())})


OTHERS: Final[Json] = {
    "brings_a": {**_one(), "properties": FIELDS, "required": ["a"], "dependentRequired": {"a": ["c"]}}
}
MORE: Final[Json] = {
    "POST /read": {
        "does": "create note",
        "body": {"$ref": "#/types/either"},
        "check": {"that": "int(request.body.d + request.body.b) > 0 || true", "else": "barred"},
        "responses": {"201": {"a": "note.a", "c": "note.c", "d": "request.body.d"}},
    },
    "PUT /slots/{id}": {
        "does": "put slot",
        "body": {"$ref": "#/types/brings_a"},
        "responses": {"created or replaced or unchanged": {"200": {"a": "slot.a", "c": "slot.c"}}},
    },
    "PATCH /merged/{id}": {
        "does": "update note",
        "patch": "merge",
        "body": {"$ref": "#/types/least"},
        "sets": {"c": "request.body.b"},
        "responses": {"200": {"a": "note.a", "c": "note.c"}},
    },
    "PATCH /edited/{id}": {
        "does": "update note",
        "patch": "json-patch",
        "body": {"$ref": "#/types/brings_a"},
        "responses": {"200": {"a": "note.a", "c": "note.c"}},
    },
    "POST /form": {
        "does": "create note",
        "requests": {"media type": "application/x-www-form-urlencoded"},
        "body": {"$ref": "#/types/either"},
        "responses": {"201": {"a": "note.a", "c": "note.c", "d": "request.body.d", "b": "request.body.b"}},
    },
}

TOLD: Final[list[tuple[str, Any, int, Any]]] = [
    ("POST /shown/decides/refused", {"a": "s"}, 422, ["/b required"]),
    ("POST /shown/decides/refused", {"a": "s", "c": 1}, 422, ["/b required", "/c unknown"]),
    ("POST /shown/one_of_two/refused", {}, 422, [" anyOf"]),
    ("POST /shown/one_of_two/ignored", {"a": "1", "z": 1}, 200, {"rest": {"a": "1"}}),
    ("POST /shown/names/refused", {}, 422, [" minProperties"]),
    ("POST /shown/most/ignored", {"a": "s", "b": 1}, 422, [" maxProperties", "/b type"]),
    ("POST /shown/map/refused", {"x": "1", "z": "\0"}, 422, ["/z range"]),
    ("POST /shown/map/refused", {"x": 1}, 422, ["/x type"]),
    ("POST /shown/free/refused", {"x": {"d": [1, 2]}}, 200, {"rest": {"x": {"d": [1, 2]}}}),
    ("POST /shown/twice/refused", {"a": "tt"}, 422, ["/a maxLength"]),
    ("POST /made/either/refused", {"d": "s", "a": "tt"}, 422, ["/a enum"]),
    ("POST /made/either/refused", {"d": "s", "a": "s"}, 201, {"a": "s", "rest": {"d": "s"}}),
    # The field is one where `d` says so, and else what comes under its name is nobody's.
    ("POST /made/either/ignored", {"d": "t", "b": "x", "a": "tt"}, 201, {"rest": {"b": "x", "d": "t"}}),
    ("POST /made/either/refused", {"d": "t", "b": "x", "a": "s"}, 422, ["/a unknown"]),
    ("POST /made/either/refused", [1], 422, [" type"]),
    # What is refused is not evaluated further: `int` would be an error.
    ("POST /read", {"d": "t", "c": 1}, 422, [" oneOf"]),
    ("POST /read", {"d": "t", "b": "s", "c": 1}, 201, {"c": 1, "d": "t"}),
    ("PUT /slots/7", {"a": "s"}, 422, ["/c required"]),
    ("PUT /slots/7", {"a": "s", "c": 1}, 200, {"a": "s", "c": 1}),
    ("PUT /slots/7", {"c": 1}, 422, ["/a required"]),
    ("PATCH /merged/1", {}, 422, [" minProperties"]),
    ("PATCH /merged/1", {"b": "q"}, 200, {"a": "s", "c": "q"}),
    ("PATCH /edited/1", [{"op": "replace", "path": "/a", "value": 1}], 200, {"a": 1, "c": "q"}),
    ("PATCH /edited/1", [{"op": "test", "path": "/a", "value": 1}], 200, {"a": 1, "c": "q"}),
    ("PATCH /edited/1", [{"op": "remove", "path": "/c"}], 422, ["/0/path required"]),
    ("PATCH /edited/1", [{"op": "remove", "path": "/a"}], 422, ["/0/path required"]),
    ("PATCH /edited/1", [{"op": "add", "path": "/zz", "value": 1}], 422, ["/0/value unknown"]),
    ("POST /form", "d=t&b=s", 201, {"d": "t", "b": "s"}),
    ("POST /form", "d=t&a=s", 422, [" oneOf"]),
    ("POST /form", "d=s&a=s&b=1", 422, ["/b unknown"]),
]


@pytest.mark.serves
def test_what_is_asked_of_the_whole_is_told_at_its_place(tmp_path: Path) -> None:
    plan = plan_of(contract(STATED, MORE, **OTHERS))
    with serving(plan, tmp_path / "db", {}) as service:
        for asked, sent, status, told in TOLD:
            method, path = asked.split()
            form = "application/x-www-form-urlencoded" if isinstance(sent, str) else "application/json"
            media_type = "application/json-patch+json" if "edited" in path else form
            content = sent if isinstance(sent, str) else json.dumps(sent)
            answer = service.request(method, path, content=content, headers={"content-type": media_type})
            shown = {name: value for name, value in answer.json().items() if value is not None}
            assert (answer.status_code, shown) == (status, {"at": told} if status == 422 else told), (asked, sent)
