"""The fixed meanings of the language: the same in every service, because no contract could say them in two ways."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ninefold.diagnostics import regex
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.pages import text_of


@dataclass(frozen=True, slots=True)
class Meaning:
    """`order`: on the page. `name` is in small letters, as it is cited. `places`: the keys (`4 ENDPOINT.etag`) and
    the verbs (`verb put`) that it belongs to; a global one has none. `text` is Markdown, its paragraphs apart by empty
    lines."""

    order: int
    name: str
    title: str
    places: tuple[str, ...]
    text: str

    @property
    def is_global(self) -> bool:
        return not self.places


_SECTION = regex.compile(r"^## (?P<title>[\w ]+?)(?: \((?P<places>.+)\))?\n\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)


@cache
def meanings() -> Mapping[str, Meaning]:
    """All of them by name, as meanings.md beside this file has them."""
    found = enumerate(_SECTION.finditer(text_of("language/meanings.md")))
    return {each.name: each for each in (_meaning(order, section) for order, section in found)}


def meaning_named(name: str) -> Meaning:
    """The meaning of a name. `KeyError`: there is none."""
    return meanings()[name]


def _meaning(order: int, found: re.Match[str]) -> Meaning:
    title, text = found["title"], found["text"].strip()
    name = title if title[:2].isupper() else title[:1].lower() + title[1:]
    places = tuple(found["places"].split(", ")) if found["places"] else ()
    paragraphs = (" ".join(each.split()) for each in text.split("\n\n"))
    return Meaning(order, name, title, places, "\n\n".join(paragraphs))
