"""Requests that are made of two contracts, so that each difference has one that shows it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.diff.test_pairs import PAIRS, TEXT, edited, loaded
from tests.slices import some

from ninefold.diff.bounds import telling
from ninefold.diff.compare import diff
from ninefold.diff.finding import Difference
from ninefold.diff.report import results
from ninefold.diff.witness import made, showing

SEEN = [each for each in PAIRS if each["verdict"] not in ("none", "words")]
TAKEN = some(SEEN, 80)


def found(pair: dict[str, Any]) -> Difference:
    old = loaded("old.md", edited(TEXT, pair.get("old", [])))
    new = loaded("new.md", edited(old.source.text, pair["edit"]))
    assert new.plan is not None
    shown = showing(new.plan, None, partial(made, old, new, {}, lambda: False), lambda: False)
    return diff(old, new, shown)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("pair", TAKEN, ids=lambda pair: pair["why"])
def test_a_difference_has_a_request_that_shows_it(pair: dict[str, Any]) -> None:
    difference = found(pair)
    first = next(each for each in difference.findings if each.verdict != "words")
    assert first.told != 0
    if "unseen" in pair:
        assert first.witness is None, "its line in pairs.yaml can lose `unseen`"
    else:
        assert first.witness is not None
        assert first.told and first.witness.was != first.witness.now
        (told,) = results(difference, [first])
        assert f"shown by: {first.witness.request}" in told.message


@pytest.mark.slow
def test_a_request_for_which_there_is_no_time_is_not_told() -> None:
    pair = next(each for each in PAIRS if each["why"] == "a bound deep in a body")
    old, new = loaded("old.md", TEXT), loaded("new.md", edited(TEXT, pair["edit"]))
    assert new.plan is not None
    shown = showing(new.plan, None, partial(made, old, new, {}, lambda: True), lambda: True)
    assert [(each.witness, each.told) for each in diff(old, new, shown).findings] == [(None, 0)]


@pytest.mark.parametrize(
    ("old", "new", "tells"),
    [
        ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 7}, "aaaaaa"),
        ({"type": "integer", "minimum": 1}, {"type": "integer"}, 0),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, "b"),
        ({"type": ["string", "null"]}, {"type": "string"}, None),
        ({"type": "array", "items": {"enum": [1]}}, {"type": "array", "items": {"enum": [1, 2]}}, [2]),
        ({"type": "array", "maxItems": 2}, {"type": "array", "uniqueItems": True, "maxItems": 2}, ["text", "text"]),
        ({"type": "string", "pattern": "^[A-Z]{2,20}$"}, {"type": "string", "pattern": "^[A-Z]{2,30}$"}, "A" * 30),
        ({"properties": {"a": {"maximum": 5}}}, {"properties": {"a": {"maximum": 7}}}, {"a": 6}),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, {"type": "string", "pattern": "^[A-Z]{3}$"}, "AA"),
    ],
)  # fmt: skip
def test_what_one_of_two_schemas_admits_comes_first(old: Any, new: Any, tells: Any) -> None:
    assert tells in telling((old, new))[:4]
