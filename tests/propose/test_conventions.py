"""Examples with a fact taken out: what conventions say to the gap, and that it then compiles as before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ninefold.contract.fact import is_open
from ninefold.diagnostics.diagnostic import Severity
from ninefold.pipeline import Loaded, compile_document
from ninefold.propose.conventions import CONVENTIONS
from ninefold.propose.propose import propose
from ninefold.questions.question import QUESTIONS
from tests.propose.taking_out import removals

EXAMPLES = Path(__file__).parents[2] / "examples"

WITH_A_CONVENTION = {convention.question.id for convention in CONVENTIONS if not convention.beside}

NEVER = {
    "purpose", "resources", "fields", "states", "machine", "does", "body", "schemes", "presented", "credential",
    "lasts", "audience", "callers", "rows", "readable", "kinds", "upon", "payload", "body size", "time-outs",
    "idempotency keys", "rate", "versioning", "versions", "default", "changes",
}  # fmt: skip
"""The questions that no convention answers."""

NOT_APPLICABLE = {
    "type": "the field is no identifier",
    "responses": "the endpoint is no deletion",
    "status": "no condition has the code",
    "delivery": "how long a stream is kept is no convention",
}
"""Why a question that has a convention is left open all the same."""


def compiled(text: str, accept: bool = False) -> Loaded:
    return compile_document("contract.md", text.encode(), accept)


def wrong(loaded: Loaded) -> Counter[str]:
    return Counter(each.message for each in loaded.diagnostics if each.code.severity is not Severity.NOTE)


def cut_texts(name: str, only: set[str]) -> Iterator[tuple[str, str]]:
    """The example without one of its facts, where that opens a question of `only`; and where it stood."""
    whole = compiled((EXAMPLES / f"{name}.md").read_text(encoding="utf-8"))
    for part, _, place, text in removals(whole.document):
        loaded = compiled(text)
        if not wrong(loaded) and only & {each.question.id for each in loaded.open_questions}:
            yield f"{part}/{place}", text


def test_the_table_and_what_stays_open_are_all_questions() -> None:
    ids = {question.id for question in QUESTIONS}
    assert WITH_A_CONVENTION <= ids and NEVER <= ids
    assert not WITH_A_CONVENTION & NEVER
    assert all(each.source and "\n" not in each.source for each in CONVENTIONS)


@pytest.mark.parametrize("name", ["orders", "conduit"])
def test_a_complete_contract_gets_no_proposal(name: str) -> None:
    text = (EXAMPLES / f"{name}.md").read_text(encoding="utf-8")
    outcome = propose(compiled(text, accept=True))
    assert outcome.text == text and outcome.answers == () and outcome.open == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["orders", "conduit"])
def test_a_fact_taken_out_is_proposed_where_there_is_a_convention(name: str) -> None:
    """Each gap has a candidate then, or stays open for a reason; what is accepted compiles, and blocks nothing that
    the example serves."""
    served = {route.key for route in _routes(compiled((EXAMPLES / f"{name}.md").read_text(encoding="utf-8")))}
    proposed = set()
    for place, text in cut_texts(name, WITH_A_CONVENTION):
        outcome = propose(compiled(text, accept=True))
        as_it_stands, accepted = compiled(outcome.text), compiled(outcome.text, accept=True)
        assert wrong(as_it_stands) == wrong(accepted) == Counter(), place
        for each in as_it_stands.open_questions:
            if each.question.id in WITH_A_CONVENTION - set(NOT_APPLICABLE):
                assert each.candidate, (place, each.text)
        if not accepted.open_questions:
            assert {route.key for route in _routes(accepted)} == served, place
            assert accepted.plan is not None and accepted.plan.proposals, place
        proposed |= {answer.convention.question.id for answer in outcome.answers}
    assert proposed >= {"identifier", "on delete", "patch", "order", "codes", "shape", "pages"} - (
        {"on delete"} if name == "orders" else set()
    )


def _routes(loaded: Loaded) -> tuple[object, ...]:
    assert loaded.plan is not None
    return loaded.plan.routes
