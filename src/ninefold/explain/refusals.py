"""Every error that can arise at an endpoint, with what causes it, in the order in which they count."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.fact import value_of
from ninefold.diagnostics.source import Span
from ninefold.explain import cases, causes
from ninefold.explain.causes import Refusal
from ninefold.explain.errors import own_code
from ninefold.explain.explanation import Cause, Item
from ninefold.explain.grounds import Grounds
from ninefold.language.conditions import CONDITIONS, NO_ENDPOINT
from ninefold.plan.operations import Compute, Stream, Write, of_values
from ninefold.plan.problems import Condition

BY_ITSELF = frozenset({"invariant", *(each.name for each in CONDITIONS if each.alone)})
"""The conditions that are told where no other is."""

WITHOUT_LINE = {"too large": "the body is longer than a body may be where no size is stated"}
"""Words for what the contract says nothing of."""

TOLD_BETTER = frozenset({"invalid", "conflict"})
"""The conditions of which the survey of a contract says that they may arise where it cannot tell."""


def refusals(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """One item for each answer, its causes under it."""
    codes = g.codes

    def code_of(each: Refusal) -> str | None:
        return each.code or codes.code(endpoint, each.condition, each.subject)

    def rank(each: Refusal) -> int:
        return codes.rank(endpoint, each.condition, each.subject, each.code)

    every = every_refusal(g, endpoint)
    judged = max((rank(each) for each in every if each.condition not in BY_ITSELF), default=0)

    def answered(each: Refusal) -> tuple[tuple[int, int, bool], Cause]:
        code = code_of(each)
        place = (each.after, rank(each), False)
        if each.condition == "invariant":
            # It is asked of what has become (meaning 10), where nothing else has refused the write.
            place = (each.after, max(judged, rank(each)), True)
        return place, Cause(each.condition, each.subject, code, codes.status(each.condition, code))

    found = sorted(((*answered(each), each) for each in every), key=lambda triple: triple[0])
    items = []
    for (_, code, status), group in groupby(found, key=lambda triple: (triple[0], triple[1].code, triple[1].status)):
        causes = [
            g.item(f"`{cause.name}`: {each.words}", each.span, meanings=each.meanings, cause=cause)
            for _, cause, each in group
        ]
        items.append(_answer(g, endpoint, code, status, causes))
    return items


def _answer(g: Grounds, endpoint: Endpoint, code: str | None, status: int, causes: list[Item]) -> Item:
    stated = g.codes.by_name.get(code or "")
    first = causes[0].cause
    if stated is None or first is None:
        return g.item(f"{status}, with an empty body", None, causes, (12,))
    title = value_of(stated.title)
    detail = value_of(stated.detail)
    words = f"{status} `{stated.name}`" + (f", {title}" if title else "")
    words += f", with the detail `{detail.text}`" if detail is not None else ""
    own = own_code(endpoint, first.condition, first.subject)
    chosen = [] if own is None else [g.item("the endpoint itself names this code", own)]
    return g.item(words, stated.span, [*chosen, *causes])


def every_refusal(g: Grounds, endpoint: Endpoint) -> list[Refusal]:
    """All that can be refused, in the order of the steps of a request; then what the survey of the contract and the
    judge of the plan know besides."""
    every = cases.of(g, endpoint)
    steps = (
        causes.of_any, causes.of_paths, causes.of_callers, causes.of_content, causes.of_cases, causes.of_parameters,
        causes.of_rows, causes.of_writes,
    )  # fmt: skip
    found = list(dict.fromkeys(each for step in steps for case in every for each in step(g, case)))
    told = {each.condition for each in found} | NO_ENDPOINT | TOLD_BETTER
    for name in (*g.arising.get(None, ()), *g.arising.get(endpoint.key, ())):
        if name not in told:
            found.append(Refusal(name, g.acted_on(endpoint), "it can arise here", endpoint.span))
    found += _by_functions(g, endpoint)
    found += dict.fromkeys(_of_values(g, endpoint))
    known = {(each.condition, each.subject, each.code) for each in found}
    for after, judged in dict.fromkeys(judged_conditions(g, endpoint.key)):
        if (judged.condition, judged.subject, judged.code) not in known:
            known.add((judged.condition, judged.subject, judged.code))
            span, words = _span(g, judged) or endpoint.span, "the database tells"
            found.append(Refusal(judged.condition, judged.subject, words, span, code=judged.code, after=after))
    return _of_plan(g, endpoint, found)


def _of_plan(g: Grounds, endpoint: Endpoint, found: list[Refusal]) -> list[Refusal]:
    """Of what is served, what the plan can answer and nothing else: OpenAPI tells of the same."""
    planned = g.planned.get(endpoint.key)
    if planned is None:
        return found
    names = {each.condition for each in planned} | NO_ENDPOINT
    told = {each.condition for each in found}
    more = [each for each in dict.fromkeys(planned) if each.condition not in told | NO_ENDPOINT]
    return [
        *(each for each in found if each.condition in names),
        *(
            Refusal(each.condition, each.subject, WITHOUT_LINE.get(each.condition, "it can arise here"),
                    _span(g, each) or endpoint.span, code=each.code)
            for each in more
        ),
    ]  # fmt: skip


def _by_functions(g: Grounds, endpoint: Endpoint) -> list[Refusal]:
    """The codes with which the function that it calls may refuse."""
    name = None if endpoint.call is None else endpoint.call.subject
    return [
        Refusal("guard", None, f"the function `{each.name}` refuses", code.span, code=code.text)
        for each in value_of(g.contract.endpoints.functions) or ()
        if each.name == name
        for code in value_of(each.refuses) or ()
    ]


def _of_values(g: Grounds, endpoint: Endpoint) -> Iterator[Refusal]:
    """What the service gives fields, and may not be able to."""
    route = g.routes.get(endpoint.key)
    for admission in route.admissions if route is not None else ():
        operation = admission.operation
        writes = (operation, *operation.further) if isinstance(operation, Write) else ()
        for after, each in enumerate(writes):
            for judged in of_values(each):
                words = "what a field is given cannot be made, or is not as the field says"
                span = _span(g, judged) or endpoint.span
                yield Refusal(judged.condition, judged.subject, words, span, (4,), judged.code, after=after)


def judged_conditions(g: Grounds, key: str) -> Iterator[tuple[int, Condition]]:
    """What the judges of an endpoint's operations can answer, and the invariants of its writes; each with how many of
    its operations are done before."""
    route = g.routes.get(key)
    for admission in route.admissions if route is not None else ():
        operation = admission.operation
        if isinstance(operation, Compute | Stream):
            continue
        if operation.judge is not None:
            yield from ((0, each) for each in operation.judge.conditions)
        if isinstance(operation, Write):
            yield from ((len(operation.further), each) for each in operation.invariants)
            for number, following in enumerate(operation.further, 1):
                yield from ((number, each) for each in following.judge.conditions)


def _span(g: Grounds, judged: Condition) -> Span | None:
    for place in judged.trace:
        start = g.loaded.source.line_starts[place.line - 1] + place.column - 1
        return Span(start, start + 1)
    return None
