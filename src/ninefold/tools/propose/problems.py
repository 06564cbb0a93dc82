"""Errors by convention: problem details, and a code for each condition, titled with the phrase of its status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ninefold.contract.survey import Survey
from ninefold.language import conditions
from ninefold.language.expressions import Members
from ninefold.language.fact import Fact, Name, Shown, is_open, value_of
from ninefold.questions.errors import conditions_without_code
from ninefold.tools.propose.facts import JSON, PROBLEM, Proposed, Value


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
    """The status that tells a condition (`missing`, or narrowed, `missing order`) where a contract gives it no code:
    its bare status."""
    found = conditions.split(condition)
    assert found is not None
    return STATUSES[conditions.STATUSES[found[0]]]


_FIELDS = "error.fields.map(f, {'in': f['in'], 'pointer': f.pointer, 'rule': f.rule, 'detail': f.message})"

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
    said = value_of(survey.contract.errors.shape)
    media_type, body = (said.media_type, said.body) if said is not None else (None, None)
    as_problem = Proposed(7, ("shape", "media type"), "application/problem+json", PROBLEM)
    problem_body = Proposed(7, ("shape", "body"), BODY, PROBLEM)
    if is_open(media_type) and is_open(body):
        return as_problem, problem_body
    if is_open(body):
        name = value_of(media_type)
        return (problem_body,) if name is not None and name.text == "application/problem+json" else ()
    template = value_of(body)
    names = {member.name for member in template.members} if isinstance(template, Members) else set()
    as_json = Proposed(7, ("shape", "media type"), "application/json", JSON)
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
    when = f", when: {condition}" if condition else ""
    return Proposed(7, ("codes", name), f"{{status: {status.number}, title: {status.phrase}{when}}}", status.source)


def status(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """The status of a code whose conditions all have the same bare status."""
    conditions = {condition for name, condition in _uses(survey) if name == subject}
    for code in value_of(survey.contract.errors.codes) or ():
        if code.name == subject:
            conditions |= {name.condition for name in value_of(code.when) or ()}
    statuses = {status_of(condition) for condition in conditions}
    if len(statuses) != 1:
        return ()
    only = statuses.pop()
    return (Proposed(7, ("codes", subject, "status"), str(only.number), only.source),)


def _uses(survey: Survey) -> Iterator[tuple[str, str]]:
    """The names that are used as error codes, each with the condition that it is used for."""
    for resource in survey.graph.resources.values():
        for invariant in value_of(resource.invariants) or ():
            yield from _named(invariant.otherwise, "invariant")
    for machine in survey.machines:
        own = survey.machine(machine)
        for transition in (value_of(own.transitions) or ()) if own is not None else ():
            yield from _named(transition.otherwise, "guard")
    for endpoint in survey.endpoints:
        for guard in value_of(endpoint.guards) or ():
            yield from _named(guard.otherwise, "guard")
        for parameter in (*(value_of(endpoint.query) or ()), *(value_of(endpoint.request_headers) or ())):
            yield from _named(parameter.otherwise, "invalid")
        for condition, code in value_of(endpoint.errors) or ():
            yield code.text, condition.text


def _named(code: Name | Fact[Name] | None, condition: str) -> Iterator[tuple[str, str]]:
    match code:
        case Name(text) | Shown(Name(text)):
            yield text, condition
