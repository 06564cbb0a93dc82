"""SQLite's SQL, 3.45 or newer, with columns of STRICT tables: text compares by code point (BINARY on UTF-8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ninefold.sql.dialect import ALIKE, PATH_NAME, ROWS, Dialect, once, template
from ninefold.sql.events import about
from ninefold.sql.fragment import PLACEHOLDER, Fragment, join
from ninefold.values import (
    LONGEST_TEXT,
    WHITE_SPACE,
    Anything,
    Array,
    Boolean,
    Digest,
    Duration,
    Integer,
    Number,
    Object,
    Text,
    Timestamp,
    Type,
)

_JSON_TYPES: Final = {
    "bool": ("true", "false"), "int": ("integer",), "double": ("real",), "string": ("text",), "list": ("array",),
    "map": ("object",), "null_type": ("null",),
}  # fmt: skip
"""What SQLite calls the types of JSON, by CEL's names of them (https://sqlite.org/json1.html#jtype)."""


_OF_JSON: Final[Mapping[type[Type], str]] = {
    Boolean: "CASE json_type({0}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END",
    Integer: "CASE json_type({0}) WHEN 'integer' THEN {0} ->> '$' WHEN 'real' THEN CASE WHEN"
    " {0} ->> '$' >= -9223372036854775808.0 AND {0} ->> '$' < 9223372036854775808.0"
    " AND CAST({0} ->> '$' AS INTEGER) = {0} ->> '$' THEN CAST({0} ->> '$' AS INTEGER) END END",
    Number: "CASE WHEN json_type({0}) IN ('integer', 'real') THEN CAST({0} ->> '$' AS REAL) END",
    Text: "CASE json_type({0}) WHEN 'text' THEN {0} ->> '$' END",
    Array: "CASE json_type({0}) WHEN 'array' THEN {0} END",
    Object: "CASE json_type({0}) WHEN 'object' THEN {0} END",
}
_KEPT_AS: Final[Mapping[type, str]] = {
    **dict.fromkeys((Boolean, Integer, Duration), "typeof({0}) = 'integer'"),
    **dict.fromkeys((Text, Timestamp), "typeof({0}) = 'text'"),
    **dict.fromkeys((Array, Object), "json_valid({0})"),
    Number: "typeof({0}) IN ('integer', 'real')",
}
"""What a value of a type is, where it was kept as one of a contract that may have had another type."""

_ITEM: Final = (
    "CASE {0}.type WHEN 'null' THEN NULL WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
    " WHEN 'array' THEN {0}.value WHEN 'object' THEN {0}.value ELSE json_quote({0}.value) END"
)
"""An item of `json_each` as JSON: its value alone is 1 where the item is true."""


_LEAST: Final = "-9223372036854775808"
# SQLite turns an integer that overflows into REAL, and what is computed from a REAL by these stays one.
_OVERFLOWING: Final = frozenset(
    (
        "add_integer",
        "subtract_integer",
        "multiply_integer",
        "divide_integer",
        "negate_integer",
        "add_duration",
        "subtract_duration",
    )
)
_MICROSECONDS: Final = "(unixepoch(substr({0}, 1, 19)) * 1000000 + CAST(substr({0}, 21, 6) AS INTEGER))"


def _stamp(microseconds: str) -> str:
    """Microseconds since 1970 as a timestamp; null outside of the years 1 to 9999."""
    return (
        "(SELECT CASE WHEN n BETWEEN -62135596800000000 AND 253402300799999999 THEN"
        " strftime('%Y-%m-%dT%H:%M:%S', (n - f) / 1000000, 'unixepoch') || format('.%06dZ', f) END"
        " FROM (SELECT n, (n % 1000000 + 1000000) % 1000000 AS f FROM (SELECT " + microseconds + " AS n)))"
    )


def _finite(text: str) -> str:
    """SQLite says null for what is not a number, and Infinity for what is too large for one."""
    return f"nullif(nullif({text}, 9e999), -9e999)"


_NODES: Final = "SELECT fullkey, replace(type, 'integer', 'real'), atom FROM json_tree({0})"
_SAME_JSON: Final = (
    "({0} IS {1} OR ({0} IS NOT NULL AND {1} IS NOT NULL"
    f" AND NOT EXISTS ({_NODES} EXCEPT {_NODES.replace('{0}', '{1}')})"
    f" AND NOT EXISTS ({_NODES.replace('{0}', '{1}')} EXCEPT {_NODES})))"
)

