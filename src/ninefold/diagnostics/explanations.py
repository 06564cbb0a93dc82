"""What a kind of diagnostic is about, with a wrong and a right example: a section of one of the pages in codes/.

An example is a diff. What is wrong is taken away, what is right is added, and `@@ resources: order` is the place of the
lines below it. Behind `diff` stands what it is a diff of: nothing for facts, to be read beside those of an ordinary
contract; `yaml` or `markdown` for a whole document; `text` for what is too long to be written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ninefold.diagnostics import regex
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.pages import sections

PAGES = (
    *("document", "yaml", "keys", "expressions", "upgrade"),
    *("resources", "states", "endpoints", "responses", "authentication", "events", "errors", "limits", "versions"),
)

_EXAMPLE = regex.compile(r"^(?P<fence>`{3,})diff ?(?P<form>\w*)\n(?P<lines>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Explanation:
    """`says` is Markdown; `wrong` and `right` are two texts of the form `form` (empty: facts)."""

    title: str
    says: str
    form: str
    wrong: str
    right: str

    @property
    def markdown(self) -> str:
        """All but the title."""
        examples = (("Wrong", self.wrong), ("Right", self.right))
        return "\n\n".join((self.says, *(f"{word}:\n\n{self._fenced(text)}" for word, text in examples)))

    def _fenced(self, text: str) -> str:
        fence = "````" if "```" in text else "```"
        return f"{fence}{self.form or 'yaml'}\n{text}{fence}"


def explanation(code: str) -> Explanation:
    """The section of a code such as `NF0504`; `LookupError` if there is none, or it has no example."""
    pages = (sections(f"diagnostics/codes/{page}.md") for page in PAGES)  # read until it is found
    section = next((found[code] for found in pages if code in found), None)
    example = _EXAMPLE.search(section.text) if section is not None else None
    if section is None or example is None:
        raise LookupError(code)
    lines = example["lines"].splitlines()
    wrong, right = ("".join(f"{line}\n" for line in _without(sign, lines)) for sign in "+-")
    return Explanation(section.title, " ".join(section.text[: example.start()].split()), example["form"], wrong, right)


def _without(sign: str, lines: list[str]) -> Iterator[str]:
    """One side of a diff, with the places of its hunks written out."""
    indent = ""
    for line in lines:
        if line.startswith("@@"):
            indent = ""
            for key in filter(None, line[2:].strip().split(": ")):
                yield f"{indent}{key}:"
                indent += "  "
        elif not line.startswith(sign):
            yield f"{indent}{line[1:]}" if line[1:] else ""
