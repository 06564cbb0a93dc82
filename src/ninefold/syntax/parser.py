"""From text to a document: nine parts, each with its facts, its statement and its prose."""

from __future__ import annotations

from enum import Enum
from pathlib import PurePath

from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome, in_order
from ninefold.diagnostics.source import Source, Span
from ninefold.syntax.codes import TOO_MANY
from ninefold.syntax.headings import heading
from ninefold.syntax.literate import literate
from ninefold.syntax.nodes import PARTS, Document
from ninefold.syntax.plain import plain

MOST_DIAGNOSTICS = 500
"""Of one document; more are not listed."""


class Form(Enum):
    """`literate`: Markdown with the facts in fenced YAML blocks. `plain`: YAML under nine keys."""

    LITERATE = "literate"
    PLAIN = "plain"


_ENDINGS = {".md": Form.LITERATE, ".markdown": Form.LITERATE, ".yaml": Form.PLAIN, ".yml": Form.PLAIN}


def form_of(name: str, text: str = "") -> Form:
    """The form of a document by the ending of its name. Without an ending that tells, the text does: it is
    plain when the key of a part comes before any heading of a part."""
    known = _ENDINGS.get(PurePath(name).suffix.lower())
    if known is not None:
        return known
    for line in text.splitlines():
        if line.startswith("##") and heading(line.lstrip("#")).part:
            return Form.LITERATE
        if line.split(":")[0].rstrip() in PARTS and ":" in line:
            return Form.PLAIN
    return Form.LITERATE


def parse(source: Source, form: Form) -> Outcome[Document]:
    """The document that a text is. Nothing is raised: what is wrong has its diagnostic, and what could be
    read around it is in the document."""
    outcome = literate(source) if form is Form.LITERATE else plain(source)
    return Outcome(outcome.value, _listed(in_order(outcome.diagnostics)))


def _listed(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    if len(diagnostics) <= MOST_DIAGNOSTICS:
        return diagnostics
    place = diagnostics[MOST_DIAGNOSTICS].span
    label = Label(Span(place.start, place.end), "not listed from here")
    message = f"the document has {len(diagnostics) - MOST_DIAGNOSTICS} more problems"
    return (*diagnostics[:MOST_DIAGNOSTICS], Diagnostic(TOO_MANY, message, (label,)))
