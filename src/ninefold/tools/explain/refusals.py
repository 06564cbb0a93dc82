"""Every error that can arise at an endpoint, with what causes it, in the order in which they count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Final

from ninefold.contract.refusals import stated
from ninefold.contract.survey import actions
from ninefold.diagnostics.source import Span
from ninefold.language.actions import Action
from ninefold.language.conditions import CONDITIONS, NO_ENDPOINT, PLACES, Step, narrowing_of
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import value_of
from ninefold.language.verbs import OUTCOMES, instead_of
from ninefold.tools.explain.errors import own_code
from ninefold.tools.explain.explanation import Cause, Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.trace.refusal import Refusal

ALONE = frozenset(each.name for each in CONDITIONS if each.alone)
"""The conditions that are told where no other is."""


def of_puts(g: Grounds) -> Iterator[str]:
    """One line for each `put`, in each of its cases: what becomes of the outcomes that its responses do not state."""
    for endpoint in g.survey.endpoints:
        action = next(iter(actions(endpoint)), None)
        if action is None or not endpoint.outcomes:
            continue
        arising = {*OUTCOMES, *(each.condition for each, _ in every_refusal(g, endpoint))}
        found = [
            (outcome, told) for outcome, told in instead_of(action.verb, endpoint.outcomes).items() if told in arising
        ]
        told = [_instead(g, endpoint, action, *each) for each in found]
        case = "" if endpoint.called is None else f", in the case `{endpoint.called}`"
        if told:
            yield f"{endpoint.key}{case}: {'; '.join(told)}"


def _instead(g: Grounds, endpoint: Endpoint, action: Action, outcome: str, told: str) -> str:
    if told in OUTCOMES:
        return f"`{outcome}` counts as `{told}`"
    codes = g.codes
    code = codes.code(endpoint, told, action.subject)
    named = "" if code is None else f" `{codes.known_as(code)}`"
    return f"`{outcome}` is refused as `{told}`, {codes.status(told, code)}{named}"


def refusals(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """One item for each answer, its causes under it."""
    codes = g.codes

    def rank(each: Refusal, case: Endpoint) -> int:
        return codes.rank(case, each.condition, each.subject, each.code)

    every = every_refusal(g, endpoint)
    judged = max(
        (rank(each, case) for each, case in every if not each.become and each.condition not in ALONE), default=0
    )

    def answered(each: Refusal, case: Endpoint) -> tuple[tuple[int, int, bool], Cause]:
        code = each.code or codes.code(case, each.condition, each.subject)
        place = (each.after, rank(each, case), False)
        if each.become:
            # It is asked of what has become (meaning "before and after"), where nothing else has refused the write.
            place = (each.after, max(judged, rank(each, case)), True)
        return place, Cause(each.condition, each.subject, code, codes.status(each.condition, code))

    told: dict[tuple[tuple[int, int, bool], Cause, Refusal], Endpoint] = {}
    for each, case in every:
        told.setdefault((*answered(each, case), each), case)  # the same in several cases is told once
    items = []
    found = sorted(told, key=lambda triple: triple[0])
    for (_, code, status), group in groupby(found, key=lambda triple: (triple[0], triple[1].code, triple[1].status)):
        alike = list(group)
        causes = [
            g.item(f"`{cause.name}`: {each.words}", each.fact, meanings=each.meanings, cause=_as_known(g, cause))
            for _, cause, each in alike
        ]
        items.append(_answer(g, told[alike[0]], code, status, causes))
    return items


def _as_known(g: Grounds, cause: Cause) -> Cause:
    """With the code that callers are told."""
    return cause if cause.code is None else replace(cause, code=g.codes.known_as(cause.code))


def _answer(g: Grounds, endpoint: Endpoint, code: str | None, status: int, causes: list[Item]) -> Item:
    stated = g.codes.by_name.get(code or "")
    first = causes[0].cause
    if stated is None or first is None:
        return g.item(f"{status}, with an empty body", None, causes, ("bare statuses",))
    title = value_of(stated.title)
    detail = value_of(stated.detail)
    words = f"{status} `{stated.known_as}`" + (f", {title}" if title else "")
    words += f", with the detail `{detail.text}`" if detail is not None else ""
    own = own_code(endpoint, first.condition, first.subject)
    chosen = [] if own is None else [g.item("the endpoint itself names this code", own)]
    return g.item(words, stated.span, [*chosen, *causes])


OF_WHAT_IS_MADE: Final = "what is made of it refers to no row, cannot be made, or is not as its field says"
"""Of which request's value an expression makes another one, the plan knows."""


def every_refusal(g: Grounds, endpoint: Endpoint) -> list[tuple[Refusal, Endpoint]]:
    """All that can be refused, in the order of the steps of a request, with the endpoint in the case in which it is, or
    in one of those where it is in several. Of what is served, what the plan can answer and nothing else, and what it
    can of values that are made."""
    of_cases = [(each, case) for case in g.cases.get(endpoint.key, ()) for each in stated.of_case(g.survey, case)]
    every = [(each, endpoint) for each in stated.of_any(g.survey)] + of_cases
    told = [(_as_told(g, case, each), case) for each, case in every]
    found = [(each, case) for each, case in told if each is not None and each.condition not in NO_ENDPOINT]
    planned = g.planned.get(endpoint.key)
    if planned is None:
        return found
    names = {each.condition for each in planned}
    found = [(each, case) for each, case in found if each.condition in names]
    known = {(each.condition, each.subject, each.code) for each, _ in found}
    conditions = {each.condition for each, _ in found} | NO_ENDPOINT
    for each in planned:
        name = (each.condition, each.subject, each.code)
        if each.condition not in conditions or (each.step in (Step.JUDGED, Step.DONE) and name not in known):
            known.add(name)
            words = replace(each, fact=_fact(g, each) or endpoint.span, words=OF_WHAT_IS_MADE, trace=())
            found.append((words, endpoint))
    return found


def _as_told(g: Grounds, endpoint: Endpoint, refusal: Refusal) -> Refusal | None:
    """As narrow as part 7 or the endpoint tells it; None: it is told by its wider condition alone."""
    subject = refusal.subject
    of_parameter = narrowing_of(refusal.condition, subject) in PLACES
    narrows = of_parameter or refusal.condition in ("invalid", "unauthenticated")
    if subject is None or not narrows or refusal.step is Step.JUDGED:
        return refusal
    narrowest = g.codes.narrowest(endpoint, refusal.condition, subject)
    return None if narrowest is None and refusal.condition != "invalid" else replace(refusal, subject=narrowest)


def _fact(g: Grounds, refusal: Refusal) -> Span | None:
    """Where the contract states it, of which the plan knows the line."""
    for place in refusal.trace:
        start = g.loaded.source.line_starts[place.line - 1] + place.column - 1
        return Span(start, start + 1)
    return None
