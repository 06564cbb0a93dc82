"""What an endpoint with cases says in plain values: of the whole endpoint is only what each of its cases says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contracts import compiled

from ninefold.compile.routes import served
from ninefold.plan.routes import in_case
from ninefold.sql.sqlite import SQLITE

ASSETS = Path(__file__).parent / "cases" / "assets-of-two-sorts" / "contract.md"


@pytest.mark.parametrize(
    ("first", "second", "of_all"),
    [
        ({"attempts": 2, "timeout": 1}, {"attempts": 2}, {"attempts": 2}),
        ({"attempts": 2}, {"attempts": 3}, {}),
        ({}, {"attempts": 2}, {}),
    ],
)
@pytest.mark.parametrize("key", ["PUT /assets", "GET /things/{id}"])  # of the same rows, and of those of two resources
def test_each_case_says_its_own(key: str, first: Any, second: Any, of_all: Any) -> None:
    checked = compiled(ASSETS).checked
    assert checked is not None
    cases = [each for each in checked.endpoints if each.key == key]
    said = [replace(each, said=plain) for each, plain in zip(cases, (first, second), strict=True)]
    route = served(said, checked, SQLITE)
    assert [in_case(route, number).said for number in range(3)] == [of_all, first, second]
