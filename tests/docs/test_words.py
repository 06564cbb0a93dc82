"""The pages speak today's language: what they show is read, and no page says a word that a contract says no more."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.reader import ROOT

from ninefold.expressions.tokens import KEYWORDS, RESERVED
from ninefold.language import former
from ninefold.language.conditions import BY_NAME
from ninefold.language.identifiers import RESOURCE_NAMES
from ninefold.language.meanings import meaning_named
from ninefold.language.table import vocabulary
from ninefold.language.verbs import VERBS
from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import PARTS

PACKAGE = ROOT / "src" / "ninefold"
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
TOLD = sorted(
    {ROOT / "README.md", PACKAGE / "language" / "meanings.md", *(PACKAGE / "diagnostics" / "codes").glob("*.md")}
    | {page for page in (ROOT / "docs").rglob("*.md") if page.name != "fix.md"}
)
"""All but the page that says what became of the old words."""

IN_FORCE = {name for key in vocabulary() for name in key.path.split(".")} | set(BY_NAME) | set(VERBS)
MEANT_OTHERWISE = {"code", "field", "kind", "order", "row"}
"""Once keys; now fields of events and of errors, a label of metrics, and the resource of many examples."""
FORMER = {path.rpartition(".")[2] for _, path in former.KEYS} | set(former.VERBS) | set(former.CONDITIONS)
GONE = FORMER - IN_FORCE - MEANT_OTHERWISE


@pytest.mark.parametrize("page", TOLD, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_says_a_former_word(page: Path) -> None:
    prose = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([a-zA-Z][a-zA-Z -]*?)(?::[^`]*| [A-Z])?`", prose)
    assert GONE.isdisjoint(spans), sorted(GONE.intersection(spans))


PREDICATE = re.compile(
    r"\b(?:conditions?,? (?:holds?|that (?:reads?|asks?|holds?|has)|on the row|is (?:a boolean|true|shown)|on several)"
    r"|(?:asks?|under|on|of) (?:a|which|the) conditions?\b(?! that ca))",
    re.IGNORECASE,
)
"""What is said of a condition and is so of a predicate alone (decision 0102)."""


@pytest.mark.parametrize("page", TOLD, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_holds_or_does_not_is_a_predicate(page: Path) -> None:
    """A condition is a reason to refuse a request, and no expression."""
    assert PREDICATE.findall(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", REFERENCE, ids=lambda page: page.stem)
def test_what_the_reference_shows_is_read(page: Path) -> None:
    """What an example leaves out (a resource, an endpoint) is missing: this is about its keys and shapes alone."""
    for block in re.findall(r"^```yaml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        told = compile_document("example.yaml", as_document(block).encode()).diagnostics
        assert not [each.message for each in told if each.code.id.startswith("NF03") and each.code.id != "NF0312"], (
            block
        )


def as_document(block: str) -> str:
    """Each key of the block in the part that it is of; what is of none is a resource, or the states of one."""
    parts: dict[str, str] = defaultdict(str)
    for entry in re.findall(r"^\S.*\n(?:^ .*\n|^\n)*", block, re.MULTILINE):
        parts[part_of(entry)] += re.sub(r"^(?=.)", "  ", entry, flags=re.MULTILINE)
    return "".join(f"{part}:\n{text}" for part, text in parts.items())


def part_of(entry: str) -> str:
    key = entry.partition(":")[0]
    if re.match(r"[A-Z]+ /", entry):
        return "endpoints"
    if "\n  initial:" in entry or "{initial:" in entry:
        return "states"
    return next(iter(parts_with(key)), "resources")


def parts_with(key: str) -> Iterator[str]:
    own = {(each.part, each.path) for each in vocabulary()}
    yield from (name for number, name in enumerate(PARTS, start=1) if number > 3 and (number, key) in own)


@pytest.mark.parametrize("page", REFERENCE, ids=lambda page: page.stem)
def test_a_question_stands_at_its_key_or_in_the_table(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    tables = re.findall(r"generated: questions \d -->(.*?)<!-- end", text, re.DOTALL)
    told = [row.split(" | ")[0].strip("| ") for row in "".join(tables).splitlines() if row.startswith("| ")][2:]
    assert [each for each in told if f"Asked for: {each}" in text] == []


def test_the_words_that_name_no_resource_are_told() -> None:
    told = set(re.findall("`([^`]+)`", meaning_named("names").text))
    assert told == RESERVED | KEYWORDS | RESOURCE_NAMES | {"const"}
