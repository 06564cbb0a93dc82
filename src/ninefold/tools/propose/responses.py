"""What an endpoint answers, by convention: the status that HTTP has for it, and the row or page that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Final

from ninefold.contract.questions.errors import conditions_without_code
from ninefold.contract.survey import Survey, actions
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions import ast
from ninefold.language import conditions
from ninefold.language.actions import Action
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression, Members
from ninefold.language.fact import Fact, Name, Shown, StatedNone, is_open, text_of, value_of
from ninefold.language.limits import Pages
from ninefold.language.resources import Resource
from ninefold.language.verbs import kind_of
from ninefold.syntax.nodes import Mapping, Scalar, Sequence
from ninefold.tools.propose.facts import (
    CREATED,
    CREATED_THERE,
    DELETED,
    EVENT_STREAM,
    JSON,
    LISTED,
    PAGED,
    PROBLEM,
    SHOWN,
    TOKEN,
    WEBHOOKS,
    Proposed,
    Value,
)
from ninefold.tools.propose.location import location_of

_SUBSCRIBED = "{{201: {{id: subscription.id, url: subscription.url, kinds: subscription.kinds{}}}}}"
_SIGNED_IN = "{200: {access_token: caller.credential, token_type: \"'Bearer'\"}}"
_GRANTED = (
    "{200: {access_token: caller.credential, token_type: \"'Bearer'\", expires_in: granted.expires_in,"
    " scope: granted.scope}}"
)
_NOTHING = "{204: none}", DELETED


def responses(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """Nothing for what computes or calls: what it gives is the contract's to show."""
    endpoint = survey.contract.endpoints_by_key.get(subject)
    first = None if endpoint is None else next(iter(actions(endpoint)), None)
    if endpoint is None or first is None or endpoint.call is not None or not is_open(endpoint.responses):
        return ()
    found = _answer(survey, endpoint, first)
    if found is None:
        return ()
    value, source = found
    location = location_of(survey, endpoint, first)
    source = CREATED_THERE if location is not None and source == CREATED else source
    facts = (Proposed(4, (subject, "responses"), value, source),)
    return facts if location is None else (*facts, Proposed(4, (subject, "headers", "Location"), location, source))


def _answer(survey: Survey, endpoint: Endpoint, action: Action) -> tuple[str, str] | None:
    """The responses on one line, and their source."""
    own, kind = survey.graph.resources.get(action.subject or ""), kind_of(action.verb)
    of_subscriptions = action.subject is not None and action.subject == survey.graph.subscription
    match kind.answer:
        case "events":
            return "{200: stream}", EVENT_STREAM
        case "a token":
            return _GRANTED if kind.grants else _SIGNED_IN, TOKEN
        case "the new row" if of_subscriptions:
            return _SUBSCRIBED.format(", secret: issued.secret" * survey.contract.events.are_signed), WEBHOOKS
        case "nothing" if of_subscriptions:
            return _NOTHING
    if own is None or is_open(own.primary_key):
        return None  # what is known by nothing has no row to show yet
    if action.all:
        return _NOTHING
    match kind.answer:
        case "nothing":
            return _NOTHING
        case "the new row":
            return f"{{201: {_made(own, endpoint)}}}", CREATED
        case "a page":
            cursor = reached_by(survey, endpoint) == "cursor"
            shown = "{items: page.items, next: page.next}" if cursor else "{items: page.items}"
            return f"{{200: {shown}}}", LISTED
        case "the row":
            shown = f"{{200: {own.name}}}"
            return (f"{{replaced: {shown}}}" if "replaced" in kind.outcomes else shown), SHOWN
        case None:
            return None


def _made(resource: Resource, endpoint: Endpoint) -> str:
    """The row, with what its maker has to be told this once: a token that was made for it, a credential issued."""
    fields = value_of(resource.fields) or ()
    tokens = [each for each in fields if text_of(each.secret) == "token" and not is_open(each.on_create)]
    issues = endpoint.issues is not None and not isinstance(endpoint.issues, StatedNone)
    if not tokens and not issues:
        return resource.name
    members = [f"{each.name}: {resource.name}.{each.name}" for each in fields if text_of(each.secret) is None]
    members += [f"{each.name}: issued.{each.name}" for each in tokens]
    members += ["access_token: caller.credential"] if issues else []
    return "{" + ", ".join(members) + "}"


@dataclass(frozen=True, slots=True)
class Status:
    number: int
    phrase: str
    source: str


