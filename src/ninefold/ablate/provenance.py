"""Where the words of a response can come from: what is left of the contract, the request, what is stored, what the
operator gives, what is made for it, the table of fixed meanings, and HTTP itself. A word from anywhere else was
invented.

This looks at what came over the wire and not at what the service says of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from ninefold.ablate.rehearsal import Seen, Told
from ninefold.meanings import meanings
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar, Sequence

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
    return _words(" ".join(map(str, meanings())))
