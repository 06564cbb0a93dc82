"""Part 2: the JSON Schemas that values must meet, with everything that they refer to inside them; where each rule
stands that a value has to keep; and what is well said, and cannot be kept or checked as it is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ninefold.checked.resources import Rule
from ninefold.checks.codes import SAME_BUT_FOR_CASE, SECOND_SERIAL, TYPE_IN_ITSELF, VALUE_TOO_LARGE
from ninefold.checks.findings import Findings
from ninefold.contract.service import Contract
from ninefold.contract.shared_types import DEEPEST, MOST_PARTS, PREFIX, types_in
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Invocation
from ninefold.language import resources as stated
from ninefold.language.fact import Shown, value_of
from ninefold.language.resources import Field
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import Entry, Node, Scalar, Sequence
from ninefold.syntax.nodes import Mapping as MappingNode

SAME_VALUE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
"""The keywords whose schemas describe the value itself, and not a part of it."""
BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""The keywords that hold schemas by names."""


class SharedSchemas:
    """JSON Schemas with the shared types of part 2 in the place of their `$ref`. One whose values have no bound, which
    is an error, stays open."""

    def __init__(self, contract: Contract) -> None:
        self._types = contract.shared_types.bounded
        self._made: dict[str, dict[str, Any]] = {}
        exchange = value_of(contract.endpoints.requests)
        unknown = None if exchange is None else value_of(exchange.unknown_members)
        self._refused = unknown is not None and unknown.text == "refused"

    def all(self) -> dict[str, dict[str, Any]]:
        """Each shared type by its name."""
        return {name: self._closed(self._object(name)) for name in self._types}

    def inlined(self, schema: Any) -> Any:
        """A schema with everything that it refers to inside it. Objects whose members are stated take no others
        where unknown members are refused."""
        result = self._open(schema)
        return self._closed(result) if isinstance(result, dict) else result

    def _open(self, schema: Any) -> Any:
        """A schema of which only what stands in it is closed: what describes the same value as another schema (a part
        of `allOf`, an `if`) cannot say alone which members there are."""
        if not isinstance(schema, dict):
            return schema
        reference = schema.get("$ref")
        result: dict[str, Any] = {}
        if isinstance(reference, str):
            name = reference.removeprefix(PREFIX)
            if name in self._types:
                result = dict(self._object(name))
        for key, value in schema.items():
            if key != "$ref":
                result[key] = self._keyword(key, value)
        return result

    def _keyword(self, key: str, value: Any) -> Any:
        if key in ("enum", "const", "examples"):
            return value
        # What `contains` looks for, it counts; whether an item has other members is for `items` to say.
        same = key in SAME_VALUE or key == "contains"
        inner = self._open if same else self.inlined
        if isinstance(value, list):
            return [inner(each) for each in value]
        if key in BY_NAME and isinstance(value, dict):
            return {name: inner(each) for name, each in value.items()}
        return inner(value)

    def _closed(self, schema: dict[str, Any]) -> dict[str, Any]:
        if not self._refused or "additionalProperties" in schema or "unevaluatedProperties" in schema:
            return schema
        if any(map(_states_members, _beside(schema))):
            return schema | {"unevaluatedProperties": False}
        return schema | {"additionalProperties": False} if _STATING & schema.keys() else schema

    def _object(self, name: str) -> dict[str, Any]:
        """A shared type, open to what is said beside it. It is made once, however often it is referred to."""
        if name in self._made:
            return self._made[name]
        shared = self._types[name]
        properties = {member.text: self.inlined(each.json) for member, each in value_of(shared.fields) or ()}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        needed = [member.text for member in value_of(shared.required) or ()]
        if needed:
            schema["required"] = needed
        self._made[name] = schema
        return schema


def _schemas(value: Any) -> list[Any]:
    """The schemas that a keyword holds: one, a list, or a mapping of them."""
    if isinstance(value, list):
        return value
    return [value, *value.values()] if isinstance(value, dict) else []


def _states_members(schema: Any) -> bool:
    """Whether a schema, or one for the same value within it, says which members there are."""
    if not isinstance(schema, dict):
        return False
    return bool(_STATING & schema.keys()) or any(map(_states_members, _beside(schema)))


