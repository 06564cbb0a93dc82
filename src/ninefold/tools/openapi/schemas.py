"""JSON Schemas (2020-12, which OpenAPI 3.1 takes as they are): of types, of fields, and of what is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, assert_never

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows, with_expressions
from ninefold.checked.endpoints import EventKind, OlderKind
from ninefold.checked.resources import Field, Resource
from ninefold.expressions.reads import may_fail
from ninefold.expressions.tree import All, Comprehension, Select, Typed, Variable, rewrite
from ninefold.tools.openapi.service import Json, Service
from ninefold.values import (
    Anything,
    Boolean,
    Digest,
    Duration,
    Integer,
    Null,
    Number,
    Row,
    Text,
    Timestamp,
    Type,
)
from ninefold.values import Array as ArrayType
from ninefold.values import Object as ObjectType
from ninefold.values.keywords import BY_NAME

INTEGER: Json = {"type": "integer", "format": "int64"}
NUMBER: Json = {"type": "number", "format": "double"}
"""Meaning "values", in the formats of OpenAPI's registry."""

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]")


def component(name: str) -> str:
    """A name as the keys of `components` admit it."""
    return _NOT_IN_A_NAME.sub("_", name)


def reference(name: str, kind: str = "schemas") -> Json:
    return {"$ref": f"#/components/{kind}/{component(name)}"}


def type_name(name: str, service: Service) -> str:
    """What the component of a shared type is called: a resource of the same name comes first."""
    return f"types.{name}" if name in service.checked.resources else name


def error_name(service: Service) -> str:
    """What the component of the error shape is called."""
    return "types.error" if {"error"} & (service.checked.resources.keys() | service.checked.types.keys()) else "error"


# ── Stated schemas ────────────────────────────────────────────────────────────────────────────────────────────

_SCHEMAS = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
            "unevaluatedItems", "unevaluatedProperties")  # fmt: skip
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = BY_NAME | {"$defs"}
"""Keywords whose values are a schema, a list of schemas, and schemas by name (JSON Schema 2020-12, section 10)."""


def stated(schema: Mapping[str, Any], service: Service) -> Json:
    """A schema of the contract, with its shared types as references, and bits where the language fixes them."""
    for name, shared in service.checked.types.items():
        if schema == shared:
            return reference(type_name(name, service))
    return within(schema, lambda each: stated(each, service))


def within(schema: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Json]) -> Json:
    """A schema with `change` made to each schema directly inside it."""
    changed: Json = {}
    for keyword, value in schema.items():
        if keyword in _SCHEMAS and isinstance(value, Mapping):
            changed[keyword] = change(value)
        elif keyword in _LISTS and isinstance(value, list):
            changed[keyword] = [change(each) if isinstance(each, Mapping) else each for each in value]
        elif keyword in _MAPS and isinstance(value, Mapping):
            changed[keyword] = {
                name: change(each) if isinstance(each, Mapping) else each for name, each in value.items()
            }
        else:
            changed[keyword] = value
    kinds = changed.get("type")
    kinds = set(kinds if isinstance(kinds, list) else [kinds])
    for fixed in (INTEGER, NUMBER):
        if fixed["type"] in kinds and "format" not in changed:
            changed["format"] = fixed["format"]
    return changed


def field_schema(field: Field, resource: Resource, service: Service) -> Json:
    """What the values of a field are like; those of a state field are its states."""
    if resource.machine is not None and resource.machine.field == field.name:
        return {"type": "string", "enum": list(resource.machine.states)}
    if resource.log and field.name == "payload":
        return payload(service.checked.events.kinds, service)
    return stated(field.schema, service) or type_schema(field.type, service)


def payload(kinds: Iterable[EventKind], service: Service) -> Json:
    """What events of some kinds carry, each as the version has it."""
    schemas = [shown(cause.payload, service) for kind in kinds for cause in as_in_version(kind, service).causes]
    return _any_of(schemas) if schemas else {}


def as_in_version(kind: EventKind, service: Service) -> EventKind | OlderKind:
    """A kind as the version of the document has it."""
    return next((each for each in kind.older if each.version == service.checked.version), kind)


