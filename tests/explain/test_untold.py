"""What an endpoint states and no section tells is told by its declaration: a key that is new has its line so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import compiled, title

from ninefold.language.declaration import members
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Shown, value_of
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import every

ROOT = Path(__file__).parents[2]
CONTRACTS = [
    *sorted((ROOT / "examples").glob("*.md")),
    ROOT / "tests" / "cases" / "tokens-that-nobody-is-granted" / "contract.md",
]


@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_each_fact_of_an_endpoint_is_told(path: Path) -> None:
    loaded = compiled(path)
    place, untold = loaded.source.place, []
    for endpoint in value_of(loaded.contract.endpoints.endpoints) or ():
        sections = explain_endpoint(loaded, endpoint).sections
        told = {item.place for section in sections for item in every(section.items)}
        for each in members(Endpoint):
            fact = getattr(endpoint, each.attribute)
            if isinstance(fact, Shown):
                start, end = place(fact.span.start), place(fact.span.end)
                untold += (
                    [] if any(start <= at <= end for at in told if at is not None) else [(endpoint.key, each.name)]
                )
    assert not untold
