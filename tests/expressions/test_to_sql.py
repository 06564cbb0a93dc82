"""What expressions become in SQL; that the values are right is a law (tests/laws/test_sql_and_python_agree.py)."""

from __future__ import annotations

import apsw
import pytest
from tests.expressions.shapes import MODEL, ROOTS, SHAPES, well_typed

from ninefold.expressions.ast import Problem
from ninefold.expressions.check import check
from ninefold.expressions.parse import parse
from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Call, Comprehension, Select, Variable
from ninefold.sql.expressions import NotInSQL, sql_problem, to_sql
from ninefold.sql.fragment import Fragment, bind
from ninefold.values import Array, Boolean, Digest, Row, Text

ROWS = {name: name for name in SHAPES}


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("order.status == value", '("order"."status" = ?)'),
        ("order.note == null", '("order"."note" IS NULL)'),
        ("order.note == order.status", '("order"."note" = "order"."status")'),
        ("order.created_at >= value", '("order"."created_at" >= ?)'),
        ("order.customer == caller.customer", '("order"."customer" = ?)'),
        ("customer == caller.customer", '("customer"."id" = ?)'),
        ("order.customer.id == value", '("order"."customer" = ?)'),
        ("caller.role == 'billing'", "?"),
        ("caller.role == 'billing' && order.status == 'paid'", '(? AND ("order"."status" = ?))'),
        ("order.status in ['draft', 'placed']", '("order"."status" IN (?, ?))'),
        (
            "value in article.tagList",
            'EXISTS (SELECT 1 FROM json_each("article"."tagList") AS "t1" WHERE ("t1".value = ?))',
        ),
        (
            "article.author.username == value",
            '((SELECT "t1"."username" FROM "user" AS "t1" WHERE "t1"."id" = "article"."author") = ?)',
        ),
        (
            "article.author.followers.exists(f, f.follower == caller.user)",
            'EXISTS (SELECT 1 FROM "follow" AS "t1" WHERE "t1"."followed" = "article"."author"'
            ' AND ("t1"."follower" = ?))',
        ),
        (
            "article.favorited",
            'EXISTS (SELECT 1 FROM "favorite" AS "t1" WHERE "t1"."article" = "article"."id" AND ("t1"."user" = ?))',
        ),
        (
            "article.favorites.size() > 2",
            '((SELECT count(*) FROM "favorite" AS "t1" WHERE "t1"."article" = "article"."id") > ?)',
        ),
        (
            "!(order.note == order.status)",
            '(NOT ("order"."note" IS "order"."status"))',
        ),
        ("order.lines.size() > 2", '(json_array_length("order"."lines") > ?)'),
    ],
)
def test_conditions(text: str, sql: str) -> None:
    made = to_sql(well_typed(text), model=MODEL, rows=ROWS, condition=True)
    assert made.text == sql
    assert made.text.count("?") == len(made.binds)


def test_an_error_stays_unknown_where_false_would_count() -> None:
    """`caller.user` may be missing: then there is no answer, which is not the answer no."""
    made = to_sql(well_typed("!article.favorites.exists(f, f.user == caller.user)"), model=MODEL, rows=ROWS)
    assert made.text == (
        '(NOT (SELECT CASE WHEN count(CASE WHEN "t2".b THEN 1 END) > 0 THEN 1 WHEN count(*) > count("t2".b) THEN NULL'
        ' ELSE 0 END FROM (SELECT ("t1"."user" = ?) AS b FROM "favorite" AS "t1"'
        ' WHERE "t1"."article" = "article"."id") AS "t2"))'
    )


def test_the_same_expression_has_the_same_text() -> None:
    for text in ("order.total > {}", "order.status == '{}'", "{} in order.lines.map(l, l.quantity)"):
        first, second = (
            to_sql(well_typed(text.format(value)), model=MODEL, rows=ROWS).text for value in (1, 9_223_372_036_854)
        )
        assert first == second


def test_no_text_of_a_value_is_in_a_statement() -> None:
    hostile = '\\\'; DROP TABLE \\"order\\"; --'
    made = to_sql(well_typed(f"order.status == '{hostile}' || '{hostile}' in article.tagList"), model=MODEL, rows=ROWS)
    assert "DROP" not in made.text and len(made.binds) == 2