STATUSES = {
    each.number: each
    for each in (
        Status(400, "Bad Request", "RFC 9110, section 15.5.1"),
        Status(401, "Unauthorized", "RFC 9110, section 15.5.2"),
        Status(403, "Forbidden", "RFC 9110, section 15.5.4"),
        Status(404, "Not Found", "RFC 9110, section 15.5.5"),
        Status(405, "Method Not Allowed", "RFC 9110, section 15.5.6"),
        Status(406, "Not Acceptable", "RFC 9110, section 15.5.7"),
        Status(409, "Conflict", "RFC 9110, section 15.5.10"),
        Status(410, "Gone", "RFC 9110, section 15.5.11"),
        Status(412, "Precondition Failed", "RFC 9110, section 15.5.13"),
        Status(413, "Content Too Large", "RFC 9110, section 15.5.14"),
        Status(415, "Unsupported Media Type", "RFC 9110, section 15.5.16"),
        Status(422, "Unprocessable Content", "RFC 9110, section 15.5.21"),
        Status(428, "Precondition Required", "RFC 6585, section 3"),
        Status(429, "Too Many Requests", "RFC 6585, section 4"),
        Status(500, "Internal Server Error", "RFC 9110, section 15.6.1"),
        Status(503, "Service Unavailable", "RFC 9110, section 15.6.4"),
    )
}


def status_of(condition: str) -> Status:
    """The status that tells a condition (`not found`, or narrowed, `not found order`) where a contract gives it no
    code: its bare status."""
    found = conditions.split(condition)
    assert found is not None
    return STATUSES[conditions.STATUSES[found[0]]]


_FIELDS = "error.fields.map(f, {'in': f.place, 'pointer': f.pointer, 'rule': f.rule, 'detail': f.message})"

BODY: Value = (
    ("title", "error.title"),
    ("status", "error.status"),
    ("detail", "error.detail"),
    ("code", "error.code"),
    ("errors", f'"{_FIELDS}"'),
)
"""Without `type` a problem is `about:blank` (RFC 9457, section 4.2.1): its title is the phrase of its status, and
`code`, an extension member, tells the problems of one status apart."""


