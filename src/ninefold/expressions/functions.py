"""The closed table of functions and operators: name, types, meaning, and what each does in Python.

What each is in SQL stands under its `id` in `_TEMPLATES` of `ninefold.sql.sqlite` and `.postgresql`; an entry without
SQL there is for values of the request only. `docs/expressions.md` prints this table.

Arguments are never null here: that null is an error is seen to by whoever calls. A function that cannot give
a value raises `EvaluationError`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.operations import (
    EvaluationError,
    Sources,
    between,
    by_the_database,
    exact_sum,
    finite,
    from_epoch,
    in_order,
    joined,
    later,
    lower_ascii,
    matches,
    moment,
    new_token,
    new_uuid,
    number_text,
    present,
    quotient,
    random_text,
    ratio,
    reading,
    remainder,
    replaced,
    seconds_since_1970,
    slug,
    split,
    substring,
    together,
    truncated,
    upper_ascii,
    whole_units,
    within,
)
from ninefold.expressions.scope import fits, join
from ninefold.values import (
    WHITE_SPACE,
    Anything,
    Array,
    Boolean,
    Duration,
    Integer,
    Number,
    Object,
    Text,
    Timestamp,
    Type,
    duration,
    duration_text,
    optional,
    required,
    timestamp,
)
from ninefold.values.texts import from_text

__all__ = [
    "AT_RANDOM", "NEVER_TWICE", "NEW_EACH_TIME", "TABLE", "EvaluationError", "Overload", "Sources",
    "overloads", "resolve",
]  # fmt: skip

Style: TypeAlias = Literal["operator", "function", "method"]
"""`a + b`, `f(a)`, `a.f(b)`"""


@dataclass(frozen=True, slots=True)
class Overload:
    """One meaning of a name. `result` may follow from the arguments' types. `fails`: even where no argument
    is null there may be no value. `made`: what its value comes of; where that is not its arguments, each call gives
    another, and what is made at random takes `Sources` first. `repeats`: two calls may give the same value."""

    id: str
    name: str
    style: Style
    parameters: tuple[Type, ...]
    result: Type | Callable[[tuple[Type, ...]], Type]
    python: Callable[..., Any]
    meaning: str
    fails: bool = False
    made: Literal["of its arguments", "at random", "by counting"] = "of its arguments"
    repeats: bool = True

    @property
    def pure(self) -> bool:
        return self.made != "at random"

    def gives(self, arguments: tuple[Type, ...]) -> Type:
        """The type of the result for arguments of these types."""
        return self.result(arguments) if callable(self.result) else self.result


# ── The table ─────────────────────────────────────────────────────────────────────────────────────────────

BOOLEAN, INTEGER, NUMBER, TEXT = Boolean(), Integer(), Number(), Text()
TIMESTAMP, DURATION, OBJECT, ANY = Timestamp(), Duration(), Object(), Anything()
ANY_ARRAY: Final = Array(items=ANY)


def _both(of: tuple[Type, ...]) -> Type:
    return required(join(*of) or ANY_ARRAY)


def _operators() -> Iterable[Overload]:
    def operation(
        id: str, name: str, of: tuple[Type, ...], to: Type, python: Callable[..., Any], says: str, fails: bool = True
    ) -> Overload:
        return Overload(id, name, "operator", of, to, python, says, fails)

    two: Callable[[Type], tuple[Type, Type]] = lambda type_: (type_, type_)  # noqa: E731
    yield operation("add_integer", "+", two(INTEGER), INTEGER, lambda a, b: within(a + b), "sum")
    yield operation("add_number", "+", two(NUMBER), NUMBER, lambda a, b: finite(a + b), "sum")
    yield operation("add_text", "+", two(TEXT), TEXT, together, "one text after the other", False)
    yield Overload("add_array", "+", "operator", two(ANY_ARRAY), _both, together, "one array after the other")
    yield operation("add_timestamp_duration", "+", (TIMESTAMP, DURATION), TIMESTAMP, later, "the later time")
    yield operation(
        "add_duration_timestamp", "+", (DURATION, TIMESTAMP), TIMESTAMP, lambda a, b: later(b, a), "the later time"
    )
    yield operation("add_duration", "+", two(DURATION), DURATION, lambda a, b: within(a + b), "both lengths")
    yield operation("subtract_integer", "-", two(INTEGER), INTEGER, lambda a, b: within(a - b), "difference")
    yield operation("subtract_number", "-", two(NUMBER), NUMBER, lambda a, b: finite(a - b), "difference")
    yield operation(
        "subtract_timestamp_duration",
        "-",
        (TIMESTAMP, DURATION),
        TIMESTAMP,
        lambda a, b: later(a, -b),
        "the earlier time",
    )
    yield operation("subtract_timestamp", "-", two(TIMESTAMP), DURATION, between, "the time between", False)
    yield operation("subtract_duration", "-", two(DURATION), DURATION, lambda a, b: within(a - b), "difference")
    yield operation("negate_integer", "-", (INTEGER,), INTEGER, lambda a: within(-a), "the opposite")
    yield operation("negate_number", "-", (NUMBER,), NUMBER, lambda a: finite(-a), "the opposite", False)
    yield operation("multiply_integer", "*", two(INTEGER), INTEGER, lambda a, b: within(a * b), "product")
    yield operation("multiply_number", "*", two(NUMBER), NUMBER, lambda a, b: finite(a * b), "product")
    yield operation("divide_integer", "/", two(INTEGER), INTEGER, quotient, "quotient, cut toward zero")
    yield operation("divide_number", "/", two(NUMBER), NUMBER, ratio, "quotient")
    yield operation("modulo_integer", "%", two(INTEGER), INTEGER, remainder, "remainder, with the sign of the left")
    orders = (
        ("less", "<", operator.lt, "comes before"),
        ("less_equal", "<=", operator.le, "comes before, or is equal"),
        ("greater", ">", operator.gt, "comes after"),
        ("greater_equal", ">=", operator.ge, "comes after, or is equal"),
    )
    kinds = (
        ("boolean", BOOLEAN),
        ("integer", INTEGER),
        ("number", NUMBER),
        ("text", TEXT),
        ("timestamp", TIMESTAMP),
        ("duration", DURATION),
    )
    for id, name, compare, says in orders:
        for kind, type_ in kinds:
            yield operation(f"{id}_{kind}", name, two(type_), BOOLEAN, compare, says, False)


def row(
    id: str,
    name: str,
    of: tuple[Type, ...],
    to: Type,
    python: Callable[..., Any],
    says: str,
    style: Style = "method",
    fails: bool = False,
) -> Overload:
    return Overload(id, name, style, of, to, python, says, fails)


def _of_texts() -> Iterable[Overload]:
    for style in ("method", "function"):
        yield Overload("size_array", "size", style, (ANY_ARRAY,), INTEGER, len, "how many items, or rows")
        yield Overload("size_text", "size", style, (TEXT,), INTEGER, len, "how many code points")
        yield Overload("size_object", "size", style, (OBJECT,), INTEGER, len, "how many members")
    yield row("contains", "contains", (TEXT, TEXT), BOOLEAN, lambda a, b: b in a, "whether the other is part of it")
    yield row("starts_with", "startsWith", (TEXT, TEXT), BOOLEAN, str.startswith, "whether it begins with the other")
    yield row("ends_with", "endsWith", (TEXT, TEXT), BOOLEAN, str.endswith, "whether it ends with the other")
    yield row("matches", "matches", (TEXT, TEXT), BOOLEAN, matches, "whether a regular expression, a literal, is found",
              fails=True)  # fmt: skip
    yield row("lower_ascii", "lowerAscii", (TEXT,), TEXT, lower_ascii, "A to Z as a to z")
    yield row("upper_ascii", "upperAscii", (TEXT,), TEXT, upper_ascii, "a to z as A to Z")
    yield row("trim", "trim", (TEXT,), TEXT, lambda a: a.strip(WHITE_SPACE), "without white space at both ends")
    yield row("index_of", "indexOf", (TEXT, TEXT), INTEGER, str.find, "where the other first is in it, from 0; else -1")
    yield row(
        "substring_from", "substring", (TEXT, INTEGER), TEXT, substring, "from so many code points on", fails=True
    )
    yield row("substring", "substring", (TEXT, INTEGER, INTEGER), TEXT, substring,
              "from so many code points up to so many", fails=True)  # fmt: skip
    yield row("replace", "replace", (TEXT, TEXT, TEXT), TEXT, replaced, "with every b as c; b is not empty", fails=True)
    yield row("split", "split", (TEXT, TEXT), Array(items=TEXT), split,
              "the texts between the separators; of an empty separator, the code points", fails=True)  # fmt: skip
    yield row("join_all", "join", (Array(items=TEXT),), TEXT, joined, "one text after the other", fails=True)
    yield row("join", "join", (Array(items=TEXT), TEXT), TEXT, joined, "the texts, with b between them", fails=True)


def _conversions() -> Iterable[Overload]:
    yield row("string_text", "string", (TEXT,), TEXT, str, "itself", "function")
    yield row("string_integer", "string", (INTEGER,), TEXT, str, "in decimal digits", "function")
    yield row("string_number", "string", (NUMBER,), TEXT, number_text, "in the fewest digits", "function")
    yield row(
        "string_boolean", "string", (BOOLEAN,), TEXT, lambda a: "true" if a else "false", "`true`, `false`", "function"
    )
    yield row("string_timestamp", "string", (TIMESTAMP,), TEXT, str, "RFC 3339, UTC, six digits", "function")
    yield row("string_duration", "string", (DURATION,), TEXT, duration_text, "ISO 8601", "function")
    yield row("int_integer", "int", (INTEGER,), INTEGER, int, "itself", "function")
    yield row("int_number", "int", (NUMBER,), INTEGER, truncated, "cut toward zero", "function", True)
    yield row("int_text", "int", (TEXT,), INTEGER, reading(from_text, INTEGER), "as JSON writes it", "function", True)
    yield row("int_timestamp", "int", (TIMESTAMP,), INTEGER, seconds_since_1970, "seconds since 1970", "function")
    yield row("double_number", "double", (NUMBER,), NUMBER, float, "itself", "function")
    yield row("double_integer", "double", (INTEGER,), NUMBER, float, "the nearest number", "function")
    yield row(
        "double_text", "double", (TEXT,), NUMBER, reading(from_text, NUMBER), "as JSON writes it", "function", True
    )
    yield row("bool_boolean", "bool", (BOOLEAN,), BOOLEAN, bool, "itself", "function")
    yield row("bool_text", "bool", (TEXT,), BOOLEAN, reading(from_text, BOOLEAN), "`true` or `false`", "function", True)
    yield row("timestamp_text", "timestamp", (TEXT,), TIMESTAMP, reading(timestamp), "RFC 3339", "function", True)
    yield row("timestamp_timestamp", "timestamp", (TIMESTAMP,), TIMESTAMP, str, "itself", "function")
    yield row(
        "timestamp_integer", "timestamp", (INTEGER,), TIMESTAMP, from_epoch, "seconds since 1970", "function", True
    )
    yield row(
        "duration_text",
        "duration",
        (TEXT,),
        DURATION,
        reading(duration),
        "ISO 8601 `PT90S`, or `1m30s`",
        "function",
        True,
    )
    yield row("duration_duration", "duration", (DURATION,), DURATION, int, "itself", "function")


def _of_times() -> Iterable[Overload]:
    parts: tuple[tuple[str, str, Callable[[str], int], str], ...] = (
        ("full_year", "getFullYear", lambda t: int(t[:4]), "the year"),
        ("month", "getMonth", lambda t: int(t[5:7]) - 1, "the month, from 0"),
        ("date", "getDate", lambda t: int(t[8:10]), "the day of the month, from 1"),
        ("day_of_month", "getDayOfMonth", lambda t: int(t[8:10]) - 1, "the day of the month, from 0"),
        ("day_of_week", "getDayOfWeek", lambda t: moment(t).isoweekday() % 7, "the day of the week, Sunday is 0"),
        ("day_of_year", "getDayOfYear", lambda t: moment(t).timetuple().tm_yday - 1, "the day of the year, from 0"),
        ("hours", "getHours", lambda t: int(t[11:13]), "the hour"),
        ("minutes", "getMinutes", lambda t: int(t[14:16]), "the minute"),
        ("seconds", "getSeconds", lambda t: int(t[17:19]), "the second"),
        ("milliseconds", "getMilliseconds", lambda t: int(t[20:23]), "the thousandths of the second"),
    )
    for id, name, part, says in parts:
        yield row(f"{id}_timestamp", name, (TIMESTAMP,), INTEGER, part, says)
    yield row("hours_duration", "getHours", (DURATION,), INTEGER, whole_units(3_600_000_000), "all of it in hours")
    yield row("minutes_duration", "getMinutes", (DURATION,), INTEGER, whole_units(60_000_000), "all of it in minutes")
    yield row("seconds_duration", "getSeconds", (DURATION,), INTEGER, whole_units(1_000_000), "all of it in seconds")
    yield row(
        "milliseconds_duration",
        "getMilliseconds",
        (DURATION,),
        INTEGER,
        lambda length: quotient(remainder(length, 1_000_000), 1_000),
        "the thousandths beyond whole seconds",
    )


def _of_arrays() -> Iterable[Overload]:
    yield row(
        "sum_integer",
        "sum",
        (Array(items=INTEGER),),
        INTEGER,
        lambda values: within(sum(present(values))),
        "the sum of all; of none, 0",
        fails=True,
    )
    yield row(
        "sum_number",
        "sum",
        (Array(items=NUMBER),),
        NUMBER,
        lambda values: exact_sum(present(values)),
        "the sum of all, rounded once; of none, 0",
        fails=True,
    )
    yield Overload(
        "distinct",
        "distinct",
        "method",
        (ANY_ARRAY,),
        lambda of: required(of[0]),
        lambda values: list(dict.fromkeys(values)),
        "each value once, where it came first",
    )
    yield Overload("sort", "sort", "method", (ANY_ARRAY,), lambda of: required(of[0]), in_order,
                   "in ascending order, nulls last")  # fmt: skip
    yield Overload(
        "reverse",
        "reverse",
        "method",
        (ANY_ARRAY,),
        lambda of: required(of[0]),
        lambda values: values[::-1],
        "the last one first",
    )
    yield Overload(
        "first",
        "first",
        "method",
        (ANY_ARRAY,),
        lambda of: optional(of[0].items if isinstance(of[0], Array) else ANY),
        lambda values: values[0] if values else None,
        "the first item, or row; no value where there is none",
    )
    yield row("slug", "slug", (TEXT,), TEXT, slug,
              "letters and digits, lower case, joined by hyphens; of at most 32,768 code points",
              "function", True)  # fmt: skip


def _new() -> Iterable[Overload]:
    """What gives another value each time."""
    yield Overload(
        "uuid", "uuid", "function", (), TEXT, new_uuid, "a new random UUID (version 4)", False, "at random", False
    )
    yield Overload(
        "token", "token", "function", (), TEXT, new_token, "256 new random bits, URL-safe", False, "at random", False
    )
    yield Overload(
        "random", "random", "function", (INTEGER,), TEXT, random_text, "n random letters a-z and digits",
        True, "at random",
    )  # fmt: skip
    yield Overload(
        "serial", "serial", "function", (), INTEGER, by_the_database,
        "the next number, made by the database: none comes twice, some may be left out", True, "by counting", False,
    )  # fmt: skip


TABLE: Final = (*_operators(), *_of_texts(), *_conversions(), *_of_times(), *_of_arrays(), *_new())

AT_RANDOM: Final = frozenset(each.name for each in TABLE if each.made == "at random")
NEW_EACH_TIME: Final = frozenset(each.name for each in TABLE if each.made != "of its arguments")
"""The functions of which each call gives another value, made at random or by counting."""

NEVER_TWICE: Final = frozenset(each.name for each in TABLE if not each.repeats)
"""Those of which no two calls give the same: they count, or give so many random bits."""

_BY_NAME: Final[dict[str, list[Overload]]] = {}
for _overload in TABLE:
    _BY_NAME.setdefault(_overload.name, []).append(_overload)


def overloads(name: str) -> tuple[Overload, ...]:
    """All meanings of a name; empty for one that the table does not have."""
    return tuple(_BY_NAME.get(name, ()))


def resolve(name: str, arguments: tuple[Type, ...]) -> Overload | None:
    """The meaning of a name for arguments of these types, in whichever style it is written."""
    for overload in _BY_NAME.get(name, ()):
        if len(overload.parameters) == len(arguments) and all(map(fits, arguments, overload.parameters)):
            return overload
    return None