# ── Types ─────────────────────────────────────────────────────────────────────────────────────────────────────


def type_schema(type_: Type, service: Service) -> Json:
    """What a type says of a value that is there, in JSON or as the text of a parameter."""
    match type_:
        case Boolean():
            return {"type": "boolean"}
        case Integer():
            return dict(INTEGER)
        case Number():
            return dict(NUMBER)
        case Text() | Digest():
            return {"type": "string"}
        case Timestamp():
            return {"type": "string", "format": "date-time"}
        case Duration():
            return {"type": "string", "format": "duration"}
        case ArrayType(items=items):
            return {"type": "array", "items": _or_null(type_schema(items, service), items.nullable)}
        case ObjectType(members=members):
            return _object_type(members, service)
        case Row(resource=name):
            target = service.checked.resources.get(name)
            return {"type": "string"} if target is None else field_schema(target.key, target, service)
        case Null():
            return {"type": "null"}
        case Anything():
            return {}
        case _:
            assert_never(type_)


def _object_type(members: Mapping[str, Type], service: Service) -> Json:
    schema: Json = {"type": "object"}
    if members:
        schema["properties"] = {
            name: _or_null(type_schema(member, service), member.nullable) for name, member in members.items()
        }
    needed = [name for name, member in members.items() if not member.nullable]
    return schema | ({"required": needed} if needed else {})


def _or_null(schema: Json, nullable: bool) -> Json:
    if not nullable or not schema or "null" in schema.get("type", ()):
        return schema
    if isinstance(schema.get("type"), str) and not {"enum", "const"} & schema.keys():
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


# ── What is shown ─────────────────────────────────────────────────────────────────────────────────────────────


def shown(content: Content, service: Service) -> Json:
    """The schema of a content that has a value. A row or a view that has a name is a reference to its component."""
    match content:
        case Leaf():
            return _leaf(content, service)
        case Object(named=str(name)):
            return reference(name)
        case Object():
            return members(content, service)
        case Array(items=items):
            several = [value_or_null(each, service) for each in items]
            return {"type": "array", "items": _any_of(several)} if several else {"type": "array", "maxItems": 0}
        case Rows(item=item):
            return {"type": "array", "items": value_or_null(item, service)}
        case Each(item=item):
            # An item that shows nothing is left out.
            return {"type": "array", "items": shown(item, service)}
        case Choice():
            return _any_of([shown(each, service) for each in _ends(content) if not _is_nothing(each)])
        case _:
            assert_never(content)


def _ends(content: Content) -> Iterator[Content]:
    """What may come of a content: of a choice, all that it leads to."""
    match content:
        case Choice(yes=yes, no=no):
            yield from _ends(yes)
            yield from _ends(no)
        case _:
            yield content


def _is_nothing(content: Content) -> bool:
    """Whether it is `null`, which shows nothing."""
    return isinstance(content, Leaf) and isinstance(content.expression.type, Null)


def _any_of(schemas: list[Json]) -> Json:
    distinct = [each for index, each in enumerate(schemas) if each not in schemas[:index]]
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def value_or_null(content: Content, service: Service) -> Json:
    """The schema of a content where it cannot be left out: as a whole body, or in an array."""
    return _or_null(shown(content, service), not is_certain(content, service))


def members(content: Object, service: Service) -> Json:
    """The schema of an object, member by member. What may be left out, by the request too, is not required (fixed
    meaning "no value")."""
    row = _at_home(content)
    schema: Json = {"type": "object"}
    asked = dict(row.expanded)
    properties = {name: _member(value, asked.pop(name, None), service) for name, value in row.members}
    properties |= {name: _member(value, None, service) for name, value in asked.items()}
    if properties:
        schema["properties"] = properties
    asked = dict(row.expanded)
    needed = [
        name
        for name, value in row.members
        if name not in row.optional and _is_always(value, service) and _is_always(asked.get(name, value), service)
    ]
    return schema | ({"required": needed} if needed else {})