def shape(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """What is not said of the shape."""
    said = value_of(survey.contract.errors.error_shape)
    media_type, body = (said.media_type, said.body) if said is not None else (None, None)
    as_problem = Proposed(7, ("error shape", "media type"), "application/problem+json", PROBLEM)
    problem_body = Proposed(7, ("error shape", "body"), BODY, PROBLEM)
    if is_open(media_type) and is_open(body):
        return as_problem, problem_body
    if is_open(body):
        name = text_of(media_type)
        return (problem_body,) if name == "application/problem+json" else ()
    template = value_of(body)
    names = {member.name for member in template.members} if isinstance(template, Members) else set()
    as_json = Proposed(7, ("error shape", "media type"), "application/json", JSON)
    return (as_problem,) if {"title", "status"} <= names else (as_json,)


def codes(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """A code for each condition that can arise here and has none, and one for each name that is used as a code while
    none is shown."""
    stated = value_of(survey.contract.errors.codes)
    taken = {code.name for code in stated or ()}
    found = []
    if stated is None:
        for name, condition in _uses(survey):
            if name not in taken:
                taken.add(name)
                found.append(_code(name, status_of(condition), ""))
    for condition in conditions_without_code(survey):
        name = condition.replace(" ", "_")
        while name in taken:
            name += "_"
        found.append(_code(name, status_of(condition), condition))
    return tuple(found)


def _code(name: str, status: Status, condition: str) -> Proposed:
    when = f", for: {condition}" if condition else ""
    return Proposed(7, ("codes", name), f"{{status: {status.number}, title: {status.phrase}{when}}}", status.source)


def status(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """The status of a code whose conditions all have the same bare status."""
    conditions = {condition for name, condition in _uses(survey) if name == subject}
    for code in value_of(survey.contract.errors.codes) or ():
        if code.name == subject:
            conditions |= {name.condition for name in value_of(code.conditions) or ()}
    statuses = {status_of(condition) for condition in conditions}
    if len(statuses) != 1:
        return ()
    only = statuses.pop()
    return (Proposed(7, ("codes", subject, "status"), str(only.number), only.source),)


def _uses(survey: Survey) -> Iterator[tuple[str, str]]:
    """The names that are used as error codes, each with the condition that it is used for."""
    for resource in survey.graph.resources.values():
        for invariant in value_of(resource.check) or ():
            yield from _named(invariant.code, conditions.CHECK)
    for machine in survey.contract.machines:
        own = survey.contract.machine(machine)
        for transition in (value_of(own.transitions) or ()) if own is not None else ():
            for guard in value_of(transition.check) or ():
                yield from _named(guard.code, conditions.CHECK)
    for endpoint in survey.endpoints:
        for guard in value_of(endpoint.check) or ():
            yield from _named(guard.code, conditions.CHECK)
        for condition, code in value_of(endpoint.errors) or ():
            yield code.text, condition.text


def _named(code: Name | Fact[Name] | None, condition: str) -> Iterator[tuple[str, str]]:
    match code:
        case Name(text) | Shown(Name(text)):
            yield text, condition


DEFAULT, LARGEST = 20, 100


def pages(survey: Survey, endpoint: Endpoint | None) -> tuple[Proposed, ...]:
    """What part 8, or the list itself where it has `pages` of its own, does not say of them. No list: all of it."""
    own = endpoint.pages if endpoint is not None else None
    said = _stated(survey, endpoint)[0]

    def bound(name: str) -> Fact[object] | None:
        return _bound(survey, endpoint, name)

    part, path = (8, ("pages",)) if own is None or endpoint is None else (4, (endpoint.key, "pages"))
    found: list[tuple[str, str]] = []
    default, maximum = value_of(bound("default")), value_of(bound("maximum"))
    if is_open(bound("default")):
        found.append(("default", str(min(DEFAULT, maximum) if isinstance(maximum, int) else DEFAULT)))
    if is_open(bound("maximum")):
        found.append(("maximum", str(max(LARGEST, default) if isinstance(default, int) else LARGEST)))
    by = _by(survey, bound("by"))
    if by is None:
        return ()
    if is_open(bound("by")):
        found.append(("by", by))
    if by in FIRST and is_open(bound("at")):
        if said is None or (said.size, said.at) == (None, None):
            found.append(("size", "limit"))
        found.append(("at", by))
    if FIRST.get(by) and is_open(bound("first")) and not isinstance(bound("at"), StatedNone):
        found.append(("first", FIRST[by]))
    return tuple(Proposed(part, (*path, key), value, PAGED) for key, value in found)


FIRST: Final = {"cursor": "", "offset": "0", "page": "1"}
"""From what pages are counted, by how they are reached; their parameter is called as that is."""


def reached_by(survey: Survey, endpoint: Endpoint) -> str | None:
    """How the pages of a list are reached, as it is stated or would be proposed; None: it is given whole."""
    if isinstance(endpoint.pages, StatedNone):
        return None
    return _by(survey, _bound(survey, endpoint, "by"))


def _stated(survey: Survey, endpoint: Endpoint | None) -> tuple[Pages | None, Pages | None]:
    """The bounds that a list states, and those of part 8 behind them."""
    shared = value_of(survey.contract.limits.pages)
    own = endpoint.pages if endpoint is not None else None
    return (value_of(own), shared) if own is not None else (shared, None)


def _bound(survey: Survey, endpoint: Endpoint | None, name: str) -> Fact[object] | None:
    for each in _stated(survey, endpoint):
        if each is not None and (fact := getattr(each, name)) is not None:
            return fact  # type: ignore[no-any-return]
    return None


def _by(survey: Survey, fact: Fact[object] | None) -> str | None:
    """How pages are reached; `None` where lists are given whole. A cursor helps only those who are shown it."""
    if isinstance(fact, StatedNone):
        return None
    stated = value_of(fact)
    if isinstance(stated, Name):
        return stated.text
    shown = survey.shown_lists
    return "offset" if shown and not any(_shows_cursor((each.responses, each.headers)) for each in shown) else "cursor"


def _shows_cursor(facts: object) -> bool:
    """Whether an expression of some facts reads `page.next`."""
    if isinstance(facts, Expression):
        return any(_is_cursor(each) for each in ast.every(facts.ast))
    if isinstance(facts, tuple):
        return any(map(_shows_cursor, facts))
    if is_dataclass(facts) and not isinstance(facts, Mapping | Scalar | Sequence):
        return any(_shows_cursor(getattr(facts, field.name)) for field in fields(facts))
    return False


def _is_cursor(node: ast.Ast) -> bool:
    if not isinstance(node, ast.Member) or node.name != "next":
        return False
    return isinstance(node.operand, ast.Name) and node.operand.name == "page"
