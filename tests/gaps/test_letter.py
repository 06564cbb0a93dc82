"""The letter to a contract's owner, and how answers are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ninefold.contract.questions.question import PART_QUESTIONS, QUESTIONS
from ninefold.language.question import Question
from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import NUMBERED_TITLES
from ninefold.tools.answers import WHOLE_PART, effort, example, keys_answering
from ninefold.tools.blank import blank
from ninefold.tools.letter import letter

ORDERS = (Path(__file__).parents[2] / "examples" / "orders.md").read_text(encoding="utf-8")


def letter_about(text: str) -> str:
    loaded = compile_document("contract.md", text.encode())
    return letter(loaded.contract, loaded.open_questions)


def test_a_whole_contract_asks_nothing() -> None:
    assert "answers every question" in letter_about(ORDERS)
    assert "###" not in letter_about(ORDERS)


def test_each_question_has_its_place_its_cost_and_its_form() -> None:
    text = ORDERS.replace("patch: merge", "patch: not shown").replace("timeout: PT10S\n", "")
    told = letter_about(text)
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "patch: not shown" in each)
    assert (
        f"""\
### 1. How a patch is read by `PATCH /orders/{{id}}`

- **Where:** line {line}, column 10, in part 4, Endpoints.
- **What it costs:** `PATCH /orders/{{id}}` is not served.
- **How it is answered:** by this key:
  - `ENDPOINT.patch` is `merge` or `json-patch`: """
        in told
    )
    assert "leaves 2 questions open. Of 13 endpoints 1 is not served." in told
    assert told.index("## What keeps endpoints from being served") < told.index("## What is left out")
    assert "the service leaves out timeouts: no request is given up." in told
    assert "  ```yaml\n  timeout: PT10S\n  ```" in told


def test_the_blank_contract_asks_for_its_nine_parts() -> None:
    told = letter_about(blank("Notes"))
    assert told.startswith("# Open questions: Notes\n")
    assert len(re.findall(r"^### \d\. ", told, re.MULTILINE)) == 9
    assert "It shows no endpoint yet" in told


def test_a_name_cannot_break_the_letter() -> None:
    text = '# T\n\n## 2. R\n\n```yaml\n"a`b\\n# c":\n  fields: {x: {type: string}}\n```\n'
    assert not re.search(r"^# c", letter_about(text), re.MULTILINE)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: f"{question.part} {question.id}")
def test_every_question_has_keys_or_is_about_a_part(question: Question) -> None:
    assert keys_answering(question) or question in PART_QUESTIONS
    assert 1 <= effort(question) <= WHOLE_PART


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: f"{question.part} {question.id}")
def test_an_example_is_read_without_a_complaint_about_its_form(question: Question) -> None:
    """It is a stretch of the blank contract's examples, so what it lacks elsewhere does not count here."""
    shown = example(question)
    if shown is None or question.part == 1:
        return
    loaded = compile_document(
        "a.md", f"# T\n\n## {NUMBERED_TITLES[question.part - 1]}\n\n```yaml\n{shown}\n```\n".encode()
    )
    assert loaded.document.parts[question.part - 1].facts.entries
    assert [d for d in loaded.diagnostics if d.code.id.startswith(("NF01", "NF02"))] == []


def test_examples_show_what_is_asked() -> None:
    by_id = {question.id: example(question) for question in QUESTIONS}
    assert by_id["primary key"] == "note:\n  primary key: id"
    assert by_id["unknown members"] == "requests:\n  unknown members: refused"
    assert by_id["rate"] == "rates:\n  calls: {of: address, allow: 600, per: PT1M, algorithm: fixed window}"
    assert by_id["patch"] is None
