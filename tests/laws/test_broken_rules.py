"""What is told of a value is what jsonschema_rs would tell: found one after another, and no more than is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.slices import examples

from ninefold.checks.schemas import SharedSchemas
from ninefold.diagnostics.codes import UNKNOWN_KEY
from ninefold.language.errors import RULES, TOLD_AS
from ninefold.language.json_schema import KEYWORDS
from ninefold.pipeline import compile_document
from ninefold.runtime.messages import schemas as module
from ninefold.runtime.messages.named import named
from ninefold.runtime.messages.schemas import Node, Schemas
from ninefold.runtime.messages.turns import with_turns
from ninefold.runtime.messages.violations import Broken, broken
from ninefold.runtime.messages.weight import every, inside
from ninefold.values import patterns
from ninefold.values.keywords import SAME_VALUE

KINDS = st.sampled_from(["string", "integer", "boolean", "null", "array", "object"])
NAMES = st.sampled_from(["a", "b", "ab", "c"])
COUNTS = st.integers(0, 3)

_leaves = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0]), st.text("abx", max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)


PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "type": st.one_of(KINDS, st.lists(KINDS, min_size=1, max_size=2, unique=True)),
    "enum": st.lists(_leaves, min_size=1, max_size=3),
    "const": _leaves,
    "pattern": st.sampled_from(["^a", "b$", "a(?=b)"]),
    "minimum": st.integers(-2, 2),
    "exclusiveMaximum": st.integers(-2, 2),
    "minLength": COUNTS,
    "minItems": COUNTS,
    "uniqueItems": st.booleans(),
    "minProperties": COUNTS,
    "propertyNames": st.just({"maxLength": 1}),
    "required": st.lists(NAMES, max_size=2, unique=True),
    "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=1),
}
COUNTING = ("minContains", "maxContains")
ONE = ("items", "contains", "additionalProperties", "not", "if", "then", "else")
SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
BY_NAME = ("properties", "patternProperties", "dependentSchemas")


@st.composite
def _schemas(draw: st.DrawFn, depth: int = 3) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for keyword in draw(st.lists(st.sampled_from(sorted(PLAIN)), max_size=2, unique=True)):
        schema[keyword] = draw(PLAIN[keyword])
    inside = draw(st.lists(st.sampled_from((*ONE, *SEVERAL, *BY_NAME)), max_size=3, unique=True)) if depth else ()
    for keyword in inside:
        below = _schemas(depth - 1)
        if keyword in ONE:
            schema[keyword] = draw(below)
        elif keyword in SEVERAL:
            schema[keyword] = draw(st.lists(below, min_size=1, max_size=2))
        else:
            names = st.sampled_from(["^a", "b"]) if keyword == "patternProperties" else NAMES
            schema[keyword] = draw(st.dictionaries(names, below, min_size=1, max_size=2))
    if "contains" in schema:
        schema |= draw(st.fixed_dictionaries({}, optional={"minContains": COUNTS, "maxContains": COUNTS}))
    return schema


PLAINLY = st.sampled_from([{}, {"type": "integer"}, {"type": "object"}, {"const": 1}])
SCHEMAS: st.SearchStrategy[dict[str, Any]] = _schemas()


def _as_told(schema: Any, value: Any) -> set[Broken]:
    """The same of jsonschema_rs, which tells of a missing member at the object, of a name by the name's own rule, and
    of too few items sometimes by `maxContains`."""
    found: set[Broken] = set()
    for error in jsonschema_rs.Draft202012Validator(schema, validate_formats=True).iter_errors(value):
        path = tuple(error.instance_path)
        match error.kind:
            case jsonschema_rs.ValidationErrorKind.Required(property=name):
                found.add(((*path, str(name)), "required"))
            case jsonschema_rs.ValidationErrorKind.PropertyNames():
                found.add((path, "propertyNames"))
            case jsonschema_rs.ValidationErrorKind.Contains():
                found.add((path, "contains"))
            case _:
                found.add((path, str(error.schema_path[-1])))
    return found


@given(SCHEMAS, _leaves)
def test_what_is_found_one_by_one_is_what_is_found_at_once(schema: Any, value: Any) -> None:
    told = set(broken(Schemas(schema), value))
    assert {rule for _, rule in told} <= {*RULES}, "every rule may have words"
    assert {(path, "contains" if rule in COUNTING else rule) for path, rule in told} == _as_told(schema, value)


TOLD: list[tuple[dict[str, Any], Any]] = [
    ({"required": ["a"]}, {}),
    ({"type": "string"}, 1),
    ({"enum": [1]}, 2),
    ({"const": 1}, 2),
    ({"format": "date"}, "x"),
    ({"pattern": "a"}, "x"),
    ({"minLength": 2}, "x"),
    ({"maxLength": 0}, "x"),
    ({"minimum": 2}, 1),
    ({"maximum": 0}, 1),
    ({"exclusiveMinimum": 1}, 1),
    ({"exclusiveMaximum": 1}, 1),
    ({"multipleOf": 2}, 1),
    ({"minItems": 1}, []),
    ({"maxItems": 0}, [1]),
    ({"uniqueItems": True}, [1, 1]),
    ({"contains": {"const": 1}}, []),
    ({"contains": {"const": 1}, "minContains": 2}, [1]),
    ({"contains": {"const": 1}, "maxContains": 1}, [1, 1]),
    ({"items": False}, [1]),
    ({"unevaluatedItems": {"type": "string"}}, [1]),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}),
    ({"minProperties": 1}, {}),
    ({"maxProperties": 0}, {"a": 1}),
    ({"anyOf": [{"const": 1}]}, 2),
    ({"oneOf": [{"const": 1}]}, 2),
    ({"not": {"const": 1}}, 1),
]
"""One that breaks each keyword by which something is told."""


def test_a_message_is_for_what_something_is_told_by() -> None:
    """Words for any other keyword would never be told: `dependentRequired`, `additionalProperties`, `if`."""
    keywords = {rule for rule in RULES if rule in KEYWORDS}
    assert {rule for schema, value in TOLD for _, rule in broken(Schemas(schema), value)} == keywords


@pytest.mark.parametrize("keyword", TOLD_AS)
def test_words_for_what_nothing_is_told_by_are_an_error(keyword: str) -> None:
    loaded = compile_document("errors.yaml", f"errors:\n  messages: {{'{keyword}': Words}}\n".encode())
    (found,) = (each for each in loaded.diagnostics if each.code == UNKNOWN_KEY)
    assert found.message == f"`messages` has no key `{keyword}`" and found.help == (TOLD_AS[keyword],)


@given(SCHEMAS, _leaves)
def test_parts_come_behind_the_whole(schema: Any, value: Any) -> None:
    paths = [path for path, rule in broken(Schemas(schema), value) if rule != "required"]
    for at, path in enumerate(paths):
        assert not any(len(other) < len(path) and path[: len(other)] == other for other in paths[at + 1 :])


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"maxItems": 2, "items": {"type": "string"}}, [1, 2, 3], [((), "maxItems")]),
        ({"maxProperties": 1, "additionalProperties": False}, {"a": 1, "b": 2}, [((), "maxProperties")]),
        ({"maxLength": 1, "pattern": "^b"}, "aa", [((), "maxLength")]),
        ({"maxLength": 2, "pattern": "^b"}, "aa", [((), "pattern")]),
        ({"allOf": [{"maxItems": 1}], "uniqueItems": True}, [1, 1], [((), "maxItems")]),
        ({"properties": {"a": {"maxItems": 0, "contains": {}}, "b": {"type": "null"}}}, {"a": [1], "b": 1},
         [(("a",), "maxItems"), (("b",), "type")]),
    ],
)  # fmt: skip
def test_what_is_larger_than_its_schema_admits_is_not_looked_into(schema: Any, value: Any, told: list[Broken]) -> None:
    assert list(broken(Schemas(schema), value)) == told


class Counted(Schemas):
    """How often it was asked whether a value keeps a schema."""

    asked = 0

    def keeps(self, node: Node, *keywords: str) -> Callable[[Any], bool]:
        def counted(value: Any) -> bool:
            self.asked += 1
            return Schemas.keeps(self, node, *keywords)(value)

        return counted


def test_a_pattern_that_steps_back_is_for_texts_of_a_thousand() -> None:
    stepping, plain = {"pattern": "^(?=a).*$"}, {"pattern": "^a"}
    schema = {"items": {"$ref": "#/$defs/t"}, "properties": {"pattern": stepping, "p": plain}, "$defs": {"t": stepping}}
    schemas = Schemas(schema)
    for value in (["a" * 1_000, 1], {"pattern": "ab", "p": "a" * 100_000}):
        assert schemas.is_valid(value) and [*broken(schemas, value)] == []
    assert [*broken(schemas, ["a" * 1_001, "b", "a"])] == [((0,), "pattern"), ((1,), "pattern")]
    assert [*broken(schemas, {"pattern": "b", "p": "b"})] == [(("pattern",), "pattern"), (("p",), "pattern")]


def test_no_more_is_looked_for_than_is_asked_for() -> None:
    schemas = Counted({"items": {"type": "string"}, "minItems": 1})
    assert list(islice(broken(schemas, [1] * 100_000), 7)) == [((index,), "type") for index in range(7)]
    assert schemas.asked < 7 * 3


# ── What is made ready ────────────────────────────────────────────────────────────────────────────────────────────────

DEAR = r"^[\p{Lu}\p{Ll}]{1,20}$"
REFERENCES = st.sampled_from([{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/u", "minProperties": 1}])


@st.composite
def _referring(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """Schemas that refer to others, and ask which members no other one names."""
    inner = st.one_of(REFERENCES, PLAINLY, *([_referring(depth - 1)] if depth else []))
    schema: dict[str, Any] = {}
    for keyword in draw(st.lists(st.sampled_from([*ONE, *SEVERAL, *BY_NAME]), max_size=3, unique=True)):
        if keyword in ONE:
            schema[keyword] = draw(inner)
        elif keyword in SEVERAL:
            schema[keyword] = draw(st.lists(inner, min_size=1, max_size=2))
        else:
            schema[keyword] = draw(st.dictionaries(st.sampled_from("ab"), inner, min_size=1, max_size=2))
    asking = draw(st.sampled_from(["unevaluatedProperties", "unevaluatedItems", None, None]))
    return schema if asking is None else {**schema, asking: draw(st.sampled_from([False, {"type": "integer"}]))}


def is_finite(schemas: Schemas) -> bool:
    """Whether none of its schemas leads to itself for the same value, which `check` refuses."""

    def ends(node: Node, behind: tuple[int, ...]) -> bool:
        if not isinstance(node, dict):
            return True
        same = [*inside(node, SAME_VALUE), *([schemas.resolved(node["$ref"])] if "$ref" in node else [])]
        return id(node) not in behind and all(ends(each, (*behind, id(node))) for each in same)

    return all(ends(each, ()) for each in every(schemas.root))


@settings(max_examples=examples(200))
@given(_referring(), _referring(), _referring(), _leaves)
def test_a_schema_says_the_same_whatever_is_made_ready_with_it(root: Any, t: Any, u: Any, value: Any) -> None:
    schemas = Schemas({**root, "$defs": {"t": {"type": ["object", "array"], **t}, "u": u}})
    assume(is_finite(schemas))
    assert schemas.keeps(schemas.root)(value) == schemas.is_valid(value)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The schemas that are made ready."""
    found: list[Any] = []
    compiled = module._compiled

    def counted(schema: Any, *options: Any) -> Any:
        found.append(schema)
        return compiled(schema, *options)

    monkeypatch.setattr(module, "_compiled", counted)
    return found


