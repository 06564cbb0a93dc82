"""The types of values, and the forms that a value of each type takes.

| type      | JSON                    | Python                | SQLite            | PostgreSQL               |
|-----------|-------------------------|-----------------------|-------------------|--------------------------|
| boolean   | true, false             | bool                  | INTEGER 0, 1      | boolean                  |
| integer   | -2^63 … 2^63-1          | int                   | INTEGER           | bigint                   |
| number    | a finite double         | float                 | REAL              | double precision         |
| text      | a string without U+0000 | str                   | TEXT              | text collate "C"         |
| timestamp | RFC 3339, UTC, 6 digits | str, the same text    | TEXT, the same    | text collate "C"         |
| array     | array                   | list                  | TEXT, JSON        | text, the same           |
| object    | object                  | dict                  | TEXT, JSON        | text, the same           |
| row       | the primary key's form   | the primary key's form | the primary key's  | the primary key's         |
| digest    | never                   | bytes, SHA-256        | BLOB              | bytea                    |

Stored forms sort alike on both databases: text by code point, a timestamp as its text (the width is fixed,
so the order of texts is the order of times), nulls last where a list is sorted. This table is a file format:
databases made by one version are read by the next.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, Final, Literal, TypeAlias

import msgspec

from ninefold.diagnostics import regex


class _Type(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True, kw_only=True):
    """`nullable`: the value may also be null, which is the same as having no value."""

    nullable: bool = False


class Boolean(_Type, frozen=True, tag="boolean"):
    pass


class Integer(_Type, frozen=True, tag="integer"):
    pass


class Number(_Type, frozen=True, tag="number"):
    pass


class Text(_Type, frozen=True, tag="text"):
    pass


class Timestamp(_Type, frozen=True, tag="timestamp"):
    pass


class Duration(_Type, frozen=True, tag="duration"):
    """A length of time in microseconds; it exists in expressions only and is never stored."""


class Digest(_Type, frozen=True, tag="digest"):
    """What is stored of a secret: it can be found by, and never read."""


class Array(_Type, frozen=True, tag="array"):
    items: Type


class Object(_Type, frozen=True, tag="object"):
    """`members` are those whose types are known by name. An object may have others: of the type `others`, or, where
    that is None, of any."""

    members: dict[str, Type] = msgspec.field(default_factory=dict)
    others: Type | None = None


class Row(_Type, frozen=True, tag="row"):
    """A row of a resource. As a stored value it is the row's primary key."""

    resource: str


class Null(_Type, frozen=True, tag="null"):
    """The type of the literal `null`."""


class Anything(_Type, frozen=True, tag="anything"):
    """A JSON value of which the contract says no more."""


Type: TypeAlias = (
    Boolean | Integer | Number | Text | Timestamp | Duration | Digest | Array | Object | Row | Null | Anything
)


Value: TypeAlias = None | bool | int | float | str | bytes | list[Any] | dict[str, Any]
"""A value in Python, by the table above; `None` is "no value"."""

LEAST_INTEGER: Final = -(2**63)
GREATEST_INTEGER: Final = 2**63 - 1


class Invalid(ValueError):
    """What a value is refused for.

    `rule` is the JSON Schema keyword that it fails (`type` or `format`), or `range` for what no stored
    form can hold; `path` leads to the place in it.
    """

    def __init__(self, rule: Literal["type", "format", "range"], message: str, path: tuple[str | int, ...] = ()):
        super().__init__(message)
        self.rule: Final = rule
        self.message: Final = message
        self.path = path


# ── Scalars ───────────────────────────────────────────────────────────────────────────────────────────────


def integer(value: object) -> int:
    """A 64-bit integer; `5.0` is the integer 5 (JSON Schema 2020-12 Validation, 6.1.1)."""
    if type(value) is not int:
        if type(value) is not float or not value.is_integer():
            raise Invalid("type", "not an integer")
        value = int(value)
    if not LEAST_INTEGER <= value <= GREATEST_INTEGER:
        raise Invalid("range", "an integer outside of 64 bits")
    return value


