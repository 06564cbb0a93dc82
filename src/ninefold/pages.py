"""The pages in Markdown that ship with the program: what its tables say at length, read when it is asked for.

A page is a heading and sections, each with a name that never changes: `## NF0403: there is no such field`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SECTION = re.compile(r"^## (\w+): (.+)\n\n((?:(?!## \w+: ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """`text` is Markdown, and ends with a line break."""

    name: str
    title: str
    text: str


@cache
def sections(page: str) -> dict[str, Section]:
    """The sections of a page by name, in order; `page` is a path from the package (`meanings.md`)."""
    text = (Path(__file__).parent / page).read_text(encoding="utf-8")
    return {name: Section(name, title, body.strip() + "\n") for name, title, body in _SECTION.findall(text)}
