"""Whatever a contract leaves open, and however it is laid out: proposing inserts, and touches nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.propose.keeping import as_plain, assert_kept, compiled, facts, is_within, wrong
from tests.propose.taking_out import removals
from tests.slices import examples

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.syntax.edits import edited
from ninefold.syntax.nodes import Word
from ninefold.syntax.proposals import proposals
from ninefold.tools.blank import blank
from ninefold.tools.propose.accept import acceptance
from ninefold.tools.propose.propose import propose

ROOT = Path(__file__).parents[2]
TEXTS = [
    *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.md"))),
    *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "cases").glob("*/contract.md"))),
    blank("A service"),
]

MANNERS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "CR LF": lambda text: text.replace("\n", "\r\n"),
    "no line break at the end": lambda text: text.rstrip("\n"),
    "comments": lambda text: text.replace("}\n", "}  # as agreed\n"),
    "fences of tildes": lambda text: text.replace("```", "~~~~"),
    "facts in a quotation": lambda text: _quoted(text),
    "no empty lines": lambda text: "\n".join(line for line in text.split("\n") if line) + "\n",
}


def _quoted(text: str) -> str:
    lines, inside = [], False
    for line in text.split("\n"):
        fence = line.startswith("```")
        lines.append(f"> {line}" if inside or fence else line)
        inside ^= fence
    return "\n".join(lines)


@st.composite
def contracts(draw: st.DrawFn) -> tuple[str, str]:
    """A name and a text: a contract without some of its facts, in some manner, in one of the two forms."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(0, 5))):
        without = [cut for _, _, _, cut in removals(compiled(text).document)]
        if without:
            text = draw(st.sampled_from(without))
    manner = MANNERS[draw(st.sampled_from(sorted(MANNERS)))]
    if draw(st.booleans()):
        return "contract.md", manner(text)
    return "contract.yaml", manner(as_plain(compiled(text).document))


@pytest.mark.slow
@settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(contracts())
def test_proposing_inserts_and_accepting_takes_the_tags_away(contract: tuple[str, str]) -> None:
    name, text = contract
    before = compiled(text, name, accept=True)
    assume(not has_errors(before.diagnostics))
    outcome = propose(before)
    assert_kept(before, outcome.text)
    again = propose(compiled(outcome.text, name, accept=True))
    assert again.text == outcome.text and not again.answers

    proposed = compiled(outcome.text, name, accept=True)
    accepted = edited(outcome.text, acceptance(proposed.document, proposals(proposed.document)))
    after = compiled(accepted, name)
    assert not proposals(after.document)
    assert wrong(after) <= wrong(proposed)
    assert [each.text for each in after.open_questions] == [each.text for each in proposed.open_questions]
    assert is_within(accepted.replace("\r", "").replace("\n", ""), outcome.text.replace("\r", "").replace("\n", ""))
    not_shown = [part.statement is not None and part.statement.word is Word.NOT_SHOWN for part in before.document.parts]
    if not any(not_shown) and not proposals(before.document):
        assert is_within(text, accepted)
    assert facts(after.document) == facts(compiled(accepted, name, accept=True).document)
