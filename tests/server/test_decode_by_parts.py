"""JSON of many arrays and objects is decoded part by part, and says what it says in one go."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from ninefold.runtime.messages.json_text import DEEPEST, parse
from ninefold.values.json_numbers import MANY

LEAVES: tuple[Any, ...] = (None, True, 0, -1, 2**63, 1.5, 1e300, "", 'é\u2028"\\', "a" * 40, [], {})


def a_value(chance: random.Random, deep: int) -> Any:
    if deep == 0 or chance.random() < 0.3:
        return chance.choice(LEAVES)
    if chance.random() < 0.5:
        return [a_value(chance, deep - 1) for _ in range(chance.randrange(4))]
    return {f"n{n}": a_value(chance, deep - 1) for n in range(chance.randrange(4))}


def large(chance: random.Random) -> Any:
    """A value in which small and large parts stand side by side, at several depths."""
    many = [a_value(chance, 4) for _ in range(MANY // 8)]
    few: list[Any] = [[], [[]] * 8000, "x" * 40_000, [many], {"m": {"m": many}}]
    chance.shuffle(few)
    return {"few": few, "many": many, "nested": [[many, few[:2]]]}


@pytest.mark.parametrize("seed, written", [(0, "close"), (1, "wide"), (2, "escaped")])
def test_it_says_the_same(seed: int, written: str) -> None:
    value = large(random.Random(seed))
    text = {
        "close": lambda: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
        "wide": lambda: "\r\n\t " + json.dumps(value, indent=1) + " \n",
        "escaped": lambda: json.dumps(value),
    }[written]().encode()
    assert text.count(b"[") + text.count(b"{") > MANY
    assert parse(text) == json.loads(text)


def test_of_members_given_twice_the_last_counts() -> None:
    many = b"[" + b"[]," * 2 * MANY + b"[]]"
    assert parse(b'{"a":' + many + b',"a":1,"b":[{"c":1,"c":' + many + b"}]}") == {
        "a": 1,
        "b": [{"c": json.loads(many)}],
    }


WRONG = (
    b"[1,]",
    b"{'a':1}",
    b'"\xff"',
    b'"\\ud800"',
    b"NaN",
    b"01",
    b"[1 2]",
    b"tru",
    b'"',
    b"]",
    b'{"a":1,}',
    b"\x00",
)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("around", [(b"[", b"]"), (b'{"a":', b"}"), (b'[[{"b":', b"}]]"), (b"", b"")])
def test_what_is_wrong_anywhere_is_no_json(wrong: bytes, around: tuple[bytes, bytes]) -> None:
    before, after = around
    many = b"[" + b"[]," * MANY
    for text in (many + wrong + b",[]]", many + b"[]]" + wrong):
        with pytest.raises(ValueError):
            parse(before + text + after)


def test_numbers_beyond_a_double_are_numbers() -> None:
    beyond = parse(b"[" + b"[]," * 2 * MANY + b"1e999,-1e999," + b"9" * 400 + b"]")[-3:]
    assert beyond == [2**1024, -(2**1024), int("9" * 400)]


def nested(depth: int) -> bytes:
    """Arrays so deep, with many beside the innermost."""
    return b"[" * (depth - 1) + b"[]," * 2 * MANY + b"[]" + b"]" * (depth - 1)


def test_it_is_as_deep_as_any_json_may_be() -> None:
    value = parse(nested(DEEPEST))
    for _ in range(DEEPEST - 1):
        value = value[0]
    assert value == []
    for depth in (DEEPEST + 1, DEEPEST + 2, 900, 5_000, 200_000):
        with pytest.raises(ValueError, match="nested too deep"):
            parse(nested(depth))
