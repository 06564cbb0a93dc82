"""What each algorithm of rates promises, against models that are slow and obvious: they keep every request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from fractions import Fraction
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ninefold.plan.limits import Rate as Planned
from ninefold.runtime.request import algorithms
from ninefold.runtime.request.algorithms import Algorithm, FixedWindow, SlidingWindow, TokenBucket
from ninefold.runtime.request.rates import Rate, count_keys

Taken: TypeAlias = Sequence[int]
"""The times of the requests that were taken, in order."""


def fixed_window(taken: Taken, now: int, allow: int, per: int, burst: int) -> bool:
    began, count = None, 0
    for time in taken:
        if began is None or time >= began + per:
            began, count = time, 0
        count += 1
    return began is None or now >= began + per or count < allow


def sliding_window(taken: Taken, now: int, allow: int, per: int, burst: int) -> bool:
    return sum(now - per < time for time in taken) < allow


def bucket(taken: Taken, now: int, allow: int, per: int, burst: int) -> bool:
    tokens, at = Fraction(burst), 0
    for time in taken:
        tokens = min(Fraction(burst), tokens + Fraction((time - at) * allow, per)) - 1
        at = time
    return min(Fraction(burst), tokens + Fraction((now - at) * allow, per)) >= 1


def made(name: str, allow: int, per: int, burst: int) -> Algorithm:
    match name:
        case "fixed window":
            return FixedWindow(allow, per)
        case "sliding window":
            return SlidingWindow(allow, per)
        case _:
            return TokenBucket(allow, per, burst)


MODELS: dict[str, Callable[[Taken, int, int, int, int], bool]] = {
    "fixed window": fixed_window,
    "sliding window": sliding_window,
    "token bucket": bucket,
}

NUMBERS = st.integers(1, 6)
PER = st.integers(1, 60)
STEPS = st.lists(st.one_of(st.just(0), st.integers(0, 20), st.integers(0, 200)), max_size=60)
EVERY = pytest.mark.parametrize("name", MODELS)


@EVERY
@given(allow=NUMBERS, per=PER, burst=NUMBERS, steps=STEPS)
def test_it_takes_what_its_model_takes(name: str, allow: int, per: int, burst: int, steps: list[int]) -> None:
    algorithm, state = made(name, allow, per, burst), None
    taken: list[int] = []
    now = 0
    for step in steps:
        now += step
        takes = algorithm.standing(state, now).remaining > 0
        assert takes is MODELS[name](taken, now, allow, per, burst)
        state = one_more(algorithm, state, now)
        if takes:
            taken.append(now)


def one_more(algorithm: Algorithm, state: Any, now: int) -> Any:
    """The state after one more request, if that is taken."""
    before = algorithm.standing(state, now)
    taken = algorithm.taken(state, now)
    if taken is None:
        assert before.remaining < 1 and algorithm.standing(state, now) == before
        return state
    assert before.remaining == taken[1].remaining + 1 and algorithm.standing(taken[0], now) == taken[1]
    return taken[0]


@EVERY
@given(allow=NUMBERS, per=PER, burst=NUMBERS, steps=STEPS)
def test_what_it_says_of_itself_is_true(name: str, allow: int, per: int, burst: int, steps: list[int]) -> None:
    algorithm, state, now = made(name, allow, per, burst), None, 0
    full = algorithm.standing(None, 0).remaining
    for step in steps:
        now += step
        standing = algorithm.standing(state, now)
        assert 0 <= standing.remaining <= full
        assert (standing.wait == 0) is (standing.remaining > 0)
        if standing.wait:
            assert algorithm.standing(deepcopy(state), now + standing.wait - 1).remaining == 0
            assert algorithm.standing(deepcopy(state), now + standing.wait).remaining > 0
        assert standing.reset >= standing.wait
        assert algorithm.standing(deepcopy(state), now + standing.reset).remaining == full
        asked = deepcopy(state)
        for _ in range(standing.remaining):
            assert algorithm.standing(asked, now).remaining > 0
            asked = one_more(algorithm, asked, now)
        assert algorithm.standing(asked, now).remaining == 0
        if standing.remaining:
            state = one_more(algorithm, state, now)


@given(allow=st.integers(5, 40), per=st.integers(1, 400), steps=st.lists(st.integers(0, 9), max_size=300))
def test_a_coarse_sliding_window_takes_back_late_and_never_early(allow: int, per: int, steps: list[int]) -> None:
    """Beyond FINEST the times of a log are put together. Here with a smaller one, so that it happens."""
    before = algorithms.FINEST
    algorithms.FINEST = 4
    try:
        window, state, now = SlidingWindow(allow, per), None, 0
        taken: list[int] = []
        for step in steps:
            now += step
            if window.standing(state, now).remaining > 0:
                assert sliding_window(taken, now, allow, per, 0)
                state = one_more(window, state, now)
                taken.append(now)
                assert len(state.ends) <= 4 + 2 or per < 4
            else:
                assert not sliding_window(taken, now, allow, per + per // 4 + 1, 0)
    finally:
        algorithms.FINEST = before


@EVERY
@given(
    allow=NUMBERS,
    per=PER,
    burst=NUMBERS,
    requests=st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abcdef")), max_size=80),
)
def test_keys_do_not_know_of_each_other(
    name: str, allow: int, per: int, burst: int, requests: list[tuple[int, str]]
) -> None:
    """Forgetting a key that is as new changes no answer."""
    rate = Rate(planned(name, allow, per, burst))
    alone: dict[str, Any] = {}
    algorithm = made(name, allow, per * 1_000, burst)
    now = 0
    for step, key in requests:
        now += step * 1_000
        expected = algorithm.standing(alone.get(key), now)
        assert rate.standing(key, now) == expected
        counted = rate.count(key, now)
        assert (counted is not None) is (expected.remaining > 0)
        alone[key] = one_more(algorithm, alone.get(key), now)


@EVERY
def test_what_is_kept_is_bounded(name: str) -> None:
    rate = Rate(planned(name, 5, 1_000, 5), most=2_000)
    for number in range(10_000):
        rate.count(f"key {number}", 1)
        assert len(rate) <= 2_000 // 16
    rate.count("the last", 10**12)
    for number in range(200):
        rate.count("the last", 10**12 + number * 10**9)
    assert len(rate) == 1


@EVERY
def test_a_key_is_kept_however_often_it_was_looked_at(name: str) -> None:
    rate, keys = Rate(planned(name, 5, 1_000, 5), most=2_000), ("one", "other")
    for number in range(1_000):
        for key in keys:
            count_keys([(rate, key)], number * 10**6)
    assert len(rate) == len(keys)


def planned(name: str, allow: int, per: int, burst: int) -> Planned:
    return Planned(
        name="calls",
        of="address",
        allow=allow,
        per_microseconds=per,
        algorithm=name,  # type: ignore[arg-type]
        burst=burst,
    )
