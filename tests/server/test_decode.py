from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.server.plans import CHANGED_NOTE, JSON, MERGE, NEW_NOTE

from ninefold.expressions.tree import Call, Constant, Variable
from ninefold.plan import routes as plan
from ninefold.runtime.messages.decode import Body
from ninefold.runtime.messages.json_text import parse
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.problems import Failure
from ninefold.values import Array, Boolean, Integer, Invalid, Number, Object, Text, integer
from ninefold.values.json_numbers import as_doubles, as_written, decoding, huge
from ninefold.values.stored import from_sqlite

NOTE, CHANGE = Body(NEW_NOTE), Body(CHANGED_NOTE)
ZERO = Constant(0, Integer())


def wrong(body: Body, data: str) -> list[tuple[str, str, str]]:
    failure = body.read(data.encode())
    assert isinstance(failure, Failure) and failure.condition == "invalid", failure
    return [(field.pointer, field.name, field.rule) for field in failure.fields]


def test_values_by_field() -> None:
    assert NOTE.read(b'{"title": " a ", "stars": 5.0, "remark": null, "tags": []}') == {
        "title": "a",
        "remark": None,
        "stars": 5,
        "tags": [],
    }
    assert NOTE.read(b'{"title": "a", "title": "b"}') == {"title": "b"}


def test_every_failure_of_every_field_in_the_order_of_the_contract() -> None:
    data = '{"y": 1, "tags": ["a", "B", 1], "stars": "many", "title": "                      ", "a/b~": {}}'
    assert wrong(NOTE, data) == [
        ("/title", "title", "minLength"),
        ("/stars", "stars", "type"),
        ("/tags/1", "tags", "pattern"),
        ("/tags/2", "tags", "type"),
        ("/y", "y", "unknown"),
        ("/a~1b~0", "a/b~", "unknown"),
    ]


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        ("{}", "required"),
        ('{"title": null}', "type"),
        ('{"title": ""}', "minLength"),
        ('{"title": "aaaaaaaaaaaaaaaaaaaaa"}', "maxLength"),
        ('{"title": "a\\u0000"}', "range"),
    ],
)
def test_a_rule_is_named_as_json_schema_names_it(data: str, rule: str) -> None:
    assert wrong(NOTE, data) == [("/title", "title", rule)]


@pytest.mark.parametrize(
    "stars", ["9223372036854775808", "-9223372036854775809", "1e30", "1e400", "-1e400", "9" * 5000]
)
def test_an_integer_beyond_64_bits_is_invalid(stars: str) -> None:
    assert [pointer for pointer, _, _ in wrong(NOTE, '{"title": "a", "stars": ' + stars + "}")] == ["/stars"]


PLAIN = {
    "properties": {
        "text": {"type": ["string", "null"], "maxLength": 3},
        "of": {"type": "string", "enum": ["a", "b"]},
        "count": {"type": "integer", "minimum": 1},
        "beside": {"type": "boolean"},
        "always": {"const": 1},
    },
    "required": ["of"],
    "type": "object",
}
BODIES: dict[str, tuple[Any, bool]] = {
    "all members": ({"text": "a", "of": "b", "count": 5.0, "beside": True, "always": 1}, True),
    "null, and what is not required left out": ({"text": None, "of": "a"}, True),
    "a member that is missing": ({"text": "a"}, False),
    "a member that is not known": ({"of": "a", "more": 1}, False),
    "a rule that is broken": ({"of": "c", "text": "long", "count": 0}, False),
    "another type": ({"of": "a", "count": "1", "beside": 1}, False),
    "a value that cannot be kept": ({"of": "a", "text": "a\0", "count": 2**63}, False),
    "what nothing can be stored of": ({"of": "b", "text": ""}, False),
    "another constant": ({"of": "a", "always": 2}, False),
    "no object": (["of"], False),
}


@pytest.mark.parametrize(("document", "good"), BODIES.values(), ids=BODIES)
def test_a_body_in_which_all_is_well_gives_what_looking_closer_finds(document: Any, good: bool) -> None:
    first = Call("[]", [Call("split", [Variable("value", Text()), Constant("", Text())], Array(Text())), ZERO], Text())
    fields = (
        plan.BodyField("text", ("text",), Text(nullable=True), stored=first),
        plan.BodyField("kind", ("of",), Text()),
        plan.BodyField("count", ("count",), Integer()),
    )
    body = Body(
        plan.Body((JSON,), PLAIN, fields, members={"beside": Boolean()}, constants=(("always",),), unknown="refused")
    )
    assert body._plain is not None
    given = body._plain.given(document)
    at_once = body.valid(document)
    body._plain = None
    assert at_once == body.valid(document)
    assert (at_once.wrong is None, given is not None) == (good, good)


@pytest.mark.parametrize(
    "body",
    [
        NEW_NOTE,
        CHANGED_NOTE,
        plan.Body((JSON,), PLAIN, (plan.BodyField("text", ("a", "text"), Text()),)),
        plan.Body((JSON,), PLAIN, unknown="ignored"),
        plan.Body((JSON,), PLAIN, texts=True),
        plan.Body((JSON,), PLAIN, whole=plan.WholeBody({})),
    ],
)
def test_what_a_body_gives_is_looked_for_where_more_is_to_be_done_with_it(body: plan.Body) -> None:
    assert Body(body)._plain is None


