"""What may refuse a request is told alike by `explain`, by OpenAPI and by the questions, for every endpoint that is
served. OpenAPI reads the plan, which the server runs; `explain` tells its causes, and the questions ask for the codes
of those that have none of their own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ninefold.contract.fact import value_of
from ninefold.explain.grounds import Grounds
from ninefold.explain.refusals import every_refusal
from ninefold.language.conditions import NO_ENDPOINT
from ninefold.pipeline import compile_document

ROOT = Path(__file__).parents[2]
CONTRACTS = [*sorted((ROOT / "examples").glob("*.md")), *sorted((ROOT / "tests" / "cases").glob("*/contract.*"))]
FILE = Path(__file__).with_name("told_otherwise.txt")

FIXED = "too large"
"""Where no size is stated a bound holds all the same; no contract is asked for its code."""


def title(path: Path) -> str:
    return path.stem if path.stem != "contract" else path.parent.name


@cache
def told_otherwise() -> frozenset[str]:
    """The offenders: what the questions do not tell as the plan has it. The list may only shrink."""
    return frozenset(filter(None, FILE.read_text(encoding="utf-8").split("\n")))


@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_what_may_refuse_a_request_is_told_alike(path: Path) -> None:
    loaded = compile_document(path.name, path.read_bytes())
    if loaded.plan is None:
        return
    g = Grounds(loaded)
    of_any = {*g.arising.get(None, ()), *NO_ENDPOINT}
    found = set()
    for endpoint in value_of(loaded.contract.endpoints.endpoints) or ():
        planned = g.planned.get(endpoint.key)
        if planned is None:
            continue
        explained = {each.condition for each in every_refusal(g, endpoint)} - NO_ENDPOINT
        assert explained == {each.condition for each in planned} - NO_ENDPOINT, endpoint.key
        without_code = {each.condition for each in planned if each.code is None} - of_any
        asked = {*g.arising.get(endpoint.key, ())} - of_any
        if value_of(loaded.contract.limits.body_size) is None:
            asked, without_code = asked - {FIXED}, without_code - {FIXED}
        for condition in without_code ^ asked:
            how = "is not asked for" if condition in without_code else "does not arise"
            found.add(f"{title(path)}: {endpoint.key}: {condition} {how}")
    known = {each for each in told_otherwise() if each.startswith(f"{title(path)}: ")}
    assert found == known, "what is told otherwise is no more than it was; where it is less, take it from the list"