def number(value: object) -> float:
    """A finite double (IEEE 754), also of a decimal as `json_numbers.as_written` gives it. There is one zero: SQLite
    does not keep the sign of another."""
    if type(value) is not float and type(value) is not int and type(value) is not Decimal:
        raise Invalid("type", "not a number")
    try:
        result = float(value)
    except OverflowError:
        raise Invalid("range", "a number too large for a double") from None
    if not isfinite(result):
        raise Invalid("range", "a number that is not finite")
    return result + 0.0


def boolean(value: object) -> bool:
    if type(value) is not bool:
        raise Invalid("type", "not a boolean")
    return value


def text(value: object) -> str:
    """A string of Unicode scalar values without U+0000, which PostgreSQL cannot hold."""
    if type(value) is not str:
        raise Invalid("type", "not a string")
    if "\0" in value:
        raise Invalid("range", "a string with the character U+0000")
    if not value.isascii() and _SURROGATE.search(value):
        raise Invalid("range", "a string with half of a surrogate pair")
    return value


WHITE_SPACE: Final = "".join(map(chr, (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)))) + (
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The characters with the property White_Space (Unicode 15, PropList.txt)."""

LONGEST_TEXT: Final = 1_000_000
"""Code points of a text that an expression makes of others by `replace` or `join`, or splits."""

LONGEST_SUM: Final = 16 * 1024 * 1024
"""Code points of a text, or items of an array, that `+` makes of others; and bytes of a value, or of a row, that is
written, unless a body may be larger."""

MOST_COLUMNS: Final = 1_990
"""Of a table, and of what one statement gives, beside the few that are the service's own: SQLite's bound on both is
2,000 (https://www.sqlite.org/limits.html)."""

LONGEST_NUMBER: Final = 2_000
"""Characters of a text that is read as a number or a duration: more than any of them needs."""

_SURROGATE: Final = regex.compile("[\ud800-\udfff]")

_DATE_TIME: Final = regex.compile(
    r"(?a)(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))"
)


def timestamp(value: object) -> str:
    """RFC 3339, any offset, to `YYYY-MM-DDTHH:MM:SS.ffffffZ`. Digits beyond six are cut off.

    Years are 0001 to 9999 after conversion. A leap second (`:60`) has no place in that form and is refused."""
    if type(value) is not str:
        raise Invalid("type", "not a string")
    found = _DATE_TIME.fullmatch(value)
    if found is None:
        raise Invalid("format", "not a date and time of RFC 3339")
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = found.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second))
        if sign is not None:
            if int(hours) > 23 or int(minutes) > 59:
                raise ValueError
            offset = timedelta(hours=int(hours), minutes=int(minutes))
            moment = moment - offset if sign == "+" else moment + offset
    except (ValueError, OverflowError):
        raise Invalid("format", "not a date and time that exists between the years 1 and 9999") from None
    return f"{moment.isoformat(timespec='seconds')}.{(fraction or '')[:6]:0<6}Z"


def anything(value: object) -> Value:
    """Any JSON value (RFC 8259) within the bounds of the types above."""
    match value:
        case None | bool():
            return value
        case int():
            return integer(value)
        case float() | Decimal():
            return number(value)
        case str():
            return text(value)
        case list():
            return [_at(index, anything, item) for index, item in enumerate(value)]
        case dict():
            return {text(name): _at(name, anything, item) for name, item in value.items()}
    raise Invalid("type", "not a JSON value")


def _at(step: str | int, read: Callable[[object], Value], value: object) -> Value:
    try:
        return read(value)
    except Invalid as invalid:
        invalid.path = (step, *invalid.path)
        raise


# ── JSON to Python ────────────────────────────────────────────────────────────────────────────────────────


def json_reader(type_: Type) -> Callable[[object], Value]:
    """A function from a decoded JSON value to the Python value of a type; it raises `Invalid`.

    Made once per type, before any request. Members of an object that its type does not name are kept.
    """
    read: Callable[[object], Value]
    match type_:
        case Boolean():
            read = boolean
        case Integer():
            read = integer
        case Number():
            read = number
        case Text():
            read = text
        case Timestamp():
            read = timestamp
        case Array(items=items):
            read = _array_reader(items)
        case Object():
            read = _object_reader(type_)
        case Anything() | Row():
            return anything
        case Null():
            read = _never
        case Duration() | Digest():
            return _never
    if not type_.nullable and not isinstance(type_, Null):
        return read
    return lambda value: None if value is None else read(value)


def _never(value: object) -> Value:
    raise Invalid("type", "not a value that can be given")


