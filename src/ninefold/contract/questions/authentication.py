"""Part 5: the schemes and their credentials; who may call; which rows callers see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ninefold.contract.questions.question import At, blocking, first_unanswered, unanswered
from ninefold.contract.refusals.rows import is_ruled
from ninefold.contract.survey import Survey
from ninefold.language.authentication import (
    ALL,
    AUDIENCE,
    CALLERS,
    CREDENTIAL,
    GRANTED,
    LASTS,
    PRESENTED,
    ROWS,
    SCHEMES,
    UNSEEN_ROWS,
    Every,
    Scheme,
)
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.fact import Fact, Shown, value_of
from ninefold.language.question import OpenQuestion


def ask(survey: Survey) -> Iterator[OpenQuestion]:
    facts = survey.contract.authentication
    place = survey.contract.document.part("authentication").place
    if at := unanswered(facts.schemes, place):
        yield blocking(SCHEMES, "schemes", at, survey.keys)
    for scheme in survey.schemes:
        yield from _of_scheme(survey, scheme)
    yield from _callers(survey)
    yield from _rows(survey)
    sees = ((each, name) for each in survey.endpoints for name in survey.reach[each.key].sees)
    ruled = tuple(dict.fromkeys(each.key for each, name in sees if is_ruled(survey, each, name)))
    if ruled and (at := unanswered(facts.unseen_rows, place)):
        yield blocking(UNSEEN_ROWS, "rows", at, ruled)


def _of_scheme(survey: Survey, scheme: Scheme) -> Iterator[OpenQuestion]:
    naming = survey.naming(scheme.name)
    kind = value_of(scheme.type)
    presented: tuple[Fact[Any] | None, ...] = (scheme.type,)
    match kind.text if kind else None:
        case "http":
            presented = (scheme.scheme,)
        case "apiKey":
            presented = (scheme.location, scheme.parameter)
    if missing := first_unanswered(presented, scheme.span):
        yield blocking(PRESENTED, scheme.name, missing, naming)
    if scheme.is_basic and (at := unanswered(scheme.realm, scheme.span)):
        text = f"the realm of `{scheme.name}`, which HTTP's Basic scheme names in its challenge"
        yield blocking(PRESENTED, scheme.name, at, naming, text)
    if scheme.matches is not None:
        if at := unanswered(scheme.matches, scheme.span):
            yield blocking(CREDENTIAL, scheme.name, at, naming)
        elif kind is not None and kind.text == "mutualTLS":
            yield from _of_certificate(scheme, naming)
    elif scheme.issued_to is not None:
        if at := unanswered(scheme.issued_to, scheme.span):
            yield blocking(CREDENTIAL, scheme.name, at, naming)
        if at := unanswered(scheme.lasts, scheme.span):
            yield blocking(LASTS, scheme.name, at, naming)
        if isinstance(scheme.scopes, Shown) and (at := unanswered(scheme.granted, scheme.span)):
            yield blocking(GRANTED, scheme.name, at, naming)
        granting = survey.granting(scheme.name)
        if granting and not scheme.is_basic and (at := unanswered(scheme.realm, scheme.span)):
            text = f"the realm of `{scheme.name}`, which clients are told that are to be granted a token"
            yield blocking(PRESENTED, scheme.name, at, granting, text)
    elif scheme.is_discovered or scheme.issuer is not None or scheme.keys is not None:
        yield from _of_signed(scheme, naming)
    elif at := unanswered(None, scheme.span):
        yield blocking(CREDENTIAL, scheme.name, at, naming)


def _of_certificate(scheme: Scheme, naming: tuple[str, ...]) -> Iterator[OpenQuestion]:
    """Which of the many things that a certificate says is looked up, where it is."""
    matches = value_of(scheme.matches)
    if matches is not None and matches.text != ALL and (at := unanswered(scheme.credential, scheme.span)):
        text = f"what of the certificate of a caller of `{scheme.name}` is looked up in `{matches.text}`"
        yield blocking(CREDENTIAL, scheme.name, at, naming, text)


def _of_signed(scheme: Scheme, naming: tuple[str, ...]) -> Iterator[OpenQuestion]:
    """Tokens that somebody else signs: whose, by which keys and algorithms, and for whom. The configuration of an
    issuer (OpenID Connect Discovery 1.0) says its keys and algorithms."""
    needed: tuple[tuple[Fact[Any] | None, str], ...] = ((scheme.issuer, f"who signs the tokens of `{scheme.name}`"),)
    if not scheme.is_discovered:
        needed += (
            (scheme.keys, f"where the keys of the issuer of `{scheme.name}` are"),
            (scheme.algorithms, f"which signature algorithms `{scheme.name}` takes"),
        )
    for fact, text in needed:
        if at := unanswered(fact, scheme.span):
            yield blocking(CREDENTIAL, scheme.name, at, naming, text)
    if at := unanswered(scheme.audience, scheme.span):
        yield blocking(AUDIENCE, scheme.name, at, naming)


def _callers(survey: Survey) -> Iterator[OpenQuestion]:
    permissions = survey.contract.authentication.permissions
    place = survey.contract.document.part("authentication").place
    if at := unanswered(permissions, place):
        if survey.endpoints:
            yield blocking(CALLERS, "every endpoint", at, survey.keys, "who may call each endpoint")
        return
    assert permissions is not None
    lines = [(endpoint.key, survey.permission(endpoint)) for endpoint in survey.endpoints]
    of_older = (each for each in value_of(permissions) or () if each.endpoint.text not in (*survey.keys, ALL_OTHERS))
    for key, line in (*lines, *((each.endpoint.text, each) for each in of_older)):
        # Where nothing is written of an endpoint of an older version, the change that says that it was there asks.
        at = unanswered(None, permissions.span) if line is None else unanswered(line.admits, line.endpoint.span)
        for admission in () if line is None else value_of(line.admits) or ():
            at = at or unanswered(admission.condition, admission.who.span)
        if at is not None:
            yield blocking(CALLERS, key, at, (key,))


def _rows(survey: Survey) -> Iterator[OpenQuestion]:
    """One question a resource, about all callers of whom nothing is said."""
    facts = survey.contract.authentication
    place = facts.rows.span if facts.rows is not None else survey.contract.document.part("authentication").place
    rules = value_of(facts.rows)
    lines = {} if rules is None or isinstance(rules, Every) else {r.resource.text: r.resource.span for r in rules}
    missing: dict[str, dict[str, At]] = {}
    blocked: dict[str, dict[str, None]] = {}
    for endpoint in survey.endpoints:
        for resource in sorted(survey.reach[endpoint.key].sees):
            for admission in survey.admitted(endpoint):
                who = admission.who.text
                if at := unanswered(survey.row_rule(resource, who), lines.get(resource, place)):
                    missing.setdefault(resource, {}).setdefault(who, at)
                    blocked.setdefault(resource, {})[endpoint.key] = None
    for resource, callers in missing.items():
        names = [f"`{who}`" for who in callers]
        listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        first, *more = blocked[resource]
        others = "" if not more else f", and {len(more)} more endpoint{'s' * (len(more) > 1)}"
        why = f"`{first}`, {survey.reach[first].why[resource]}{others}"
        text = f"which rows of `{resource}` may be seen by {listed} ({why})"
        at = next(iter(callers.values()))
        yield blocking(ROWS, resource, at, tuple(blocked[resource]), text)
