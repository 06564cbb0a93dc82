"""Sentences that speak for a whole part: `<any words>: none.` and `<any words>: not shown.`"""

from __future__ import annotations

import re

from ninefold.diagnostics.diagnostic import Diagnostic, Label
from ninefold.syntax.codes import NEARLY_A_STATEMENT
from ninefold.syntax.markdown import Paragraph
from ninefold.syntax.nodes import Statement, Word

_STATEMENT = re.compile(r"(\S.*):\s+(none|not\s+shown)\s*\.?", re.DOTALL)
_SENTENCE_END = re.compile(r"[.!?]\s+")
_NEARLY = re.compile(r"(\S.*?)(?::\s*|\s[–—-]\s+)(none|not\s+shown)\s*[.!]?", re.DOTALL | re.IGNORECASE)
_EMPHASIS = str.maketrans("", "", "*_`")


def statement(paragraph: Paragraph) -> Statement | None:
    """What a paragraph says for its part, if it does. The words before the colon are not two sentences; the
    final period may be left out."""
    found = _STATEMENT.fullmatch(_without_comments(paragraph.text).strip())
    if found is None or not paragraph.top or _SENTENCE_END.search(found[1]):
        return None
    return Statement(Word.NONE if found[2] == "none" else Word.NOT_SHOWN, paragraph.span)


def nearly_a_statement(paragraph: Paragraph) -> Diagnostic | None:
    """A warning about a paragraph that looks like a statement and is none."""
    text = _without_comments(paragraph.text).translate(_EMPHASIS).strip()
    if len(text) > 2000:
        return None
    found = _NEARLY.fullmatch(text)
    if found is None:
        return None
    words = _SENTENCE_END.split(found[1])[-1].strip(" :")
    corrected = f"{words}: {' '.join(found[2].lower().split())}."
    return Diagnostic(
        NEARLY_A_STATEMENT,
        "a sentence is nearly, but not, a statement about its part",
        (Label(paragraph.span, "read as prose"),),
        (f"as a paragraph of its own: `{corrected}`",),
    )


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (opening := text.find("<!--", at)) >= 0 and (closing := text.find("-->", opening + 4)) >= 0:
        kept.append(text[at:opening])
        at = closing + 3
    return "".join(kept) + text[at:]
