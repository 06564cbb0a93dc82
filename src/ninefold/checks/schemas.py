"""Part 2: the JSON Schemas that values must meet, with everything that they refer to inside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import jsonschema_rs

from ninefold.contract.service import Contract
from ninefold.contract.shared_types import PREFIX
from ninefold.language import resources as stated
from ninefold.language.fact import text_of, value_of, within
from ninefold.language.json_schema import TELLING, TYPING, VALUES
from ninefold.values.keywords import BY_NAME, SAME_VALUE

_PARTS = frozenset({"$ref", "allOf", "properties"})
_OF_MEMBERS = _PARTS | {"type", "required"} | TELLING
"""What a schema says of each member of an object by itself, of it for people, and that it is an object."""
_OF_WHAT = ("type", "format", "items", "enum", "const")
"""The keywords by which a value is known to be text, a time or an array of something."""
_OF_SCALARS = frozenset(
    {"type", "enum", "const", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
     "exclusiveMaximum", "multipleOf", "title", "description", "examples"}
)  # fmt: skip


UNKNOWN: Final = ("refused", "ignored")
"""What may be said of unknown members."""


class SharedSchemas:
    """JSON Schemas with the shared types of part 2 in the place of their `$ref`. One whose values have no bound, which
    is an error, stays open. `unknown`: what is said of the unknown members of what is held to them; None: what part 4
    says for all."""

    def __init__(self, contract: Contract, unknown: str | None = None) -> None:
        self._contract = contract
        self._types = contract.shared_types.bounded
        self._made: dict[str, dict[str, Any]] = {}
        self._others: dict[str, SharedSchemas] = {}
        of_all = within(contract.endpoints.requests, lambda each: each.unknown_members)
        self._refused = (unknown or text_of(of_all)) == "refused"

    def where(self, unknown: str) -> SharedSchemas:
        """The same of the bodies of which this is said of unknown members."""
        if self._refused == (unknown == "refused"):
            return self
        if unknown not in self._others:
            self._others[unknown] = SharedSchemas(self._contract, unknown)
        return self._others[unknown]

    def apart(self, schema: Any) -> dict[str, dict[str, Any]]:
        """By what may be said of unknown members, the same schema where it is another than for all."""
        own = self.inlined(schema)
        return {each: other for each in UNKNOWN if (other := self.where(each).inlined(schema)) != own}

    def all(self) -> dict[str, dict[str, Any]]:
        """Each shared type by its name, but those that only say of which type values are."""
        return {name: self._closed(self._object(name)) for name in self._types}

    def inlined(self, schema: Any) -> Any:
        """A schema with everything that it refers to inside it. Objects whose members are stated take no others
        where unknown members are refused."""
        result = self._open(schema)
        return self._closed(result) if isinstance(result, dict) else result

    def of_whole(self, name: str, known: str | None = None, needed: Collection[str] = ()) -> dict[str, Any] | None:
        """What a shared type asks of an object as a whole, beside what it says of each member that is always one, which
        is held to that by itself; and that those `needed` are there. None: nothing. `known`: a member besides."""
        if name not in self._types:
            return None
        schema = self._as_whole(self._stated(name)) | ({"required": [*needed]} if needed else {})
        if known is not None and _states_members(schema):
            schema["properties"] = {known: {}} | schema.get("properties", {})
        return self._closed(self._open(schema)) if _asks_of_whole(schema) else None

    def _as_whole(self, schema: Any) -> Any:
        """A schema that says of the members of an object but that there are such."""
        if not isinstance(schema, dict):
            return schema
        result = {key: value for key, value in schema.items() if key not in _OF_MEMBERS}
        if "properties" in schema:
            result["properties"] = {name: {} for name in schema["properties"]}
        parts = [
            self._as_whole(each) for each in (self._referred(schema), *schema.get("allOf", ())) if each is not None
        ]
        return result | ({"allOf": parts} if any(each != {} for each in parts) else {})

    def _open(self, schema: Any) -> Any:
        """A schema of which only what stands in it is closed: what describes the same value as another schema (a part
        of `allOf`, an `if`) cannot say alone which members there are."""
        if not isinstance(schema, dict):
            return schema
        schema = self._joined(schema)
        reference = schema.get("$ref")
        result: dict[str, Any] = {}
        if isinstance(reference, str):
            name = reference.removeprefix(PREFIX)
            if name in self._types:
                shared = self._object(name)
                # What is said beside a type holds besides: neither takes the place of the other.
                is_said_twice = any(key in schema and schema[key] != each for key, each in shared.items())
                of_what = {key: shared[key] for key in _OF_WHAT if key in shared}
                result = {**of_what, "allOf": [shared]} if is_said_twice else dict(shared)
        for key, value in schema.items():
            if key == "allOf":
                result["allOf"] = [*result.get("allOf", ()), *self._keyword(key, value)]
            elif key != "$ref":
                result[key] = self._keyword(key, value)
        return result

    def _joined(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The same schema, in which a member that several of its parts describe (it, its `$ref`, those of its `allOf`)
        is described once: no part can say alone which members that one has."""
        parts = list(self._parts(schema)) if self._refused and len(schema.keys() & _PARTS) else []
        said: dict[str, list[Any]] = {}
        for name, member in (each for part in parts for each in part.items()):
            said.setdefault(name, []).append(member)
        several = {name: members for name, members in said.items() if sum(map(_says_more, members)) > 1}
        if not several:
            return schema
        result: dict[str, Any] = self._without(schema, several.keys())
        result["properties"] = {
            **result.get("properties", {}),
            **{name: {"allOf": all_of} for name, all_of in several.items()},
        }
        return result

    def _parts(self, schema: Any) -> Iterator[dict[str, Any]]:
        """The `properties` of the parts of a schema, all of which a value has to keep."""
        if isinstance(schema, dict):
            yield schema.get("properties", {})
            for each in (self._referred(schema), *schema.get("allOf", ())):
                yield from self._parts(each)

    def _without(self, schema: Any, names: Collection[str]) -> Any:
        """A schema whose parts say nothing of these members but that there are such."""
        if not isinstance(schema, dict):
            return schema
        result = {key: value for key, value in schema.items() if key not in _PARTS}
        if "properties" in schema:
            result["properties"] = {name: {} if name in names else one for name, one in schema["properties"].items()}
        parts = [each for each in (self._referred(schema), *schema.get("allOf", ())) if each is not None]
        return result | ({"allOf": [self._without(each, names) for each in parts]} if parts else {})

    def _referred(self, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """The shared type that a schema refers to, as it is stated; None: it refers to none."""
        name = str(schema.get("$ref")).removeprefix(PREFIX)
        return self._stated(name) if name in self._types else None

    def _stated(self, name: str) -> dict[str, Any]:
        schema = value_of(self._types[name].schema)
        return {} if schema is None else schema.json

    def _keyword(self, key: str, value: Any) -> Any:
        if key in VALUES:
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
        if name not in self._made:
            self._made[name] = self._open(self._stated(name))
        return self._made[name]


def _asks_of_whole(schema: Any) -> bool:
    """Whether a schema says more than which members there are."""
    if not isinstance(schema, dict):
        return schema is False
    return bool(schema.keys() - {"properties", "allOf"}) or any(map(_asks_of_whole, schema.get("allOf", ())))


def admits_others(schema: Any) -> bool:
    """Whether an object may have members that no `properties` names: nothing in its schema says which there are, or
    something says what others are."""
    return not _states_members(schema) or _names_others(schema)


def _names_others(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    others = (schema.get("additionalProperties", False), schema.get("unevaluatedProperties", False))
    return "patternProperties" in schema or others != (False, False) or any(map(_names_others, _beside(schema)))


def renamed(schema: Any, names: Mapping[str, str | None], asked: bool = True) -> Any:
    """The schema of an object of which some members have other names, or (None) none: what asks for one asks for
    nothing; but where that decides between schemas (not `asked`) it does not hold."""
    if not isinstance(schema, dict):
        return schema
    result = {key: value for key, value in schema.items() if key not in ("properties", "dependentRequired", "required")}
    for key in SAME_VALUE & schema.keys():
        inner, holds = schema[key], asked and key not in ("anyOf", "oneOf", "if", "not")
        if key == "dependentSchemas":
            result[key] = {name: renamed(each, names, holds) for name, each in _called(inner, names)}
        else:
            several = isinstance(inner, list)
            result[key] = [renamed(each, names, holds) for each in inner] if several else renamed(inner, names, holds)
    if "properties" in schema:
        result["properties"] = dict(_called(schema["properties"], names))
    if "dependentRequired" in schema:
        pairs = _called(schema["dependentRequired"], names)
        result["dependentRequired"] = {
            name: [each for each, _ in _called(dict.fromkeys(given), names)] for name, given in pairs
        }
    if "required" in schema:
        needed = dict.fromkeys(schema["required"])
        result["required"] = [name for name, _ in _called(needed, names)]
        if not asked and len(result["required"]) < len(needed):
            result["allOf"] = [*result.get("allOf", ()), False]
    return result


def _called(members: Mapping[str, Any], names: Mapping[str, str | None]) -> list[tuple[str, Any]]:
    named = [(names.get(name, name), each) for name, each in members.items()]
    return [(name, each) for name, each in named if name is not None]


def _says_more(schema: Any) -> bool:
    """Whether a schema may say something of what is in a value."""
    return isinstance(schema, dict) and not schema.keys() <= _OF_SCALARS


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
    """Whether null keeps a schema that says which values there are."""
    return any(key in schema for key in TYPING) and jsonschema_rs.is_valid(dict(schema), None)


def identifier_schema(
    target: stated.Resource, known: Mapping[str, stated.Resource], schemas: SharedSchemas
) -> dict[str, Any]:
    """What a reference to a row must look like: as the row's primary key."""
    field = known_by(target, known)
    return {} if field is None else schema_of(field, schemas)


def known_by(target: stated.Resource, known: Mapping[str, stated.Resource]) -> stated.Field | None:
    """The field whose value stands for a row: its primary key or, while that is a reference, that of the row that it
    refers to. None: there is one row of it, or the references lead in a circle, and nothing can refer to it."""
    passed: set[str] = set()
    while target.name not in passed:
        passed.add(target.name)
        identifier = value_of(target.primary_key)
        if not identifier:
            return None
        field = next(each for each in value_of(target.fields) or () if each.name == identifier[0].text)
        further = value_of(field.references)
        if further is None or further.text not in known:
            return field
        target = known[further.text]
    return None


def kinds_of_identifier(
    target: stated.Resource, known: Mapping[str, stated.Resource], schemas: SharedSchemas
) -> list[str]:
    """The JSON types that a primary key may have."""
    kinds = identifier_schema(target, known, schemas).get("type", "string")
    return kinds if isinstance(kinds, list) else [kinds]