_STATING = frozenset({"properties", "patternProperties"})


def _beside(schema: Mapping[str, Any]) -> list[Any]:
    """The schemas inside one that say what its value is. `not` says what it is not, and so which members it has
    does not follow from it."""
    return [each for key in SAME_VALUE - {"not"} if key in schema for each in _schemas(schema[key])]


def schema_of(field: stated.Field, schemas: SharedSchemas) -> dict[str, Any]:
    schema = value_of(field.schema)
    inlined: dict[str, Any] = {} if schema is None else schemas.inlined(schema.json)
    return inlined


def admits_null(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return True
    return kinds is None and (None in schema.get("enum", ()) or ("const" in schema and schema["const"] is None))


def identifier_schema(
    target: stated.Resource, known: Mapping[str, stated.Resource], schemas: SharedSchemas
) -> dict[str, Any]:
    """What a reference to a row must look like: as the row's identifier."""
    field = known_by(target, known)
    return {} if field is None else schema_of(field, schemas)


def known_by(target: stated.Resource, known: Mapping[str, stated.Resource]) -> stated.Field | None:
    """The field whose value stands for a row: its identifier or, while that is a reference, that of the row that it
    refers to. None: there is one row of it, or the references lead in a circle, and nothing can refer to it."""
    passed: set[str] = set()
    while target.name not in passed:
        passed.add(target.name)
        identifier = value_of(target.identifier)
        if not identifier:
            return None
        field = next(each for each in value_of(target.fields) or () if each.name == identifier[0].text)
        further = value_of(field.refers_to)
        if further is None or further.text not in known:
            return field
        target = known[further.text]
    return None


def kinds_of_identifier(
    target: stated.Resource, known: Mapping[str, stated.Resource], schemas: SharedSchemas
) -> list[str]:
    """The JSON types that an identifier may have."""
    kinds = identifier_schema(target, known, schemas).get("type", "string")
    return kinds if isinstance(kinds, list) else [kinds]


# ── Where rules stand ────────────────────────────────────────────────────────────────────────────────────────────────


_EACH = frozenset({"items", "prefixItems", "contains", "additionalProperties", "unevaluatedItems", "propertyNames"})
"""The keywords whose schemas are those of elements, or of members whatever their names."""

_WEIGHING = frozenset({"anyOf", "oneOf", "not", "contains", "propertyNames"})


@dataclass(frozen=True)
class Rules:
    """The rules of fields and parameters, with the places of a contract."""

    contract: Contract
    findings: Findings

    def of_field(self, field: stated.Field, resource: stated.Resource) -> tuple[Rule, ...]:
        schema = value_of(field.schema)
        found = [] if schema is None else list(self._of_schema(schema.node, schema.json, ()))
        for names in (value_of(resource.required) or (), value_of(resource.identifier) or ()):
            found += [self._rule((), "required", each.span) for each in names if each.text == field.name]
        for keyword, fact in (
            ("unique", field.unique),
            ("immutable", field.immutable),
            ("refers to", field.refers_to),
        ):
            if isinstance(fact, Shown):
                found.append(self._rule((), keyword, fact.span))
        return tuple(found)

    def of_parameter(self, schema: Schema) -> tuple[Rule, ...]:
        return tuple(self._of_schema(schema.node, schema.json, ()))

    def _rule(self, path: tuple[str, ...], keyword: str, span: Span) -> Rule:
        return Rule(path, keyword, self.findings.place(span))

    def _of_schema(self, node: Node, schema: Any, path: tuple[str, ...]) -> Iterator[Rule]:
        """`schema`: what was read of the node. What is `none`, or cannot be read, is no rule."""
        for entry in node.entries if isinstance(node, MappingNode) and isinstance(schema, dict) else ():
            if entry.name in schema:
                yield self._rule(path, entry.name, entry.key.span)
                yield from self._of_keyword(entry, schema[entry.name], path)

    def _of_keyword(self, entry: Entry, read: Any, path: tuple[str, ...]) -> Iterator[Rule]:
        value = entry.value
        match value:
            case Scalar(text=text) if entry.name == "$ref":
                yield from self._of_type(text.removeprefix(PREFIX), path)
            case MappingNode(entries=entries) if entry.name == "properties":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), (*path, each.name))
            case MappingNode(entries=entries) if entry.name == "patternProperties":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), (*path, "*"))
            case Sequence(items=items) if entry.name == "required":
                for item in items:
                    if isinstance(item, Scalar):
                        yield self._rule((*path, item.text), "required", item.span)
            case MappingNode(entries=entries) if entry.name == "dependentSchemas":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), path)
            case MappingNode() | Sequence() if entry.name in _EACH or entry.name in SAME_VALUE:
                below = (*path, "*") if entry.name in _EACH else path
                items = value.items if isinstance(value, Sequence) else (value,)
                for node, schema in zip(items, read if isinstance(read, list) else (read,), strict=False):
                    for rule in self._of_schema(node, schema, below):
                        yield rule
                        # Of a keyword that weighs schemas it is told that it is not kept, and of them nothing.
                        if entry.name in _WEIGHING:
                            yield Rule(path, entry.name, rule.place)
            case _:
                pass

    def _of_type(self, name: str, path: tuple[str, ...]) -> Iterator[Rule]:
        shared = self.contract.shared_types.bounded.get(name)
        if shared is not None:
            for field, schema in value_of(shared.fields) or ():
                yield from self._of_schema(schema.node, schema.json, (*path, field.text))
            for field in value_of(shared.required) or ():
                yield self._rule((*path, field.text), "required", field.span)


