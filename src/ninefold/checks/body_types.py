"""Shared types that are bodies: the members that they have, and what they ask of the object as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ninefold.checked.bodies import BodyMember, WholeBody
from ninefold.checked.resources import Resource
from ninefold.checks.assignments import Rules
from ninefold.checks.findings import Findings
from ninefold.checks.schemas import SharedSchemas, admits_others, renamed
from ninefold.contract.shared_types import PREFIX, Member
from ninefold.diagnostics.codes import ASKS_FOR_THE_UNSAID, NOT_A_BODYS_TYPE
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import endpoints as stated
from ninefold.language.fact import Gap, Proposal, value_of
from ninefold.plan.routes import Rule
from ninefold.values import Anything, Object, Type
from ninefold.values.of_schemas import from_schema


def body_members(
    endpoint: stated.Endpoint, resource: Resource | None, findings: Findings
) -> tuple[BodyMember, ...] | None:
    """The members of a shared type that is the body, of which the resource has no such field: they are read as
    `request.body.NAME`. Without a resource these are all. None: some part of the type is a gap."""
    if endpoint.is_edited:
        return ()
    every, fields = every_member(endpoint, findings), {} if resource is None else resource.fields
    return None if every is None else tuple(each for each in every if each.name not in fields)


def every_member(endpoint: stated.Endpoint, findings: Findings) -> tuple[BodyMember, ...] | None:
    """All members of a shared type that is the body; None: some part of it is a gap, or it is not declared."""
    name, types = _described(endpoint, findings), findings.contract.shared_types
    if name is None:
        # Of a body that is not shown, or of a type that there is not, nobody knows the members.
        unknown = _type_of(endpoint) is not None or isinstance(endpoint.body, Gap | Proposal)
        return None if unknown else ()
    schemas, is_edited = _schemas(endpoint, findings), endpoint.is_edited
    needed, rules = {each.text for each in types.needed(name)}, _rules(name, findings)
    found = []
    for turn, (key, said) in enumerate(types.described(name).items()):
        always = [each.schema.json for each in said if each.always]
        # What a member is that is one at times alone, is asked with the whole.
        schema = schemas.inlined(always[0] if len(always) == 1 else {"allOf": always} if always else {})
        type_ = from_schema(schema) if always else _type_at_times(said, name, schemas)
        is_needed, place = key in needed and not is_edited, findings.place(said[0].name.span)
        found.append(BodyMember(key, type_, schema, is_needed, place, rules.get(key, ()), not always, turn))
    return tuple(found)


def _type_at_times(said: Sequence[Member], name: str, schemas: SharedSchemas) -> Type:
    """The type of a member that is described by schemas of which one holds or another."""
    types = [from_schema(schemas.inlined(each.schema.json)) for each in said]
    alike = all(each == types[0] for each in types)
    return types[0] if alike and not admits_others(_inlined(name, schemas)) else Anything(nullable=True)


def whole_body(endpoint: stated.Endpoint, resource: Resource | None, findings: Findings) -> WholeBody | None:
    """What a shared type that is the body asks of it as a whole; None: nothing, or some part of the type is a gap."""
    name, types = _described(endpoint, findings), findings.contract.shared_types
    if name is None:
        return None
    schemas, fields = _schemas(endpoint, findings), {} if resource is None else resource.fields
    needed: list[str] = []
    if endpoint.is_edited:
        # What a JSON Patch makes is the row as it shows it, which has no other members.
        shown = {each.name for each in fields.values() if each.called is not None and each.secret is None}
        needed = [each.text for each in types.needed(name) if each.text in shown]
    chosen = None if endpoint.case is None else endpoint.case.member
    asked, inlined = schemas.of_whole(name, chosen, needed), _inlined(name, schemas)
    others = None
    if admits_others(inlined):
        type_ = from_schema(inlined)
        others = type_.others if isinstance(type_, Object) and type_.others is not None else Anything(nullable=True)
    if asked is None and others is None:
        return None
    called = {each.name: each.called for each in fields.values() if each.called != each.name}
    place = findings.place(types.by_name[name].span)
    return WholeBody(renamed(asked or {}, called), others, place, _rules(name, findings).get(None, ()))


def other_members(endpoint: stated.Endpoint, findings: Findings) -> Object | None:
    """The members without a name of their own that a type admits which is the body; None: it admits none."""
    whole = None if endpoint.is_edited else whole_body(endpoint, None, findings)
    return None if whole is None or whole.others is None else Object(others=whole.others)


def check_type_of_body(endpoint: stated.Endpoint, findings: Findings) -> None:
    """Says where the type that is a body is not one of objects, or asks for what no body can have."""
    body, name, types = value_of(endpoint.body), _described(endpoint, findings), findings.contract.shared_types
    if body is None or body.reference is None or name is None or name not in types.bounded:
        return
    inlined, label = _inlined(name, _schemas(endpoint, findings)), Label(body.reference.span, "is the body")
    members = types.described(name)
    lacking = next((each.text for each in types.needed(name) if each.text not in members), None)
    if any(part.json.get("type", "object") not in ("object", ["object"]) for part in types.parts(name)) or not (
        members or isinstance(from_schema(inlined), Object)
    ):
        findings.say(NOT_A_BODYS_TYPE, f"a body is an object, and `{name}` is none", label)
    elif not members and endpoint.is_edited:
        findings.say(NOT_A_BODYS_TYPE, f"a JSON Patch edits fields, and `{name}` names none", label)
    elif lacking is not None and not admits_others(inlined):
        message = f"`{name}` requires `{lacking}`, which no body can have: it says nothing of such a member"
        findings.say(ASKS_FOR_THE_UNSAID, message, label)


def _type_of(endpoint: stated.Endpoint) -> str | None:
    """The shared type that is the body."""
    body = value_of(endpoint.body)
    return None if body is None or body.reference is None else body.reference.text


def _described(endpoint: stated.Endpoint, findings: Findings) -> str | None:
    """The shared type that is the body, of which no part is a gap."""
    name, types = _type_of(endpoint), findings.contract.shared_types
    return name if name in types.by_name and name not in types.open else None


def _schemas(endpoint: stated.Endpoint, findings: Findings) -> SharedSchemas:
    """The schemas, as is said of the unknown members of its body."""
    unknown = value_of(findings.contract.endpoints.requests_of(endpoint).unknown_members)
    return findings.schemas if unknown is None else findings.schemas.where(unknown.text)


def _inlined(name: str, schemas: SharedSchemas) -> dict[str, object]:
    found: dict[str, object] = schemas.inlined({"$ref": PREFIX + name})
    return found


def _rules(name: str, findings: Findings) -> Mapping[str | None, tuple[Rule, ...]]:
    """Where each rule of a type stands: by the member that it is about, and (None) those of the object as a whole."""
    schema = value_of(findings.contract.shared_types.by_name[name].schema)
    found: dict[str | None, list[Rule]] = {}
    for each in () if schema is None else Rules(findings).of_parameter(schema):
        member = each.path[0] if each.path and each.path[0] != "*" else None
        found.setdefault(member, []).append(each if member is None else Rule(each.path[1:], each.keyword, each.place))
    return {member: tuple(rules) for member, rules in found.items()}
