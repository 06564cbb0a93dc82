"""The service and the reference interpreter give the same answers: random contracts, rows, callers and requests.

`make test` takes some of a fixed number of contracts, the long run all of them, and then more from other seeds each
day: `make agreement` a million requests, or as many as `NINEFOLD_REQUESTS` says. A disagreement is made as small as it
can be and printed: the contract, the rows, the requests, and both answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest
from tests.agreement.comparing import Disagreement
from tests.agreement.contracts import contract
from tests.agreement.runs import is_one, run
from tests.agreement.shrinking import shrunk
from tests.agreement.versions import compiled
from tests.slices import LONG, many, new_seed, seldom, some

REQUESTS: Final = 40
"""Requests to each contract."""

TEN: Final = 10
"""Contracts of a test."""

OF: Final = TEN if LONG else 4
"""How many of them a run takes."""

CONTRACTS: Final = 240
TO_ALL: Final = 6_000
"""The seed of the first contract with operations on all rows."""

MORE: Final = 12_000
"""The seed of the first contract that says what no other random contract says."""

OVER_POSTGRESQL: Final = [*range(0, 180, TEN), *range(TO_ALL, TO_ALL + 30, TEN), *range(MORE, MORE + 30, TEN)]
"""The seeds of the first contracts of a test over PostgreSQL, one in each slice."""

PIECES, MANY = many("REQUESTS", 1_000_000, 1_000)


def told(seeds: Iterable[int], to_all: bool = False, more: bool = False, database: str = "sqlite") -> int:
    """How many answers were the same. Raises the smallest disagreement."""
    equal = 0
    for seed in seeds:
        try:
            equal += run(seed, REQUESTS, to_all, more, database)
        except Disagreement as found:
            smallest = shrunk(found)
        else:
            continue
        raise AssertionError(f"seed {seed}: {smallest}")
    return equal


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("first", seldom(range(0, CONTRACTS, TEN), 2, 24))
def test_every_answer_is_the_same(first: int) -> None:
    assert told(range(first, first + OF)) > OF * REQUESTS * (0.5 if LONG else 0.8)


@pytest.mark.long
@pytest.mark.slow
def test_most_throws_are_contracts() -> None:
    """Of ten there may be few by chance, and are six once."""
    throws = some(range(80), 5)
    assert sum(is_one(compiled(contract(seed))) for seed in throws) > len(throws) * 0.8


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("first", some(range(TO_ALL, TO_ALL + 40, TEN), 4))
def test_every_answer_is_the_same_of_operations_on_all_rows(first: int) -> None:
    assert told(range(first, first + OF), to_all=True) > OF * REQUESTS * 0.8


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("first", some(range(MORE, MORE + 40, TEN), 4))
def test_every_answer_is_the_same_of_what_no_other_contract_says(first: int) -> None:
    assert told(range(first, first + OF), more=True) > OF * REQUESTS * 0.7


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("first", seldom(OVER_POSTGRESQL, 2, 24))
def test_every_answer_is_the_same_over_postgresql(first: int) -> None:
    """Of contracts in which nothing is counted."""
    to_all, more = TO_ALL <= first < MORE, first >= MORE
    assert told(range(first, first + OF), to_all, more, "postgresql") > OF * REQUESTS * 0.2


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("part", PIECES)
def test_every_answer_is_the_same_for_long(part: int) -> None:
    day = new_seed() // (86_400 * 10**9)
    first = (day * len(PIECES) + part) * 10_000
    equal = 0
    while equal < MANY:
        equal += told(range(first, first + TEN), more=first % (2 * TEN) == 0)
        first += TEN
