"""A code that one case of an endpoint names is for that case alone."""

from __future__ import annotations

from typing import Final

from tests.contracts import ROOT, compiled

from ninefold.contract.questions.errors import without_code
from ninefold.contract.survey import Survey
from ninefold.language.fact import value_of
from ninefold.pipeline import compile_document
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import all_items

CONTRACT: Final = ROOT / "tests" / "cases" / "assets-of-two-sorts" / "contract.md"
KEY: Final = "GET /things/{id}"
"""Its case `visit` has a code of its own for what is not found, and the case `asset` that of part 7."""


def test_it_is_told_of_that_case_whichever_the_endpoint_is_asked_by() -> None:
    loaded = compiled(CONTRACT)
    cases = [each for each in value_of(loaded.contract.endpoints.endpoints) or () if each.key == KEY]
    assert [each.called for each in cases] == ["asset", "visit"]
    for each in cases:
        causes = [item.cause for item in all_items(explain_endpoint(loaded, each)) if item.cause is not None]
        told = {(cause.subject, cause.code) for cause in causes if cause.condition == "not found"}
        assert told == {("asset", "missing"), ("visit", "no_visit")}


def test_the_other_case_is_asked_for_one() -> None:
    text = CONTRACT.read_text(encoding="utf-8").replace(", for: [not found]", "")
    survey = Survey(compile_document(CONTRACT.name, text.encode()).contract)
    asked = {(each.case, each.text) for each in without_code(survey) if each.endpoint == KEY}
    assert ("asset", "not found asset") in asked and ("visit", "not found visit") not in asked
