"""The pages in Markdown that ship with the program: what its tables say at length, read when it is asked for.

A page is a heading and sections, each with a name that never changes: `## NF0403: there is no such field`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

CHEAT_SHEET = "cheat_sheet.yaml"
"""The language on one screen: a contract that says a little of everything."""

_SECTION = re.compile(r"^## (\w+): (.+)\n\n((?:(?!## \w+: ).*\n)*)", re.MULTILINE)


class Section(NamedTuple):
    """`text` is Markdown, and ends with a line break."""

    name: str
    title: str
    text: str


@cache
def sections(page: str) -> dict[str, Section]:
    """The sections of a page by name, in order; `page` is a path from the package (`diagnostics/codes/yaml.md`)."""
    found = _SECTION.findall(text_of(page))
    return {name: Section(name, title, body.strip() + "\n") for name, title, body in found}


def text_of(page: str) -> str:
    """A page as it stands; `page` is a path from the package."""
    return (Path(__file__).parents[1] / page).read_text(encoding="utf-8")
