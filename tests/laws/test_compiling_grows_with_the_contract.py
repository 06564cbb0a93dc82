"""What the compiler does grows as the contract does: told by the calls that it makes, which are the same each time.

Families of contracts that grow in one way alone (`benchmarks/families.py`, which `benchmarks/compile.py` times) are
compiled with so many, twice and four times as many of what they are made of. What is not linear at these sizes makes
four times as many calls with twice as much, and what is exponential never ends: calls are counted up to a bound.
"""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from benchmarks.families import FAMILIES
from tests.slices import some

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.pipeline import Loaded, compile_document

MOST_CALLS = 10_000_000
SMALLER = 16
"""The families are compiled with parts of what the benchmark times, so that the test is quick."""


REFUSED = {"misspelt keys", "unknown names"}
"""The families that are wrong."""


class TooManyCalls(Exception):
    """The compiler makes more calls than a contract of that size is worth."""


def calls_of(text: str) -> tuple[int, Loaded]:
    """How many functions written in Python are called while a contract is compiled."""
    count = 0

    def counting(_: FrameType, __: str, ___: object) -> None:
        nonlocal count
        count += 1
        if count > MOST_CALLS:
            raise TooManyCalls

    data = text.encode()
    # A profile would be told of each end as well, and of all that is written in C.
    before = sys.gettrace()
    sys.settrace(counting)
    try:
        loaded = compile_document("contract.yaml", data)
    finally:
        sys.settrace(before)
    return count, loaded


@pytest.mark.long
@pytest.mark.parametrize("name", some(list(FAMILIES), 5))
def test_twice_as_much_makes_about_twice_as_many_calls(name: str) -> None:
    family, most = FAMILIES[name]
    size = max(4, most // SMALLER)
    compile_document("contract.yaml", family(size).encode())  # what a process reads once is no cost of a contract
    once, _ = calls_of(family(size))
    twice, _ = calls_of(family(2 * size))
    four_times, loaded = calls_of(family(4 * size))
    # What every contract costs is in all three; what the second and the third have more is in proportion.
    more, much_more = twice - once, four_times - twice
    refused = has_errors(loaded.diagnostics)
    assert refused or much_more <= 2.7 * max(more, once // 4), f"{once}, {twice}, {four_times} calls"


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_counted_is_written_in_the_words_of_today(name: str) -> None:
    """What is refused is not counted."""
    family, _ = FAMILIES[name]
    assert has_errors(compile_document("contract.yaml", family(2).encode()).diagnostics) == (name in REFUSED)


@pytest.mark.parametrize("name", [name for name in FAMILIES if "two" in name or name in ("types in types", "effects")])
def test_what_doubles_with_each_has_an_end(name: str) -> None:
    """What grows without bound by its nature, such as terms that each read the one before twice, is refused."""
    family, _ = FAMILIES[name]
    _, loaded = calls_of(family(64))
    assert has_errors(loaded.diagnostics)
