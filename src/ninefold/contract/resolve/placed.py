"""What a contract declares and what is written in it, found by a place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.syntax.nodes import Document, Entry, Mapping, scalars


@dataclass(frozen=True, slots=True)
class Declaration:
    """A field is `RESOURCE.FIELD`, and its `owner` is the resource."""

    name: str
    key: Span
    span: Span
    owner: Declaration | None = None


class Declared:
    """What a contract declares, found by a place in it."""

    def __init__(self, document: Document) -> None:
        found = list[Declaration]()
        for part in document.parts:
            for entry in part.facts.entries:
                is_group = part.name not in ("resources", "states", "endpoints") and isinstance(entry.value, Mapping)
                own = entry.value.entries if is_group and isinstance(entry.value, Mapping) else (entry,)
                found += (Declaration(each.name, each.key.span, each.span) for each in own)
            for resource, fields in fields_of(document) if part.name == "resources" else ():
                owner = Declaration(resource.name, resource.key.span, resource.span)
                found += (
                    Declaration(f"{resource.name}.{each.name}", each.key.span, each.span, owner) for each in fields
                )
        self._found = sorted(found, key=lambda each: each.span.start)
        self._starts = [each.span.start for each in self._found]

    def around(self, span: Span) -> tuple[Declaration, ...]:
        """The declarations that a place is in: a field and its resource."""
        at = bisect_right(self._starts, span.start) - 1
        found = self._found[at] if at >= 0 else None
        both = () if found is None else (found,) if found.owner is None else (found, found.owner)
        return tuple(each for each in both if span.start < each.span.end)


def fields_of(document: Document) -> Iterator[tuple[Entry, tuple[Entry, ...]]]:
    """Each resource of part 2 with its fields."""
    for resource in document.part("resources").facts.entries:
        if isinstance(resource.value, Mapping):
            yield resource, resource.value.under("fields")


class Written:
    """The texts of a document, found by a place in them."""

    def __init__(self, document: Document) -> None:
        found = (scalar for part in document.parts for scalar in scalars(part.facts))
        self._scalars = sorted(found, key=lambda scalar: scalar.span.start)
        self._starts = [scalar.span.start for scalar in self._scalars]

    def around(self, span: Span) -> str:
        """The text that a place is in; empty where it is in none."""
        at = bisect_right(self._starts, span.start) - 1
        return self._scalars[at].text if at >= 0 and span.start < self._scalars[at].span.end else ""
