"""What is misspelt where it is declared is told once, however often it is used, whatever else it may have been."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from zlib import crc32

import pytest
from tests.contracts import ROOT, compiled
from tests.diagnostics.test_single_mistakes import complete, misspelt
from tests.slices import LONG, PARTS

from ninefold.contract.resolve import consequences
from ninefold.contract.resolve.once import once
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.language.verbs import VERBS
from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import Document, Mapping, Scalar, Sequence

CALLED = [next(word for word in verb.also if word.isidentifier()) for verb in VERBS.values() if verb.also]
"""What others call the verbs: a word for each."""

SAMPLE = 4
"""Mistakes of a kind that a run makes; the long run makes all."""


def told(path: Path, text: str) -> list[str]:
    """What is told of a text, and not of the contract itself."""
    before = {each.message for each in compiled(path).diagnostics}
    said = compile_document(path.name, text.encode()).diagnostics
    return [
        f"{each.code.id} {each.message}"
        for each in said
        if each.code.severity is not Severity.NOTE and each.message not in before
    ]


def transitions(path: Path) -> Iterator[tuple[str, str]]:
    """Each transition that one resource alone has and an endpoint takes, called as others call a verb, and misspelt
    where it is declared."""
    document = compiled(path).document
    machines = [each.value for each in document.part("states").facts.entries if isinstance(each.value, Mapping)]
    keys = [each.key for machine in machines for each in machine.under("transitions")]
    text = document.source.text
    for key in keys:
        used = rf"\b{key.text}(?= (?:all )?\w)"
        alone = sum(each.text == key.text for each in keys) == 1 and isinstance(key.offsets, range)
        if not alone or len(re.findall(rf"does: \[?{used}", text)) == 0:
            continue
        start = key.offsets[0]
        for word in CALLED:
            renamed = text[:start] + misspelt(word) + text[start + len(key.text) :]
            yield f"{path.name}: {key.text} is {word}", re.sub(used, word, renamed)


def names(path: Path) -> Iterator[tuple[str, str]]:
    """Each name of a path, misspelt in the key of the endpoint."""
    document = compiled(path).document
    text = document.source.text
    for entry in document.part("endpoints").facts.entries:
        for found in re.finditer(r"\{(\w{2,})\}", entry.name) if isinstance(entry.key.offsets, range) else ():
            start = entry.key.offsets[found.start(1)]
            yield f"{path.name}: {entry.name}", text[:start] + misspelt(found[1]) + text[start + len(found[1]) :]


def states(path: Path) -> Iterator[tuple[str, str]]:
    """Each state, misspelt where it is declared."""
    document = compiled(path).document
    text = document.source.text
    for entry in document.part("states").facts.entries:
        listed = entry.value.get("states") if isinstance(entry.value, Mapping) else None
        for each in listed.value.items if listed is not None and isinstance(listed.value, Sequence) else ():
            if isinstance(each, Scalar) and isinstance(each.offsets, range):
                start = each.offsets[0]
                yield f"{path.name}: {each.text}", text[:start] + misspelt(each.text) + text[start + len(each.text) :]


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", [transitions, names, states])
def test_an_error_is_told_whatever_else_is_told_of_it(
    kind: Callable[[Path], Iterator[tuple[str, str]]], part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = list[tuple[set[Severity], set[Severity]]]()

    def noting(document: Document, said: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        said = tuple(said)
        kept = tuple(once(document, said))
        came.append(({each.code.severity for each in said}, {each.code.severity for each in kept}))
        return iter(kept)

    monkeypatch.setattr(consequences, "once", noting)
    of_all = [each for path in {ROOT / "examples" / "orders.md", *complete(part)} for each in kind(path)]
    for title, text in of_all if LONG else sorted(of_all, key=lambda each: crc32(each[0].encode()))[: 3 * SAMPLE]:
        came.clear()
        compile_document(title.partition(":")[0], text.encode())
        assert all(Severity.ERROR in kept for said, kept in came if Severity.ERROR in said), title


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", [transitions, names])
def test_what_is_misspelt_where_it_is_declared_is_told_once(
    kind: Callable[[Path], Iterator[tuple[str, str]]], part: int
) -> None:
    of_all = [(path, *each) for path in {ROOT / "examples" / "orders.md", *complete(part)} for each in kind(path)]
    taken = of_all if LONG else sorted(of_all, key=lambda each: crc32(each[1].encode()))[:SAMPLE]
    found = [(title, told(path, text)) for path, title, text in taken]
    assert any(said for _, said in found)  # a name of `put` that is no field may be a gap instead
    assert not [(title, said) for title, said in found if len(said) > 1]
