"""How many places of a pattern a match may be at, and what follows from it."""

from __future__ import annotations

import pytest

from ninefold.expressions.operations import EvaluationError, matches
from ninefold.values.patterns import is_of_short_texts, linear, longest, places


@pytest.mark.parametrize(
    "pattern, count",
    [
        ("^abc$", 0),
        ("^[a-z]*$", 1),
        ("x.{0,500}y", 500),
        ("(ab){1}c?", 0),
        ("(?:ab|cd){2,}", 8),
        ("((a{9}){9}){9}", 729),
        ("^data:image/png;base64,[A-Za-z0-9+/=]+$", 1),
        (r"[]\]a]{3}\p{L}{2}\{\(", 5),
        (r"a{2,3}b+(?P<name>c|d{4})*", 9),
        (r"(\w{1,100}\s?){1,30}", 3030),
        ("^a[ab][ab][ab]c$", 0),
        ("a[ab][ab][ab]c", 3),
        ("^a[ab]|[ab].\\d", 3),
        ("[ab]|^a[ab][ab]", 1),
        (r"^\w*a[ab]\pL.[ab]?x", 5),
        (r"^[ab]{2,}a[ab](?:a|b)(?:ab){2}x[ab]{2}", 10),
        ("(?:a|b)(?:a|b)(?:ab)", 2),
        ("the quick brown fox", 0),
    ],
)
def test_what_a_pattern_repeats_is_counted(pattern: str, count: int) -> None:
    linear(pattern)
    assert places(pattern) == count


@pytest.mark.parametrize(
    "pattern, short",
    [("^[0-9a-f]{32}$", True), ("[0-9a-f]{32}", False), ("^a{9}|b$", False), ("^a{9,}$", False), ("^a{9}b*$", False)],
)
def test_only_whole_texts_of_bounded_length_are_short(pattern: str, short: bool) -> None:
    assert is_of_short_texts(pattern) is short


@pytest.mark.parametrize(
    "pattern",
    [
        "a" + "[ab]" * 14 + "c",
        "^[ab]*a" + "[ab]" * 14 + "c",
        "(?:a|b)" * 14 + "c",
        r"(?:ab|[^c]\w\wa[ab]\b)+!",
        r"(?:ab|[^c]\w\wa[ab]\\\B)+!",
        "x.{0,13}y",
    ],
)
def test_what_takes_long_however_it_is_written_has_a_longest_text(pattern: str) -> None:
    """More than 50 ms a megabyte: of each some text takes that."""
    linear(pattern)
    assert longest(pattern) is not None


@pytest.mark.parametrize(
    "pattern", [r"^[^@\s]+@[^@\s]+\.[^@\s]+$", r"^\\b[ab]*a[ab]{4}$", r"\b\w+\b", "^https?://[^ ]+$"]
)
def test_what_is_quick_has_none(pattern: str) -> None:
    linear(pattern)
    assert longest(pattern) is None


def test_a_text_is_no_longer_than_a_pattern_takes() -> None:
    most = longest("x.{0,500}y")
    assert most is not None
    assert matches("xy" * (most // 2), "x.{0,500}y")
    with pytest.raises(EvaluationError):
        matches("x" * (most + 1), "x.{0,500}y")
    assert longest("^(?:[A-Za-z0-9+/]{4})*$") is None
