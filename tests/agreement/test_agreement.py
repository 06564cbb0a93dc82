"""The service and the reference interpreter give the same answers: random contracts, rows, callers and requests.

`NINEFOLD_LONG=5000000` makes that many requests, from other seeds each day; so does `make agreement`. A disagreement
is made as small as it can be and printed: the contract, the rows, the requests, and both answers.
"""

from __future__ import annotations

import os
import time
from typing import Final

import pytest
from tests.agreement.comparing import Disagreement
from tests.agreement.runs import run
from tests.agreement.shrinking import shrunk

REQUESTS: Final = 40
"""Requests to each contract."""

CONTRACTS: Final = 240
PARTS: Final = 6
LONG: Final = int(os.environ.get("NINEFOLD_LONG", "0"))


def told(first: int, contracts: int, requests: int = REQUESTS, to_all: bool = False) -> int:
    """How many answers were the same. Raises the smallest disagreement."""
    equal = 0
    for seed in range(first, first + contracts):
        try:
            equal += run(seed, requests, to_all)
        except Disagreement as found:
            smallest = shrunk(found)
        else:
            continue
        raise AssertionError(f"seed {seed}: {smallest}")
    return equal


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_answer_is_the_same(part: int) -> None:
    contracts = CONTRACTS // PARTS
    assert told(part * contracts, contracts) > contracts * REQUESTS * 0.9


@pytest.mark.slow
def test_every_answer_is_the_same_of_operations_on_all_rows() -> None:
    contracts = CONTRACTS // PARTS
    assert told(6_000, contracts, to_all=True) > contracts * REQUESTS * 0.9


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="NINEFOLD_LONG says how many requests")
def test_every_answer_is_the_same_for_long() -> None:
    first = int(time.time()) // 86_400 * 1_000_000
    equal = 0
    while equal < LONG:
        equal += told(first, 100)
        first += 100
        print(f"{equal} answers were the same", flush=True)