def test_a_number_beyond_a_double_is_invalid() -> None:
    body = Body(
        plan.Body(
            (JSON,),
            {"type": "object", "properties": {"n": {"type": "number"}}},
            (plan.BodyField("n", ("n",), Number()),),
        )
    )
    assert wrong(body, '{"n": 1e400}') == [("/n", "n", "range")]
    assert body.read(b'{"n": 1e308}') == {"n": 1e308}
    assert body.read(b'{"n": 1e400, "m": "\\ud800"}') == Failure("malformed")


def test_a_body_that_is_no_object() -> None:
    assert wrong(NOTE, "[1]") == [("", "body", "type")]
    assert wrong(NOTE, '"text"') == [("", "body", "type")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"{'a': 1}",
        b"nul",
        b"\xff",
        b'"\xff"',
        b'{"title": "\\ud800"}',
        b"NaN",
        b"[" * 100_000,
        b"\xef\xbb\xbf{}",
        b'{"title": "a"} {}',
        b"[" * 129 + b"]" * 129,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b'{"title": "a\nb"}',
        b"[1e999," + b"[" * 2000,
    ],
)
def test_what_is_not_json_is_malformed(data: bytes) -> None:
    assert NOTE.read(data) == Failure("malformed")


def test_depth_counts_nesting_and_not_brackets() -> None:
    assert parse(b"[" + b",".join([b"[]"] * 500) + b"]") == [[]] * 500
    assert parse(b"[" * 128 + b"]" * 128)


def test_a_merge_patch_keeps_what_is_absent_and_clears_what_is_null() -> None:
    assert CHANGE.read(b'{"remark": null}') == {"remark": None}
    assert CHANGE.read(b"{}") == {}
    assert wrong(CHANGE, '{"title": null, "stars": null}') == [
        ("/title", "title", "type"),
        ("/stars", "stars", "type"),
    ]


def test_an_immutable_field_is_not_given() -> None:
    assert wrong(CHANGE, '{"tags": ["a"]}') == [("/tags", "tags", "immutable")]


def test_a_template_read_backwards() -> None:
    body = Body(
        plan.Body(
            (JSON,),
            {
                "type": "object",
                "properties": {
                    "user": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
                },
                "required": ["user"],
            },
            (plan.BodyField("name", ("user", "name"), Text()), plan.BodyField("bio", ("user", "bio"), Text())),
        )
    )
    assert body.read(b'{"user": {"name": "a"}}') == {"name": "a"}
    assert wrong(body, "{}") == [("/user", "user", "required")]
    assert wrong(body, '{"user": {}}') == [("/user/name", "name", "required")]
    assert wrong(body, '{"user": 1}') == [("/user", "user", "type")]
    assert wrong(body, '{"user": {"name": "a", "age": 1}, "x": 1}') == [
        ("/user/age", "age", "unknown"),
        ("/x", "x", "unknown"),
    ]


def test_unknown_members_may_be_ignored() -> None:
    assert Body(replace(NEW_NOTE, unknown="ignored")).read(b'{"title": "a", "y": 1}') == {"title": "a"}


def test_failures_inside_a_value_stand_in_the_order_of_its_schema() -> None:
    line = {
        "type": "object",
        "properties": {"sku": {"type": "string", "pattern": "^[A-Z]+$", "minLength": 3}, "price": {"type": "integer"}},
        "required": ["sku", "price"],
        "additionalProperties": False,
    }
    body = Body(
        plan.Body(
            (JSON,),
            {
                "type": "object",
                "properties": {
                    "line": {"$ref": "#/$defs/line"},
                    "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
                },
                "$defs": {"line": line},
            },
            (plan.BodyField("line", ("line",), Object()), plan.BodyField("lines", ("lines",), Object())),
        )
    )
    assert wrong(body, '{"lines": [{"price": "x", "sku": "a"}, {}], "line": {"price": 1, "z": 2}}') == [
        ("/line/sku", "sku", "required"),
        ("/line/z", "z", "unknown"),
        ("/lines/0/sku", "sku", "pattern"),
        ("/lines/0/sku", "sku", "minLength"),
        ("/lines/0/price", "price", "type"),
        ("/lines/1/sku", "sku", "required"),
        ("/lines/1/price", "price", "required"),
    ]


@pytest.mark.parametrize(
    ("headers", "read"),
    [
        ({"content-type": JSON}, True),
        ({"content-type": MERGE}, True),
        ({"content-type": f"{JSON}; charset=UTF-8"}, True),
        ({"content-type": JSON, "content-encoding": "identity"}, True),
        ({"content-type": JSON, "content-encoding": "gzip"}, False),
        ({"content-type": f"{JSON}; charset=latin1"}, False),
        ({"content-type": "text/json"}, False),
        ({"content-type": f"{JSON}, {JSON}"}, False),
        ({}, False),
    ],
)
def test_media_types_that_are_read(headers: dict[str, str], read: bool) -> None:
    request = Request("PATCH", b"/", b"", {"content-length": "2", **headers}, "")
    assert CHANGE.unsupported(request) == (None if read else Failure("unsupported media type"))


