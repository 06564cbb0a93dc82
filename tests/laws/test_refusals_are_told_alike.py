"""What may refuse a request is told alike by what the contract states, which the questions read, by the plan, which
OpenAPI and the server read, and by `explain`, for every endpoint that is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.language.conditions import BY_NAME, NO_ENDPOINT, Step
from ninefold.language.fact import value_of
from ninefold.pipeline import compile_document
from ninefold.questions.conditions import arising
from ninefold.refusals import stated
from ninefold.refusals.refusal import Refusal
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.refusals import every_refusal

ROOT = Path(__file__).parents[2]
CONTRACTS = [*sorted((ROOT / "examples").glob("*.md")), *sorted((ROOT / "tests" / "cases").glob("*/contract.*"))]

WIDE = ("invalid", "unauthenticated", "invariant")
"""The conditions that are told as wide as they are: of which value, scheme or row, only the plan knows for sure."""


def title(path: Path) -> str:
    return path.stem if path.stem != "contract" else path.parent.name


def names(found: tuple[Refusal, ...]) -> set[tuple[str, str | None, str | None]]:
    """Each condition, what it is narrowed to, and the code that is stated for it alone."""
    return {
        (each.condition, None if each.condition in WIDE else each.subject, each.code)
        for each in found
        if each.condition not in NO_ENDPOINT
    }


@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_what_may_refuse_a_request_is_told_alike(path: Path) -> None:
    loaded = compile_document(path.name, path.read_bytes())
    if loaded.plan is None:
        return
    g, wrong = Grounds(loaded), []
    asked = arising(g.survey)
    of_any = {each.condition for each in asked if each.endpoint is None}
    for endpoint in value_of(loaded.contract.endpoints.endpoints) or ():
        planned = g.planned.get(endpoint.key)
        if planned is None:
            continue
        found = stated.refusals(g.survey, endpoint.key)
        if names(found) != names(planned):
            wrong.append(f"{endpoint.key}: {sorted(names(found) ^ names(planned), key=str)} is told by one")
        without = {each.condition for each in planned if each.code is None} - NO_ENDPOINT
        if value_of(loaded.contract.limits.body_size) is None:
            without -= {"too large"}  # no contract is asked for the code of a bound that it does not state
        of_questions = {each.condition for each in asked if each.endpoint == endpoint.key} | (of_any & without)
        if of_questions != without:
            wrong.append(f"{endpoint.key}: {sorted(of_questions ^ without)} by the questions")
        explained = {each.condition for each in every_refusal(g, endpoint)}
        if explained != {each.condition for each in planned} - NO_ENDPOINT:
            wrong.append(f"{endpoint.key}: {explained} by explain")
        wrong += [f"{endpoint.key}: {each}" for each in (*found, *planned) if not is_of_its_row(each)]
    assert wrong == []


def is_of_its_row(refusal: Refusal) -> bool:
    """Whether the table of conditions says of it that such a step may find it, and that it may be so narrowed."""
    condition = BY_NAME[refusal.condition]
    step = Step.JUDGED if refusal.step is Step.DONE else refusal.step
    return step in condition.steps and (refusal.subject is None or bool(condition.narrowed))
