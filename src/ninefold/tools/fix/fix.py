"""A contract of the first words in the second ones, changed in place: `ninefold fix`.

Each part has its function, which takes its facts as they are written. Values are changed before what holds them, so
that what moves takes its changes along. What cannot be said by rewriting is left as it is, and told (`Left`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ninefold.diagnostics.source import Span
from ninefold.language.former import only_gone
from ninefold.syntax.nodes import Document, Mapping
from ninefold.tools.fix.endpoints import endpoints, exploded
from ninefold.tools.fix.layout import Layout
from ninefold.tools.fix.meanings import otherwise_meant
from ninefold.tools.fix.parts import authentication, errors, events, limits, resources, states, versioning
from ninefold.tools.fix.rewriting import Left, Rewriting, entries_of, scalars_of
from ninefold.tools.propose.edits import Edit, moved

_PARTS: Final = (resources, states, endpoints, authentication, events, errors, limits, versioning)


@dataclass(frozen=True, slots=True)
class Fixed:
    """`text` of the document in the second words, what is left to do by hand, and what means something else though its
    words stay; both in the order of their places, which are those of the document as it was."""

    text: str
    left: tuple[Left, ...]
    changed: tuple[Left, ...] = ()
    edits: tuple[Edit, ...] = ()

    def moved(self, at: int) -> int:
        """Where a place of the document as it was is in `text`."""
        return moved(at, self.edits)


def fixed(document: Document) -> Fixed:
    """The document in the second words, as far as these are in force. Whose words are the second ones already comes
    back as it is."""
    text = document.source.text
    codes = document.part("errors").facts.get("codes")
    fix = Rewriting(Layout(text), taken={each.name for each in entries_of(codes)})
    for code in entries_of(codes):
        when = code.value.get("when") if isinstance(code.value, Mapping) else None
        for condition in scalars_of(when.value) if when is not None else ():
            fix.codes.setdefault(condition.text, code.name)
    for part, function in zip(only_gone(document).parts[1:], _PARTS, strict=True):
        function(fix, part.facts)
    if fix.layout.edits:
        for entry in document.parts[3].facts.entries:
            if isinstance(entry.value, Mapping):
                exploded(fix, entry.value)
    after, edits = fix.layout.done(), tuple(fix.layout.edits)
    # Who has none of the first words has read what the others mean now.
    told = {each.span for each in fix.left}
    changed = [] if after == text else [each for each in otherwise_meant(document) if each.span not in told]
    return Fixed(after, tuple(sorted(fix.left, key=_place)), tuple(sorted(changed, key=_place)), edits)


def _place(left: Left) -> Span:
    return left.span