_TEMPLATES: Final[Mapping[str, str]] = {
    **ALIKE,
    "add_integer": "({0} + {1})",
    "subtract_integer": "({0} - {1})",
    "multiply_integer": "({0} * {1})",
    "divide_integer": "({0} / {1})",
    "negate_integer": "(- {0})",
    "modulo_integer": f"CASE WHEN {{1}} = -1 AND {{0}} = {_LEAST} THEN NULL ELSE {{0}} % {{1}} END",
    "add_number": _finite("{0} + {1}"),
    "subtract_number": _finite("{0} - {1}"),
    "multiply_number": _finite("{0} * {1}"),
    "divide_number": _finite("{0} / {1}"),
    "negate_number": "(- {0})",
    "add_duration": "({0} + {1})",
    "subtract_duration": "({0} - {1})",
    "add_timestamp_duration": _stamp(_MICROSECONDS + " + {1}"),
    "add_duration_timestamp": _stamp(_MICROSECONDS.replace("{0}", "{1}") + " + {0}"),
    "subtract_timestamp_duration": _stamp(_MICROSECONDS + " - {1}"),
    "subtract_timestamp": "(" + _MICROSECONDS + " - " + _MICROSECONDS.replace("{0}", "{1}") + ")",
    "size_text": "length({0})",
    "size_object": "CASE WHEN {0} IS NOT NULL THEN (SELECT count(*) FROM json_each({0})) END",
    "contains": "(instr({0}, {1}) > 0)",
    "starts_with": "(substr({0}, 1, length({1})) = {1})",
    "ends_with": "(substr({0}, length({0}) - length({1}) + 1) = {1})",
    "lower_ascii": "lower({0})",
    "upper_ascii": "upper({0})",
    "trim": "trim({0}, char(" + ", ".join(str(ord(character)) for character in WHITE_SPACE) + "))",
    "index_of": "(instr({0}, {1}) - 1)",
    "substring_from": "CASE WHEN {1} BETWEEN 0 AND length({0}) THEN substr({0}, {1} + 1) END",
    "substring": "CASE WHEN 0 <= {1} AND {1} <= {2} AND {2} <= length({0}) THEN substr({0}, {1} + 1, {2} - {1}) END",
    "replace": (
        "CASE WHEN {1} <> '' AND length({0}) + (length({0}) - length(replace({0}, {1}, ''))) / length({1})"
        f" * (length({{2}}) - length({{1}})) <= {LONGEST_TEXT} THEN replace({{0}}, {{1}}, {{2}}) END"
    ),
    "string_integer": "CAST({0} AS TEXT)",
    "string_boolean": "CASE {0} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END",
    "int_text": (
        "CASE WHEN {0} GLOB '*[^-0-9]*' OR length({0}) > 20 OR NOT json_valid({0}) THEN NULL"
        " WHEN json_type({0}) = 'integer' AND typeof({0} ->> '$') = 'integer' THEN {0} ->> '$' END"
    ),
    "bool_text": "CASE {0} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END",
    "int_number": f"CASE WHEN {{0}} > {_LEAST}.0 AND {{0}} < 9223372036854775808.0 THEN CAST({{0}} AS INTEGER) END",
    "int_timestamp": "unixepoch(substr({0}, 1, 19))",
    "double_integer": "CAST({0} AS REAL)",
    "timestamp_integer": "CASE WHEN {0} BETWEEN -62135596800 AND 253402300799 THEN"
    " strftime('%Y-%m-%dT%H:%M:%S', {0}, 'unixepoch') || '.000000Z' END",
    "full_year_timestamp": "CAST(substr({0}, 1, 4) AS INTEGER)",
    "month_timestamp": "(CAST(substr({0}, 6, 2) AS INTEGER) - 1)",
    "date_timestamp": "CAST(substr({0}, 9, 2) AS INTEGER)",
    "day_of_month_timestamp": "(CAST(substr({0}, 9, 2) AS INTEGER) - 1)",
    "day_of_week_timestamp": "CAST(strftime('%w', substr({0}, 1, 19)) AS INTEGER)",
    "day_of_year_timestamp": "(CAST(strftime('%j', substr({0}, 1, 19)) AS INTEGER) - 1)",
    "hours_timestamp": "CAST(substr({0}, 12, 2) AS INTEGER)",
    "minutes_timestamp": "CAST(substr({0}, 15, 2) AS INTEGER)",
    "seconds_timestamp": "CAST(substr({0}, 18, 2) AS INTEGER)",
    "milliseconds_timestamp": "CAST(substr({0}, 21, 3) AS INTEGER)",
    **{
        f"{id}_{kind}": f"({{0}} {symbol} {{1}})"
        for id, symbol in (("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">="))
        for kind in ("boolean", "integer", "number", "text", "timestamp", "duration")
    },
}


class SQLite:
    """`Dialect`."""

    name = "sqlite"
    true, false = "1", "0"
    asks_types = False
    counts_rows = True
    returning_costs = True
    nothing, nameless, alike, any_order = "(SELECT 1)", "", " IS ", "TRUE"
    overflowing = _OVERFLOWING

    def __init__(self) -> None:
        self._functions: Final = {id: template(text) for id, text in _TEMPLATES.items()}

    def bound(self, type_: Type) -> str:
        return PLACEHOLDER

    def function(self, id: str, arguments: tuple[Fragment, ...]) -> Fragment | None:
        build = self._functions.get(id)
        return None if build is None else build(arguments)

    def whole(self, integer: Fragment) -> Fragment:
        return once((integer,), template("CASE typeof({0}) WHEN 'integer' THEN {0} END"))

    def null(self, type_: Type) -> Fragment:
        return Fragment("NULL")

    def same(self, left: Fragment, right: Fragment) -> Fragment:
        return "(" + left + " IS " + right + ")"

    def same_json(self, left: Fragment, right: Fragment) -> Fragment:
        return once((left, right), template(_SAME_JSON))

    def json_is(self, value: Fragment, name: str) -> Fragment:
        kinds = ", ".join(f"'{kind}'" for kind in _JSON_TYPES[name])
        return "(coalesce(json_type(" + value + f"), 'null') IN ({kinds}))"

    def of_json(self, value: Fragment, type_: Type) -> Fragment | None:
        form = _OF_JSON.get(type(type_))
        if form is None or (isinstance(type_, Array) and not isinstance(type_.items, Anything)):
            return None
        is_stated = isinstance(type_, Object) and bool(type_.members or type_.others)
        return None if is_stated else once((value,), template(form))

    def as_json(self, value: Fragment, type_: Type) -> Fragment | None:
        match type_:
            case Boolean():
                return "CASE " + value + " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
            case Integer() | Number() | Text() | Timestamp():
                return "nullif(json_quote(" + value + "), 'null')"
            case _:
                return None

    def choose(self, condition: Fragment, yes: Fragment, no: Fragment) -> Fragment:
        return "CASE " + condition + " WHEN 1 THEN " + yes + " WHEN 0 THEN " + no + " END"

    def is_true(self, condition: Fragment) -> Fragment:
        return "(" + condition + " IS 1)"

    def items(self, array: Fragment, alias: str) -> Fragment:
        return "json_each(" + array + f") AS {alias}"

    def item(self, alias: str, type_: Type) -> Fragment:
        return Fragment(_ITEM.replace("{0}", alias) if isinstance(type_, Anything) else f"{alias}.value")

    def position(self, alias: str) -> Fragment:
        return Fragment(f"{alias}.key")

    def name_of(self, alias: str) -> Fragment:
        return Fragment(f"{alias}.key")

    def named(self, alias: str, value: Fragment, type_: Type) -> Fragment:
        return f"({alias}.key = " + value + ")"

    def rows(self, array: Fragment, columns: Sequence[tuple[str, Type]]) -> Fragment:
        cells = ["key"]
        for index, (_, type_) in enumerate(columns):
            cell = f"value ->> {index}"
            cells.append(f"unhex({cell})" if isinstance(type_, Digest) else cell)
        return "SELECT " + ", ".join(cells) + " FROM json_each(" + array + ")"

    def length(self, array: Fragment) -> Fragment:
        return "json_array_length(" + array + ")"

    def member(self, object_: Fragment, name: str, type_: Type) -> Fragment | None:
        if PATH_NAME.fullmatch(name) is None:
            return None
        if isinstance(type_, Anything):
            return "nullif((" + object_ + f") -> '$.{name}', 'null')"
        return "json_extract(" + object_ + f", '$.{name}')"

    def gather(self, item: Fragment, type_: Type, order: tuple[Fragment, ...]) -> Fragment:
        ordered = " ORDER BY " + join(", ", order) if order else Fragment("")
        return "json_group_array(" + _in_json(item, type_) + ordered + ")"

    def gather_members(self, name: Fragment, member: Fragment, type_: Type) -> Fragment:
        made = "json_group_object(" + name + ", " + _in_json(member, type_) + " ORDER BY " + name + ")"
        return made + " FILTER (WHERE " + member + " IS NOT NULL)"

    def gather_rows(self, cells: Sequence[Fragment], types: Sequence[Type], order: tuple[Fragment, ...]) -> Fragment:
        ordered = " ORDER BY " + join(", ", order) if order else Fragment("")
        return "json_group_array(json_array(" + join(", ", map(_cell, cells, types)) + ")" + ordered + ")"

    def text_of(self, column: Fragment, type_: Type) -> Fragment:
        return "CAST(" + column + " AS TEXT)"

    def array_of(self, cells: Sequence[Fragment], types: Sequence[Type]) -> Fragment:
        return "json_array(" + join(", ", cells) + ")"

    def object_of(self, cells: Sequence[tuple[str, Fragment]]) -> Fragment:
        return "json_object(" + join(", ", (f"'{name}', " + cell for name, cell in cells)) + ")"

    def of_text(self, text: Fragment, type_: Type) -> Fragment:
        return "CAST(" + text + " AS REAL)" if isinstance(type_, Number) else text  # a column of integers takes it so

    def item_of(self, array: Fragment, position: int, type_: Type) -> Fragment:
        return "json_extract(" + array + f", '$[{position}]')"

    def member_of(self, object_: Fragment, name: str, type_: Type) -> Fragment:
        held = "json_extract(" + object_ + f", '$.{name}')"
        types = _KEPT_AS.get(type(type_), "")
        return "CASE WHEN " + template(types)((held,)) + " THEN " + held + " END" if types else held

    def about(self, column: str, width: int) -> str:
        return about(column, width)

    def later(self, one: Fragment, other: Fragment) -> Fragment:
        return "max(" + one + ", " + other + ")"

    def total(self, column: str, source: Fragment) -> Fragment:
        # sum() ends the statement when it overflows: the two halves of each integer cannot.
        halves = (
            f"SELECT coalesce(sum({column} >> 32), 0) AS h, coalesce(sum({column} & 4294967295), 0) AS l,"
            f" count(*) = count({column}) AS c FROM "
        )
        sum_ = "SELECT c, (h + (l >> 32)) * 4294967296 + (l & 4294967295) AS n FROM (" + (halves + source) + ")"
        return "SELECT CASE WHEN c AND typeof(n) = 'integer' THEN n END FROM (" + sum_ + ")"

    def steps(self, reached: str, steps: Sequence[tuple[Fragment, Fragment, Fragment]]) -> Fragment:
        of_each = ["SELECT " + cells + f" FROM {reached} JOIN " + source + " ON " + of for cells, source, of in steps]
        return join(" UNION ", of_each)


def _in_json(value: Fragment, type_: Type) -> Fragment:
    """A value as it is put in JSON: SQLite has no booleans, and takes JSON for text where nothing says what it is."""
    if isinstance(type_, Boolean):
        return "json(CASE " + value + " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
    return "json(" + value + ")" if isinstance(type_, Array | Object | Anything) else value


def _cell(cell: Fragment, type_: Type) -> Fragment:
    if type_ == ROWS:
        return "json(" + cell + ")"
    # JSON stays the text that it is, whatever SQLite remembers of having made it: it is passed on as it stands.
    return "(" + cell + " || '')" if isinstance(type_, Array | Object | Anything) else cell


SQLITE: Final[Dialect] = SQLite()