def test_no_body_is_no_unsupported_one() -> None:
    assert NOTE.unsupported(Request("POST", b"/", b"", {"content-length": "0"}, "")) is None


def test_a_body_of_none() -> None:
    none = plan.Body((JSON,), {"type": "object"}, optional=True)
    assert Body(none).read(b"") == {}
    assert Body(none).read(b"{}") == {}
    assert wrong(Body(none), '{"a": 1}') == [("/a", "a", "unknown")]
    assert Body(none).read(b"x") == Failure("malformed")
    assert Body(replace(none, unknown="ignored")).ignored


NUMBERS = (
    "0 -0 -0.0 1e5 1E+2 1.5 1e300 1e999 -1e999 1e-999 9223372036854775808 -9223372036854775809 12345678901234567890123 "
    "1.7976931348623157e308 1.7976931348623159e308 5e-324 2e-324 1e 01 .5 +1 1. NaN Infinity 1e400000000000000000000"
)


@pytest.mark.parametrize("written", [*NUMBERS.split(), "1" * 400, "1" * 5000, "1" * 500 + ".5", "0." + "0" * 400 + "1"])
def test_a_number_means_the_same_in_much_and_in_little(written: str) -> None:
    def parsed(after: str) -> object:
        try:
            found = parse(f'{{"n": {written}}}{after}'.encode())["n"]
        except ValueError:
            return None
        return type(found), found

    assert parsed("") == parsed(" " * 2000)


@pytest.mark.parametrize("written", ["{}.0", "{}.000", "{}0e-1", "{}000E-3", "{}e0", "{}.0e+0"])
@pytest.mark.parametrize(
    "number", [2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1, -(2**63), -(2**63) + 1, 123456789012345678]
)
@pytest.mark.parametrize("beside", ["", " " * 2000])
def test_an_integer_is_itself_whatever_its_form(number: int, written: str, beside: str) -> None:
    """No double is, and JSON Schema calls it one all the same (2020-12 Validation, 6.1.1)."""
    data = f'{{"n": {written.format(number)}, "in": [{{"m": {written.format(number)}}}]}}{beside}'.encode()
    document = parse(data)
    assert integer(document["n"]) == integer(document["in"][0]["m"]) == number


@pytest.mark.parametrize("written", ["9223372036854775808.0", "-9223372036854775809.0", "1" * 400 + ".0", "1e18000"])
def test_what_is_no_integer_of_64_bits_is_none_in_any_form(written: str) -> None:
    with pytest.raises(Invalid) as refused:
        integer(parse(f"[{written}]".encode())[0])
    assert refused.value.rule == "range"


FRACTIONS = (
    "9007199254740993.5 -9007199254740993.5 4503599627370496.5 12345678901234567.4 1.0000000000000000000001 "
    "0.99999999999999999999999 1e-400 -1e-99999 1e-9999999999999999999999 10000000000000000000000000000001e-31 "
    "18446744073709551616.5"
)


@pytest.mark.parametrize("written", [*FRACTIONS.split(), "3." + "0" * 5000 + "1", "9" * 300 + ".5"])
@pytest.mark.parametrize("beside", ["", " " * 2000])
def test_what_has_a_fraction_is_no_integer_though_its_double_is(written: str, beside: str) -> None:
    document = parse(f'{{"n": {written}, "in": [{{"m": {written}}}]}}{beside}'.encode())
    for found in (document["n"], document["in"][0]["m"]):
        with pytest.raises(Invalid) as refused:
            integer(found)
        assert refused.value.rule == "type"
    double = as_doubles(document)
    assert type(double["n"]) is float and double["n"] == double["in"][0]["m"] == float(written)


@pytest.mark.parametrize(
    "written", ["0.0", "-0.0", "0e5", "0.000e-9999999999999999999", "1.0", "1e15", "1e300", "5e-324", "0.5", "1e22"]
)
def test_all_others_are_what_they_were(written: str) -> None:
    document = parse(f"[{written}]".encode())
    assert document == [float(written)] and as_doubles(document) is document


MUCH = f"[{','.join(['1e300'] * 500)}]"

READ: dict[str, Callable[[], object]] = {
    "a body": lambda: parse(MUCH.encode()),
    "what is stored": lambda: from_sqlite(Array(items=Number()), MUCH),
    "rows in a row": lambda: decoding(tuple[tuple[Any, ...], ...])(f"[{MUCH}]"),
}


BY_PYTHON = (huge.__code__, as_written.__code__)


@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_numbers_of_much_are_read_by_python(read: Callable[[], object]) -> None:
    """The decoder's own way takes 8 µs for each that is near the bounds of a double, and nobody has a turn between."""
    called = []
    sys.setprofile(lambda frame, event, _: called.append(frame) if frame.f_code in BY_PYTHON else None)
    try:
        read()
    finally:
        sys.setprofile(None)
    assert len(called) >= 500
