from __future__ import annotations

from base64 import urlsafe_b64decode

import pytest
from hypothesis import given, strategies

from ninefold.runtime.operations.cursors import Cursors

CURSORS = Cursors(b"k" * 32)
WHERE = ("GET /notes", "key", "-made_at")

stored = strategies.one_of(
    strategies.none(),
    strategies.integers(-(2**63), 2**63 - 1),
    strategies.floats(allow_nan=False),
    strategies.text(),
    strategies.binary(),
)


@given(strategies.lists(stored, max_size=4))
def test_a_cursor_gives_its_keys_back(keys: list[None | int | float | str | bytes]) -> None:
    cursor = CURSORS.seal(keys, *WHERE)
    assert CURSORS.open(cursor, *WHERE) == keys
    assert CURSORS.seal(keys, *WHERE) == cursor


@pytest.mark.parametrize(
    "where",
    [
        ("GET /people", "key", "-made_at"),
        ("GET /notes", "anyone", "-made_at"),
        ("GET /notes", "key", "made_at"),
        ("GET /notes", "key"),
        ("GET /noteskey", "", "-made_at"),
    ],
)
def test_a_cursor_is_of_one_list_one_kind_of_caller_and_one_order(where: tuple[str, ...]) -> None:
    assert CURSORS.open(CURSORS.seal(["2026", 1], *WHERE), *where) is None


@given(strategies.text(max_size=80))
def test_what_the_service_did_not_make_is_no_cursor(text: str) -> None:
    assert CURSORS.open(text, *WHERE) is None


def test_a_changed_cursor_is_no_cursor() -> None:
    cursor = CURSORS.seal(["secret"], *WHERE)
    for index, character in enumerate(cursor):
        for other in {"A", "_", "é", "", "="} - {character}:
            assert CURSORS.open(cursor[:index] + other + cursor[index + 1 :], *WHERE) is None
    assert Cursors(b"l" * 32).open(cursor, *WHERE) is None
    assert CURSORS.open(cursor + "=", *WHERE) is None


def test_a_cursor_shows_nothing_of_its_keys() -> None:
    cursor = CURSORS.seal(["secret"], *WHERE)
    assert b"secret" not in urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
