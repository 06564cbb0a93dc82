"""What PostgreSQL stores values as, and the values of columns from JSON that was made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.sql.dialect import template
from ninefold.sql.fragment import Fragment
from ninefold.values import (
    GREATEST_INTEGER,
    LEAST_INTEGER,
    Anything,
    Array,
    Boolean,
    Digest,
    Duration,
    Integer,
    Null,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
)

BY_CODE_POINT: Final = ' COLLATE "C"'


def stored_form(type_: Type) -> str:
    """What a value of a type is stored as; of a row, that of its primary key has to be asked for."""
    match type_:
        case Boolean():
            return "boolean"
        case Integer() | Duration():
            return "bigint"
        case Number():
            return "double precision"
        case Digest():
            return "bytea"
        case Text() | Timestamp() | Array() | Object() | Anything() | Null() | Row():
            return "text" + BY_CODE_POINT


def of_column(json: Fragment, type_: Type) -> Fragment:
    """What a column held, from JSON that was made of it: JSON is a text in it."""
    return of_text("(" + json + " #>> '{}')", type_)


def of_then(json: Fragment, type_: Type, typed: bool) -> Fragment:
    """The same of what outlives a contract. None where it is of another type or, not `typed`, not the text of one."""
    value, (types, looks, fits) = of_column(json, type_), _KEPT_AS.get(type(type_), ("", "", ""))
    if not types:
        return value
    known = "json_typeof(" + json + f") IN ({types}) AND " if typed else Fragment("")
    if fits:
        value = "CASE WHEN " + template(fits)(("CAST(" + json + " #>> '{}' AS numeric)",)) + " THEN " + value + " END"
    return "CASE WHEN " + known + json + f" #>> '{{}}' ~ '{looks}' THEN " + value + " END"


_WHOLE: Final = ("'number'", "^-{0,1}[0-9]{1,19}$", f"{{0}} BETWEEN {LEAST_INTEGER} AND {GREATEST_INTEGER}")
_KEPT_AS: Final[Mapping[type, tuple[str, str, str]]] = {
    Boolean: ("'boolean', 'number'", "^(true|false|[01])$", ""), Integer: _WHOLE, Duration: _WHOLE,
    Number: (
        "'number'", r"^-{0,1}[0-9]{1,255}(\.[0-9]{1,255}){0,1}([eE][+-]{0,1}[0-9]{1,3}){0,1}$",
        "coalesce(nullif(abs({0}), 0), 1) BETWEEN 4.9e-324 AND 1.7976931348623157e308",
    ),
    Text: ("'string'", "", ""), Timestamp: ("'string'", "", ""),
    Array: ("'string'", r"^\[.*\]$", ""), Object: ("'string'", r"^\{.*\}$", ""),
}  # fmt: skip
"""What a value of a type is, where it was kept as one of a contract that may have had another type: its types in JSON,
how its text looks, and of a number which there are."""


def of_text(text: Fragment, type_: Type) -> Fragment:
    form = stored_form(type_)
    return text + BY_CODE_POINT if form.startswith("text") else "CAST(" + text + f" AS {form})"
