"""What is stated where it can have no effect: it would be dropped in silence, and its author would rely on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ninefold.checks.assignments import is_serial
from ninefold.checks.event_log import has_log
from ninefold.checks.findings import Findings
from ninefold.checks.lists import OF_ONE_ROW
from ninefold.checks.model import type_of
from ninefold.contract.shared_types import types_in
from ninefold.diagnostics.codes import GIVEN_OTHERWISE, HEADER_OF_HTTP, SAYS_NOTHING, STATE_OF_NOTHING, TWO_EFFECTS
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.language.authentication import ALL, Scheme
from ninefold.language.declaration import headers, members, said
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Assignment
from ninefold.language.fact import Fact, Gap, Proposal, Shown, StatedNone, is_stated, text_of, value_of
from ninefold.language.parameters import EFFECTS, Parameter
from ninefold.language.resources import Field, Resource
from ninefold.language.states import Machine
from ninefold.language.verbs import Verb, kind_of
from ninefold.language.versioning import Versioning
from ninefold.values import Array
from ninefold.values.keywords import ANNOTATIONS

OF_HTTP = frozenset(
    ("connection", "content-length", "content-type", "date", "keep-alive", "trailer", "transfer-encoding", "upgrade")
)
"""Response headers that HTTP itself or the stated media type gives (RFC 9110, RFC 9112)."""

_DONE: Final = tuple((each, each.does) for each in members(Endpoint) if each.does is not None)


def without_effect(findings: Findings) -> None:
    """Says of each key, value and field that can have no effect why it has none."""
    contract, survey = findings.contract, findings.survey
    resources = survey.graph.resources
    stated_all = isinstance(contract.states.machines, Shown)
    for resource in resources.values():
        machine = contract.machine(resource.name)
        for field in value_of(resource.fields) or ():
            _annotations(resource, field, findings)
            _beside_a_reference(resource, field, resources, findings)
            if machine is not None or (stated_all and isinstance(contract.machines.get(resource.name), StatedNone)):
                _state(resource, field, machine, findings)
    for name, transition in findings.transitions:
        _sets(transition.sets, name, True, findings)
    for scheme in survey.schemes:
        _scheme(scheme, findings)
    for endpoint in survey.endpoints:
        _endpoint(endpoint, findings)
    _versioning(contract.versioning, findings)
    kept, delivery = contract.events.kept, value_of(contract.events.delivery)
    if (
        isinstance(kept, Shown)
        and isinstance(contract.endpoints.endpoints, Shown)
        and (delivery is None or isinstance(delivery.stream, StatedNone | None))
        and not survey.reading_back
        and has_log(contract) is None
    ):
        findings.say(
            SAYS_NOTHING,
            "`kept` says nothing where no endpoint reads or streams events",
            Label(kept.span, "kept for whom?"),
            help=("an endpoint reads them by `list event` or `read event`, or streams them",),
        )


def _versioning(versioning: Versioning, findings: Findings) -> None:
    """What no request can name, and what nothing is named by."""
    place = value_of(versioning.location)
    stated: tuple[tuple[str, Fact[Any] | None], ...] = (("name", versioning.parameter),)
    if isinstance(versioning.location, StatedNone):
        stated += ("versions", versioning.versions), ("default", versioning.default)
        why = "no request names a version"
    elif place is not None and place.text == "path":
        why = "the version itself stands at the front of the path"
    else:
        return
    for key, fact in stated:
        if isinstance(fact, Shown):
            message = f"`{key}` says nothing beside `in: {'path' if place else 'none'}`"
            findings.say(SAYS_NOTHING, message, Label(fact.span, why))


def _endpoint(endpoint: Endpoint, findings: Findings) -> None:
    actions = value_of(endpoint.does) or ()
    of_all = {*OF_ONE_ROW} if endpoint.of_all_rows else set[str]()
    if any(each.all and kind_of(each.verb).removes for each in actions):
        of_all.add("body")  # what is no field of the rows, and says which are meant
    verbs = [kind_of(each.verb) for each in actions]
    for key, does in _DONE:
        fact: Fact[object] | None = getattr(endpoint, key.attribute)
        # What an endpoint states is about its first operation; what else changes comes after the last.
        about = verbs if key.name == "also" else [*verbs[:1], *(each for each in verbs[1:] if not each.moves)]
        if key.name == "idempotency key" and endpoint.call is not None:
            continue  # a call is done once
        if isinstance(fact, Shown) and verbs and not any(map(does.of, about)) and key.name not in of_all:
            findings.say(
                SAYS_NOTHING,
                f"`{key.name}` says nothing of `{endpoint.key}`",
                Label(fact.span, does.words),
                Label(actions[0].span, "does nothing of the kind"),
                help=does.help(verbs[0]),
            )
    if verbs and verbs[0].sets:
        _sets(endpoint.sets, actions[0].subject or "", not verbs[0].makes, findings)
    _parameters(endpoint, verbs, findings)
    given = {each.name.lower(): f"`{key}` gives it" for key, each in headers(Endpoint, said(endpoint)).items()}
    etag = {"etag": "`etag` gives it"} if isinstance(endpoint.etag, Shown) else {}
    headers_of_http(endpoint.headers, given | etag, findings)


def _parameters(endpoint: Endpoint, verbs: list[Verb], findings: Findings) -> None:
    """Says of what a parameter does whether it does nothing here, or whether something else does it."""
    by: dict[str, Span] = {}
    for each in endpoint.parameters:
        first, *others = each.effects or ("",)
        if others:
            help = (f"two parameters do two things: `{first}` of one, and `{others[0]}` of the other",)
            message = f"the parameter `{each.name}` of `{endpoint.key}` does two things"
            findings.say(TWO_EFFECTS, message, Label(each.span, f"`{first}` and `{others[0]}`"), help=help)
        for effect in each.effects:
            does = EFFECTS[effect]
            is_of_all = effect == "where" and endpoint.of_all_rows
            if verbs and isinstance(getattr(each, effect), Shown) and not does.of(verbs[0]) and not is_of_all:
                message = f"`{effect}` of `{each.name}` says nothing of `{endpoint.key}`"
                findings.say(SAYS_NOTHING, message, Label(each.span, does.words))
            if effect != "where" and effect in by:
                message = f"two parameters of `{endpoint.key}` have `{effect}`"
                findings.say(TWO_EFFECTS, message, Label(each.span, "and this"), Label(by[effect], "this"))
            by[effect] = each.span
    for each in endpoint.declared:
        for key, why in _says_nothing(each, findings):
            findings.say(SAYS_NOTHING, f"`{key}` of `{each.name}` says nothing", Label(each.span, why))


def _says_nothing(each: Parameter, findings: Findings) -> Iterator[tuple[str, str]]:
    """What stands beside the schema of a parameter and says nothing, and why."""
    is_list = isinstance(type_of(each, findings.schemas), Array)
    is_open = not findings.contract.shared_types.open.isdisjoint(types_in(each.schema.json))
    several = is_list or is_open or each.where is not None or not (each.says_type or each.sorts)
    if each.always is not None and each.selects is None:
        yield "always", "no `selects` stands beside it"
    if each.default is not None and each.is_required:
        yield "default", "it is always given"
    if each.default is not None and each.sorts is not None:
        yield "default", "the order where none is chosen is the endpoint's `sort`"
    if each.explode is not None and (each.content is not None or not several):
        yield "explode", "it gives one value"


def headers_of_http(fact: Fact[tuple[Assignment, ...]] | None, given: Mapping[str, str], findings: Findings) -> None:
    """Says which headers of a response are not a contract's to give. `given`: what else gives some, in lower case."""
    named: set[str] = set()
    for header in value_of(fact) or ():
        name = header.name.lower()
        if name in OF_HTTP:
            findings.say(
                HEADER_OF_HTTP,
                f"`{header.name}` is not a contract's to give",
                Label(header.span, "HTTP gives it"),
                help=("the media type is stated for all responses: `produces: …`",) if name == "content-type" else (),
            )
        elif name in given:
            findings.say(
                HEADER_OF_HTTP,
                f"`{header.name}` is not a contract's to give here",
                Label(header.span, given[name]),
                help=("show the value under another name, or as a member of the response",),
            )
        elif name in named:
            findings.say(
                HEADER_OF_HTTP, f"`{header.name}` is given twice", Label(header.span, "case makes no difference")
            )
        named.add(name)


