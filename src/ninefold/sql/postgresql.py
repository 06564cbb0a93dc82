"""PostgreSQL's SQL, 15 or newer.

Text compares by code point (`COLLATE "C"`, whatever the database's own order). JSON is kept as the text that it is: a
`jsonb` would put members into another order, and write `1e300` with all of its digits. What takes more than an
operator is a function of `ninefold.sql.plpgsql`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from ninefold.sql.dialect import ALIKE, PATH_NAME, ROWS, Dialect, once, template
from ninefold.sql.fragment import PLACEHOLDER, Fragment, join
from ninefold.sql.plpgsql import AS_INTEGER
from ninefold.sql.postgresql_columns import BY_CODE_POINT, of_column, of_text, of_then, stored_form
from ninefold.values import (
    WHITE_SPACE,
    Anything,
    Array,
    Boolean,
    Digest,
    Integer,
    Number,
    Object,
    Text,
    Timestamp,
    Type,
)
from ninefold.values.stored import SQLiteValue


def bound(type_: Type) -> str:
    """The place of a value that is bound, by whose type PostgreSQL knows what the statement is."""
    form, _, collation = stored_form(type_).partition(" COLLATE ")
    cast = f"CAST(? AS {form})"
    # In parentheses: what follows may be an operator that binds closer.
    return f"({cast} COLLATE {collation})" if collation else cast


def with_types(text: str, types: Sequence[Type]) -> str:
    """A text in which each place of a bind, one `?` for each, says the type of what is bound."""
    texts = text.split(PLACEHOLDER)
    return texts[0] + "".join(bound(type_) + each for type_, each in zip(types, texts[1:], strict=True))


_PLACE: Final = re.compile(r"\?(\d*)")


def numbered(text: str, named: str = "${}") -> str:
    """A text with `$1`, `$2` … in the place of `?` or, where it names one twice, `?1`, `?2` … A `?` without a number
    has the one after the greatest before it, as in SQLite. `named`: what stands there, with the number for
    the braces."""
    greatest = 0

    def number(found: re.Match[str]) -> str:
        nonlocal greatest
        own = int(found[1]) if found[1] else greatest + 1
        greatest = max(greatest, own)
        return named.format(own)

    return _PLACE.sub(number, text)


def fitted(binds: Sequence[SQLiteValue], forms: Sequence[str]) -> list[SQLiteValue]:
    """Values in the form that SQLite stores (`ninefold.values`), as PostgreSQL's types of them."""
    return [
        value if value is None or (fit := _FITTED.get(form)) is None else fit(value)
        for value, form in zip(binds, forms, strict=True)
    ]


def fitted_alike(values: Iterable[SQLiteValue], form: str) -> list[SQLiteValue]:
    """The same of values of one type."""
    fit = _FITTED.get(form)
    return list(values) if fit is None else [value if value is None else fit(value) for value in values]


_FITTED: Final[Mapping[str, Callable[[Any], SQLiteValue]]] = {"bool": bool, "float8": float}


_MICROSECONDS: Final = '"$microseconds"({0})'

