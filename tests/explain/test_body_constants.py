"""What a body has to hold as it is written is told of every endpoint that asks it of a request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ninefold.pipeline import load
from ninefold.tools.explain.endpoint import explain_endpoint, find_endpoint
from ninefold.tools.explain.render import to_text

CASES = Path(__file__).parents[1] / "cases"


@pytest.mark.parametrize(
    ("case", "held"),
    [
        ("answers-that-are-always-the-same", {dict, int}),
        ("articles-in-envelopes", {str}),
        ("required-where-it-is-not-said", {bool}),
    ],
)
def test_each_member_that_is_always_the_same_is_told(case: str, held: set[type]) -> None:
    loaded = load(str(CASES / case / "contract.md"))
    assert loaded.checked is not None
    found = [(endpoint.key, each) for endpoint in loaded.checked.endpoints for each in endpoint.takes.constants]
    assert {type(each.value) for _, each in found} == held
    for key, each in found:
        endpoint = find_endpoint(loaded, key)
        assert endpoint is not None
        pointer, written = "/".join(("", *each.pointer)), json.dumps(each.value, ensure_ascii=False)
        assert f"`{pointer}` has to be `{written}`" in to_text(explain_endpoint(loaded, endpoint))