def _sets(fact: Fact[tuple[Assignment, ...]] | None, resource: str, changes: bool, findings: Findings) -> None:
    """`sets` gives what may be given: the state moves by transitions alone, and what is made otherwise is not given.
    `changes`: the row is there already."""
    fields = findings.survey.graph.fields.get(resource, {})
    for each in value_of(fact) or ():
        field = fields.get(each.name)
        if field is None:
            continue
        if is_stated(field.state):
            why = "is the state, which moves by transitions alone"
        elif isinstance(field.computed, Shown):
            why = "is computed"
        elif is_serial(field):
            why = "is a number that the service gives"
        elif changes and is_stated(field.immutable):
            why = "is given once, and no update changes it"
        else:
            continue
        findings.say(GIVEN_OTHERWISE, f"`{resource}.{each.name}` {why}", Label(each.span, "not to be set"))


def _annotations(resource: Resource, field: Field, findings: Findings) -> None:
    for key, reason in _idle(field):
        fact = getattr(field, key.replace(" ", "_"))
        if isinstance(fact, Shown) and fact.value is not False:
            findings.say(
                SAYS_NOTHING, f"`{key}` says nothing of `{resource.name}.{field.name}`", Label(fact.span, reason)
            )


def _idle(field: Field) -> Iterator[tuple[str, str]]:
    """The annotations that have no effect beside what else the field is, each with the reason."""
    stored = ("on create", "on change", "normalise")
    if isinstance(field.computed, Shown):
        for key in (*stored, "unique", "immutable", "secret"):
            yield key, "a computed field is never stored"
    elif is_stated(field.state):
        for key in (*stored, "secret", "references"):
            yield key, "a state moves by transitions alone"
    if isinstance(field.references, Shown):
        yield "secret", "a reference shows which row it leads to"
    elif field.references is None:
        yield "inverse", "this is no reference"
        yield "on delete", "this is no reference"
    secret = value_of(field.secret)
    if secret is not None and secret.text == "password":
        yield "unique", "no two hashes are the same"


