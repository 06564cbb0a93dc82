"""The forms of values, their bounds, and the types that schemas give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Digest,
    Integer,
    Invalid,
    Null,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    Value,
    duration,
    duration_text,
    json_reader,
    timestamp,
    to_json,
)
from ninefold.values.of_schemas import from_schema
from ninefold.values.stored import from_sqlite, to_sqlite
from ninefold.values.texts import from_text

LINE = Object(members={"at": Timestamp(), "n": Integer(), "x": Number(nullable=True)})


@pytest.mark.parametrize(
    ("type_", "given_", "value"),
    [
        (Integer(), 5.0, 5),
        (Integer(), 2**63 - 1, 2**63 - 1),
        (Number(), 5, 5.0),
        (Number(), -0.0, 0.0),
        (Text(nullable=True), None, None),
        (Timestamp(), "2026-01-31T00:30:00+01:00", "2026-01-30T23:30:00.000000Z"),
        (Timestamp(), "2026-01-31t00:30:00.123456789z", "2026-01-31T00:30:00.123456Z"),
        (Timestamp(), "2024-02-29T00:00:00.5-00:00", "2024-02-29T00:00:00.500000Z"),
        (
            Array(items=LINE),
            [{"at": "2026-01-01T00:00:00Z", "n": 1.0, "more": [1]}],
            [{"at": "2026-01-01T00:00:00.000000Z", "n": 1, "more": [1]}],
        ),
        (Anything(), {"a": [None, True, 1, 1.5, "x"]}, {"a": [None, True, 1, 1.5, "x"]}),
    ],
)
def test_json_to_python(type_: Type, given_: object, value: Value) -> None:
    found = json_reader(type_)(given_)
    assert found == value and type(found) is type(value)
    assert str(found) == str(value)


@pytest.mark.parametrize(
    ("type_", "given_", "rule", "path"),
    [
        (Integer(), 5.5, "type", ()),
        (Integer(), True, "type", ()),
        (Integer(), 2**63, "range", ()),
        (Integer(), 1e300, "range", ()),
        (Number(), 10**400, "range", ()),
        (Number(), float("inf"), "range", ()),
        (Number(), "1", "type", ()),
        (Boolean(), 1, "type", ()),
        (Text(), None, "type", ()),
        (Text(), "a\0b", "range", ()),
        (Text(), "\ud800", "range", ()),
        (Timestamp(), "2026-01-31", "format", ()),
        (Timestamp(), "2026-02-30T00:00:00Z", "format", ()),
        (Timestamp(), "2026-01-31T24:00:00Z", "format", ()),
        (Timestamp(), "2016-12-31T23:59:60Z", "format", ()),
        (Timestamp(), "0001-01-01T00:00:00+00:01", "format", ()),
        (Timestamp(), "2026-01-31T00:00:00", "format", ()),
        (Timestamp(), "٢٠٢٦-01-31T00:00:00Z", "format", ()),
        (Array(items=LINE), [{"at": "2026-01-01T00:00:00Z", "n": "1"}], "type", (0, "n")),
        (Anything(), {"a": [2**70]}, "range", ("a", 0)),
        (Anything(), {"a\0": 1}, "range", ()),
        (Digest(), "x", "type", ()),
    ],
)
def test_what_is_no_value_of_a_type(type_: Type, given_: object, rule: str, path: tuple[Any, ...]) -> None:
    with pytest.raises(Invalid) as raised:
        json_reader(type_)(given_)
    assert (raised.value.rule, raised.value.path) == (rule, path)


@pytest.mark.parametrize(
    ("type_", "written", "value"),
    [
        (Integer(), "-12", -12),
        (Integer(), "+12", Invalid),
        (Integer(), " 12", Invalid),
        (Integer(), "012", Invalid),
        (Integer(), "1_000", Invalid),
        (Integer(), "9" * 5000, Invalid),
        (Integer(), "٣", Invalid),
        (Number(), "1e3", 1000.0),
        (Number(), "nan", Invalid),
        (Number(), "1e999", Invalid),
        (Boolean(), "true", True),
        (Boolean(), "True", Invalid),
        (Text(), " a ", " a "),
        (Timestamp(), "2026-01-31T00:00:00Z", "2026-01-31T00:00:00.000000Z"),
        (Array(items=Text()), "a", Invalid),
    ],
)
def test_text_to_python(type_: Type, written: str, value: object) -> None:
    if value is Invalid:
        with pytest.raises(Invalid):
            from_text(type_, written)
    else:
        found = from_text(type_, written)
        assert found == value and type(found) is type(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(
    [
        Integer(),
        Number(),
        Boolean(),
        Text(),
        Timestamp(nullable=True),
        Array(items=LINE),
        LINE,
        Anything(nullable=True),
        Null(),
    ]
)


@given(TYPES, JSON)
def test_what_is_accepted_is_stored_and_read_back_as_it_was(type_: Type, given_: object) -> None:
    try:
        value = json_reader(type_)(given_)
    except Invalid:
        return
    assert from_sqlite(type_, to_sqlite(type_, value)) == value
    assert json_reader(type_)(to_json(type_, value)) == value


@given(st.datetimes(), st.integers(-23, 23), st.integers(0, 59))
def test_times_sort_as_their_texts(moment: Any, hours: int, minutes: int) -> None:
    written = f"{moment.isoformat(timespec='microseconds')}{hours:+03}:{minutes:02}"
    try:
        stored = timestamp(written)
    except Invalid:
        return
    assert len(stored) == 27 and timestamp(stored) == stored


@pytest.mark.parametrize(
    ("written", "microseconds"),
    [
        ("PT30M", 1_800_000_000),
        ("P1DT12H", 129_600_000_000),
        ("P2W", 1_209_600_000_000),
        ("-PT0.5S", -500_000),
        ("1h30m", 5_400_000_000),
        ("1.5s", 1_500_000),
        ("250ms", 250_000),
        ("1us", 1),
        ("P1M", Invalid),
        ("P1Y", Invalid),
        ("P", Invalid),
        ("PT", Invalid),
        ("", Invalid),
        ("1", Invalid),
        ("P999999999W", Invalid),
    ],
)
def test_durations(written: str, microseconds: object) -> None:
    if microseconds is Invalid:
        with pytest.raises(Invalid):
            duration(written)
    else:
        assert duration(written) == microseconds


@given(st.integers(-(2**62), 2**62))
def test_a_duration_is_read_back_as_it_is_written(microseconds: int) -> None:
    assert duration(duration_text(microseconds)) == microseconds


@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "integer"}, Integer()),
        ({"type": ["string", "null"]}, Text(nullable=True)),
        ({"type": "string", "format": "date-time"}, Timestamp()),
        ({"type": "array", "items": {"type": "string"}}, Array(items=Text())),
        ({"type": "array"}, Array(items=Anything())),
        (
            {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}, "required": ["a"]},
            Object(members={"a": Integer(), "b": Boolean(nullable=True)}),
        ),
        ({"enum": ["a", "b"]}, Text()),
        ({"enum": ["a", None]}, Text(nullable=True)),
        ({"enum": ["a", 1]}, Anything()),
        ({"const": 1.5}, Number()),
        ({"enum": [1, 1.5]}, Number()),
        ({"type": ["integer", "string"]}, Anything()),
        ({}, Anything()),
        (True, Anything()),
        ({"type": 5, "items": 7}, Anything()),
    ],
)
def test_the_type_of_what_a_schema_admits(schema: object, type_: Type) -> None:
    assert from_schema(schema) == type_


def test_a_row_is_stored_as_its_identifier() -> None:
    assert to_sqlite(Row(resource="order"), "o1") == "o1"