# ── What cannot be stored ────────────────────────────────────────────────────────────────────────────────────────────


def storable(contract: Contract, findings: Findings) -> None:
    """Says of names that a database does not tell apart, of second serial numbers and of types without an end."""
    resources = value_of(contract.resources.resources) or ()
    _case([(each.name, each.span) for each in resources], "", findings)
    for resource in resources:
        fields = value_of(resource.fields) or ()
        _case([(each.name, each.span) for each in fields], f"{resource.name}.", findings)
        serial = [each for each in fields if is_serial(each)]
        for each in serial[1:]:
            findings.say(
                SECOND_SERIAL,
                f"`{resource.name}` has two fields made by `serial()`",
                Label(each.span, "the second"),
                Label(serial[0].span, "the first"),
            )
    _unbounded(contract, findings)


def is_serial(field: Field) -> bool:
    made = value_of(field.on_create)
    return made is not None and isinstance(made.ast, Invocation) and made.ast.function == "serial"


def _case(names: Iterable[tuple[str, Span]], prefix: str, findings: Findings) -> None:
    first: dict[str, tuple[str, Span]] = {}
    for name, span in names:
        known, at = first.setdefault(name.lower(), (name, span))
        if known != name:
            findings.say(
                SAME_BUT_FOR_CASE,
                f"`{prefix}{known}` and `{prefix}{name}` differ in case alone",
                Label(span, "to a database the same"),
                Label(at, "first here"),
            )


def _unbounded(contract: Contract, findings: Findings) -> None:
    """Says of types from which their own references lead back to them, and of values with too much in them."""
    types = contract.shared_types
    for each in contract.resources.types:
        if each.name in types.endless:
            message = f"the type `{each.name}` contains itself"
            findings.say(TYPE_IN_ITSELF, message, Label(each.span, "has no greatest depth"))
    told = {each.name for each in contract.resources.types if each.name not in types.bounded} - types.endless
    for each in contract.resources.types:
        within = {name for _, schema in value_of(each.fields) or () for name in types_in(schema.json)}
        if each.name in told and not within & (told | types.endless):
            message = f"with the types that it refers to, a value of `{each.name}` is too large"
            at_most = f"{MOST_PARTS:,} schemas, and {DEEPEST} types within each other"
            findings.say(VALUE_TOO_LARGE, message, Label(each.span, f"at most {at_most}"))
    for resource in value_of(contract.resources.resources) or ():
        for field in value_of(resource.fields) or ():
            schema = value_of(field.schema)
            if schema is None or not all(name in types.bounded for name in types_in(schema.json)):
                continue
            extent = types.extent(schema.json)
            if extent is not None and not extent.is_bounded:
                message = f"with the types that it refers to, a value of `{resource.name}.{field.name}` is too large"
                findings.say(VALUE_TOO_LARGE, message, Label(field.span, f"at most {MOST_PARTS:,} schemas"))