def _member(content: Content, asked: Content | None, service: Service) -> Json:
    """The schema of a member. `asked`: what is shown in its place where a request asks for it."""
    own = _or_null(shown(content, service), content.null_shown)
    if asked is None:
        return own
    instead = _or_null(shown(asked, service), asked.null_shown)
    return own if own == instead else {"anyOf": [own, instead]}


def _is_always(content: Content, service: Service) -> bool:
    """Whether it is a member of every object, be it as `null`."""
    return is_certain(content, service) or content.null_shown


def is_certain(content: Content, service: Service) -> bool:
    """Whether a content has a value in every response, whoever calls."""
    match content:
        case Leaf(expression=expression):
            return _has_value(expression)
        case Object(present=None):
            return True
        case Object(present=row):
            assert row is not None and isinstance(row.type, Row)
            return _has_value(row) and service.is_seen_by_all(row.type.resource)
        case Array() | Rows():
            return True
        case Each(range=several):
            return _is_there(several)
        case Choice():
            return all(is_certain(each, service) for each in _ends(content))
        case _:
            assert_never(content)


def _has_value(typed: Typed) -> bool:
    return not typed.type.nullable and not may_fail(typed)


def _is_there(several: Typed) -> bool:
    """Whether an array that the database gives has a value always: all rows, or those that refer to a row that is
    at hand."""
    match several:
        case All() | Select(through="back", operand=Variable()):
            return True
        case Comprehension(macro="filter" | "map", range=range_, body=body, condition=condition):
            asked = [each for each in (body, condition) if each is not None]
            return _is_there(range_) and not any(each.type.nullable or may_fail(each) for each in asked)
        case _:
            return _has_value(several)


def _leaf(leaf: Leaf, service: Service) -> Json:
    match leaf.expression:
        case Select(operand=operand, name=name) if isinstance(operand.type, Row):
            resource = service.checked.resources[operand.type.resource]
            if name in resource.fields:
                return field_schema(resource.fields[name], resource, service)
        case _:
            pass
    return type_schema(leaf.expression.type, service)


def _at_home(content: Object) -> Object:
    """A row that is shown through a reference, as that row shows itself: once it is there, what it holds is as
    certain as anywhere. `article.author.username` becomes `user.username`."""
    row = content.present
    if row is None or not isinstance(row.type, Row):
        return content
    own = Variable(row.type.resource, Row(resource=row.type.resource))
    inside = tuple(
        (name, rewritten(value, lambda node: own if node == row else None)) for name, value in content.members
    )
    return replace(content, members=inside)


def rewritten(content: Content, change: Callable[[Typed], Typed | None]) -> Content:
    """A content with `change` made to its expressions, as `expressions.tree.rewrite` does."""
    return with_expressions(content, lambda each: rewrite(each, change))


def components(service: Service) -> Json:
    """Schemas by name: those of rows and views as responses show them, and those that fields share."""
    schemas: Json = {}
    for endpoint in service.endpoints:
        ends = endpoint.checked.operation.ends_well
        _add_named((end.content for end in ends if end.content is not None), schemas, service)
    if service.checked.events.webhooks is not None:
        told = (as_in_version(each, service).causes for each in service.checked.events.kinds)
        _add_named((cause.payload for cause in chain.from_iterable(told)), schemas, service)
    for name, shared in service.checked.types.items():
        schemas[component(type_name(name, service))] = within(shared, lambda each: stated(each, service))
    return schemas


def _add_named(contents: Iterable[Content], schemas: Json, service: Service) -> None:
    for each in chain.from_iterable(map(_named, contents)):
        name = component(each.named or "")
        if name not in schemas:
            schemas[name] = members(each, service)


def _named(content: Content) -> Iterator[Object]:
    match content:
        case Object(members=inside, expanded=asked):
            if content.named is not None:
                yield content
            for _, each in (*inside, *asked):
                yield from _named(each)
        case Array(items=items):
            for each in items:
                yield from _named(each)
        case Rows(item=item) | Each(item=item):
            yield from _named(item)
        case Choice(yes=yes, no=no):
            yield from _named(yes)
            yield from _named(no)
        case Leaf():
            pass