def _beside_a_reference(
    resource: Resource, field: Field, resources: Mapping[str, Resource], findings: Findings
) -> None:
    """What a reference looks like is said by the identifier that it holds. Beside it only `null` is admitted."""
    target = value_of(field.references)
    schema = value_of(field.schema)
    if target is None or schema is None or target.text not in resources:
        return
    own = _identifier_schema(resources[target.text], resources)
    for entry in schema.node.entries:
        if entry.name not in schema.json or entry.name in ANNOTATIONS:
            continue
        value = schema.json[entry.name]
        if own is None:
            continue
        if entry.name == "type" and (kinds := _kinds(value)) and kinds == _kinds(own.get("type", value)):
            continue
        if entry.name not in own or own[entry.name] != value:
            findings.say(
                SAYS_NOTHING,
                f"`{entry.name}` says nothing of `{resource.name}.{field.name}`",
                Label(entry.key.span, f"a reference is the primary key of a `{target.text}`"),
                help=_and_null(own) if entry.name == "type" else (),
            )


def _and_null(own: Mapping[str, Any]) -> tuple[str, ...]:
    """How it is said that a reference may have no value."""
    kinds = [*_kinds(own.get("type", []))]
    return (f'where it may have no value: `type: [{kinds[0]}, "null"]`',) if len(kinds) == 1 else ()


def _identifier_schema(target: Resource, resources: Mapping[str, Resource]) -> Mapping[str, Any] | None:
    """The JSON Schema of a primary key as it is written; None where it is not one field, or not shown."""
    for _ in resources:
        names = value_of(target.primary_key) or ()
        field = next((each for each in value_of(target.fields) or () if [each.name] == [n.text for n in names]), None)
        if field is None:
            return None
        further = value_of(field.references)
        if further is None:
            schema = value_of(field.schema)
            return None if schema is None else schema.json
        if further.text not in resources:
            return None
        target = resources[further.text]
    return None


def _kinds(type_: Any) -> set[str]:
    return {type_} - {"null"} if isinstance(type_, str) else {each for each in type_ if each != "null"}


def _scheme(scheme: Scheme, findings: Findings) -> None:
    """What OpenAPI says of one type of scheme alone, and what only tokens have that somebody else signs."""
    type_ = text_of(scheme.type)
    others = (scheme.issuer, scheme.keys, scheme.issued_to)
    looked_up = isinstance(scheme.matches, Shown) and not any(isinstance(each, Shown) for each in others)
    idle: list[tuple[str, Fact[Any] | None, str]] = []
    matches = text_of(scheme.matches)
    if type_ not in (None, "mutualTLS"):
        idle.append(("credential", scheme.credential, "is of `mutualTLS`"))
    elif matches == ALL:
        idle.append(("credential", scheme.credential, "any certificate is taken"))
    if type_ not in (None, "apiKey"):
        idle += ("in", scheme.location, "is of `apiKey`"), ("name", scheme.parameter, "is of `apiKey`")
    if type_ not in (None, "http"):
        idle.append(("scheme", scheme.scheme, "is of `http`"))
    if looked_up:
        for key, fact in (
            ("audience", scheme.audience),
            ("algorithms", scheme.algorithms),
            ("scopes", scheme.scopes),
            ("lasts", scheme.lasts),
        ):
            idle.append((key, fact, "its credentials are looked up as they are"))
    elif isinstance(scheme.issued_to, Shown):
        for key, fact in (("audience", scheme.audience), ("algorithms", scheme.algorithms)):
            idle.append((key, fact, "the service makes its credentials itself"))
    if not isinstance(scheme.issued_to, Shown | Gap | Proposal):
        idle.append(("granted", scheme.granted, "is of credentials that the service issues"))
    elif isinstance(scheme.issued_to, Shown) and scheme.scopes is None:
        idle.append(("granted", scheme.granted, "there are no scopes"))
    for key, fact, reason in idle:
        if isinstance(fact, Shown):
            findings.say(SAYS_NOTHING, f"`{key}` says nothing of the scheme `{scheme.name}`", Label(fact.span, reason))


def _state(resource: Resource, field: Field, machine: Machine | None, findings: Findings) -> None:
    """One field is the state, where part 3 has states, and else none is."""
    first = resource.state
    if not is_stated(field.state) or first is None:
        return
    called = f"`{resource.name}.{field.name}`"
    if machine is None:
        findings.say(STATE_OF_NOTHING, f"{called} shows no state", Label(field.span, "nothing in part 3 moves it"))
    elif first.text != field.name:
        findings.say(
            STATE_OF_NOTHING,
            f"{called} is a second state",
            Label(field.span, "a row is in one state"),
            Label(first.span, "the first one"),
        )
