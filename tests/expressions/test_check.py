"""What the types of a contract make of an expression, and what is said of what they do not fit."""

from __future__ import annotations

import msgspec
import pytest
from tests.expressions.shapes import MODEL, ROOTS, inferred, problems, well_typed

from ninefold.expressions.scope import Scope
from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable
from ninefold.values import Array, Boolean, Duration, Integer, Number, Row, Text, Timestamp, Type

OWN = [
    ("order.lines.map(l, l.quantity * l.unit_price).sum()", Integer()),
    ("order.customer == caller.customer", Boolean()),
    ("customer == caller.customer", Boolean()),
    ("caller.role == 'billing'", Boolean()),
    ("order.status == value", Boolean()),
    ("order.created_at >= value", Boolean()),
    ("value in article.tagList", Boolean()),
    ("article.author.username == value", Boolean()),
    ("article.favorites.exists(f, f.user.username == value)", Boolean()),
    ("article.author.followers.exists(f, f.follower == caller.user)", Boolean()),
    ("article.favorites.size()", Integer()),
    ("slug(article.title) + '-' + random(6)", Text()),
    ("order.note == '' ? null : order.note", Text(nullable=True)),
    ("'/orders/' + order.id", Text()),
    ("'https://orders.example/errors/' + error.code", Text()),
    ("all(article).flatMap(a, a.tagList).distinct().sort()", Array(items=Text())),
    ("uuid()", Text()),
    ("token()", Text()),
    ("now - order.created_at > duration('PT30M')", Boolean()),
    ("order.total - 1", Integer()),
    ("-order.total", Integer()),
    ("order.customer", Row(resource="customer")),
    ("order.lines[0].quantity", Integer()),
    ("now - order.created_at", Duration()),
    ("order.weight / 2.0", Number()),
    ("claims.sub.startsWith('a')", Boolean()),
    ("'admin' in claims.groups", Boolean()),
    ("claims.groups.exists(g, g == 'admin')", Boolean()),
    ("string(claims.sub)", Text()),
    ("timestamp(claims.exp) > now", Boolean()),
    ("page.items.map(a, a.author)", Array(items=Row(resource="user"))),
    ("has(order.note) && order.note != null", Boolean()),
    ("order['status'] == 'draft'", Boolean()),
]


@pytest.mark.parametrize(("text", "type_"), OWN)
def test_what_contracts_write_has_a_type(text: str, type_: Type) -> None:
    typed = well_typed(text)
    assert typed.type == type_
    assert msgspec.json.decode(msgspec.json.encode(typed), type=Typed) == typed


def test_a_template_leaf_over_the_fields_of_an_error() -> None:
    typed = well_typed("error.fields.map(f, {'in': f.place, 'pointer': f.pointer, 'detail': f.message})")
    assert isinstance(typed.type, Array)


def test_a_row_is_its_identifier_where_a_value_is_wanted() -> None:
    field = Select(operand=Variable(name="order", type=Row(resource="order")), name="id", type=Text(), through="field")
    assert well_typed("order", expected=Row(resource="order")) == field
    stored = well_typed("order.customer", expected=Row(resource="customer"))
    assert isinstance(stored, Select) and stored.type == Row(resource="customer")
    assert well_typed("order.customer.id") == Select(
        operand=Variable(name="order", type=Row(resource="order")), name="customer", type=Text(), through="field"
    )


def test_literals_of_times_are_constants() -> None:
    assert well_typed("timestamp('2026-01-31T01:00:00+02:00')") == Constant(
        value="2026-01-30T23:00:00.000000Z", type=Timestamp()
    )
    assert (
        well_typed("duration('PT30M')")
        == well_typed("duration('30m')")
        == Constant(value=1_800_000_000, type=Duration())
    )


def test_an_empty_list_is_of_the_type_that_is_wanted() -> None:
    assert well_typed("[]", expected=Array(items=Text())) == Constant(value=[], type=Array(items=Text()))


def test_serial_stands_alone() -> None:
    scope = Scope(ROOTS, MODEL, serial=True)
    assert well_typed("serial()", scope, Integer()) == Call(function="serial", arguments=[], type=Integer())
    assert [problem.code.id for problem in problems("serial() + 1", scope)] == ["NF0416"]
    assert [problem.code.id for problem in problems("serial()")] == ["NF0416"]


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("order.created_at >= value", Timestamp()),
        ("value in article.tagList", Text()),
        ("order.total * 2 > value + 1", Integer()),
        ("order.status.contains(value)", Text()),
        ("value", Boolean()),
        ("order.customer == value", Text()),
        ("order.status in value", Array(items=Text())),
        ("article.favorites.exists(f, f.user == value)", Integer()),
        ("value in article.favorites.map(f, f.user)", Integer()),
        ("value == order.status || order.note == value", Text()),
    ],
)
def test_the_type_of_a_filters_value_is_what_it_is_compared_with(text: str, type_: Type) -> None:
    assert inferred(text) == {"value": type_}


