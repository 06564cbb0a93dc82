"""Which of two conditions holds more often: proved, and the other way round from the other side."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest
from tests.agreement.conditions import Conditions, Kind, Made
from tests.contracts import ROOT, compiled
from tests.slices import LONG

from ninefold.diff.conditions import relation
from ninefold.diff.domains import Domains, domains_of, of_both
from ninefold.diff.normal import Words
from ninefold.diff.values import differ
from ninefold.diff.verdicts import Direction
from ninefold.expressions.ast import Ast
from ninefold.pipeline import Loaded, compile_document

WORDS = Words({})
TURNED: dict[Direction, Direction] = {"more": "less", "less": "more"}
TYPES = ("integer", "number", "string", "boolean", "date-time", "choice", "strings", "integers", "size")
MADE = Made("user", ["id"], {}, {each.replace("-", "_"): Kind(each, nullable=True) for each in TYPES}, [])

AMONG: Final[dict[str, dict[str, Direction]]] = {
    "==": {"!=": "other", "<": "other", "<=": "more", ">": "other", ">=": "more"},
    "!=": {"<": "less", "<=": "other", ">": "less", ">=": "other"},
    "<": {"<=": "more", ">": "other", ">=": "other"},
    "<=": {">": "other", ">=": "other"},
    ">": {">=": "more"},
}
"""Of each two comparisons of a field with what a request gives, what the second one is."""


def known_of(loaded: Loaded) -> Domains:
    assert loaded.checked is not None
    return domains_of(loaded.checked.resources)


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
        ("a == 'x'", "a in ['x', 'y']", "more"),
        ("a != 'x'", "a != 'x' && a != 'y'", "less"),
        ("a > 1", "a > 2", "less"),
        ("a > 1", "1 < a", "same"),
        ("a > 1", "a >= 1", "more"),
        ("a == 'draft'", "a == 'draft' && b < 100", "less"),
        ("a == 'draft' && b > 0", "b > 0", "more"),
        ("a == 1", "a == 2", "other"),
        ("!(a > 1)", "a <= 1", "same"),
        ("f(a)", "f(a) || g(a)", "more"),
        ("f(a)", "g(a)", "unproved"),
        ("f(a)", "!(!f(a))", "same"),
        ("f(a) || !f(a)", "true", "more"),
        ("a > 1 || a <= 1", "true", "more"),
        ("true", "false", "less"),
        ("a < b", "a <= b", "more"),
        ("a < b", "b > a", "same"),
        ("a != b", "a < b", "less"),
        ("!(a < b)", "a >= b", "same"),
        ("a < b", "a > b", "other"),
        ("a < b", "a > b && b < c", "unproved"),  # what both compare is not there but once
        ("a < b.c", "a > b.c", "other"),
        ("f(a) < a", "f(a) > a", "unproved"),
        ("a == b", "a != b", "other"),
        ("a == b", "a <= b", "unproved"),  # of two that have no value, neither is more
        # `value` is what a request gives: it is there
        *[
            (f"a {one} value", f"a {other} value", said)
            for one, others in AMONG.items()
            for other, said in others.items()
        ],
        ("a < 'x'", "a <= 'x'", "more"),
        ("a < 'x'", "a < 'y'", "more"),
        ("a > 'x' && a < 'y'", "a == 'xx'", "less"),
        ("a > 'x'", "a == 'xx'", "less"),
        ("a < '2026-01-01T00:00:00Z'", "a < '2026-01-01T00:00:00.5Z'", "unproved"),
        ("a.startsWith(value)", "a.contains(value)", "more"),
        ("a.startsWith(value)", "a.endsWith(value)", "other"),
        ("a.contains(value)", "a == value", "less"),
        ("a.startsWith(value)", "a >= value", "more"),
        ("a.startsWith(value)", "value.startsWith(a)", "other"),
        ("a.contains(value)", "!a.contains(value)", "other"),
    ],
)
def test_a_relation_is_proved(old: str, new: str, expected: Direction) -> None:
    assert relation(read(old), read(new)) == expected
    assert relation(read(new), read(old)) == TURNED.get(expected, expected)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("order.status != 'draft'", "order.status in ['placed', 'paid', 'shipped', 'cancelled']", "same"),
        ("order.status != 'draft'", "order.status == 'placed' || order.status == 'paid'", "less"),
        ("order.status in ['draft', 'placed']", "!(order.status in ['paid', 'shipped', 'cancelled'])", "same"),
        ("order.status != 'sold'", "true", "same"),
        ("order.status == 'paid'", "order.note == 'paid'", "other"),
        ("order.note != 'x'", "order.note in ['y', 'z']", "less"),
        ("article.author == caller.user", "article.author == caller.user && order.status != 'sold'", "same"),
    ],
)
def test_values_are_those_that_a_field_has(old: str, new: str, expected: Direction) -> None:
    known = known_of(compiled(ROOT / "examples" / "orders.md"))
    assert relation(read(old), read(new), known) == expected
    assert relation(read(new), read(old), known) == TURNED.get(expected, expected)


TICKET: Final = """
purpose: Tickets.
resources:
  ticket:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      kind: {type: string, enum: [KINDS]}
      note: {type: string, minLength: 2, maxLength: 40}
      rate: {type: number, exclusiveMinimum: 0, maximum: 1}
      half: {type: number, maximum: 1, computed: ticket.rate * 20.0}
    required: [kind]
states: none
endpoints: not shown
authentication: not shown
events: none
errors: not shown
limits: not shown
versioning: none
"""


def test_a_value_of_either_contract_is_one() -> None:
    old, new = (
        known_of(compile_document("c.yaml", TICKET.replace("KINDS", each).encode())) for each in ("a, b", "a, b, c")
    )
    before, after = read("ticket.kind != 'a'"), read("ticket.kind == 'b'")
    assert relation(before, after, of_both(old, old)) == "same"
    assert relation(before, after, of_both(old, new)) == relation(before, after, of_both(new, old)) == "less"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ticket.note.size() > 50", "ticket.note.size() > 40", "same"),
        ("ticket.note.size() > 1", "ticket.note.size() >= 2", "same"),
        ("size(ticket.note) > 40", "size(ticket.note) >= 40", "more"),
        ("ticket.rate > 0.0", "ticket.rate <= 1.0", "same"),
        ("ticket.rate > 0.0", "ticket.rate < 1.0", "less"),
        ("ticket.half > 2.0", "ticket.half > 3.0", "less"),  # nothing holds it to its schema
        ("ticket.rate > 0.0 || ticket.note == 'x'", "ticket.rate > -1.0 || ticket.note == 'x'", "same"),
    ],
)
def test_numbers_are_those_that_a_schema_admits(old: str, new: str, expected: Direction) -> None:
    known = known_of(compile_document("c.yaml", TICKET.replace("KINDS", "a").encode()))
    assert relation(read(old), read(new), known) == expected


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
