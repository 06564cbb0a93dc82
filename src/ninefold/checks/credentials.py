"""Parts 4 and 5: credentials that the service issues: whose they are, who is given one, and which of them end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.checked.contents import Content, Response, all_expressions, expressions_of
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Issued
from ninefold.checks.effects import stated_effects
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.checks.showing import Showing
from ninefold.contract.effects import each_alone
from ninefold.contract.survey import signs_out_caller
from ninefold.diagnostics.codes import (
    CREDENTIAL_KEPT,
    ENDS_NOTHING,
    ISSUER_TWICE,
    ISSUES_FOR_NOBODY,
    NEVER_ISSUED,
    NEVER_TOLD,
    NOT_FOUND_BY,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import reads_member
from ninefold.expressions.tree import Select, Variable, walk
from ninefold.language import authentication as stated
from ninefold.language import effects
from ninefold.language.endpoints import Endpoint, Ends
from ninefold.language.fact import Gap, Proposal, Shown, StatedNone, value_of
from ninefold.language.verbs import Verb, kind_of
from ninefold.values import Array, Text


def check_issued(
    scheme: stated.Scheme, resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
) -> Issued | None:
    """Of a scheme whose credentials the service makes; None: it is another, or something of it is open or wrong."""
    kind, owner = value_of(scheme.type), value_of(scheme.issued_to)
    if kind is None or owner is None:
        return None
    if isinstance(scheme.matches, Shown):
        findings.say(
            ISSUER_TWICE,
            f"`{scheme.name}` says in two ways whose its credentials are",
            Label(owner.span, "`issued to` is one"),
            Label(scheme.matches.span, "`matches` is another"),
        )
        return None
    if kind.text not in ("http", "apiKey", "oauth2") or scheme.is_basic:
        presented = "a user-id and a password" if scheme.is_basic else f"those of `{kind.text}`"
        findings.say(
            NOT_FOUND_BY,
            f"the credentials of `{scheme.name}` are not the service's to make",
            Label(owner.span, f"they are {presented}"),
            help=("a service issues credentials of the types `http` (`scheme: bearer`), `apiKey` and `oauth2`",),
        )
        return None
    if owner.text not in resources or not isinstance(scheme.lasts, Shown | StatedNone):
        return None
    scopes, granted = tuple(name.text for name in value_of(scheme.scopes) or ()), value_of(scheme.granted)
    if isinstance(scheme.granted, StatedNone):
        return Issued(owner.text, scopes)
    if not scopes or granted is None:
        return None if isinstance(scheme.scopes, Shown) else Issued(owner.text)
    # What a credential is granted is kept with it: it is about its row, and not about a request.
    over = vocabulary.scope(owner.text, caller=None, request=None)
    found = typed(granted, over, Array(items=Text(), nullable=True), findings)
    return None if found is None else Issued(owner.text, scopes, found)


def check_issues(endpoint: Endpoint, verb: str, resource: Resource | None, findings: Findings) -> str | None:
    """The scheme of which an endpoint makes a credential; None: it makes none, or it is wrong."""
    named = value_of(endpoint.issues)
    schemes = {each.name: each for each in findings.survey.schemes}
    scheme = None if named is None else schemes.get(named.text)
    if named is None or scheme is None:
        return None
    owner = value_of(scheme.issued_to)
    if owner is None:
        if scheme.issued_to is None and any(isinstance(each, Shown) for each in (scheme.matches, scheme.issuer)):
            findings.say(
                ISSUES_FOR_NOBODY,
                f"`{scheme.name}` is not a scheme whose credentials the service makes",
                Label(named.span, "cannot be issued"),
                Label(scheme.span, "has no `issued to`"),
            )
        return None
    if not kind_of(verb).issues:
        findings.say(
            ISSUES_FOR_NOBODY,
            f"`{endpoint.key}` leaves no row that a credential could be of",
            Label(named.span, f"`{verb}` makes, changes and signs in to nothing"),
        )
        return None
    if resource is not None and owner.text != resource.name:
        findings.say(
            ISSUES_FOR_NOBODY,
            f"`{endpoint.key}` issues a credential to rows of `{owner.text}`, and acts on `{resource.name}`",
            Label(named.span, f"`{scheme.name}` is of another resource"),
            Label(owner.span, "issued to these"),
        )
        return None
    return scheme.name


def check_ends(endpoint: Endpoint, kind: Verb, resource: Resource | None, findings: Findings) -> Ends | None:
    """Which credentials of its row an endpoint ends; None: none, or it is wrong."""
    word, ends = value_of(endpoint.ends), endpoint.ends
    if resource is None or not kind.ends or not (isinstance(ends, Shown) or kind.ends == "has to"):
        return None
    if isinstance(ends, StatedNone):
        findings.say(ENDS_NOTHING, f"`{endpoint.key}` signs out, and ends no credential", Label(ends.span, "ends none"))
        return None
    place = ends.span if isinstance(ends, Shown) else endpoint.span
    schemes = {each.name: each for each in findings.survey.schemes}
    owners = {name: value_of(each.issued_to) for name, each in schemes.items()}
    if not any(owner is not None and owner.text == resource.name for owner in owners.values()):
        said = (findings.contract.authentication.schemes, *(each.issued_to for each in schemes.values()))
        if not any(isinstance(each, Gap | Proposal) for each in said):
            findings.say(
                ENDS_NOTHING,
                f"`{endpoint.key}` ends credentials of `{resource.name}`, and none is issued to one",
                Label(place, f"no scheme is `issued to: {resource.name}`"),
            )
        return None
    named = not all(signs_out_caller(endpoint, each) for each in value_of(endpoint.does) or ())
    presented = word is not None and word.text == "presented"
    for who in (each.who for each in findings.survey.admitted(endpoint)):
        scheme = schemes.get(who.text)
        if scheme is not None and _is_of(scheme, resource.name, presented):
            continue
        if presented:
            findings.say(
                ENDS_NOTHING,
                f"callers by `{who.text}` present no credential that was issued to a `{resource.name}`",
                Label(who.span, "may call"),
                Label(place, "ends what they present"),
            )
        elif kind.row == "caller's" and not named:
            findings.say(
                ENDS_NOTHING,
                f"`{endpoint.key}` does not say whose credentials end where `{who.text}` calls",
                Label(who.span, f"is no `{resource.name}`"),
                Label(place),
                help=(f"name the `{resource.name}` in the path, or by `where: {resource.name} == …`",),
            )
        else:
            continue
        return None
    if presented and kind.row == "caller's" and named:
        findings.say(
            ENDS_NOTHING,
            f"`{endpoint.key}` says in two ways whose credential ends",
            Label(endpoint.span, "names a row"),
            Label(place, "is the caller's own, whoever that is"),
            help=("the credential that is presented says whose it is: name no row, or write `ends: all`",),
        )
        return None
    return None if word is None else word.text  # type: ignore[return-value]


def _is_of(scheme: stated.Scheme, resource: str, issued: bool) -> bool:
    """Whether its callers are rows of a resource; `issued`: by a credential that the service made. What is not shown
    may be anything."""
    owner, matches = value_of(scheme.issued_to), value_of(scheme.matches)
    if owner is not None:
        return owner.text == resource
    if scheme.issued_to is not None or isinstance(scheme.matches, Gap | Proposal):
        return True
    return not issued and matches is not None and matches.text.partition(".")[0] == resource


def check_told(endpoint: Endpoint, issued: str | None, response: Response, findings: Findings) -> None:
    """Says of a credential that no response tells."""
    if issued is None or endpoint.issues is None:
        return
    for each in all_expressions(response):
        for node in walk(each):
            match node:
                case Select(operand=Variable(name="caller"), name="credential"):
                    return
                case _:
                    pass
    findings.say(
        NEVER_TOLD,
        f"no response of `{endpoint.key}` tells the credential that it makes",
        Label(endpoint.issues.span, "made, and told to nobody"),
        help=("show `caller.credential`",),
    )


def _tokens_of_effects(
    endpoint: Endpoint, resource: Resource, showing: Showing
) -> Iterator[tuple[effects.Effect, Field, bool]]:
    """The tokens of rows that are made with the row acted on, each with the effect that makes it, and whether it is the
    only one of that effect. What is open may be given."""
    findings = showing.findings
    taken = {each.verb for each in value_of(endpoint.does) or ()}
    stated_ones = (each.also for of, each in findings.transitions if of == resource.name and each.name in taken)
    for fact in (*stated_ones, endpoint.also):
        for effect in each_alone(value_of(fact) or (), findings.survey.graph.resources):
            made = showing.resources.get(effect.subject) if kind_of(effect.verb).makes else None
            for field in () if made is None else made.fields.values():
                if field.secret == "token" and (_is_made(field) or showing.may_be_made(effect.subject, field.name)):
                    yield effect, field, effect.each is None and not endpoint.of_all_rows


def _is_made(field: Field) -> bool:
    """Whether a row that is created is given a value by itself."""
    return field.on_create is not None or field.on_change is not None


def issued_by_effects(endpoint: Endpoint, resource: Resource, showing: Showing) -> Iterator[str]:
    """The tokens that `issued.NAME` tells beside those of the row acted on."""
    return (field.name for _, field, alone in _tokens_of_effects(endpoint, resource, showing) if alone)


def check_tokens_of_effects(endpoint: Endpoint, resource: Resource, response: Response, showing: Showing) -> None:
    """Says of a token of another row, made with the row acted on, that no response tells it."""
    told = {
        node.name
        for each in all_expressions(response)
        for node in walk(each)
        if isinstance(node, Select) and isinstance(node.operand, Variable) and node.operand.name == "issued"
    }
    for effect, field, alone in _tokens_of_effects(endpoint, resource, showing):
        if _is_made(field) and not (alone and field.name in told):
            showing.findings.say(
                NEVER_TOLD,
                f"nobody is told `{effect.subject}.{field.name}` of the row that `{endpoint.key}` makes",
                Label(effect.span, "made, and told to nobody" if alone else "makes several of them"),
                help=(f"show `issued.{field.name}`",) if alone else (),
            )


def kept_credentials(findings: Findings) -> None:
    """Says of each value that is stored and each event that a credential would be in it."""
    fields = [each for one in findings.resources for each in value_of(one.fields) or ()]
    stored = [value for each in fields for value in each.stated_values]
    sets = [each.sets for each in findings.survey.endpoints]
    sets += [each.sets for _, each in findings.transitions]
    stored += [each.value for fact in sets for each in value_of(fact) or ()]
    stored += [given.value for each in stated_effects(findings) for given in each.sets]
    for expression in stored:
        if reads_member(expression.ast, "caller", ("credential",)):
            _kept(expression.span, "a value that is stored", findings)


def check_payload(content: Content, span: Span, findings: Findings) -> None:
    """Says of an event that a credential would be in it, be it by a view."""
    for each in expressions_of(content):
        for node in walk(each):
            match node:
                case Select(operand=Variable(name="caller"), name="credential"):
                    _kept(span, "an event", findings)
                    return
                case _:
                    pass


def _kept(span: Span, where: str, findings: Findings) -> None:
    findings.say(CREDENTIAL_KEPT, f"{where} holds `caller.credential`", Label(span, "for others to read"))


def never_issued(findings: Findings) -> None:
    """Says of a scheme that nobody can ever have a credential of it."""
    endpoints = value_of(findings.contract.endpoints.endpoints)
    if endpoints is None:
        return
    issued = {name.text for each in endpoints if (name := value_of(each.issues)) is not None}
    if any(each.issues is not None and not isinstance(each.issues, Shown | StatedNone) for each in endpoints):
        return
    for scheme in findings.survey.schemes:
        can_be = not scheme.is_basic and not isinstance(scheme.matches, Shown)
        if isinstance(scheme.issued_to, Shown) and can_be and scheme.name not in issued:
            findings.say(
                NEVER_ISSUED,
                f"nothing issues a credential of `{scheme.name}`",
                Label(scheme.span, "no endpoint has `issues` for it"),
            )
