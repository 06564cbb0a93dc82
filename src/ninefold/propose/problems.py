"""Errors by convention: problem details, and a code for each condition, titled with the phrase of its status."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.expression import Members
from ninefold.contract.fact import Fact, Name, Shown, is_open, value_of
from ninefold.contract.survey import Survey
from ninefold.propose.facts import Proposed, Value
from ninefold.propose.sources import JSON, PROBLEM
from ninefold.propose.statuses import Status, status_of
from ninefold.questions.errors import conditions_without_code

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
