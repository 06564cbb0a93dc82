"""Each of the 319 keys of the first words: what became of it, and that `fix` does so (`fates.txt`, a key a line: where
it stood, whether it is kept, renamed, merged, removed, or was the row of a name or an item, and what says it now)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ninefold.diagnostics.source import Source
from ninefold.language.former import KEYS, RENAMED, entries_at
from ninefold.language.table import keys_under
from ninefold.syntax.nodes import PARTS, Document
from ninefold.syntax.parser import form_of, parse
from ninefold.tools.fix.fix import Fixed, fixed

pytestmark = pytest.mark.usefixtures("nothing_of_it_is_in_force")

HERE = Path(__file__).parent
OLD = [*sorted((HERE / "old").glob("*/contract.*")), HERE / "every_key.yaml"]

ITEMS = ("INVARIANT", "EFFECT", "GUARD", "CHANGE", "RECORD")
"""Rows of items that have no name, which is no key."""

STAYS = ("shape ", "any key of an endpoint", "value of ")
"""How a fate begins that is another row of the table and no other word."""


class Fate(NamedTuple):
    part: int
    path: str
    kind: str
    now: str

    @property
    def is_gone(self) -> bool:
        return self.kind in ("renamed", "merged", "removed") and not self.now.startswith(STAYS)


def _fate(line: str) -> Fate:
    at, kind, now = (each.strip() for each in line.split("|"))
    part, _, path = at.partition(" ")
    return Fate(int(part), path, kind, now)


FATES = [_fate(line) for line in (HERE / "fates.txt").read_text(encoding="utf-8").splitlines()]


def _document(name: str, text: str) -> Document:
    return parse(Source(name, text), form_of(name, text)).value


@cache
def _rewritten() -> tuple[tuple[Document, Fixed, Document], ...]:
    old = [_document(path.name, path.read_text(encoding="utf-8")) for path in OLD]
    return tuple((each, (by := fixed(each)), _document(each.source.name, by.text)) for each in old)


def _count(document: Document, fate: Fate) -> int:
    now = {path: word for (part, path), word in RENAMED.items() if part == fate.part}
    return sum(1 for _ in entries_at(document.part(PARTS[fate.part - 1]).facts, fate.path, now))


def _has(document: Document, fate: Fate) -> bool:
    """Whether the key stands there under its first name."""
    return any(True for _ in entries_at(document.part(PARTS[fate.part - 1]).facts, fate.path))


def test_there_are_all_of_them() -> None:
    assert len(FATES) == len({(each.part, each.path) for each in FATES}) == 319


def test_each_key_that_is_told_of_stood_somewhere() -> None:
    """Beside others of the first words, or under a key that is there now: at another place nobody would meet it."""
    beside = {(each.part, each.path.rpartition(".")[0]) for each in FATES}
    places = ((part, path.rpartition(".")[0]) for part, path in KEYS)
    assert [at for at in places if at not in beside and not keys_under(*at)] == []


def test_each_is_rewritten_or_stays() -> None:
    offenders = []
    for fate in FATES:
        if fate.path.rpartition(".")[2] in ITEMS:
            continue
        met = [(old, by, new) for old, by, new in _rewritten() if _has(old, fate)]
        if not met:
            offenders.append(f"{fate.part} {fate.path}: no contract has it")
        elif fate.is_gone:
            left = [old.title or old.source.name for old, _, new in met if _has(new, fate)]
            if left:
                offenders.append(f"{fate.part} {fate.path}: still in {left[:3]}")
        elif fate.kind == "kept" and not fate.now:
            lost = [old.title or old.source.name for old, _, new in met if _count(new, fate) < _count(old, fate)]
            if lost:
                offenders.append(f"{fate.part} {fate.path}: lost in {lost[:3]}")
    assert not offenders, "\n".join(offenders)
