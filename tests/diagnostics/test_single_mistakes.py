"""A single mistake brings few diagnostics, and the first of them stands at the mistake.

One word of a complete contract is misspelt, or one value is another, wherever it stands in parts 2 to 9.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zlib import crc32

import pytest
from tests.contracts import DIRECTORIES, ROOT, compiled, contract_of, title
from tests.slices import LONG, PARTS, PIECES, WHOLE, by_name, seldom

from ninefold.diagnostics.diagnostic import Diagnostic, Severity, has_errors
from ninefold.diagnostics.source import Span
from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import Mapping, Node, Scalar, Sequence

MOST: Final = 2
"""Errors and warnings that a single mistake brings."""

EXCEPT: Final = {
    "NF0301 issues": "an endpoint that issues nothing grants nothing: what reads `granted` stands elsewhere",
    **dict.fromkeys(
        ("NF0401 $ref", "NF0524 $ref", "NF0401 const", "NF0524 const"),
        "what stands at a key that no schema has is a template, and is read as one",
    ),
    "NF0541 to": "that the items of an array are of no one type, since the first differ, is told by who reads them",
    "NF0513 basic": "any word may be an HTTP scheme, and of those that are not known a token is presented",
}
"""What is told first elsewhere, or brings more than MOST: its code and the word that is not written, and why."""

SAMPLE: Final = 16
"""Mistakes that a run makes; the long run makes a third of those that a contract has, each at one of the places where
its word stands, and `make mutations` all."""

_WORD: Final = re.compile(r"[A-Za-z_$]{3,}")
_QUOTED: Final = re.compile(r"`([^`]*)`")


@dataclass(frozen=True)
class Mistake:
    """`written` stands in place of `word`, which is at `start`, in what is `around` it."""

    path: Path
    word: str
    written: str
    start: int
    around: Span

    @property
    def text(self) -> str:
        text = compiled(self.path).source.text
        return text[: self.start] + self.written + text[self.start + len(self.word) :]

    def __str__(self) -> str:
        place = compiled(self.path).source.place(self.start)
        return f"{title(self.path)}:{place.line}: {self.word} -> {self.written}"


def complete(part: int) -> list[Path]:
    """The contracts of a piece of this run without an error or a gap."""
    directories = DIRECTORIES[part::PIECES] if LONG else by_name(DIRECTORIES, 12)
    paths = sorted({contract_of(directory) for directory in directories})
    return [path for path in paths if not has_errors(compiled(path).diagnostics) and not compiled(path).open_questions]


def misspelt(word: str) -> str:
    """Two letters in another order; of as many letters, so that everything else stands where it stood."""
    at = next((at for at in range(1, len(word) - 1) if word[at] != word[at + 1]), None)
    return f"{word[0]}q{word[2:]}" if at is None else word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def texts(node: Node, at: Span | None = None) -> Iterator[tuple[Scalar, Span, bool]]:
    """The scalars, where each stands (a value with its key), and whether it is a key."""
    match node:
        case Scalar():
            yield node, at or node.span, False
        case Mapping():
            for entry in node.entries:
                yield entry.key, entry.key.span, True
                yield from texts(entry.value, entry.span)
        case Sequence():
            for item in node.items:
                yield from texts(item, at)


def mistakes(path: Path) -> Iterator[Mistake]:
    for part in compiled(path).document.parts[1:]:
        for scalar, at, is_key in texts(part.facts):
            if not isinstance(scalar.offsets, range):
                continue
            for found in _WORD.finditer(scalar.text):
                yield Mistake(path, found[0], misspelt(found[0]), scalar.offsets[found.start()], at)
            if not is_key and scalar.text:
                yield Mistake(path, scalar.text, "wrong".ljust(len(scalar.text)), scalar.offsets[0], at)


def told(mistake: Mistake) -> list[Diagnostic]:
    """The errors and warnings that it brings."""
    before = {(each.code, each.message) for each in compiled(mistake.path).diagnostics}
    said = compile_document(mistake.path.name, mistake.text.encode()).diagnostics
    return [
        each for each in said if each.code.severity is not Severity.NOTE and (each.code, each.message) not in before
    ]


def wrong(mistake: Mistake) -> str | None:
    """What is wrong with what is told of it. What is misspelt where it is declared is told where it is used: of what is
    not there, by its name."""
    said = told(mistake)
    if not said or f"{said[0].code.id} {mistake.word}" in EXCEPT:
        return None
    here = [each.span.meets(mistake.around) for each in said]
    codes = ", ".join(f"{each.code.id} {each.message}" for each in said)
    if len(said) > MOST:
        return f"{mistake}: {len(said)} are told: {codes}"
    if any(here) and not here[0]:
        return f"{mistake}: the first stands elsewhere: {codes}"
    names = " ".join(text for each in said for text in (*_QUOTED.findall(each.message), *_beside(each)))
    if not any(here) and mistake.word not in names and mistake.written.strip() not in names:
        return f"{mistake}: nothing stands there, or names it: {codes}"
    return None


def _beside(said: Diagnostic) -> Iterator[str]:
    yield from (label.text for label in said.labels)
    yield from said.help


def taken(part: int) -> list[Mistake]:
    found = [each for path in complete(part) for each in mistakes(path)]
    if not LONG:
        # Some whose consequence stands before them, too: what is read back is read by fields above it.
        return sorted(found, key=lambda each: (each.word != "inverse", crc32(str(each).encode())))[:SAMPLE]
    if WHOLE:
        return found
    alike: dict[tuple[Path, str, str], list[Mistake]] = {}
    for each in found:
        alike.setdefault((each.path, each.word, each.written), []).append(each)
    some = [each[crc32(f"{title(path)} {word}".encode()) % len(each)] for (path, word, _), each in alike.items()]
    return seldom(some, 3, SAMPLE)


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_a_single_mistake_is_told_first_and_brings_few(part: int) -> None:
    assert not [said for each in taken(part) if (said := wrong(each))]


def test_it_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    (one, *_) = (each for each in mistakes(ROOT / "examples" / "todo.md") if each.word == "type")
    assert told(one) and wrong(one) is None
    monkeypatch.setitem(globals(), "MOST", 0)
    assert wrong(one)
