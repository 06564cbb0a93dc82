"""Part 4: bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs

from ninefold.checked.bodies import BodyLeaf, BodyMember
from ninefold.checked.endpoints import Case, Endpoint, Requests
from ninefold.checked.operations import Mutation, Operation, Update
from ninefold.checked.resources import Effect, Field, Resource
from ninefold.checked.service import Checked
from ninefold.compile import granting
from ninefold.compile.effects import given_by_items, member_of_body
from ninefold.expressions.tree import Typed
from ninefold.language.verbs import Verb
from ninefold.plan.routes import Body, BodyField, WholeBody
from ninefold.values import Anything, Object, Text, Type, optional

MERGE_PATCH = "application/merge-patch+json"
"""RFC 7396, section 4."""

JSON_PATCH = "application/json-patch+json"
"""RFC 6902, section 6."""


def body(endpoint: Endpoint, checked: Checked) -> Body | None:
    """How a body is read; None: the endpoint takes none."""
    return body_of(endpoint.operation, checked.requests_of(endpoint), checked, endpoint.case)


def body_of(operation: Operation, requests: Requests, checked: Checked, case: Case | None = None) -> Body | None:
    """The same of an operation, however it is asked for."""
    takes = operation.takes
    if operation.resource is None:
        return _of_members(operation, requests, checked, case) if takes.members or takes.whole is not None else None
    if takes.body is None:
        return None
    if operation.kind.grants:
        return granting.body(operation, checked.resources[operation.resource], requests)
    media_types = requests.media_types
    if not takes.body and not takes.members and not takes.constants and takes.whole is None:
        return Body(media_types, {"type": "object"}, unknown=requests.unknown_members, optional=True)
    resource = checked.resources[operation.resource]
    unknown = requests.unknown_members
    edits = isinstance(operation, Update) and operation.patch == "json-patch"
    merge = isinstance(operation, Update) and operation.patch == "merge"
    fields = tuple(_field(leaf, operation, resource, merge, edits) for leaf in takes.body)
    return Body(
        media_types=(*media_types, MERGE_PATCH) if merge else (*media_types, JSON_PATCH) if edits else media_types,
        schema=_as_written(
            _with_constants(
                _naming(
                    _with_members(_schema(takes.body, resource, operation.kind, unknown), operation, checked, unknown),
                    case,
                ),
                operation,
            ),
            takes.written,
        ),
        fields=fields,
        unknown=unknown,
        merge=merge,
        edits=edits,
        chosen_by=None if case is None else case.member,
        members=_types(operation),
        beside=tuple(_beside(operation, checked)),
        whole=_whole(operation),
        constants=tuple(each.pointer for each in operation.takes.constants),
        texts=requests.texts,
    )


def _field(leaf: BodyLeaf, operation: Operation, resource: Resource, merge: bool, edits: bool) -> BodyField:
    field, given = resource.fields[leaf.field], resource.as_given(leaf.field)
    return BodyField(
        field=leaf.field,
        pointer=leaf.pointer,
        type=_given_type(field),
        normalise=field.normalise,
        fixed=not operation.kind.is_given_once and resource.is_fixed(leaf.field),
        known_as=_known_as(leaf, operation, resource),
        merged=merge and isinstance(given.type, Anything | Object),
        null_shown=edits and given.null_shown,
        stored=_stored_of(field),
        held=_held_as_stored(field),
        was=_was(leaf.field, resource),
        said=dict(field.said),
        rules=(*field.rules, *(() if leaf.beside is None else leaf.beside.rules)),
        trace=(field.place,),
    )


def _known_as(leaf: BodyLeaf, operation: Operation, resource: Resource) -> str | None:
    """The name in braces that gives what a body says the row is known by."""
    if operation.kind.is_given_once or leaf.field not in resource.primary_key or not resource.is_fixed(leaf.field):
        return None
    return next((each.text for each in operation.names if not each.through and each.field == leaf.field), None)


def _effects(operation: Operation) -> tuple[Effect, ...]:
    return operation.also if isinstance(operation, Mutation) else ()


def _types(operation: Operation) -> dict[str, Type]:
    return {each.name: each.type for each in operation.takes.members}


def _beside(operation: Operation, checked: Checked) -> Iterator[BodyField]:
    """Where the members that are no fields are stated, with their rules: also those of the fields of rows that are made
    of their items. What is asked of all of them together comes last."""
    for member in operation.takes.members:
        own = member.rules
        for effect in _effects(operation):
            if effect.each is not None and member_of_body(effect.each) == member.name:
                for leaf in given_by_items(effect):
                    of_field = checked.resources[effect.resource].fields[leaf.field].rules
                    own += tuple(structs.replace(each, path=(*leaf.pointer[1:], *each.path)) for each in of_field)
        yield BodyField(member.name, (member.name,), member.type, rules=own, trace=(member.place,))
    whole = operation.takes.whole
    if whole is not None:
        yield BodyField("", (), Object(), rules=whole.rules, trace=(whole.place,))


def _whole(operation: Operation) -> WholeBody | None:
    takes = operation.takes
    if takes.whole is None:
        return None
    leaves = [leaf for leaf in takes.body or () if leaf.beside is not None and leaf.beside.at_times]
    at_times = (*(leaf.pointer[0] for leaf in leaves), *(each.name for each in takes.members if each.at_times))
    return WholeBody(dict(takes.whole.schema), at_times, takes.whole.others)


def _of_members(operation: Operation, requests: Requests, checked: Checked, case: Case | None) -> Body:
    """A body of which no member is a field."""
    of_members = _with_members({"type": "object", "properties": {}}, operation, checked, requests.unknown_members)
    return Body(
        media_types=requests.media_types,
        schema=_naming(of_members, case),
        unknown=requests.unknown_members,
        members=_types(operation),
        beside=tuple(_beside(operation, checked)),
        whole=_whole(operation),
    )


def _with_members(schema: dict[str, Any], operation: Operation, checked: Checked, unknown: str) -> dict[str, Any]:
    """With the members that are no fields. What the items of an array give the fields of rows is held to the schemas
    of these fields as well: what is wrong is told at its place, before anything is written."""
    properties = {**schema["properties"], **{each.name: dict(each.schema) for each in operation.takes.members}}
    for effect in _effects(operation):
        array = None if effect.each is None else member_of_body(effect.each)
        if array in properties:
            held = _of_items(effect, checked.resources[effect.resource], unknown)
            own = properties[array]
            first = (
                {"prefixItems": [_besides(each, held) for each in own["prefixItems"]]} if "prefixItems" in own else {}
            )
            properties[array] = {**own, **first, "items": _besides(own.get("items", True), held)}
    needed = [
        *dict.fromkeys((*schema.get("required", ()), *(each.name for each in operation.takes.members if each.required)))
    ]
    return {**schema, "properties": properties} | ({"required": needed} if needed else {})


def _besides(one: dict[str, Any] | bool, other: dict[str, Any]) -> dict[str, Any]:
    return other if one is True or one == {} else {"allOf": [one, other]}


def _with_constants(schema: dict[str, Any], operation: Operation) -> dict[str, Any]:
    """With the members that are always the same, each of which is required in the object that it stands in."""
    for each in operation.takes.constants:
        schema = _with_constant(schema, each.pointer, each.value)
    return schema


def _with_constant(schema: dict[str, Any], pointer: tuple[str, ...], value: object) -> dict[str, Any]:
    name, within = pointer[0], pointer[1:]
    own = schema.get("properties", {}).get(name, {"type": "object", "properties": {}} if within else {})
    member = _with_constant(own, within, value) if within else {**own, "const": value}
    needed = [*dict.fromkeys((*schema.get("required", ()), *(() if within else (name,))))]
    properties = {**schema.get("properties", {}), name: member}
    return {**schema, "properties": properties} | ({"required": needed} if needed else {})


def _as_written(schema: dict[str, Any], pointers: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """With its members in the order in which the contract writes them, in which is told what is wrong with them."""
    own, within = schema["properties"], dict[str, list[tuple[str, ...]]]()
    for pointer in pointers:
        within.setdefault(pointer[0], []).append(pointer[1:])
    ordered = {name: _as_written(own[name], inner) if inner[0] else own[name] for name, inner in within.items()}
    return {**schema, "properties": ordered | {name: each for name, each in own.items() if name not in ordered}}


def _of_items(effect: Effect, resource: Resource, unknown: str) -> dict[str, Any]:
    """What each item has to be for a row that is made of it."""
    found: dict[str, Any] = {}
    for leaf in given_by_items(effect):
        field = resource.fields[leaf.field]
        schema: dict[str, Any] = {**field.held_to(unknown)}
        needed = field.required or not field.type.nullable  # nothing makes what an item leaves out
        for name in reversed(leaf.pointer[2:]):
            schema = {"type": "object", "properties": {name: schema}} | ({"required": [name]} if needed else {})
        found = _both(found, schema)
    return found


def _both(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """A schema that asks for what two of them ask for."""
    if not first or "properties" not in first or "properties" not in second:
        return {"allOf": [first, second]} if first else second
    properties = {**first["properties"]}
    for name, schema in second["properties"].items():
        properties[name] = _both(properties.get(name, {}), schema)
    needed = [*dict.fromkeys((*first.get("required", ()), *second.get("required", ())))]
    return {**first, "properties": properties} | ({"required": needed} if needed else {})


def _naming(schema: dict[str, Any], case: Case | None) -> dict[str, Any]:
    """With the case's name as the value of the member that chooses it; otherwise, with no case's."""
    if case is None or case.member is None:
        return schema
    named = {"const": case.name} if case.name is not None else {"not": {"enum": list(case.all)}}
    own = schema["properties"].get(case.member, {})
    needed = [*schema.get("required", ())]
    if case.name is not None and case.member not in needed:
        needed.append(case.member)
    properties = {**schema["properties"], case.member: {**own, **named}}
    return {**schema, "properties": properties} | ({"required": needed} if needed else {})


def _stored_of(field: Field) -> Typed | None:
    return None if field.seen is None else field.seen.stored


def _was(name: str, resource: Resource) -> str | None:
    older = resource.as_given(name).name
    return None if older == name else older


def _given_type(field: Field) -> Type:
    """A secret is given as text; a digest is what is stored of it. A client of an older version may give something
    else than what is stored."""
    if field.seen is not None and field.seen.stored is not None and field.seen.given is not None:
        return optional(field.seen.given) if field.type.nullable else field.seen.given
    return Text(nullable=field.type.nullable) if field.secret is not None else field.type


def _held_as_stored(field: Field) -> dict[str, Any] | None:
    """The schema of what is stored, where that is not what is given."""
    return None if field.seen is None or field.seen.stored is None else dict(field.schema)


def _held_to(field: Field, unknown: str) -> dict[str, Any]:
    """The schema of what is given. Beside its own, what an older version asks is what the rows are held to."""
    own = dict(field.held_to(unknown))
    older = None if field.seen is None else field.seen.held_to(unknown)
    if field.seen is None or older is None:
        return own
    return dict(older) if field.seen.stored is not None else {"allOf": [dict(older), own]}


def _with_type(schema: dict[str, Any], said: BodyMember | None) -> dict[str, Any]:
    """With what the type that is the body says besides."""
    more = {} if said is None else {key: each for key, each in said.schema.items() if schema.get(key) != each}
    return {"allOf": [schema, more]} if more and schema else schema | more


def _schema(leaves: Sequence[BodyLeaf], resource: Resource, verb: Verb, unknown: str, depth: int = 0) -> dict[str, Any]:
    """The JSON Schema of an object that holds these leaves. In a merge patch nothing is required of it, and of who
    signs in everything."""
    properties: dict[str, Any] = {}
    required = []
    for name in dict.fromkeys(leaf.pointer[depth] for leaf in leaves):
        within = [leaf for leaf in leaves if leaf.pointer[depth] == name]
        if len(within) == 1 and len(within[0].pointer) == depth + 1:
            field = resource.fields[within[0].field]
            properties[name] = _with_type(_held_to(field, unknown), within[0].beside)
            made = (
                field.on_create is not None
                or field.on_change is not None
                or (not verb.is_given_once and field.name in resource.primary_key and resource.is_fixed(field.name))
            )
            of_type = within[0].beside is not None and within[0].beside.required
            if of_type or verb.row == "found" or (field.required and not made and not verb.patches):
                required.append(name)
        else:
            properties[name] = _schema(within, resource, verb, unknown, depth + 1)
            if properties[name].get("required"):
                required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": required} if required else {})
