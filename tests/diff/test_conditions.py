"""Which of two conditions holds more often: proved, and the other way round from the other side."""

from __future__ import annotations

from random import Random

import pytest
from tests.agreement.conditions import Conditions, Kind, Made
from tests.slices import LONG

from ninefold.diff.conditions import Relation, relation
from ninefold.diff.normal import Words
from ninefold.diff.values import differ
from ninefold.expressions.ast import Ast

WORDS = Words({})
TURNED: dict[Relation, Relation] = {"wider": "narrower", "narrower": "wider"}
TYPES = ("integer", "number", "string", "boolean", "date-time", "choice", "strings", "integers", "size")
MADE = Made("user", ["id"], {}, {each.replace("-", "_"): Kind(each, nullable=True) for each in TYPES}, [])


def read(text: str) -> Ast:
    found = WORDS.read(text)
    assert found is not None, text
    return found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a == 'x'", "a in ['x']", "same"),
        ("a == 'x'", "'x' == a", "same"),
        ("a in ['x', 'y']", "a == 'x' || a == 'y'", "same"),
        ("a == 'x'", "a in ['x', 'y']", "wider"),
        ("a != 'x'", "a != 'x' && a != 'y'", "narrower"),
        ("a > 1", "a > 2", "narrower"),
        ("a > 1", "1 < a", "same"),
        ("a > 1", "a >= 1", "wider"),
        ("a == 'draft'", "a == 'draft' && b < 100", "narrower"),
        ("a == 'draft' && b > 0", "b > 0", "wider"),
        ("a == 1", "a == 2", "other"),
        ("!(a > 1)", "a <= 1", "same"),
        ("f(a)", "f(a) || g(a)", "wider"),
        ("f(a)", "g(a)", "unproved"),
        ("f(a)", "!(!f(a))", "same"),
        ("f(a) || !f(a)", "true", "wider"),
        ("a > 1 || a <= 1", "true", "wider"),
        ("true", "false", "narrower"),
        ("a < b", "a <= b", "wider"),
        ("a < b", "b > a", "same"),
        ("a != b", "a < b", "narrower"),
        ("!(a < b)", "a >= b", "same"),
        ("a < b", "a > b", "unproved"),
        ("a == b", "a <= b", "unproved"),  # of two that have no value, neither is more
    ],
)
def test_a_relation_is_proved(old: str, new: str, expected: Relation) -> None:
    assert relation(read(old), read(new)) == expected
    assert relation(read(new), read(old)) == TURNED.get(expected, expected)


@pytest.mark.long
def test_any_two_conditions_can_be_compared() -> None:
    random = Random(5)
    conditions = Conditions(random, {"user": MADE})
    for _ in range(4_000 if LONG else 400):
        old, new = (read(conditions.condition(MADE, "user", beyond=False)) for _ in range(2))
        found = relation(old, new)
        assert relation(new, old) == TURNED.get(found, found)
        assert relation(old, old) == "same"
        assert differ(old, new) is differ(new, old)
