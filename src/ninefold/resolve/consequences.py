"""One cause, one diagnostic: what depends on a declaration that was refused is not judged.

A name that cannot be one, a resource that nothing declares and a field whose schema is wrong are told where they are;
what is said of the expressions and names that read them follows from that, and comes back by itself where it does not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ninefold.diagnostics import regex
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.codes import NO_SUCH_FIELD, NO_SUCH_NAME, UNREADABLE
from ninefold.language.codes import NOT_AN_ACTION, UNDECLARED, UNKNOWN_KEY, WRONG_SHAPE
from ninefold.syntax.nodes import Document, Entry, Mapping, Node, Sequence, scalars

_FIRST_OF_EXPRESSIONS = "NF0400"
_NOTHING_ANSWERS_WITH = "NF0519"
_QUOTED = regex.compile(r"`([^`]*)`")


def _is_named(document: Document, codes: list[str]) -> bool:
    """Whether something outside of part 7 says one of these: it could not be read, or it would be known."""
    parts = (part.facts for part in document.parts if part.name != "errors")
    return any(scalar.text in codes for facts in parts for scalar in scalars(facts))


def causes(document: Document, said: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """What is said, without what only follows from something else that is; of a name that nothing declares, once."""
    if not any(each.code.severity is Severity.ERROR for each in said):
        return said
    faulty = {f".{name}" for name in _faulty(document, said)}
    refused = {each.of for each in said if each.of and each.code is not UNDECLARED}
    unknown = {each.of for each in said if each.of and each.code is UNDECLARED}
    machines = tuple(_machines(document, said))
    skipped, unshaped = _skipped(document, said), _unshaped(document, said)
    if not (faulty or refused or unknown or machines or skipped or unshaped):
        return tuple(_once(said))
    written = _Written(document)
    # What is done to a resource that has states is as unknown as the resource.
    undone = _reading(unknown & {entry.name for entry in document.part("states").facts.entries})
    names, unread, wrong = _reading(refused), _reading(unknown), _reading(faulty)

    def follows(each: Diagnostic) -> bool:
        if each.of or each.code.severity is Severity.NOTE:
            return False
        if any(machine.holds(each) for machine in machines) or _is_of_skipped(each, skipped):
            return True
        if each.span in unshaped and _is_of_meaning(each):
            return True
        if each.code.id == _NOTHING_ANSWERS_WITH and _is_named(document, _QUOTED.findall(each.message)):
            return True
        told = " ".join(f".{name}" for name in _QUOTED.findall(each.message))
        place = "" if each.code is UNREADABLE else written.around(each.span)
        of_expressions = each.code.id >= _FIRST_OF_EXPRESSIONS
        if of_expressions or each.code in (UNDECLARED, NOT_AN_ACTION):
            if _found(names, told) or _found(names, place):
                return True
        if each.code is NOT_AN_ACTION and _found(undone, told):
            return True
        if not of_expressions or each.code is UNREADABLE:
            return False
        if _found(unread, told) or _found(unread, place):
            return True
        # What has no such name was known: a type that is not known finds every name.
        return each.code not in (NO_SUCH_FIELD, NO_SUCH_NAME) and (_found(wrong, told) or _found(wrong, place))

    return tuple(_once(each for each in said if not follows(each)))


def _faulty(document: Document, said: tuple[Diagnostic, ...]) -> Iterator[str]:
    """The fields of part 2 of which something is wrong."""
    spans = sorted((entry.span.start, entry.span.end, entry.name) for entry in _fields(document))
    starts = [start for start, _, _ in spans]
    for each in said:
        at = bisect_right(starts, each.span.start) - 1
        is_reading = each.code.id < _FIRST_OF_EXPRESSIONS
        if is_reading and each.code.severity is Severity.ERROR and at >= 0 and each.span.start < spans[at][1]:
            yield spans[at][2]


@dataclass(frozen=True, slots=True)
class _Machine:
    """A machine of part 3 that cannot be read whole: which states are reached is not known."""

    resource: str
    span: Span

    def holds(self, each: Diagnostic) -> bool:
        if each.code is NOT_AN_ACTION:
            return each.message.endswith(f"`{self.resource}`")
        is_inside = self.span.start <= each.span.start < self.span.end
        return is_inside and each.code.id >= _FIRST_OF_EXPRESSIONS


def _machines(document: Document, said: tuple[Diagnostic, ...]) -> Iterator[_Machine]:
    for entry in document.part("states").facts.entries:
        for each in said:
            is_reading = each.code.severity is Severity.ERROR and each.code.id < _FIRST_OF_EXPRESSIONS
            if is_reading and each.code is not UNDECLARED and entry.span.start <= each.span.start < entry.span.end:
                yield _Machine(entry.name, entry.span)
                break


def _skipped(document: Document, said: tuple[Diagnostic, ...]) -> str:
    """What stands under keys that are none, as it is written."""
    refused = {each.span for each in said if each.code is UNKNOWN_KEY}
    parts = (part.facts for part in document.parts) if refused else ()
    entries = (each for facts in parts for each in _entries(facts) if each.key.span in refused)
    return "\n".join(document.source.cut(each.value.span) for each in entries)


def _entries(node: Node) -> Iterator[Entry]:
    for each in node.entries if isinstance(node, Mapping) else ():
        yield each
        yield from _entries(each.value)
    for item in node.items if isinstance(node, Sequence) else ():
        yield from _entries(item)


def _is_of_skipped(each: Diagnostic, skipped: str) -> bool:
    """Whether a warning, such as that nothing uses something, is about what stands where nothing is read."""
    named = _QUOTED.findall(each.message)
    return _is_of_meaning(each) and bool(named) and all(_found(_reading({name}), skipped) for name in named)


def _unshaped(document: Document, said: tuple[Diagnostic, ...]) -> frozenset[Span]:
    """The keys of what has another shape than it should, so that nothing of it is known."""
    wrong = {each.span for each in said if each.code is WRONG_SHAPE}
    entries = (entry for part in document.parts for entry in _entries(part.facts)) if wrong else ()
    return frozenset(each.key.span for each in entries if each.value.span in wrong)


def _is_of_meaning(each: Diagnostic) -> bool:
    """Whether it is a warning of what has been read."""
    return each.code.severity is Severity.WARNING and each.code.id >= _FIRST_OF_EXPRESSIONS


def _fields(document: Document) -> Iterator[Entry]:
    for resource in document.part("resources").facts.entries:
        fields = resource.value.get("fields") if isinstance(resource.value, Mapping) else None
        if fields is not None and isinstance(fields.value, Mapping):
            yield from fields.value.entries


def _reading(names: set[str]) -> re.Pattern[str] | None:
    """What finds where any of these names is read: `.NAME` behind a dot only."""
    chosen = "|".join(
        re.escape(name) if name.startswith(".") else r"(?<!\w)" + re.escape(name)
        for name in sorted(names, key=len, reverse=True)
    )
    return regex.compile(f"(?:{chosen})(?!\\w)") if names else None


def _found(pattern: re.Pattern[str] | None, text: str) -> bool:
    return pattern is not None and pattern.search(text) is not None


def _once(said: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Each once; of a name that nothing declares with a label at each place where it is used."""
    said = tuple(said)
    places: dict[tuple[object, ...], list[Span]] = {}
    for each in said:
        if each.code in (UNDECLARED, NO_SUCH_FIELD):
            places.setdefault((each.code.id, each.message, each.help), []).append(each.span)
    for each in said:
        spans = places.get((each.code.id, each.message, each.help))
        if spans is None:
            yield each
        elif spans[0] == each.span:
            more = tuple(Label(span, "nor is it here") for span in dict.fromkeys(spans[1:]) if span != each.span)
            yield replace(each, labels=(*each.labels, *more))


class _Written:
    """The texts of a document, found by a place in them."""

    def __init__(self, document: Document) -> None:
        found = (scalar for part in document.parts for scalar in scalars(part.facts))
        self._scalars = sorted(found, key=lambda scalar: scalar.span.start)
        self._starts = [scalar.span.start for scalar in self._scalars]

    def around(self, span: Span) -> str:
        """The text that a place is in; empty where it is in none."""
        at = bisect_right(self._starts, span.start) - 1
        return self._scalars[at].text if at >= 0 and span.start < self._scalars[at].span.end else ""
