"""Expressions of the first words in the second ones: which of their names are others, each with its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from ninefold.language.successors import PAGE, names_in, without_texts

_PLACE: Final = re.compile(r"(?<=[\w)])\[(?:'in'|\"in\")\]")
_LOOSER: Final = re.compile(r"[?:]|&&|\|\||[<>=!]=|[<>]|\bin\b")
"""Operators that bind no closer than `==`."""


class Said(NamedTuple):
    """`text[start:end]` is `word` in the second words."""

    start: int
    end: int
    word: str


FIELDS: Final = (
    "error.fields.map(f, {'in': f.place, 'pointer': f.pointer, 'name': f.name, 'rule': f.rule, 'message': f.message})"
)
"""What `error.fields` showed as a whole, under the name that the place had."""


def renamed(text: str) -> Iterator[Said]:
    """`f['in']` of an error's fields is `f.place`: `in` is a word of CEL."""
    for found in _PLACE.finditer(text):
        yield Said(found.start(), found.end(), ".place")


def named_now(text: str, schemes: Collection[str], from_0: bool) -> Iterator[Said]:
    """The names that are gone, each as what says the same. `from_0`: the numbers of pages begin at 0."""
    for start, end, now in names_in(text, schemes):
        if from_0 and now == PAGE["page.number"]:
            now = now.removesuffix(" + 1")
        whole = (start, end) == (0, len(text.strip())) or " " not in now
        yield Said(start, end, now if whole else f"({now})")


def row(text: str, old: str, new: str) -> Iterator[Said]:
    """The name `old` where it stands for a row: not in a text, not as a member, not as a view."""
    for found in re.finditer(rf"(?<![\w.$]){re.escape(old)}(?![\w(])", without_texts(text)):
        yield Said(found.start(), found.end(), new)


def compared(text: str, resource: str) -> Iterator[Said]:
    """`R == E` of an expression that gave a row."""
    loose = _LOOSER.search(without_texts(text)) is not None
    yield Said(0, 0, f"{resource} == {'(' if loose else ''}")
    if loose:
        yield Said(len(text), len(text), ")")
