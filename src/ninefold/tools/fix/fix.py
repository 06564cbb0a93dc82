"""A contract of the first words in the second ones, changed in place: `ninefold fix`.

Each part has its function, which takes its facts as they are written. Values are changed before what holds them, so
that what moves takes its changes along. What cannot be said by rewriting is left as it is, and told (`Left`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ninefold.syntax.nodes import Document
from ninefold.tools.fix.endpoints import endpoints
from ninefold.tools.fix.layout import Layout
from ninefold.tools.fix.parts import authentication, errors, events, limits, resources, states, versioning
from ninefold.tools.fix.rewriting import Left, Rewriting

_PARTS: Final = (resources, states, endpoints, authentication, events, errors, limits, versioning)


@dataclass(frozen=True, slots=True)
class Fixed:
    """`text` of the document in the second words, and what is left to do."""

    text: str
    left: tuple[Left, ...]


def fixed(document: Document) -> Fixed:
    """The document in the second words. Whose words are the second ones already comes back as it is."""
    fix = Rewriting(Layout(document.source.text))
    for part, function in zip(document.parts[1:], _PARTS, strict=True):
        function(fix, part.facts)
    return Fixed(fix.layout.done(), tuple(sorted(fix.left, key=lambda each: each.span)))
