"""What the service keeps for those who ask again has room for so much, and is not forgotten all at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ninefold.runtime.cache import Cache


@given(st.integers(1, 20), st.lists(st.integers(0, 40)))
def test_what_is_found_was_kept_last(most: int, keys: list[int]) -> None:
    cache: Cache[int, int] = Cache(most)
    last: dict[int, int] = {}
    for number, key in enumerate(keys):
        assert cache.get(key) in (None, last.get(key))
        cache.keep(key, number)
        last[key] = number
        assert cache[key] == number
        assert len(cache) == min(len(last), most)


def test_one_more_than_there_is_room_for_leaves_nearly_all() -> None:
    cache: Cache[int, int] = Cache(100)
    found = 0
    for number in range(10 * 101):
        key = number % 101
        found += key in cache
        cache.keep(key, number)
    assert found > 3 / 4 * 9 * 101
