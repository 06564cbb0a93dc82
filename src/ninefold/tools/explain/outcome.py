"""What becomes of an endpoint: whether it is served, and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.diagnostics.diagnostic import Severity, has_errors
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Span
from ninefold.language.endpoints import Endpoint
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds

STOPS = "the endpoint answers 501"
"""What the checks say of a stated fact without which an endpoint is not served."""


def extent(g: Grounds, endpoint: Endpoint) -> Span:
    """The endpoint as it is written, key and facts."""
    entry = g.endpoints_written.get(endpoint.key)
    return endpoint.span if entry is None else entry.span


def outcome(g: Grounds, endpoint: Endpoint) -> str:
    """In a few words."""
    if is_stopped(g, endpoint):
        return "answers 501 with an empty body"
    if g.loaded.checked is None:
        return "not served: the contract has errors"
    return "served, and refuses every caller in this build" if _unknown_callers(g, endpoint) else "served"


def is_stopped(g: Grounds, endpoint: Endpoint) -> bool:
    """Whether a gap, or what is not in force, blocks it."""
    if g.loaded.checked is not None:
        return endpoint.key in g.stopped
    return endpoint.key in g.blocking or any(_not_built(g, endpoint))


def obstacles(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """The gaps that block it, what of it this build does not do, and what is wrong with it."""
    items = [g.gap(each) for each in g.blocking.get(endpoint.key, ())]
    items += _not_built(g, endpoint)
    items += _unknown_callers(g, endpoint)
    items += g.errors_within(extent(g, endpoint))
    if not items and (stopped := g.stopped.get(endpoint.key)) is not None:
        items += [Item(reason, stopped.place, "gap", STOPS) for reason in stopped.reasons]
    if g.loaded.checked is None and has_errors(g.loaded.diagnostics):
        count = sum(each.code.severity is Severity.ERROR for each in g.loaded.diagnostics)
        words = "1 error" if count == 1 else f"{count} errors"
        items.append(
            Item(f"the contract has {words}, which `ninefold check` shows: nothing of it is served", None, "wrong")
        )
    return items


def _unknown_callers(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """That nobody can call it, because this build accepts no credential of any scheme that it admits."""
    line = g.survey.permission(endpoint)
    admitted = {each.who.text for each in g.survey.admitted(endpoint)}
    unknown = {each.name for each in g.survey.schemes if each.span.start in g.notes}
    if line is None or not admitted or not admitted <= unknown:
        return []
    names = " or ".join(f"`{name}`" for name in sorted(admitted))
    return [
        Item(
            f"it admits callers known by {names}",
            g.place(line.endpoint.span),
            "not in force",
            "every caller is refused",
        )
    ]


def _not_built(g: Grounds, endpoint: Endpoint) -> Iterator[Item]:
    within = extent(g, endpoint)
    for note in g.notes.values():
        if within.start <= note.span.start < within.end and note.labels[0].text == STOPS:
            yield Item(note.message, g.place(note.span), "not in force", STOPS)


def operator_values(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """What the operator has to give for it, as far as that can be told."""
    return [
        _operator_value(name, place, "without it the endpoint answers 501")
        for name, place, blocks in _given(g)
        if endpoint.key in blocks
    ]


def _operator_value(name: str, place: Place, words: str) -> Item:
    return Item(f"`operator.{name}`: {words}", place)


def all_operator_values(g: Grounds) -> list[Item]:
    return [
        _operator_value(name, place, f"without it is blocked: {', '.join(blocks) or 'no endpoint'}")
        for name, place, blocks in _given(g)
    ]


def _given(g: Grounds) -> Iterator[tuple[str, Place, tuple[str, ...]]]:
    """What the operator gives: its name, where it is first read, and the endpoints that need it."""
    checked, plan = g.loaded.checked, g.loaded.plan
    if checked is not None and plan is not None:
        for stated, planned in zip(checked.operator, plan.operator, strict=True):
            yield stated.name, stated.places[0], planned.blocks
