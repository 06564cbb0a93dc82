"""What must be as it was in a document to which proposals have been added."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from ninefold.diagnostics.diagnostic import Severity
from ninefold.pipeline import Loaded, compile_document
from ninefold.syntax.nodes import Document, Mapping, Node, Scalar, Sequence, Word


def compiled(text: str, name: str = "contract.md", accept: bool = False) -> Loaded:
    return compile_document(name, text.encode(), accept)


def wrong(loaded: Loaded) -> Counter[str]:
    """Errors and warnings."""
    return Counter(each.message for each in loaded.diagnostics if each.code.severity is not Severity.NOTE)


def is_within(before: str, after: str) -> bool:
    """Whether the one text is the other with something taken out."""
    at = 0
    for character in before:
        at = after.find(character, at) + 1
        if not at:
            return False
    return True


def facts(document: Document) -> list[Any]:
    """The facts of each part, without proposals and without what says that it is not shown."""
    return [_facts(part.facts) for part in document.parts]


def _facts(node: Node) -> Any:
    match node:
        case Mapping(entries=entries):
            kept = [e for e in entries if not (e.proposed or e.value.proposed or _is_open(e.value))]
            return {entry.name: _facts(entry.value) for entry in kept}
        case Sequence(items=items):
            return [_facts(item) for item in items]
        case Scalar(value=value, style=style):
            return (value, style)


def _is_open(node: Node) -> bool:
    return isinstance(node, Scalar) and node.says("not shown")


def prose(document: Document) -> list[tuple[object, ...]]:
    """Titles, paragraphs, and the sentences that speak for parts; `not shown` gives way to a proposal."""
    text = document.source.text
    nothing = tuple(part.statement is not None and part.statement.word is Word.NONE for part in document.parts)
    return [
        (document.title,),
        *(tuple(text[span.start : span.end] for span in part.prose) for part in document.parts),
        nothing,
    ]


def assert_kept(before: Loaded, after: str) -> None:
    """A document is as it was but for proposals, and reads without new errors or warnings."""
    name = before.source.name
    read, accepted = compiled(after, name), compiled(after, name, accept=True)
    assert is_within(before.source.text, after)
    assert facts(read.document) == facts(before.document)
    assert prose(read.document) == prose(before.document)
    assert wrong(read) <= wrong(before) and wrong(accepted) <= wrong(before)
    ends = set(re.findall(r"\r\n|\r|\n", before.source.text))
    assert set(re.findall(r"\r\n|\r|\n", after)) <= (ends or {"\n"})


def as_plain(document: Document) -> str:
    """The facts of a literate document in the plain form."""
    lines = ["purpose: A service."]
    for part in document.parts[1:]:
        if part.statement is not None:
            lines.append(f"{part.name}: {part.statement.word.value}")
        elif part.blocks:
            lines.append(f"{part.name}:")
            for span in part.blocks:
                inside = document.source.text[span.start : span.end].splitlines()[1:-1]
                lines += [f"  {line}" if line.strip() else "" for line in inside]
    return "\n".join(lines) + "\n"
