"""What is not there is told once, with a label at each other place where it is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import (
    INDENTATION,
    NO_SUCH_FIELD,
    NO_SUCH_FUNCTION,
    NO_SUCH_NAME,
    NOT_AN_ACTION,
    RESERVED_NAME,
    UNDECLARED,
    UNKNOWN_KEY,
    WRONG_SHAPE,
)
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Severity
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import is_guess
from ninefold.syntax.nodes import Document, Mapping, Scalar, Style, every_entry, scalars

OF_THE_PATH, GOES_NOWHERE = "NF0504", "NF0524"
_NEVER_IS, _SHOWS_NO = "NF0542", "NF0611"

HAS_NO = frozenset({UNDECLARED.id, NO_SUCH_FIELD.id, OF_THE_PATH, "NF0510", "NF0511", GOES_NOWHERE})
"""What is said of a name that something does not have; its message names both."""

_DOES_TO = regex.compile(r"`(.*?)(?: all)?` is nothing that .* does to `(.*)`")

_GRAVEST = tuple(Severity)

QUOTED = regex.compile(r"`([^`]*)`")


def once(document: Document, said: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Each once; of a name that nothing declares the gravest, with a label at each other place where it is used."""
    said = tuple(said)
    resources = frozenset(entry.name for entry in document.part("resources").facts.entries)
    together: dict[tuple[object, ...], list[Diagnostic]] = {}
    strange = _strange(document, said)
    missed = {id(each): strange.get(each.span) or _missing(each, resources) for each in said}
    for each in said:
        if (missing := missed[id(each)]) is not None:
            together.setdefault(missing, []).append(each)
    for each in said:
        missing = missed[id(each)]
        if missing is None:
            yield each
            continue
        first = min(together[missing], key=lambda one: _GRAVEST.index(one.code.severity))
        if first.span == each.span and first.code.severity is each.code.severity:
            others = dict.fromkeys(one.span for one in together[missing] if one.span != each.span)
            yield replace(each, labels=(*each.labels, *(Label(span, "nor is it here") for span in others)))


def _strange(document: Document, said: tuple[Diagnostic, ...]) -> dict[Span, tuple[object, ...]]:
    """The keys of mappings that have no key of those that they may have: what such a one is, is told by the first."""
    refused = {each.span for each in said if each.code is UNKNOWN_KEY}
    entries = (each for part in document.parts if refused for each in every_entry(part.facts))
    return {
        own.key.span: (UNKNOWN_KEY.id, entry.span)
        for entry in entries
        if isinstance(entry.value, Mapping) and all(own.key.span in refused for own in entry.value.entries)
        for own in entry.value.entries
    }


def _missing(each: Diagnostic, resources: frozenset[str]) -> tuple[object, ...] | None:
    """What is not there: what a resource does not have is the same in the words of every code."""
    names = QUOTED.findall(each.message) if each.code.id in HAS_NO else ()
    if len(names) == 2 and not resources.isdisjoint(names):
        return (frozenset(names),)
    if each.code is NOT_AN_ACTION:  # whoever is told to take it, of one row or of all
        did = _DOES_TO.fullmatch(each.message)
        return None if did is None else (NOT_AN_ACTION.id, *did.groups())
    if each.code.id == _NEVER_IS:
        field, *value = QUOTED.findall(each.message)
        return (frozenset((field.partition(".")[0], *value)),)
    if each.code.id == _SHOWS_NO:
        return (_SHOWS_NO, QUOTED.findall(each.message)[-1])
    of_names = (UNDECLARED, NO_SUCH_FIELD, NO_SUCH_NAME, NO_SUCH_FUNCTION)
    # What is not there in a term is told by the term, whatever can be read where that is used.
    # What was meant is the same wherever it was: that a text may be meant as well is advised in some places.
    meant = tuple(filter(is_guess, each.help)) or each.help
    where = each.labels[1].span if each.code in (NO_SUCH_NAME, NO_SUCH_FUNCTION) and each.labels[1:] else meant
    return (each.code.id, each.message, where) if each.code in of_names else None


def beside_nothing(document: Document, said: tuple[Diagnostic, ...]) -> Iterator[Span]:
    """Keys that are none, or that name a term, and have nothing, each with what stands behind it in its mapping: that
    may be what was meant to stand under it. A term that is a mapping was meant for something else as a whole."""
    refused = {each.span.start for each in said if each.code in (UNKNOWN_KEY, WRONG_SHAPE)}
    for part in document.parts if refused else ():
        terms = {id(each) for group in part.facts.entries if group.name == "terms" for each in every_entry(group.value)}
        for holder in every_entry(part.facts):
            entries = holder.value.entries if isinstance(holder.value, Mapping) else ()
            for entry in entries:
                of_term = id(entry) in terms and entry.value.span.start in refused
                if of_term and isinstance(entry.value, Mapping):
                    yield entry.span
                is_empty = isinstance(entry.value, Scalar) and entry.value.style is Style.PLAIN and not entry.value.text
                if is_empty and (of_term or entry.key.span.start in refused):
                    yield Span(entry.key.span.start, entries[-1].span.end)
                    break


@dataclass(frozen=True, slots=True)
class Misread:
    """A declaration that seems to say something else than it does."""

    span: Span

    def holds(self, each: Diagnostic) -> bool:
        return self.span.start <= each.span.start < self.span.end


def taking_words(document: Document, said: tuple[Diagnostic, ...]) -> Iterator[Misread]:
    """The endpoints that take a transition whose name is a word: by that they seem to do something else."""
    words = {each.span for each in said if each.code is RESERVED_NAME}
    names = {each.name for each in every_entry(document.part("states").facts) if each.key.span in words}
    for entry in document.part("endpoints").facts.entries if names else ():
        does = [each for each in every_entry(entry.value) if each.name == "does"]
        if any(each.text.split(" ")[0] in names for one in does for each in scalars(one.value)):
            yield Misread(entry.span)


def is_astray(key: Diagnostic, said: tuple[Diagnostic, ...]) -> bool:
    """Whether a key stands in a line that fits no column: where it was meant to stand, nobody knows."""
    lines = (each.span for each in said if each.code is INDENTATION)
    return any(line.start <= key.span.start < line.end for line in lines)