@pytest.mark.parametrize(
    ("text", "code", "message", "place", "help"),
    [
        ("order.totl > 0", "NF0403", "resource `order` has no field `totl`", "totl", "did you mean `total`?"),
        (
            "article.favourites.size() > 0",
            "NF0403",
            "resource `article` has no field `favourites`",
            "favourites",
            "did you mean `favorites`?",
        ),
        (
            "order.lines.exists(l, l.quanttiy > 1)",
            "NF0403",
            "`l` has no member `quanttiy`",
            "quanttiy",
            "did you mean `quantity`?",
        ),
        ("caller.usr.id == 1", "NF0403", "`caller` has no member `usr`", "usr", "did you mean `user`?"),
        (
            "order.lines.sku == 'a'",
            "NF0403",
            "an array of objects has no field `sku`",
            "sku",
            "to read it of each item: `.map(x, x.sku)`",
        ),
        ("order.status.name == 'a'", "NF0403", "a string has no field `name`", "name", None),
        (
            "order.status == draft",
            "NF0404",
            "`draft` is not a name that can be read here",
            "draft",
            "text stands in quotes: `'draft'`",
        ),
        ("ordr.total > 0", "NF0404", "`ordr` is not a name that can be read here", "ordr", "did you mean `order`?"),
        ("order.paid == True", "NF0404", "`True` is not a name that can be read here", "True", "write `true`"),
        ("all(articles).size() > 0", "NF0404", "`articles` is not a resource", "articles", "did you mean `article`?"),
        (
            "claims.amounts.sum() == 1",
            "NF0406",
            "`sum` takes an array of integers or an array of numbers, and is given a value of any type, which may be "
            "either",
            "claims.amounts.sum()",
            "say it of each item: `.map(x, int(x))`, or `.map(x, double(x))`",
        ),
        (
            "claims.left > duration('PT1M')",
            "NF0407",
            "`>` does not take a value of any type and a duration",
            "claims.left > duration('PT1M')",
            "say of which type it is: `timestamp(x)`, `duration(x)`",
        ),
        (
            "type(claims.a) == list && string(claims.a) == ''",
            "NF0406",
            "`string` takes a string or an integer or a number or a boolean or a date-time or a duration, and is given "
            "an array",
            "string(claims.a)",
            None,
        ),
        ("len(order.lines) > 0", "NF0405", "there is no function `len`", "len", "did you mean `size`?"),
        (
            "order.status.startswith('a')",
            "NF0405",
            "there is no function `startswith`",
            "startswith",
            "did you mean `startsWith`?",
        ),
        (
            "order.status.startsWith(5)",
            "NF0406",
            "`startsWith` takes a string and a string, and is given a string and an integer",
            "order.status.startsWith(5)",
            None,
        ),
        (
            "startsWith(order.status, 'a')",
            "NF0406",
            "`startsWith` stands after a dot",
            "startsWith",
            "write `….startsWith(…)`",
        ),
        ("order.total.double() > 0.5", "NF0406", "`double` stands before its arguments", "double", "write `double(…)`"),
        (
            "order.status.exists(x, true)",
            "NF0406",
            "`exists` is asked of an array, and this is a string",
            "order.status",
            None,
        ),
        (
            "article.favorites.distinct().size() > 0",
            "NF0406",
            "`distinct` takes an array of plain values, and is given an array of rows",
            "article.favorites.distinct()",
            "choose a field first: `.map(x, x.field)`",
        ),
        ("order.status.matches(order.note)", "NF0406", "the pattern of `matches` is a literal", "order.note", None),
        (
            "order.total > 1.5",
            "NF0407",
            "`>` does not take an integer and a number",
            "order.total > 1.5",
            "`int(x)` makes an integer of a number",
        ),
        ("order.weight > 1", "NF0407", "`>` does not take a number and an integer", "order.weight > 1", "write `1.0`"),
        (
            "order.created_at > '2026-01-31T00:00:00Z'",
            "NF0407",
            "`>` does not take a date-time and a string",
            "order.created_at > '2026-01-31T00:00:00Z'",
            "write `timestamp('2026-01-31T00:00:00Z')`",
        ),
        (
            "now - order.created_at > 'PT30M'",
            "NF0407",
            "`>` does not take a duration and a string",
            "now - order.created_at > 'PT30M'",
            "write `duration('PT30M')`",
        ),
        (
            "order.total + 'a' == ''",
            "NF0407",
            "`+` does not take an integer and a string",
            "order.total + 'a'",
            "`string(x)` makes a string of it",
        ),
        (
            "now + order.total * duration('PT1M') > now",
            "NF0407",
            "`*` does not take an integer and a duration",
            "order.total * duration('PT1M')",
            "durations are added, and not multiplied: `timestamp(int(x) + n * 60)` is n minutes after x",
        ),
        ("order.total && true", "NF0407", "`&&` asks a predicate, and this is an integer", "order.total", None),
        ("!order.status", "NF0407", "`!` asks a predicate, and this is a string", "order.status", None),
        (
            "order.customer == article.author",
            "NF0407",
            "`==` does not take a row of `customer` and a row of `user`",
            "order.customer == article.author",
            None,
        ),
        (
            "order.customer == 'abc'",
            "NF0407",
            "`==` does not take a row of `customer` and a string",
            "order.customer == 'abc'",
            "compare the rows themselves, or the primary key on both sides: `.id`",
        ),
        (
            "'a' in order.status",
            "NF0407",
            "`in` does not take a string and a string",
            "'a' in order.status",
            "a part of a text is found by `text.contains(part)`",
        ),
        (
            "order.paid ? 'a' : 1",
            "NF0407",
            "one side of `?:` is a string, the other an integer",
            "1",
            "`string(x)` makes a string of it",
        ),
        (
            "claims.a + claims.b == 1",
            "NF0407",
            "`+` does not take a value of any type and a value of any type",
            "claims.a + claims.b",
            "say of which type it is: `int(x)`, `double(x)`, `string(x)`, `bool(x)`",
        ),
        (
            "order.lines",
            "NF0408",
            "the expression is an array of objects, and a boolean is needed here",
            "order.lines",
            "`size(x) > 0` asks whether there are any",
        ),
        ("order.customer.api_key == 'x'", "NF0409", "`customer.api_key` is a secret", "api_key", None),
        (
            "favorite in all(favorite)",
            "NF0410",
            "a row of `favorite` is no value: its primary key is `user` and `article`",
            "favorite",
            "compare the fields one by one",
        ),
        (
            "value == value",
            "NF0411",
            "the type of `value` cannot be told from this expression",
            "value",
            "compare it with a field, or say its `type` beside `where`",
        ),
        (
            "order.total == value || order.status == value",
            "NF0411",
            "`value` is used as an integer and as a string",
            "value",
            None,
        ),
        (
            "now - order.created_at > duration('half an hour')",
            "NF0413",
            "`half an hour` is not a duration",
            "'half an hour'",
            "for example `duration('PT30M')`",
        ),
        (
            "order.status.matches('(')",
            "NF0413",
            "`(` is not a regular expression without back-references and look-around",
            "'('",
            None,
        ),
        (
            "order.lines.exists(order, true)",
            "NF0414",
            "`order` is already the name of something else here",
            "order",
            None,
        ),
    ],
)
def test_what_is_said_of_what_does_not_fit(text: str, code: str, message: str, place: str, help: str | None) -> None:
    found = problems(text, expected=Boolean())
    assert [(problem.code.id, problem.message) for problem in found][:1] == [(code, message)]
    problem = found[0]
    assert text[problem.start : problem.end] == place
    assert (problem.help[0] if problem.help else None) == help


def test_all_problems_are_told_together_and_one_cause_once() -> None:
    found = problems(
        "order.totl > 0 && order.statsu == 'a' && order.total > 1.5 && nope.x.y.z == 1", expected=Boolean()
    )
    assert [problem.code.id for problem in found] == ["NF0403", "NF0403", "NF0407", "NF0404"]


def test_what_is_judged_before_the_database_reads_no_further_rows() -> None:
    scope = Scope(ROOTS, MODEL, request_only=True)
    assert problems("caller.user.id == 1", scope) == []
    assert problems("caller.customer.referrer == null", scope) == []
    for text in ("caller.user.followers.size() > 1", "caller.customer.referrer.name == 'a'", "size(all(order)) > 0"):
        assert [problem.code.id for problem in problems(text, scope)] == ["NF0417"], text
