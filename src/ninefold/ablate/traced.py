"""What a service says of its responses, held against the contract: every status, header, member name and constant comes
from a line that still stands, from the request, from what is stored or made, from a fixed meaning, or from HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ninefold.ablate.rehearsal import Seen
from ninefold.diagnostics.source import Source, Span
from ninefold.plan.places import Place
from ninefold.plan.service import ServicePlan
from ninefold.trace.attribution import attribution
from ninefold.trace.causes import Attribution, Cause, Member, Path, places


def attributed(plan: ServicePlan, seen: Seen) -> Attribution:
    """What caused a response of a plan."""
    return attribution(plan, seen.trace)


def causes(found: Attribution) -> Iterator[Cause]:
    """Every cause of every part of a response."""
    yield from found.causes
    yield from _of_content(found)
    for refusal in found.refusals:
        yield from refusal.causes


def _of_content(found: Attribution) -> Iterator[Cause]:
    for header in found.headers:
        yield from (*header.causes, *header.value)
    for member in found.members:
        yield from (*member.causes, *member.value)
    for event in found.events:
        yield from event.causes
        for member in event.members:
            yield from (*member.causes, *member.value)


def named(found: Attribution) -> frozenset[Place]:
    """Every place of the contract that a response comes from."""
    return frozenset(places(tuple(causes(found))))


def shown(found: Attribution) -> frozenset[Place]:
    """The places that its headers, its body and its events come from."""
    return frozenset(places(tuple(_of_content(found))))


def refused_for(found: Attribution) -> frozenset[Place]:
    """The places for which a request was refused."""
    return frozenset(place for refusal in found.refusals for place in places(refusal.causes))


def inside(place: Place, span: Span, source: Source) -> bool:
    start, end = source.place(span.start), source.place(span.end)
    return (start.line, start.column) <= (place.line, place.column) < (end.line, end.column)


def without_cause(found: Attribution, seen: Seen) -> Iterator[str]:
    """The parts of a response that nothing accounts for."""
    if not found.causes:
        yield "the status"
    headers = {each.name: each for each in found.headers}
    for name, _ in seen.headers:
        header = headers.get(name)
        if header is None or not header.causes or not header.value:
            yield f"the header {name}"
    if seen.body:
        try:
            yield from _members(json.loads(seen.body), (), found.members)
        except ValueError:
            if not found.members:
                yield "the body"


def _members(value: Any, path: Path, members: tuple[Member, ...]) -> Iterator[str]:
    fitting = [each for each in members if each.path == path]
    leaf = not isinstance(value, dict | list)
    if not any(each.causes for each in fitting) and (path or leaf):
        yield f"the member {'/'.join(map(str, path))}"
    elif not any(each.whole for each in fitting):
        for name, each in value.items() if isinstance(value, dict) else ():
            yield from _members(each, (*path, name), members)
        for number, each in enumerate(value) if isinstance(value, list) else ():
            written_out = any(member.path == (*path, number) for member in members)
            yield from _members(each, (*path, number if written_out else None), members)