_TEMPLATES: Final[Mapping[str, str]] = {
    **ALIKE,
    **{
        f"{name}_{kind}": f'"${name}"({{0}}, {{1}})'
        for name in ("add", "subtract", "multiply", "divide")
        for kind in ("integer", "number", *(("duration",) if name in ("add", "subtract") else ()))
    },
    "negate_integer": '"$subtract"(0::bigint, {0})',
    "modulo_integer": '"$modulo"({0}, {1})',
    "negate_number": "(0 - {0})",
    "add_timestamp_duration": f'"$timestamp"({_MICROSECONDS}::numeric + {{1}})',
    "add_duration_timestamp": f'"$timestamp"({_MICROSECONDS.replace("{0}", "{1}")}::numeric + {{0}})',
    "subtract_timestamp_duration": f'"$timestamp"({_MICROSECONDS}::numeric - {{1}})',
    "subtract_timestamp": f"({_MICROSECONDS} - {_MICROSECONDS.replace('{0}', '{1}')})",
    "size_text": "length({0})::bigint",
    "size_object": "CASE WHEN {0} IS NOT NULL THEN (SELECT count(*) FROM json_each({0}::json)) END",
    "contains": "(strpos({0}, {1}) > 0)",
    "starts_with": "starts_with({0}, {1})",
    "ends_with": "(right({0}, length({1})) = {1})",
    "lower_ascii": f"lower({{0}}{BY_CODE_POINT})",
    "upper_ascii": f"upper({{0}}{BY_CODE_POINT})",
    "trim": "btrim({0}, E'" + "".join(f"\\u{ord(each):04x}" for each in WHITE_SPACE) + "')",
    "index_of": "(strpos({0}, {1}) - 1)::bigint",
    # What no text is as long as stays an integer: where it is constant, PostgreSQL works it out before it asks whether.
    "substring_from": "CASE WHEN {1} BETWEEN 0 AND length({0})"
    " THEN substr({0}, least({1}, 1073741824)::integer + 1) END",
    "substring": "CASE WHEN 0 <= {1} AND {1} <= {2} AND {2} <= length({0})"
    " THEN substr({0}, least({1}, 1073741824)::integer + 1, least({2} - {1}, 1073741824)::integer) END",
    "replace": '"$replace"({0}, {1}, {2})',
    "string_integer": "{0}::text",
    "string_boolean": "{0}::text",
    "int_text": "CASE WHEN {0} ~ '^-{0,1}(0|[1-9][0-9]{0,18})$' THEN CASE WHEN {0}::numeric"
    " BETWEEN -9223372036854775808 AND 9223372036854775807 THEN {0}::bigint END END",
    "bool_text": "CASE {0} WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END",
    "int_number": '"$integer"({0})',
    "int_timestamp": f"floor({_MICROSECONDS}::numeric / 1000000)::bigint",
    "double_integer": "{0}::double precision",
    "timestamp_integer": '"$timestamp"({0}::numeric * 1000000)',
    "full_year_timestamp": "substr({0}, 1, 4)::bigint",
    "month_timestamp": "(substr({0}, 6, 2)::bigint - 1)",
    "date_timestamp": "substr({0}, 9, 2)::bigint",
    "day_of_month_timestamp": "(substr({0}, 9, 2)::bigint - 1)",
    "day_of_week_timestamp": "extract(dow FROM left({0}, 10)::date)::bigint",
    "day_of_year_timestamp": "(extract(doy FROM left({0}, 10)::date)::bigint - 1)",
    "hours_timestamp": "substr({0}, 12, 2)::bigint",
    "minutes_timestamp": "substr({0}, 15, 2)::bigint",
    "seconds_timestamp": "substr({0}, 18, 2)::bigint",
    "milliseconds_timestamp": "substr({0}, 21, 3)::bigint",
    **{
        f"{id}_{kind}": f"({{0}}{collation} {symbol} {{1}})"
        for id, symbol in (("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">="))
        for kinds, collation in (
            (("boolean", "integer", "number", "duration"), ""),
            (("text", "timestamp"), BY_CODE_POINT),
        )
        for kind in kinds
    },
}
_NAMELESS: Final = ' AS "$found"'


class PostgreSQL:
    """`Dialect`. Overflow is looked for in each function."""

    name = "postgresql"
    true, false = "TRUE", "FALSE"
    asks_types = True
    counts_rows = False
    returning_costs = False
    any_order = "(SELECT TRUE)"
    nothing, nameless, alike = f"(SELECT 1){_NAMELESS}", _NAMELESS, " IS NOT DISTINCT FROM "
    overflowing = frozenset[str]()

    def __init__(self) -> None:
        self._functions: Final = {id: template(text, _NAMELESS) for id, text in _TEMPLATES.items()}

    def bound(self, type_: Type) -> str:
        return bound(type_)

    def function(self, id: str, arguments: tuple[Fragment, ...]) -> Fragment | None:
        build = self._functions.get(id)
        return None if build is None else build(arguments)

    def whole(self, integer: Fragment) -> Fragment:
        return integer

    def null(self, type_: Type) -> Fragment:
        return Fragment(bound(type_).replace(PLACEHOLDER, "NULL"))

    def same(self, left: Fragment, right: Fragment) -> Fragment:
        return "(" + left + self.alike + right + ")"

    def same_json(self, left: Fragment, right: Fragment) -> Fragment:
        return '("$compared"(' + left + f"){self.alike}" + '"$compared"(' + right + "))"

    def json_is(self, value: Fragment, name: str) -> Fragment:
        return '(coalesce("$kind"(' + value + f"), 'null_type') = '{name}')"

    def of_json(self, value: Fragment, type_: Type) -> Fragment | None:
        match type_:
            case Boolean():
                form = "CASE \"$kind\"({0}) WHEN 'bool' THEN {0}::boolean END"
            case Integer():
                return '"$integer of json"(' + value + ")"
            case Number():
                return '"$double of json"(' + value + ")"
            case Text():
                form = "CASE \"$kind\"({0}) WHEN 'string' THEN ({0}::json #>> '{}')" + BY_CODE_POINT + " END"
            case Array(items=Anything()):
                form = "CASE \"$kind\"({0}) WHEN 'list' THEN {0} END"
            case Object(members={}):
                form = "CASE \"$kind\"({0}) WHEN 'map' THEN {0} END"
            case _:
                return None
        return once((value,), template(form, _NAMELESS), _NAMELESS)

    def as_json(self, value: Fragment, type_: Type) -> Fragment | None:
        match type_:
            case Boolean() | Integer():
                return "(" + value + ")::text"
            case Number():
                return '"$json"(' + value + ")::text"
            case Text() | Timestamp():
                return "to_json(" + value + ")::text"
            case _:
                return None

    def choose(self, condition: Fragment, yes: Fragment, no: Fragment) -> Fragment:
        return "CASE " + condition + " WHEN TRUE THEN " + yes + " WHEN FALSE THEN " + no + " END"

    def is_true(self, condition: Fragment) -> Fragment:
        return "(" + condition + " IS TRUE)"

    def items(self, array: Fragment, alias: str) -> Fragment:
        return '"$items"(' + array + f") AS {alias}"

    def item(self, alias: str, type_: Type) -> Fragment:
        return _of_json(Fragment(f"{alias}.item"), type_)

    def position(self, alias: str) -> Fragment:
        return Fragment(f"{alias}.place")

    def name_of(self, alias: str) -> Fragment:
        return Fragment(f"({alias}.name{BY_CODE_POINT})")

    def named(self, alias: str, value: Fragment, type_: Type) -> Fragment:
        return f"({alias}.name = " + value + ")" if isinstance(type_, Text | Timestamp) else Fragment(self.false)

    def rows(self, array: Fragment, columns: Sequence[tuple[str, Type]]) -> Fragment:
        cells = ["place"]
        for index, (_, type_) in enumerate(columns):
            cell = f"item ->> {index}"
            match type_:
                case Boolean():
                    cells.append(f"({cell})::integer::boolean")
                case Digest():
                    cells.append(f"decode({cell}, 'hex')")
                case _:
                    cells.append(f"({cell})::{stored_form(type_)}")
        return "SELECT " + ", ".join(cells) + ' FROM "$items"(' + array + f"){_NAMELESS}"

    def length(self, array: Fragment) -> Fragment:
        return "json_array_length((" + array + ")::json)::bigint"

    def member(self, object_: Fragment, name: str, type_: Type) -> Fragment | None:
        if PATH_NAME.fullmatch(name) is None:
            return None
        return _of_json("((" + object_ + f")::json -> '{name}')", type_)

    def gather(self, item: Fragment, type_: Type, order: tuple[Fragment, ...]) -> Fragment:
        return _array(_json(item, type_), order)

    def gather_members(self, name: Fragment, member: Fragment, type_: Type) -> Fragment:
        made = "json_object_agg(" + name + ", " + _json(member, type_) + " ORDER BY " + name + ' COLLATE "C")'
        made += " FILTER (WHERE " + member + " IS NOT NULL)"
        return "coalesce((" + made + ")::text, '{}')"

    def gather_rows(self, cells: Sequence[Fragment], types: Sequence[Type], order: tuple[Fragment, ...]) -> Fragment:
        row = "array_to_json(ARRAY[" + join(", ", map(_cell, cells, types)) + "]::json[])"
        return _array(row, order)

    def text_of(self, column: Fragment, type_: Type) -> Fragment:
        match type_:
            case Boolean():
                column = column + "::integer"
            case Number():
                column = '"$json"(' + column + ")"
        return "CAST(" + column + " AS TEXT)"

    def array_of(self, cells: Sequence[Fragment], types: Sequence[Type]) -> Fragment:
        made = (_in_array(cell, type_) for cell, type_ in zip(cells, types, strict=True))
        return "array_to_json(ARRAY[" + join(", ", made) + "]::json[])::text"

    def object_of(self, cells: Sequence[tuple[str, Fragment]]) -> Fragment:
        return "json_build_object(" + join(", ", (f"'{name}', " + cell for name, cell in cells)) + ")::text"

    def of_text(self, text: Fragment, type_: Type) -> Fragment:
        return of_text(text, type_)

    def item_of(self, array: Fragment, position: int, type_: Type) -> Fragment:
        return of_then("((" + array + f")::json -> {position})", type_, typed=False)

    def member_of(self, object_: Fragment, name: str, type_: Type) -> Fragment:
        return of_then("((" + object_ + f")::json -> '{name}')", type_, typed=True)

    def about(self, column: str, width: int) -> str:
        parts = f"json_array_elements_text({column}::json) WITH ORDINALITY AS part(value, place)"
        return f"(SELECT coalesce(string_agg(part.value, '/' ORDER BY part.place), '') FROM {parts}){BY_CODE_POINT}"

    def later(self, one: Fragment, other: Fragment) -> Fragment:
        return once((one, other), template("CASE WHEN {0} >= {1} THEN {0} WHEN {0} < {1} THEN {1} END"), _NAMELESS)

    def total(self, column: str, source: Fragment) -> Fragment:
        sum_ = f"SELECT coalesce(sum({column}), 0) AS n, count(*) = count({column}) AS c FROM "
        return f"SELECT CASE WHEN c THEN {AS_INTEGER} END FROM (" + (sum_ + source) + f"){_NAMELESS}"

    def steps(self, reached: str, steps: Sequence[tuple[Fragment, Fragment, Fragment]]) -> Fragment:
        # A recursive query may name itself once.
        of_each = ["SELECT " + cells + " FROM " + source + " WHERE " + of for cells, source, of in steps]
        return f'SELECT "$step".* FROM {reached} CROSS JOIN LATERAL (' + join(" UNION ALL ", of_each) + ') AS "$step"'


def _of_json(json: Fragment, type_: Type) -> Fragment:
    """A value of a type, from JSON that is of it."""
    match type_:
        case Anything() | Array() | Object():
            return "nullif((" + json + ")::text, 'null')"
        case _:
            return of_column(json, type_)


def _json(value: Fragment, type_: Type) -> Fragment:
    match type_:
        case Array() | Object() | Anything():
            return "(" + value + ")::json"
        case Number():
            return '"$json"(' + value + ")"
        case _:
            return "to_json(" + value + ")"


def _cell(cell: Fragment, type_: Type) -> Fragment:
    match type_:
        case Digest():
            return "to_json(encode(" + cell + ", 'hex'))"
        case Number():
            return '"$json"(' + cell + ")"
        case _ if type_ == ROWS:
            return "(" + cell + ")::json"
        case _:
            return "to_json(" + cell + ")"


def _in_array(cell: Fragment, type_: Type) -> Fragment:
    """A truth value is written as SQLite keeps it."""
    return _cell(cell + "::integer" if isinstance(type_, Boolean) else cell, type_)


def _array(item: Fragment, order: tuple[Fragment, ...]) -> Fragment:
    ordered = " ORDER BY " + join(", ", order) if order else Fragment("")
    return "coalesce(array_to_json(array_agg(" + item + ordered + "))::text, '[]')"


POSTGRESQL: Final[Dialect] = PostgreSQL()
