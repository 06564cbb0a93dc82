"""Part 2: which resources; the primary key, fields and types of each; secrets; deletions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ninefold.contract.questions.question import RESOURCES, At, blocking, leaving_out, unanswered
from ninefold.contract.shared_types import own_members
from ninefold.contract.survey import Survey, actions
from ninefold.contract.writes import named_in_path
from ninefold.diagnostics.frozen import replace
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, Shown, is_open, text_of, value_of
from ninefold.language.json_schema import HOLDING, TYPING
from ninefold.language.question import OpenQuestion
from ninefold.language.resources import FIELDS, ON_DELETE, PRIMARY_KEY, READABLE, TYPE, Field, Resource, SharedType
from ninefold.language.schemas import Schema
from ninefold.language.verbs import kind_of
from ninefold.syntax.nodes import Mapping, Node, Sequence, is_word, scalars


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    resources = survey.contract.resources
    place = survey.contract.document.part("resources").place
    if at := unanswered(resources.resources, place):
        yield blocking(RESOURCES, "resources", at, survey.keys)
    for resource in value_of(resources.resources) or ():
        yield from _of_resource(survey, resource)
    for shared in resources.types:
        yield from _of_type(survey, shared)


def _of_resource(survey: Survey, resource: Resource) -> Iterator[OpenQuestion]:
    reaching = survey.reaching(resource.name)
    if at := unanswered(resource.primary_key, resource.span):
        yield blocking(PRIMARY_KEY, resource.name, at, reaching)
    if at := unanswered(resource.fields, resource.span):
        yield blocking(FIELDS, resource.name, at, reaching)
    fields = value_of(resource.fields) or ()
    for field in fields:
        subject = f"{resource.name}.{field.name}"
        if at := _untyped(field):
            yield blocking(TYPE, subject, at, reaching)
        if at := _unreadable(survey, subject, field):
            yield blocking(READABLE, subject, at, reaching)
        target = value_of(field.references)
        at = unanswered(field.on_delete, field.span)
        if target is not None and at is not None:
            text = f"what deleting the `{target.text}` does that `{subject}` references"
            if deleting := survey.deleting(target.text):
                yield blocking(ON_DELETE, subject, at, deleting, text)
            elif survey.graph.expires(target.text):
                yield leaving_out(ON_DELETE, subject, at, f"the end of each `{target.text}` by itself", text)
    signing_in = (*survey.signing_in(resource.name), *_by_password(survey, resource.name))
    if signing_in and not any(_is_password(field) for field in fields):
        text = f"which field of `{resource.name}` is the password that callers and sign ins are held to"
        yield blocking(READABLE, resource.name, At(resource.span), tuple(dict.fromkeys(signing_in)), text)
    for name in value_of(resource.primary_key) or ():
        for field in fields:
            if field.name == name.text and (makerless := _without_maker(survey, resource, field)):
                text = f"who makes `{resource.name}.{field.name}`, which identifies `{resource.name}`"
                at = unanswered(field.on_create, field.span) or At(field.span)
                yield blocking(PRIMARY_KEY, resource.name, at, makerless, text)


def _untyped(field: Field) -> At | None:
    """A reference, a state field and most computed ones have their types from elsewhere; every other field says its
    own."""
    if value_of(field.references) is not None or value_of(field.state) or field.type is not None:
        return None
    facts: tuple[Fact[Any] | None, ...] = (field.references, field.state, field.schema)
    for fact in facts:
        if fact is not None and (at := unanswered(fact, field.span)):
            return at
    match field.schema:
        case Shown(schema):
            return unsaid(schema, At(field.span))
        case _:
            return At(field.span)


def unsaid(schema: Schema, at: At) -> At | None:
    """Where a schema, or one of the values within, says no type: at its `not shown`, if one is written."""
    return _unsaid(schema.node, at)


def _unsaid(node: Mapping, at: At) -> At | None:
    entries = {entry.name: entry.value for entry in node.entries if not is_word(entry.value, "none")}
    typing = [entries[name] for name in TYPING if name in entries]
    if not typing:
        return at
    if open_ := next((value for value in typing if is_word(value, "not shown")), None):
        return At(open_.span)
    held = (each for name in HOLDING if name in entries for each in _schemas(name, entries[name]))
    return next((found for each in held if (found := _unsaid(each, At(each.span))) is not None), None)


def _schemas(keyword: str, value: Node) -> Iterator[Mapping]:
    """The schemas that a keyword holds; a truth value says all of its values."""
    match keyword, value:
        case "properties", Mapping(entries=entries):
            yield from (entry.value for entry in entries if isinstance(entry.value, Mapping))
        case "prefixItems", Sequence(items=items):
            yield from (item for item in items if isinstance(item, Mapping))
        case _, Mapping():
            yield value


def _unreadable(survey: Survey, subject: str, field: Field) -> At | None:
    """A field that credentials are looked up in has to say that it is secret, and how."""
    looked_up = any(
        text_of(scheme.matches) == subject
        for scheme in survey.schemes
        if not scheme.may_be_basic  # whose user-ids are no secret, and nor are certificates
        and ((kind := value_of(scheme.type)) is None or kind.text != "mutualTLS")
    )
    if field.secret is None and not looked_up:
        return None
    return unanswered(field.secret, field.span)


def _by_password(survey: Survey, resource: str) -> Iterator[str]:
    """The endpoints that admit callers by a user-id and a password of a resource."""
    for scheme in survey.schemes:
        matches = value_of(scheme.matches) if scheme.is_basic else None
        if matches is not None and matches.text.partition(".")[0] == resource:
            yield from survey.naming(scheme.name)


def _is_password(field: Field) -> bool:
    """Whether a field is a password, or will say itself what it is."""
    word = value_of(field.secret)
    return word.text == "password" if word is not None else field.secret is not None


def _without_maker(survey: Survey, resource: Resource, field: Field) -> tuple[str, ...]:
    """The endpoints that create rows without a primary key, or may find none: it has no `on create`, and neither their
    body, their path nor their `sets` gives it. A primary key without `on create` is the client's, who must be able to
    name it."""
    if not is_open(field.on_create) or field.computed is not None:
        return ()
    by_key = survey.contract.endpoints_by_key
    makes = (
        key
        for key in survey.creating(resource.name)
        if not all(_gives(survey, each, resource.name, field) for each in survey.cases(by_key[key]))
    )
    # A row that may be absent is known by what the contract makes of the caller as well, once it says what.
    finds = () if field.on_create is None else survey.deleting(resource.name)
    unnamed = (
        key
        for key in finds
        if "absent" in by_key[key].outcomes and field.name not in named_in_path(survey, by_key[key], resource.name)
    )
    return tuple(dict.fromkeys((*makes, *unnamed)))


def _gives(survey: Survey, endpoint: Endpoint, resource: str, field: Field) -> bool:
    """Whether every row of the resource that an endpoint creates is given the field: by its effects, which have nothing
    but their `sets`, and by what it does itself."""
    effects = [each for each in survey.effects(endpoint) if each.subject == resource and kind_of(each.verb).makes]
    if not all(any(assignment.name == field.name for assignment in each.sets) for each in effects):
        return False
    if not any(kind_of(action.verb).makes and action.subject == resource for action in actions(endpoint)):
        return True
    if is_open(endpoint.body) and endpoint.method not in ("GET", "HEAD", "DELETE"):
        return True  # its body is a question of part 4
    paths = named_in_path(survey, endpoint, resource)
    set_here = {assignment.name for assignment in value_of(endpoint.sets) or ()}
    return (resource, field.name) in survey.body_fields(endpoint) or field.name in paths or field.name in set_here


def _of_type(survey: Survey, shared: SharedType) -> Iterator[OpenQuestion]:
    subject, schema = f"types.{shared.name}", value_of(shared.schema)
    reaching = using(survey, shared.name)
    if schema is None:
        at = unanswered(shared.schema, shared.span)
    else:
        for name, member, _ in own_members(schema):
            if at := unsaid(member, At(name.span)):
                yield blocking(TYPE, f"{subject}.{name.text}", at, reaching)
        others = tuple(entry for entry in schema.node.entries if entry.name != "properties")
        at = _unsaid(replace(schema.node, entries=others), At(shared.span))
    if at is not None:
        yield blocking(TYPE, subject, at, reaching)


def using(survey: Survey, name: str) -> tuple[str, ...]:
    """The endpoints that reach a resource with a field of a shared type, or whose body is one."""
    types = survey.contract.shared_types.using(name)
    resources = frozenset(resource for each in types for resource in survey.graph.of_types.get(each, ()))
    return tuple(
        endpoint.key for endpoint in survey.endpoints
        if survey.reach[endpoint.key].touches & resources
        or ((body := value_of(endpoint.body)) is not None
            and body.reference is not None
            and body.reference.text in types)
    )  # fmt: skip


def having(survey: Survey, resource: str) -> tuple[str, ...]:
    """The endpoints that reach a resource, or one that includes it: what is written there is theirs too."""
    facts = survey.contract.document.part("resources").facts
    above = {
        each.name: {name.text for name in scalars(included.value)}
        for each in facts.entries
        if isinstance(each.value, Mapping) and (included := each.value.get("includes"))
    }
    found, ahead = {resource}, [resource]
    while ahead:
        name = ahead.pop()
        more = {each for each, included in above.items() if name in included} - found
        found |= more
        ahead += more
    reaching = {key for each in found for key in survey.reaching(each)}
    return tuple(key for key in survey.keys if key in reaching)