def _array_reader(items: Type) -> Callable[[object], Value]:
    item = json_reader(items)

    def read(value: object) -> Value:
        if type(value) is not list:
            raise Invalid("type", "not an array")
        return [_at(index, item, one) for index, one in enumerate(value)]

    return read


def _object_reader(type_: Object) -> Callable[[object], Value]:
    readers = {name: json_reader(member) for name, member in type_.members.items()}
    other = anything if type_.others is None else json_reader(type_.others)

    def read(value: object) -> Value:
        if type(value) is not dict:
            raise Invalid("type", "not an object")
        return {text(name): _at(name, readers.get(name, other), one) for name, one in value.items()}

    return read


# ── Python to JSON ────────────────────────────────────────────────────────────────────────────────────────

_encoder: Final = msgspec.json.Encoder()


def json_text(value: object) -> str:
    """A value as JSON (RFC 8259), without spaces, members in their order."""
    return _encoder.encode(value).decode()


def to_json(type_: Type, value: Value) -> Value:
    """The JSON form of a value: itself, except a duration, which is shown as ISO 8601 (`PT1.5S`).

    Raises `Invalid` for a digest, which has none.
    """
    match type_:
        case Digest():
            raise Invalid("type", "a digest is not readable")
        case Duration() if isinstance(value, int):
            return duration_text(value)
        case _:
            return value


# ── Durations ─────────────────────────────────────────────────────────────────────────────────────────────

MICROSECONDS: Final = {
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
    "µs": 1,
}

_CEL_PART: Final = regex.compile(r"(?a)(\d{1,15})(?:\.(\d{1,9}))?(h|ms|us|µs|m|s)")
_ISO_DURATION: Final = regex.compile(
    r"(?a)P(?=[\dT])"
    r"(?:(\d{1,9})W|(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12})(?:\.(\d{1,9}))?S)?)?)"
)


def duration(written: str) -> int:
    """Microseconds of a duration: ISO 8601 (`PT30M`, `P1DT12H`, `P2W`) or CEL's (`1h30m`, `1.5s`).

    Digits below a microsecond are cut off. Months and years have no fixed length and are `Invalid`, as is
    all that is not a duration.
    """
    if len(written) > LONGEST_NUMBER:
        raise Invalid("format", "not a duration")
    sign, unsigned = (-1, written[1:]) if written.startswith("-") else (1, written)
    found = _ISO_DURATION.fullmatch(unsigned)
    if found is not None:
        weeks, days, hours, minutes, seconds, fraction = (part or "0" for part in found.groups())
        whole = ((int(weeks) * 7 + int(days)) * 24 + int(hours)) * 60 + int(minutes)
        total = (whole * 60 + int(seconds)) * 1_000_000 + int(f"{fraction[:6]:0<6}")
    else:
        total, at = 0, 0
        while at < len(unsigned):
            part = _CEL_PART.match(unsigned, at)
            if part is None:
                break
            count, fraction, unit = part.groups()
            size = MICROSECONDS[unit]
            total += int(count) * size + (int(fraction) * size // 10 ** len(fraction) if fraction else 0)
            at = part.end()
        if at == 0 or at < len(unsigned):
            raise Invalid("format", "not a duration")
    if not total <= GREATEST_INTEGER:
        raise Invalid("range", "a duration too long to count in microseconds")
    return sign * total


def duration_text(microseconds: int) -> str:
    """A duration as ISO 8601, in days, hours, minutes and seconds."""
    seconds, rest = divmod(abs(microseconds), 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    fraction = f".{rest:06}".rstrip("0") if rest else ""
    time = (
        (f"{hours}H" if hours else "")
        + (f"{minutes}M" if minutes else "")
        + (f"{seconds}{fraction}S" if seconds or rest else "")
    )
    date = f"{days}D" if days else ""
    written = f"P{date}" + (f"T{time}" if time else "")
    return ("-" if microseconds < 0 else "") + (written if date or time else "PT0S")


def optional(type_: Type) -> Type:
    """The same type, nullable."""
    return type_ if type_.nullable else msgspec.structs.replace(type_, nullable=True)


def required(type_: Type) -> Type:
    """The same type, not nullable."""
    return msgspec.structs.replace(type_, nullable=False) if type_.nullable else type_
