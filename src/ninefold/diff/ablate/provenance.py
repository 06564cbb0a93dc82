"""Where the words of a response can come from: what is left of the contract, the request, what is stored, what the
operator gives, what is made for it, the table of fixed meanings, and HTTP itself. A word from anywhere else was
invented.

This looks at what came over the wire and not at what the service says of itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Source, Span
from ninefold.diff.rehearsal import Seen, Told
from ninefold.language.meanings import meanings
from ninefold.plan.service import ServicePlan
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar, Sequence
from ninefold.trace.attribution import attribution
from ninefold.trace.causes import Attribution, Cause, Member, Path, places

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])")
_MADE = re.compile(r"[A-Za-z0-9_+/=-]{16,}|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|[0-9][0-9T:.Z+-]*")
"""Tokens, digests, identifiers, times and numbers: too long or too plain to be anybody's words."""

HTTP = frozenset(
    "content type length allow www authenticate options head get post put patch delete application json charset "
    "utf basic bearer digest realm error invalid token gmt date id event data text stream cache control no store "
    "location retry after vary origin scope insufficient mon tue wed thu fri sat sun jan feb mar apr may jun jul aug "
    "sep oct nov dec true false null weak etag link rel successor version deprecation sunset".split()
)
"""The words of RFC 9110 and of the documents that it leads to: header names and what their values are made of."""


class Words:
    """The words that a contract without a fact, the fixed meanings and HTTP give to every response."""

    def __init__(self, document: Document, taken: str) -> None:
        """`taken`: the text of the fact that is not there any more."""
        self._taken = _words(taken)
        facts = frozenset(word for part in document.parts for word in _of(part.facts))
        self._known = facts | _of_meanings() | HTTP

    def invented(self, seen: Seen, before: Seen, told: Told, at_hand: Iterable[str]) -> frozenset[str]:
        """The words of a response that come from nowhere. `before`: what came of the same request when the fact was
        there, of whose words only its own have to go; `at_hand`: the rows that there were, and what the operator
        gives."""
        unknown = _said(seen) - self._known - (_said(before) - self._taken)
        if not unknown:
            return frozenset()
        asked = " ".join(
            (told.path.decode("latin-1"), told.query.decode("latin-1"), told.body.decode("utf-8", "replace"))
        )
        unknown -= _words(asked) | _words(" ".join(told.headers.values()))
        return unknown - frozenset(word for text in at_hand for word in _words(text)) if unknown else frozenset()


def _said(seen: Seen) -> frozenset[str]:
    """The words of a response; an entity tag has none."""
    headers = (name if name == "etag" else f"{name}: {value}" for name, value in seen.headers)
    return _words(_MADE.sub(" ", " ".join((*headers, seen.body.decode("utf-8", "replace")))))


def _of(node: Node) -> frozenset[str]:
    """The words of facts, whatever the prose around them says."""
    match node:
        case Mapping(entries=entries):
            return frozenset().union(*(_words(entry.name) | _of(entry.value) for entry in entries))
        case Sequence(items=items):
            return frozenset().union(*map(_of, items))
        case Scalar():
            return _words(node.text)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text) if len(word) > 1)


@cache
def _of_meanings() -> frozenset[str]:
    return _words(" ".join(each.text for each in meanings().values()))


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