def _within(length: int, kind: str) -> tuple[Any, Any]:
    """Objects within each other, of members or of items, and a value all of which is wrong."""
    schema: Any = {"type": "object", "properties": {"m": {"type": "string"}}}
    value: Any = {"m": 1}
    for _ in range(1, length):
        inner = schema if kind == "members" else {"type": "array", "items": schema}
        schema = {"type": "object", "properties": {"m": {"type": "string"}, "n": inner}}
        value = {"m": 1, "n": value if kind == "members" else [value]}
    return schema, value


def _chain(length: int, closed: bool) -> tuple[Any, Any]:
    """Types of which each refers to the next one, and a value all of which is wrong."""
    types: dict[str, Any] = {}
    for at in range(length):
        member = {"type": "string", "maxLength": 9, "pattern": "^[a-z]*$"}
        types[f"t{at}"] = {"type": "object", "properties": {"m": member}, "required": ["m"]}
        if at + 1 < length:
            types[f"t{at}"]["properties"]["n"] = {"$ref": f"#/$defs/t{at + 1}"}
        if closed:
            types[f"t{at}"]["unevaluatedProperties"] = False
    value: Any = {"m": 1}
    for _ in range(1, length):
        value = {"m": 1, "n": value}
    return {"properties": {"a": {"$ref": "#/$defs/t0"}}, "$defs": types}, {"a": value}


