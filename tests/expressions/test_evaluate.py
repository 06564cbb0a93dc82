"""Expressions and their values in Python."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final

import pytest
from tests.expressions.shapes import MODEL, well_typed

from ninefold.expressions.binds import binder, together
from ninefold.expressions.evaluate import SOURCES, EvaluationError, Sources, compile, equal, holds
from ninefold.expressions.reads import needs_database
from ninefold.expressions.tree import Call, Constant, Select, Variable
from ninefold.values import Boolean, Object, Text

CUSTOMER: Final[dict[str, Any]] = {"id": "c1", "email": "a@b", "name": "Ada", "referrer": None}
ORDER: Final[dict[str, Any]] = {
    "id": "o1",
    "customer": "c1",
    "lines": [{"sku": "A", "quantity": 2, "unit_price": 5}, {"sku": "B", "quantity": 1, "unit_price": 7, "gift": True}],
    "note": None,
    "status": "draft",
    "weight": 2.5,
    "paid": None,
    "created_at": "2026-01-31T23:59:59.500000Z",
    "updated_at": None,
}
ENV: Final[dict[str, Any]] = {
    "order": ORDER,
    "customer": CUSTOMER,
    "caller": {"customer": CUSTOMER},
    "claims": {
        "sub": "u1",
        "level": 3,
        "groups": ["a", 1, True],
        "exp": "2026-02-01T01:00:00+01:00",
        "deep": {"x": [1.0]},
    },
    "now": "2026-02-01T00:30:00.000000Z",
    "error": {"code": "invalid", "fields": [{"place": "body", "pointer": "/a", "message": None}]},
    "page": {"items": [], "next": None},
}
ERROR: Final = object()


def value_of(text: str) -> Any:
    try:
        return compile(well_typed(text), MODEL)(ENV)
    except EvaluationError:
        return ERROR


WHERE_THEY_ARE: Final = [
    # A position is counted from 0, and a member goes by its name.
    ("[7, 8].all(i, x, x == i + 7)", True),
    ("[7, 8].exists(i, x, i == 2 || x == 0)", False),
    ("{'a': 1, 'b': 2}.all(k, v, k == 'a' || v == 2)", True),
    ("{'a': 1, 'b': 2}.exists(k, v, k == 'a' && v == 2)", False),
    # One that decides counts for more than one that fails; without it, whichever fails counts.
    ("[1, 2].exists(i, x, x / i == 2)", True),
    ("[1, 2].exists(i, x, x / i == 3)", ERROR),
    ("[2, 1].all(i, x, 4 / (i - 1) == 0 && x == 2)", False),
    ("[1, 2].all(i, x, x / i == 2)", ERROR),
    ("[1, 2].existsOne(i, x, x / i == 2)", ERROR),
    ("{'a': 0, 'b': 1}.exists(k, v, 1 / v == 1)", True),
    ("{'a': 0, 'b': 2}.all(k, v, 1 / v == 0)", ERROR),
    # Of nothing
    ("[].exists(i, x, true)", False),
    ("[].all(i, x, false)", True),
    ("[].existsOne(i, x, true)", False),
    ("{}.all(k, v, false)", True),
    ("[].transformList(i, x, 1 / 0)", []),
    ("{}.transformMap(k, v, 1 / 0)", {}),
    # How many
    ("[5, 6, 7].existsOne(i, x, x - i == 5 && i < 1)", True),
    ("[5, 6, 7].existsOne(i, x, x - i == 5)", False),
    ("{'a': 1, 'b': 1}.existsOne(k, v, v == 1)", False),
    ("{'a': 1, 'b': 1}.existsOne(k, v, v == 1 && k == 'b')", True),
    # What is made: of all, or of those that are asked for; of a member that is left out nothing is made.
    ("[4, 6].transformList(i, x, x * 10 + i)", [40, 61]),
    ("[4, 6, 8].transformList(i, x, i != 1, x * 10 + i)", [40, 82]),
    ("[4, 6].transformList(i, x, x / i)", ERROR),
    ("[4, 6].transformList(i, x, i > 0, x / i)", [6]),
    ("[4, 6].transformList(i, x, x / i > 0, x)", ERROR),
    ("{'a': 'x', 'b': 'y'}.transformMap(k, v, k + v)", {"a": "ax", "b": "by"}),
    ("{'a': 'x', 'b': 'y'}.transformMap(k, v, v != 'x', k + v)", {"b": "by"}),
    ("{'a': 1, 'b': 0}.transformMap(k, v, 4 / v)", ERROR),
    ("{'a': 1, 'b': 0}.transformMap(k, v, k == 'a', 4 / v)", {"a": 4}),
    # One within another
    ("[[1], [2, 3]].transformList(i, x, x.transformList(j, y, y * 10 + i * 100 + j))", [[10], [120, 131]]),
    ("[[1], [2, 3]].all(i, x, x.exists(j, y, y == i + j + 1))", True),
]
"""Macros of two variables as CEL's `extensions/comprehensions` has them, in expressions of our own: CEL's are asked by
`tests/conformance` where a checkout of them is named."""


@pytest.mark.parametrize(("text", "value"), WHERE_THEY_ARE)
def test_macros_know_where_an_item_is(text: str, value: Any) -> None:
    found = value_of(text)
    assert found is value if value is ERROR else (found == value and type(found) is type(value)), found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # arithmetic
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 % -2", 1),
        ("1 / 0", ERROR),
        ("1 % 0", ERROR),
        ("9223372036854775807 + 1", ERROR),
        ("-9223372036854775808 / -1", ERROR),
        ("-(-9223372036854775808)", ERROR),
        ("1.0 / 0.0", ERROR),
        ("1e308 * 10.0", ERROR),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("int(-1.9)", -1),
        ("int(1e19)", ERROR),
        ("int('12')", 12),
        ("int('+12')", ERROR),
        ("int(' 12')", ERROR),
        ("double('1e3')", 1000.0),
        ("bool('true')", True),
        ("bool('1')", ERROR),
        ("string(1.0) + string(1.5) + string(7) + string(true)", "11.57true"),
        # text
        ("size('e\\u0301👍')", 3),
        ("'\\uffff' < '😀'", True),
        ("'Straße'.lowerAscii().upperAscii()", "STRAßE"),
        ("' \\u2003a '.trim()", "a"),
        ("'abc'.contains('') && 'abc'.startsWith('ab') && 'abc'.endsWith('bc')", True),
        ("'2026-01'.matches('^[0-9]{4}')", True),
        ("slug('  Ünïcödé — Straße & Co. 日本! ')", "unicode-straße-co-日本"),
        ("slug('!?')", ""),
        # times
        ("now - order.created_at", 1_800_500_000),
        ("now - order.created_at > duration('PT30M')", True),
        ("order.created_at + duration('1s')", "2026-02-01T00:00:00.500000Z"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", ERROR),
        ("string(duration('90m'))", "PT1H30M"),
        ("duration('1h30m') == duration('PT90M')", True),
        ("now.getDayOfWeek() + now.getDayOfYear() * 100 + now.getMonth() * 100000", 103100),
        ("duration('-90.5s').getMinutes()", -1),
        ("timestamp(claims.exp) < now", True),
        ("int(timestamp('1969-12-31T23:59:59.5Z'))", -1),
        # null is an error, except where it is asked for
        ("order.note == null", True),
        ("order.note == 'a'", False),
        ("order.note < 'a'", ERROR),
        ("!(order.note < 'a')", ERROR),
        ("order.note + 'a'", ERROR),
        ("order.paid && true", ERROR),
        ("order.paid && false", False),
        ("order.paid || true", True),
        ("false && 1 / 0 == 1", False),
        ("1 / 0 == 1 || true", True),
        ("order.paid ? 1 : 2", ERROR),
        ("has(order.note)", False),
        ("has(order.status)", True),
        # the caller
        ("order.customer == caller.customer", True),
        ("customer == caller.customer", True),
        ("caller.user.id == 1", ERROR),
        ("caller.role != 'billing'", ERROR),
        ("has(caller.role)", False),
        # claims, of which no type is known
        ("claims.sub == 'u1'", True),
        ("claims.sub == 1", ERROR),
        ("claims.level + 1", 4),
        ("claims.nothing == null", True),
        ("claims.nothing.more == null", ERROR),
        ("'a' in claims.groups", True),
        ("false in claims.groups", False),
        ("claims.groups[1] == claims.groups[2]", False),
        ("claims.deep == {'x': [1]}", True),
        # arrays and macros
        ("order.lines.map(l, l.quantity * l.unit_price).sum()", 17),
        ("order.total", 17),
        ("order.lines.map(l, l.quantity > 1, l.sku)", ["A"]),
        ("order.lines.exists(l, l.gift)", True),
        ("order.lines.all(l, l.gift)", ERROR),
        ("order.lines.exists_one(l, l.quantity == 1)", True),
        ("order.lines.exists_one(l, l.gift)", ERROR),
        ("order.lines.filter(l, l.quantity == 1).size()", 1),
        ("[3, 1, 2, 1].distinct().sort()", [1, 2, 3]),
        ("[1, 2].flatMap(x, [x, x * 10])", [1, 10, 2, 20]),
        ("[null, 2, 1].sort()", [1, 2, None]),
        ("[1, 2][2]", ERROR),
        ("[1, 2][-1]", ERROR),
        ("[0.1, 0.2, 0.3].sum() == 0.6", True),
        ("[9223372036854775807, 1, -1].sum()", 2**63 - 1),
        ("[9223372036854775807, 1].sum()", ERROR),
        ("[].size()", 0),
        ("'draft' in ['draft', 'placed']", True),
        # objects
        ("{'a': 1, 'b': order.note}", {"a": 1}),
        ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", True),
        (
            "error.fields.map(f, {'in': f.place, 'pointer': f.pointer, 'detail': f.message})",
            [{"in": "body", "pointer": "/a"}],
        ),
        ("'It is ' + order.status", "It is draft"),
        ("page.items.size()", 0),
    ],
)
def test_values(text: str, value: object) -> None:
    found = value_of(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("referrer", ["c2", None])
def test_what_a_reference_names_is_known_by_its_primary_key(referrer: str | None) -> None:
    """Where a service evaluates, no model is at hand, and what comes of a reference is what is stored."""
    env = {**ENV, "caller": {"customer": {**CUSTOMER, "referrer": referrer}}}
    for text in ("caller.customer.referrer.id", "caller.customer.referrer.id + ''"):
        for evaluate in (compile(well_typed(text), MODEL), compile(well_typed(text))):
            found = nullcontext() if referrer else pytest.raises(EvaluationError)
            with found:
                assert evaluate(env) == referrer


def test_a_condition_holds_only_when_it_is_true() -> None:
    assert [holds(well_typed(text))(ENV) for text in ("true", "false", "order.paid", "order.note < 'a'")] == [
        True,
        False,
        False,
        False,
    ]
    assert holds(well_typed("!(caller.role == 'billing')"))(ENV) is False


def test_a_bind_is_what_sqlite_stores_and_an_error_is_null() -> None:
    for text, stored in {
        "order.lines.size() == 2": 1,
        "['a', 'é']": '["a","é"]',
        "caller.role == 'billing'": None,
        "1 / 0": None,
        "duration('1s')": 1_000_000,
    }.items():
        assert binder(well_typed(text))(ENV) == stored


@pytest.mark.parametrize(
    ("held", "stored"),
    [("a", "a"), (None, None), (0, 0), (["a"], None), ({"a": 1}, None)],
)
def test_a_member_is_bound_as_an_expression_that_reads_it(held: Any, stored: Any) -> None:
    """Where it is missing, or is no value of a column: nothing promises that it is there."""
    member = Select(Variable("$new", Object()), "a", Text())
    read = Call("?:", [Constant(True, Boolean()), member, member], Text())
    envs: list[dict[str, Any]] = [{"$new": {"a": held, "b": 1}}, {"$new": {"b": 1}}, {"$new": "b"}, {"$new": None}, {}]
    found = [binder(member)(env) for env in envs]
    assert found == [binder(read)(env) for env in envs] == [stored, None, None, None, None]


@pytest.mark.parametrize("held", ["a", None, 0, ["a"], {"a": 1}])
def test_binds_that_are_taken_together_are_what_each_of_them_is(held: Any) -> None:
    members = [Select(Variable(root, Object()), name, Text()) for root in ("$new", "$path") for name in ("a", "b", "b")]
    truth = Select(Variable("$new", Object()), "b", Boolean())
    binds = [*members[:2], truth, *members[2:], Constant("c", Text()), members[0], well_typed("1 / 0"), *members[:1]]
    rows = [{"a": held, "b": 1}, {"b": 1}, {"a": held}, "b", ["a", "b"], None]
    envs: list[dict[str, Any]] = [{"$new": one, "$path": other} for one in rows for other in rows]
    for env in (*envs, *({"$new": row} for row in rows), *({"$path": row} for row in rows), {}):
        assert together([(bind, binder(bind)) for bind in binds])(env) == [binder(bind)(env) for bind in binds]
    assert together([])({}) == []


def test_random_values_come_from_their_source() -> None:
    env = {**ENV, SOURCES: Sources(lambda length: bytes(range(length)))}
    made = {text: compile(well_typed(text))(env) for text in ("uuid()", "token()", "random(6)")}
    assert made["uuid()"] == "00010203-0405-4607-8809-0a0b0c0d0e0f"
    assert made["token()"] == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    assert made["random(6)"] == "abcdef"
    assert compile(well_typed("uuid() != uuid()"))(ENV) is True
    assert len(str(compile(well_typed("random(256)"))(ENV))) == 256


def test_no_pattern_takes_more_than_linear_time() -> None:
    env = {**ENV, "order": {**ORDER, "status": "a" * 20_000 + "!"}}
    assert compile(well_typed("order.status.matches('^(a+)+$')"))(env) is False


@pytest.mark.parametrize(
    ("text", "rows", "needed"),
    [
        ("now", (), False),
        ("order.total > 0", (), False),
        ("order.total > 0", ("order",), True),
        ("order.customer", (), False),
        ("order.customer.id == 'a'", (), False),
        ("order.customer.name == 'a'", (), True),
        ("caller.customer.name == 'a'", (), False),
        ("caller.customer.referrer == null", (), False),
        ("caller.customer.referrer.name == 'a'", (), True),
        ("all(article).size()", (), True),
        ("article.favorites.size()", (), True),
        ("article.favorited", (), True),
        ("order.lines.map(l, l.quantity).sum()", (), False),
        ("page.items.map(a, a.title)", (), False),
        ("page.items.map(a, a.author.username)", (), True),
    ],
)
def test_what_needs_the_database(text: str, rows: tuple[str, ...], needed: bool) -> None:
    assert needs_database(well_typed(text), rows, MODEL) is needed


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([[1], [2.0], ["-1e+1"]], [[1.0], [2], ["-1e+1"]], True),
        ([[True]], [[True]], True),
        ([[1]], [[True]], False),
        ([["1"]], [["2"]], False),
        ({"a": {"b": 1, "c": [True, None]}}, {"a": {"c": [True, None], "b": 1.0}}, True),
        ({"a": [True, 1]}, {"a": [1, True]}, False),
        ({"true": 1}, {"true": True}, False),
        ({"1": []}, {"2": []}, False),
        ([], {}, False),
        ([0], [False], False),
    ],
)
def test_values_within_values_are_equal_as_they_are_alone(left: Any, right: Any, expected: bool) -> None:
    assert equal(left, right) is expected
    assert equal(right, left) is expected