def test_rows_of_others_are_read_as_far_as_they_may_be_seen() -> None:
    seen: list[tuple[str, str]] = []

    def visible(resource: str, alias: str) -> Fragment | None:
        seen.append((resource, alias))
        if resource == "order":
            return None
        return f'"{alias}"."tenant" = ' + bind(Variable(name="tenant", type=Text()))

    made = to_sql(well_typed("order.customer.name == value"), model=MODEL, rows=ROWS, visible=visible, condition=True)
    assert made.text == (
        '((SELECT "t1"."name" FROM "customer" AS "t1" WHERE "t1"."id" = "order"."customer" AND "t1"."tenant" = ?) = ?)'
    )
    assert [bound.name for bound in made.binds if isinstance(bound, Variable)] == ["tenant", "value"]
    made = to_sql(
        well_typed("order.customer.orders.exists(o, o.paid)"), model=MODEL, rows=ROWS, visible=visible, condition=True
    )
    assert made.text == (
        'CASE WHEN NOT (NOT EXISTS (SELECT 1 FROM "customer" AS "t2" WHERE "t2"."id" = "order"."customer"'
        ' AND "t2"."tenant" = ?)) THEN EXISTS (SELECT 1 FROM "order" AS "t1" WHERE "t1"."customer" ='
        ' "order"."customer" AND "t1"."paid") END'
    )
    assert {resource for resource, _ in seen} == {"customer", "order"}


def test_aliases_keep_clear_of_the_ones_in_use() -> None:
    made = to_sql(well_typed("order.customer.name == value"), model=MODEL, rows={"order": "t1"})
    assert made.text == '((SELECT "t2"."name" FROM "customer" AS "t2" WHERE "t2"."id" = "t1"."customer") = ?)'


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        (
            "article.title.matches('^A')",
            "`matches` is for values of the request: the database does not have it",
            "article.title.matches('^A')",
        ),
        (
            "order.status == 'a' && slug(article.title) == 'b'",
            "`slug` is for values of the request: the database does not have it",
            "slug(article.title)",
        ),
        ("order.status == random(3)", "a random value cannot be part of what the database computes", "random(3)"),
        (
            "[order.weight].sum() > 1.0",
            "the sum of numbers depends on how they are added, and the database adds in another way",
            "[order.weight].sum()",
        ),
        (
            "article.favorites.map(f, {'u': f.user})",
            "an object cannot be made of rows in the database",
            "{'u': f.user}",
        ),
    ],
)
def test_what_the_database_cannot_answer(text: str, message: str, place: str) -> None:

    ast = parse(text)
    assert not isinstance(ast, Problem)
    checking = check(ast, Scope(ROOTS, MODEL))
    assert checking.typed is not None
    problem = sql_problem(checking.typed, ROWS, model=MODEL, places=checking.places)
    assert problem is not None
    assert (problem.code.id, problem.message, text[problem.start : problem.end]) == ("NF0412", message, place)
    with pytest.raises(NotInSQL):
        to_sql(checking.typed, model=MODEL, rows=ROWS)


def test_an_index_serves_what_is_compared() -> None:
    """The forms for conditions are such that SQLite can look up rather than read everything."""
    connection = apsw.Connection(":memory:")
    connection.execute(
        'CREATE TABLE "order" (id TEXT PRIMARY KEY, customer TEXT, note TEXT, status TEXT) STRICT;'
        'CREATE INDEX n ON "order" (note); CREATE INDEX c ON "order" (customer);'
    )
    for text in (
        "order.note == value",
        "order.customer == caller.customer",
        "order.note in ['a', 'b']",
        "order.id == value",
    ):
        made = to_sql(well_typed(text), model=MODEL, rows=ROWS, condition=True)
        plan = connection.execute(
            f'EXPLAIN QUERY PLAN SELECT * FROM "order" WHERE {made.text}', [None] * len(made.binds)
        ).fetchall()
        assert all("SEARCH" in str(step[3]) for step in plan), (text, plan)


def test_what_is_stored_of_a_secret_is_found_by_and_never_read() -> None:
    customer = Variable(name="customer", type=Row(resource="customer"))
    secret = Select(operand=customer, name="api_key", type=Digest(), through="field")
    given = Variable(name="presented", type=Digest())
    found = Call(function="==", arguments=[secret, given], type=Boolean())
    assert to_sql(found, model=MODEL, rows=ROWS).text == '("customer"."api_key" = ?)'
    listed = Comprehension(
        macro="map",
        range=well_typed("all(customer)"),
        variable="customer",
        body=secret,
        type=Array(items=Digest()),
    )
    for typed in (secret, listed):
        with pytest.raises(NotInSQL, match="not readable"):
            to_sql(typed, model=MODEL, rows=ROWS)