@pytest.mark.parametrize(
    "of",
    [
        lambda length: _chain(length, False),
        lambda length: _chain(length, True),
        lambda length: _within(length, "members"),
        lambda length: _within(length, "items"),
    ],
    ids=["types", "types that are closed", "members", "items"],
)
def test_what_a_request_makes_ready_grows_with_the_depth_and_not_with_its_square(
    made: list[Any], of: Callable[[int], tuple[Any, Any]]
) -> None:
    sizes = []
    for length in (10, 40):
        schema, value = of(length)
        schemas = Schemas(schema)
        made.clear()
        assert len([*broken(schemas, value)]) == length
        sizes.append(sum(len(json.dumps(each)) for each in made))
    assert sizes[1] < 5 * sizes[0], sizes


@pytest.mark.parametrize("around", [{}, {"maxProperties": 1}, {"unevaluatedProperties": False}])
@pytest.mark.parametrize(
    "of",
    [
        lambda dear: {"properties": {"a": dear}},
        lambda dear: {"properties": {"a": {"type": "object", "properties": {"b": dear, "c": {"type": "null"}}}}},
        lambda dear: {"properties": {"a": {"items": {"type": "object", "additionalProperties": dear}}}},
        lambda dear: {"properties": {"a": {"anyOf": [dear, {"type": "null"}]}}},
        lambda dear: {"properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"allOf": [dear]}}},
        lambda dear: {"properties": {"a": {"not": {"not": dear}}}},
        lambda dear: {"properties": {"a": {"items": {**dear, "multipleOf": 0.5}}}},
    ],
)
@pytest.mark.parametrize(
    "dear",
    [
        {"type": "string", "pattern": DEAR},
        {"type": "object", "patternProperties": {DEAR: {"type": "null"}}},
        {"type": "object", "propertyNames": {"pattern": DEAR}},
        {"type": "string", "pattern": "^(?!x)" + DEAR[1:]},
    ],
    ids=["a text", "names that say something", "names", "a text, looked around in"],
)
def test_what_takes_long_is_ready_before_the_first_request(
    made: list[Any], around: dict[str, Any], of: Callable[[Any], Any], dear: Any
) -> None:
    schemas = Schemas({**of(dear), **around})
    before = patterns._linear.cache_info().misses
    made.clear()
    for wrong in ("1", 1, {"1": 1}, {"A": 1}, ["1"]):
        for value in (wrong, {"b": wrong, "c": 1}, [{"x": wrong}, wrong]):
            assert [*broken(schemas, {"a": value, "x": 1})] or schemas.is_valid({"a": value, "x": 1})
    assert patterns._linear.cache_info().misses == before
    for node in (node for each in made for node in every(with_turns(each, []))):
        assert not any(map(patterns.is_dear, [node.get("pattern", ""), *node.get("patternProperties", ())]))


# ── What is named ─────────────────────────────────────────────────────────────────────────────────────────────────


@given(SCHEMAS, _leaves)
def test_what_is_left_of_a_valid_value_is_a_part_of_it(schema: Any, value: Any) -> None:
    schemas = Schemas(schema)
    if schemas.is_valid(value):
        assert _is_part(named(schemas, value), value)


CONTRACT = """## 2. Resources
```yaml
thing: {primary key: id, fields: {id: {type: string}}, required: []}
```
## 4. Endpoints
```yaml
requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
```
"""
CLOSING = SharedSchemas(compile_document("closed.md", CONTRACT.encode()).contract)


@st.composite
def _objects(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """Schemas of objects, of which no two describe one member: whose members one of them names, it names alone."""
    inner = st.one_of(PLAINLY, *([_objects(depth - 1)] if depth else []))
    items = st.builds(lambda items: {"items": items}, inner)
    schema: dict[str, Any] = {}
    if draw(st.booleans()):
        schema["properties"] = draw(st.dictionaries(st.sampled_from("ab"), st.one_of(inner, items), max_size=2))
    if draw(st.integers(0, 3)) == 0:
        schema["patternProperties"] = {"^c": draw(inner)}
    part = st.dictionaries(st.sampled_from("pq"), PLAINLY, max_size=2).map(lambda members: {"properties": members})
    for keyword in draw(st.lists(st.sampled_from(["allOf", "anyOf", "oneOf", "if", "then", "not"]), max_size=2)):
        schema[keyword] = draw(st.lists(part, min_size=1, max_size=2)) if keyword.endswith("Of") else draw(part)
    if draw(st.integers(0, 5)) == 0:
        schema["additionalProperties"] = draw(st.sampled_from([True, {"type": "integer"}]))
    return schema


_documents = st.recursive(
    st.sampled_from([1, "a", None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from([*"abpqx", "cc"]), inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=examples(200))
@given(_objects(), _documents)
def test_what_is_ignored_is_what_would_be_refused(schema: Any, value: Any) -> None:
    """One notion of what is named, in the words of JSON Schema and in those of the server."""
    schemas, closed = Schemas(schema), Schemas(CLOSING.inlined(schema))
    if schemas.is_valid(value):
        kept = named(schemas, value)
        assert (kept is value) == closed.is_valid(value)
        if schemas.is_valid(kept):  # a `not` or an `if` may have seen what is gone
            assert named(schemas, kept) == kept


@pytest.mark.parametrize(
    ("schema", "value", "left"),
    [
        ({"properties": {"a": {}}}, {"a": 1, "b": 2}, {"a": 1}),
        ({"type": "object"}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"properties": {"a": {"type": "object"}}}, {"a": {"b": 1}, "c": 1}, {"a": {"b": 1}}),
        ({"properties": {"a": {"properties": {"b": {}}}}}, {"a": {"b": 1, "c": 1}}, {"a": {"b": 1}}),
        ({"items": {"properties": {"a": {}}}}, [{"a": 1, "b": 1}, 2], [{"a": 1}, 2]),
        ({"prefixItems": [{"properties": {"a": {}}}]}, [{"b": 1}, {"b": 1}], [{}, {"b": 1}]),
        ({"patternProperties": {"^a": {}}}, {"aa": 1, "b": 1}, {"aa": 1}),
        ({"properties": {"a": {}}, "additionalProperties": True}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ({"properties": {"a": {}}, "additionalProperties": {"properties": {"c": {}}}}, {"b": {"c": 1, "d": 1}},
         {"b": {"c": 1}}),
        ({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1}),
        ({"anyOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"b": {}}}]}, {"a": 1, "b": 1}, {"b": 1}),
        ({"if": {"properties": {"a": {"const": 1}}}, "then": {"properties": {"b": {}}}}, {"a": 1, "b": 1, "c": 1},
         {"a": 1, "b": 1}),
        ({"dependentSchemas": {"a": {"properties": {"b": {}}}}, "properties": {"a": {}}}, {"a": 1, "b": 1, "c": 1},
         {"a": 1, "b": 1}),
        ({"allOf": [{"properties": {"a": {"properties": {"x": {}}}}},
                    {"properties": {"a": {"properties": {"y": {}}}}}]},
         {"a": {"x": 1, "y": 1, "z": 1}}, {"a": {"x": 1, "y": 1}}),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"a": {"$ref": "#/$defs/t"}}}}},
         {"a": {"a": {}, "b": 1}}, {"a": {"a": {}}}),
    ],
)  # fmt: skip
def test_what_is_left_of_a_value(schema: Any, value: Any, left: Any) -> None:
    before = repr(value)
    assert named(Schemas(schema), value) == left
    assert repr(value) == before


def _is_part(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() <= other.keys() and all(_is_part(each, other[name]) for name, each in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_part, one, other))
    return type(one) is type(other) and one == other
