"""The blank contract: nine gaps as it is written, and a whole contract once its hints are taken."""

from __future__ import annotations

import pytest

from ninefold.contract.questions.question import QUESTIONS
from ninefold.diagnostics.diagnostic import Severity
from ninefold.language.limits import LIMITS
from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import NUMBERED_TITLES
from ninefold.tools.blank import EXAMPLES, blank
from ninefold.tools.gaps import parts_at_a_glance


def test_it_reads_back_as_nine_gaps_and_nothing_else() -> None:
    loaded = compile_document("contract.md", blank("Notes").encode())
    assert loaded.diagnostics == ()
    assert sorted(each.question.part for each in loaded.open_questions) == list(range(1, 10))
    answers = parts_at_a_glance(loaded.contract, loaded.open_questions)
    assert {part.answer for part in answers} == {"not shown"}
    assert loaded.document.title == "Notes"


@pytest.mark.parametrize("title", ["", "a\nb", "<!--", "# x", "ü" * 300, "--> `*_"])
def test_any_title_will_do(title: str) -> None:
    loaded = compile_document("contract.md", blank(title).encode())
    assert len(loaded.open_questions) == 9


def test_it_teaches_every_question() -> None:
    words = " ".join(blank("Notes").split())
    for question in QUESTIONS:
        if question is not LIMITS:
            assert question.in_general in words


def test_its_examples_are_one_contract_without_a_gap() -> None:
    parts = zip(NUMBERED_TITLES, EXAMPLES, strict=True)
    text = "# Notes\n\n" + "\n\n".join(f"## {title}\n\n{example}" for title, example in parts) + "\n"
    loaded = compile_document("contract.md", text.encode())
    assert [d.message for d in loaded.diagnostics if d.code.severity is not Severity.NOTE] == []
    assert loaded.open_questions == ()


def test_its_comments_are_as_wide_as_a_screen() -> None:
    assert max(map(len, blank("Notes").splitlines())) <= 120
