"""Bodies: which field each member is. A template is read backwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Final

from ninefold.checked.bodies import BodyConstant, BodyLeaf, BodyMember
from ninefold.checked.operations import PathName, Segment
from ninefold.checked.resources import Field, Resource
from ninefold.checks.body_types import body_members, every_member, other_members
from ninefold.checks.findings import Findings, meant
from ninefold.checks.unkept import check_beside
from ninefold.contract.service import Contract
from ninefold.contract.writes import constants, said_by_path, stored_of_path
from ninefold.diagnostics.codes import LOSES, NEVER_GIVEN, NOT_A_BODY, NOT_THE_CLIENTS, SAYS_NOTHING
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Const, Literal, Member, Name, parts
from ninefold.language import endpoints as stated
from ninefold.language import requests
from ninefold.language.expressions import Expression, Items, Leaf, Members, Template, expressions_in
from ninefold.language.fact import Gap, Proposal, StatedNone, value_of
from ninefold.language.verbs import kind_of

_BESIDE_FIELDS: Final = (
    'what is no field is a member of a shared type, `body: {$ref: "#/types/TYPE"}`, and is read as `request.body.NAME`'
)
_REPEATED: Final = "where it is `immutable`, a body may repeat what the path says"


@dataclass(frozen=True)
class _Named:
    """A field that a body names, and where."""

    pointer: tuple[str, ...]
    field: str
    span: Span
    turn: int


def check_body(endpoint: stated.Endpoint, resource: Resource, findings: Findings) -> tuple[BodyLeaf, ...] | None:
    """The leaves of a body; `()` where it is stated to be none, None where nothing is said."""
    if isinstance(endpoint.body, StatedNone):
        return ()
    body = value_of(endpoint.body)
    if body is None:
        return None
    if body.reference is not None:
        named = list(_referred(body, resource, findings.contract))
    else:
        named = [] if body.template is None else list(_named(body.template, resource, (), findings))
    same = [] if body.template is None else list(constants(body.template))
    members_given = [(each.pointer, each.span) for each in named]
    _one_of_a_name([*members_given, *((each.pointer, each.span) for each in same)], findings)
    leaves: dict[str, BodyLeaf] = {}
    kinds = [kind_of(action.verb) for action in value_of(endpoint.does) or ()]
    # Of a row that is there its number may be said.
    is_there = not any(each.is_given_once and each.row != "found" for each in kinds)
    replaces = any(each.is_of_what_becomes and not each.is_given_once for each in kinds)
    members = body_members(endpoint, resource, findings)
    others = {each.name for each in members or ()}
    said = {each.name: each for each in every_member(endpoint, findings) or ()}
    of_path = said_by_path(findings.survey, endpoint, resource.name)
    in_path = {name for name, _ in stored_of_path(findings.survey, endpoint, resource.name)}
    known = in_path.intersection(resource.primary_key) if replaces else set[str]()
    for each in named:
        field = resource.fields.get(each.field)
        if field is not None and field.called is None:
            continue  # an older version does not have it
        if field is None and (members is None or each.field in others):
            continue
        if field is None:
            findings.say(
                NOT_A_BODY,
                f"`{resource.name}` has no field `{each.field}`",
                Label(each.span, "not a field"),
                help=meant(each.field, resource.fields) or (_BESIDE_FIELDS,),
            )
        elif why := resource.made_otherwise(field, numbers=not (is_there and field.name in resource.primary_key)):
            findings.say(
                NOT_THE_CLIENTS, f"`{resource.name}.{field.name}` {why}", Label(each.span, "no client can set it")
            )
        elif field.name in of_path and not (field.name in known and resource.is_fixed(field.name)):
            help = ("leave it out of the body", *([_REPEATED] if field.name in known else []))
            message = f"`{resource.name}.{field.name}` is what the path of `{endpoint.key}` says"
            findings.say(NOT_THE_CLIENTS, message, Label(each.span, "no client can set it"), help=help)
        elif field.name in leaves:
            findings.say(NOT_A_BODY, f"the body gives `{field.name}` twice", Label(each.span, "again"))
        else:
            leaves[field.name] = BodyLeaf(each.pointer, field.name, said.get(each.field), each.turn)
            _lost(each, resource, findings)
            check_beside(leaves[field.name], resource, each.span, findings)
            if replaces and field.name not in known and _is_never_taken(field, resource):
                _never_taken(endpoint, resource, each, findings)
    if named and not leaves and all(_is_hidden(each, resource) for each in named):
        message = f"the body of `{endpoint.key}` names no field that is there"
        findings.say(NOT_A_BODY, message, Label(named[0].span, "is not there"))
    return tuple(leaves.values())


def check_set_beside_path(endpoint: stated.Endpoint, resource: Resource, findings: Findings) -> None:
    """What the path gives a row, `sets` does not give it too."""
    of_path = said_by_path(findings.survey, endpoint, resource.name)
    for each in value_of(endpoint.sets) or ():
        if each.name in of_path:
            findings.say(
                SAYS_NOTHING,
                f"`sets` says nothing of `{resource.name}.{each.name}`",
                Label(each.span, f"is what the path of `{endpoint.key}` says"),
                help=("leave it out",),
            )


def _is_never_taken(field: Field, resource: Resource) -> bool:
    """Whether every request that may replace a row has to give a field of it, which the path does not say, and may not
    change it."""
    return field.required and field.on_create is None and resource.is_fixed(field.name)


def _never_taken(endpoint: stated.Endpoint, resource: Resource, named: _Named, findings: Findings) -> None:
    """Of what is given once, and not by the path: whatever a `put` that may replace a row is given is refused."""
    findings.say(
        NEVER_GIVEN,
        f"`{resource.name}.{named.field}` is required, and `{endpoint.key}` cannot be given it",
        Label(named.span, "given, it would change a row that may be there; left out, it is missing"),
        help=(
            f"say it in the path: `{{{named.field}}}`"
            if named.field in resource.primary_key
            else f"leave `{named.field}` out, and name `replaced` alone: what only creates gives it",
        ),
    )


def _one_of_a_name(given: Sequence[tuple[tuple[str, ...], Span]], findings: Findings) -> None:
    """Each member of a body is said once: a list of fields may name one that a mapping in it names too."""
    whole: dict[tuple[str, ...], Span] = {}
    inner: dict[tuple[str, ...], Span] = {}
    for pointer, span in given:
        prefixes = [pointer[:length] for length in range(1, len(pointer))]
        first = whole.get(pointer) or inner.get(pointer) or next((whole[p] for p in prefixes if p in whole), None)
        if first is not None and pointer:
            message = f"the body has the member `{pointer[-1] if pointer in whole else pointer[0]}` twice"
            findings.say(NOT_A_BODY, message, Label(span, "again"), Label(first, "here it is said first"))
            continue
        whole[pointer] = span
        inner |= dict.fromkeys(prefixes, span)


def body_constants(endpoint: stated.Endpoint, findings: Findings) -> tuple[BodyConstant, ...]:
    """The members that a template says the value of: `{data: {type: "'articles'", …}}`."""
    body = value_of(endpoint.body)
    if body is None or body.template is None:
        return ()
    found = tuple(constants(body.template))
    if endpoint.is_edited:
        for each in found:
            message = "a JSON Patch edits fields, and this is none"
            findings.say(NOT_A_BODY, message, Label(each.span, "is always the same"))
        return ()
    return tuple(BodyConstant(each.pointer, each.value, findings.place(each.span), each.span.start) for each in found)


def check_members(
    endpoint: stated.Endpoint, resource: Resource | None, members: Sequence[BodyMember] | None, findings: Findings
) -> None:
    """What a body gives that is no field is read by something: else it would be dropped in silence."""
    body = value_of(endpoint.body)
    if endpoint.call is not None and endpoint.called_with is None:
        return  # what a function is called with is a gap, and may be what is given here
    if any(isinstance(getattr(endpoint, each.name), Gap | Proposal) for each in fields(endpoint)):
        return  # what is not shown, or reads a term that is not, may read what is given here
    reading = {name for each in expressions_in(endpoint) for name in _read_of_body(each.ast)}
    if None in reading:
        return
    if not (members or reading) and body is not None and other_members(endpoint, findings) is not None:
        named = findings.contract.shared_types.described(body.reference.text) if body.reference is not None else ()
        if not named:
            message = f"nothing reads the body of `{endpoint.key}`, whose type names no member"
            findings.say(NOT_A_BODY, message, Label(body.span, "is lost"), help=("it is read as `request.body`",))
    for each in members or ():
        if each.name not in reading and body is not None and body.reference is not None:
            what = "the body" if resource is None else f"`{resource.name}`"
            close = () if resource is None else meant(each.name, resource.fields)
            read = f".{each.name}" if each.name.isidentifier() else f"['{each.name}']"
            help = (*close, f"what is no field is read as `request.body{read}`, and nothing here reads it")
            findings.say(
                NOT_A_BODY, f"{what} has no field `{each.name}`", Label(body.reference.span, "not a field"), help=help
            )


def _read_of_body(ast: Ast) -> Iterator[str | None]:
    """The members of the body that an expression reads; None: all of them, as a whole."""
    match ast:
        case Member(operand=Member(operand=Name(name="request"), name="body"), name=name):
            yield name
        case Member(operand=Name(name="request"), name="body"):
            yield None
        case _:
            for part in parts(ast):
                yield from _read_of_body(part)


def _lost(named: _Named, resource: Resource, findings: Findings) -> None:
    """Says, once of each field, that an older version shows something else of it than what is stored."""
    field = resource.fields[named.field]
    if field.seen is None or field.seen.instead is None or field.seen.stored is not None:
        return
    message = f"what a client gives for `{resource.name}.{field.called}` would be lost"
    if all(each.message != message for each in findings.diagnostics):
        label = Label(named.span, "is worked out from what is stored")
        findings.say(LOSES, message, label, help=("say what is stored of it: `stored: …`",))


def _is_hidden(named: _Named, resource: Resource) -> bool:
    field = resource.fields.get(named.field)
    return field is not None and field.called is None


def _called(name: str, resource: Resource) -> str:
    """What callers call a field that a body names."""
    field = resource.fields.get(name)
    return name if field is None else field.called or name


def _referred(body: requests.Body, resource: Resource, contract: Contract) -> Iterator[_Named]:
    """`$ref: "#/types/NAME"`: the fields of the shared type, by their names."""
    assert body.reference is not None
    for turn, each in enumerate(contract.shared_types.members(body.reference.text)):
        name = each.name.text
        yield _Named((_called(name, resource),), name, body.reference.span, turn)


def _named(template: Template, resource: Resource, pointer: tuple[str, ...], findings: Findings) -> Iterator[_Named]:
    match template:
        case Members((), span) | Items((), span):
            what = "an empty list" if isinstance(template, Items) else "an empty mapping"
            help = () if pointer else ("where no body is taken, write `body: none`",)
            message = f"{what} in a body names no field"
            findings.say(NOT_A_BODY, message, Label(span, "gives nothing"), help=help)
        case Members(members):
            for member in members:
                yield from _named(member.value, resource, (*pointer, member.name), findings)
        case Items(items):
            for item in items:
                match item:
                    case Leaf(Expression(ast=Name(name=name), span=span)):
                        yield _Named((*pointer, _called(name, resource)), name, span, span.start)
                    case Members():
                        yield from _named(item, resource, pointer, findings)
                    case _:
                        _not_listed(item, resource, findings)
        case Leaf(expression):
            match expression.ast:
                case Member(operand=Name(name=root), name=name) if root in (resource.name, "subscription"):
                    yield _Named(pointer, name, expression.span, expression.span.start)
                case Name(name=name) if pointer:
                    yield _Named(pointer, name, expression.span, expression.span.start)
                case Literal(value=value) if pointer and value is not None:
                    return  # it gives nothing: see `body_constants`
                case Const(value=value) if pointer or isinstance(value, dict):
                    return
                case Member(operand=Name()) if not any(_read_of_body(expression.ast)):
                    message = f"`{expression.text}` is not a field of `{resource.name}`"
                    findings.say(NOT_A_BODY, message, Label(expression.span, "not a field"), help=(_BESIDE_FIELDS,))
                case _:
                    findings.say(
                        NOT_A_BODY,
                        f"`{expression.text}` is not a field of `{resource.name}`",
                        Label(expression.span, "a body is given, not computed"),
                        help=("the key is the member that a request has, and behind it stands the field it gives",)
                        if any(_read_of_body(expression.ast))
                        else (),
                    )


def _not_listed(item: Leaf | Items, resource: Resource, findings: Findings) -> None:
    """A list of fields has their names alone: an item that is anything else would be a member without a name."""
    span = item.span if isinstance(item, Items) else item.expression.span
    match item:
        case Leaf(Expression() as expression) if expression.text in resource.fields:
            name = expression.text
            message = f"`{name}` is a field of `{resource.name}`, and the name of a term"
            help: tuple[str, ...] = (f"give the term another name, or write `{{{name}: {resource.name}.{name}}}`",)
            findings.say(NOT_A_BODY, message, Label(span), help=help)
            return
        case Leaf(Expression(ast=Member(operand=Name(name=root), name=name))) if root == resource.name:
            help = (f"write `{name}`",)
        case _:
            help = ("a member with another name than its field stands in a mapping: `{NAME: FIELD}`",)
    # It is quoted, so that what was refused as a name is told once (`resolve.consequences`).
    what = "an item" if isinstance(item, Items) else f"`{item.expression.text}`"
    findings.say(NOT_A_BODY, f"{what} in a list of fields is not the name of one", Label(span, "is no name"), help=help)


def check_required(
    endpoint: stated.Endpoint,
    resource: Resource,
    body: tuple[BodyLeaf, ...] | None,
    segments: tuple[Segment, ...],
    findings: Findings,
) -> None:
    """Every required field of what is created is given by something, be it by what something else is wrong with."""
    given = {leaf.field for leaf in body or ()} | {each.name for each in value_of(endpoint.sets) or ()}
    stated_fields = findings.survey.graph.fields.get(resource.name, {})
    given |= {name for name, each in stated_fields.items() if value_of(each.on_create) is not None}
    given |= {(*segment.through, segment.field)[0] for segment in segments if isinstance(segment, PathName)}
    if resource.machine is not None:
        given.add(resource.machine.field)
    for field in resource.fields.values():
        if field.required and not field.is_made and field.name not in given:
            findings.say(
                NEVER_GIVEN,
                f"`{resource.name}.{field.name}` is required, and `{endpoint.key}` has nothing to give it",
                Label(endpoint.span, "creates one without it"),
                help=(f"add `{field.name}` to the body, or give the field an `on create`",)
                if field.seen is None
                else (f"say what it is there: `{{remove: {resource.name}.{field.name}, on create: …}}`",),
            )
