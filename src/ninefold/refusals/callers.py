"""Who calls, and may not: credentials, and what part 5 says of callers."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.contract.bodies import acted_on
from ninefold.contract.endpoints import Endpoint
from ninefold.contract.reach import names_in
from ninefold.contract.survey import Survey, actions, signs_out_caller
from ninefold.language.authentication import Scheme
from ninefold.language.conditions import Step
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Name, Shown, value_of
from ninefold.language.verbs import GRANT
from ninefold.meanings import CHALLENGES, ENDED, GRANTED, GRANTS, PASSWORDS
from ninefold.refusals.refusal import Refusal


def is_signed(own: Scheme) -> bool:
    """Whether somebody else signs the credentials."""
    return any(isinstance(fact, Shown) for fact in (own.open_id_connect_url, own.issuer, own.keys))


def is_computed(default: Fact[Name | Expression] | None) -> bool:
    """Whether it is worked out from the request which version one asks for that names none."""
    return isinstance(default, Shown) and isinstance(default.value, Expression)


def of_callers(survey: Survey, endpoint: Endpoint) -> Iterator[Refusal]:
    line = survey.permission(endpoint)
    if line is None:
        return
    at, first = line.endpoint.span, acted_on(endpoint)
    admitted = survey.admitted(endpoint)
    named = {each.who.text for each in admitted}
    if named - {"anyone"}:
        words = "a credential comes along that no scheme accepts"
        if "anyone" not in named:
            words = "no credential comes along, or one that no scheme accepts"
        yield Refusal("unauthenticated", Step.CALLER, fact=at, words=words, meanings=(8, CHALLENGES))
        for scheme in survey.schemes:
            words = f"a credential comes along where `{scheme.name}` looks for one, and is not good"
            meanings = (8, CHALLENGES)
            yield Refusal("unauthenticated", Step.CALLER, scheme.name, None, (), scheme.span, words, meanings)
    others = [each for each in survey.schemes if each.name not in named]
    for other in others if named and "anyone" not in named else ():
        where = survey.contract.document.source.place(at.start).line
        words = f"the caller is known by `{other.name}`, which line {where} does not admit"
        yield Refusal("forbidden", Step.CALLER, first, fact=other.span, words=words, meanings=(8,))
    for each in admitted:
        condition = value_of(each.condition)
        if isinstance(condition, Expression):
            words = f"the caller is known by `{each.who.text}`, and `{condition.text}` does not hold"
            step = Step.JUDGED if first in set(names_in(condition.ast)) else Step.PARAMETERS
            yield Refusal("forbidden", step, first, fact=each.who.span, words=words, meanings=(9,))
    yield from _of_credentials(endpoint, first)


def _of_credentials(endpoint: Endpoint, first: str | None) -> Iterator[Refusal]:
    """What refuses a request that issues or ends credentials."""
    at, verbs = endpoint.span, {action.verb for action in actions(endpoint)}
    if any(signs_out_caller(endpoint, action) for action in actions(endpoint)):
        words = "the row that the credential belongs to has gone since it was looked up"
        yield Refusal("unauthenticated", Step.JUDGED, first, fact=at, words=words, meanings=(ENDED,))
    if GRANT in verbs:
        words = f"there is no such `{first}`, or the secret is not its secret, or none comes along"
        yield Refusal("sign in refused", Step.JUDGED, first, fact=at, words=words, meanings=(GRANTS,))
        words = "`scope` asks for one that the row may not have"
        yield Refusal("invalid", Step.JUDGED, "scope", fact=at, words=words, meanings=(GRANTS, GRANTED))
        words = "`grant_type` is not `client_credentials`"
        yield Refusal("invalid", Step.BODY, "grant_type", fact=at, words=words, meanings=(GRANTS,))
        words = "the client says in two ways who it is"
        yield Refusal("invalid", Step.BODY, fact=at, words=words, meanings=(GRANTS,))
    if "sign in" in verbs:
        words = f"there is no such `{first}`, or the password is not its password"
        yield Refusal("sign in refused", Step.JUDGED, first, fact=at, words=words, meanings=(PASSWORDS,))
