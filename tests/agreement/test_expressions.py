"""Whatever expressions can say stands in random contracts, and the service and the interpreter give the same values of
it: in Python, in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.agreement.comparing import Asked, Disagreement, Pair, Scenario, compare
from tests.agreement.expressions import DECLARED, SPELT
from tests.agreement.shrinking import shrunk
from tests.agreement.test_found import contract
from tests.agreement.versions import compiled
from tests.agreement.worded import ALONE, MOST, requests, rows, worded
from tests.reference.messages import Request
from tests.slices import many, some

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.expressions.forms import SPECIAL

ROUND = -(-len(DECLARED) // MOST)
"""Contracts in which whatever is declared comes once."""

PIECES, MORE = many("WORDS", 2_400, 24)


def valued(number: int, database: str) -> set[str]:
    """What gave a value in some answer. Raises the smallest disagreement."""
    stated = worded(number)
    scenario = Scenario(stated.contract, tuple(rows(number)), tuple(requests(number)), database=database)
    loaded = compiled(scenario.contract)
    assert loaded.checked is not None and not has_errors(loaded.diagnostics), (
        f"{scenario.text}\n{[each.message for each in loaded.diagnostics]}"
    )
    found: set[str] = set()
    try:
        with Pair(loaded.checked, scenario.plan(loaded), scenario) as pair:
            for asked in scenario.requests:
                body = pair.tell(asked).body
                of = {member: name for (at, member), name in stated.of.items() if _is_of(at, asked.request.target)}
                found.update(of[member] for member, value in _members(body) if value is not None and member in of)
    except Disagreement as disagreement:
        raise AssertionError(f"{number}: {shrunk(disagreement)}") from None
    return found


def _is_of(endpoint: str, target: str) -> bool:
    begin = endpoint.removeprefix("GET ").partition("{")[0]
    return target.startswith(begin) and (begin.endswith("/") or "/" not in target.removeprefix(begin))


def _members(body: Any) -> Iterator[tuple[str, Any]]:
    for each in body if isinstance(body, list) else [body]:
        yield from each.items() if isinstance(each, dict) else ()


@pytest.mark.slow
def test_whatever_is_declared_gives_a_value_and_the_same_one() -> None:
    found = set().union(*(valued(number, "sqlite") for number in range(ROUND)))
    assert set(DECLARED) - found == set(ALONE)
    assert set(SPECIAL) == set(SPELT)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("number", some(range(24), 24))
def test_the_same_over_postgresql(number: int) -> None:
    assert valued(number, "postgresql")


def test_a_position_that_no_text_has_is_none_over_postgresql() -> None:
    """What is constant PostgreSQL works out before it asks whether it is needed."""
    shown = {
        "from": f"item.a.substring({2**63 - 1})",
        "to": f"item.a.substring(0, {2**63 - 1})",
        "b": "item.a.substring(1)",
    }
    text = {"type": "string"}
    said = contract(
        {"item": {"fields": {"id": text, "a": text}}},
        {"GET /items/{id}": {"does": "read item", "responses": {200: shown}}},
    )
    asked = Asked("2026-01-01T00:00:00.000000Z", Request("GET", "/items/i"))
    compare(Scenario(said, (("item", {"id": "i", "a": "ab"}),), (asked,), database="postgresql"))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("part", PIECES)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_same_of_many_more(database: str, part: int) -> None:
    """Each third over PostgreSQL."""
    for number in range(ROUND + part * MORE, ROUND + (part + 1) * MORE):
        if (number % 3 == 0) is (database == "postgresql"):
            assert valued(number, database)
