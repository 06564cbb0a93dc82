"""The functions that each of our databases in PostgreSQL has, by which values mean the same there. Where there is no
value they give null; PostgreSQL by itself ends the statement.
"""

from __future__ import annotations

from typing import Final

from ninefold.values import LONGEST_TEXT

AS_INTEGER: Final = "CASE WHEN n BETWEEN -9223372036854775808 AND 9223372036854775807 THEN (n)::bigint END"
"""A numeric `n` as an integer."""


def _whole(numeric: str) -> str:
    return f"SELECT {AS_INTEGER} FROM (SELECT {numeric} AS n) AS found"


def _in_sql(name: str, takes: str, gives: str, body: str) -> str:
    return (
        f'CREATE OR REPLACE FUNCTION "${name}"({takes}) RETURNS {gives} LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE'
        f" AS $$ {body} $$"
    )


def _in_steps(name: str, takes: str, gives: str, body: str) -> str:
    return (
        f'CREATE OR REPLACE FUNCTION "${name}"({takes}) RETURNS {gives} LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE'
        f" AS $$ {body} $$"
    )


def _number(name: str, operator: str, small: str) -> str:
    """Arithmetic of doubles. What is too large is none; what is too small is 0, of which PostgreSQL makes an error
    (`small`: where that is the cause)."""
    return _in_steps(
        name,
        "a double precision, b double precision",
        "double precision",
        f"BEGIN RETURN a {operator} b; EXCEPTION WHEN division_by_zero THEN RETURN NULL;"
        f" WHEN numeric_value_out_of_range THEN RETURN CASE WHEN {small} THEN 0 END; END",
    )


FUNCTIONS: Final[tuple[str, ...]] = (
    *(
        _in_sql(name, "a bigint, b bigint", "bigint", _whole(f"a::numeric {operator} b"))
        for name, operator in (("add", "+"), ("subtract", "-"), ("multiply", "*"))
    ),
    _in_sql("divide", "a bigint, b bigint", "bigint", _whole("div(a::numeric, nullif(b, 0))")),
    _in_sql(
        "modulo",
        "a bigint, b bigint",
        "bigint",
        "SELECT CASE WHEN b = -1 AND a = -9223372036854775808 THEN NULL ELSE a % nullif(b, 0) END",
    ),
    _number("add", "+", "FALSE"),
    _number("subtract", "-", "FALSE"),
    _number("multiply", "*", "abs(a) < 1 OR abs(b) < 1"),
    _number("divide", "/", "abs(a) < abs(b)"),
    _in_sql(
        "integer",
        "x double precision",
        "bigint",
        "SELECT CASE WHEN x > -9223372036854775808.0 AND x < 9223372036854775808.0 THEN trunc(x)::bigint END",
    ),
    # ── Times ──
    _in_sql(
        "microseconds", "t text", "bigint", "SELECT (extract(epoch FROM left(t, 26)::timestamp) * 1000000)::bigint"
    ),
    _in_sql(
        "timestamp",
        "n numeric",
        "text",
        "SELECT CASE WHEN n BETWEEN -62135596800000000 AND 253402300799999999 THEN to_char(timestamp '1970-01-01'"
        " + make_interval(days => floor(n / 86400000000)::integer,"
        " secs => ((n - floor(n / 86400000000) * 86400000000) / 1000000)::double precision),"
        " 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') END",
    ),
    # ── Text ──
    _in_sql(
        "replace",
        "t text, old text, new text",
        "text",
        "SELECT CASE WHEN old <> '' AND length(t) + (length(t) - length(replace(t, old, ''))) / nullif(length(old), 0)"
        f" * (length(new) - length(old))::bigint <= {LONGEST_TEXT} THEN replace(t, old, new) END",
    ),
    # ── JSON ──
    # A double as JSON: with a point or an exponent, so that it is a double again.
    _in_sql(
        "json",
        "x double precision",
        "json",
        "SELECT (CASE WHEN x::text ~ '^-?[0-9]+$' THEN x::text || '.0' ELSE x::text END)::json",
    ),
    # The exact value of a double: a cast has 15 digits.
    _in_steps(
        "exact",
        "x double precision",
        "numeric",
        "DECLARE whole double precision := x; doubled integer := 0; result numeric; BEGIN"
        " IF abs(x) < 9007199254740992 THEN RETURN x::text::numeric; END IF;"
        " WHILE abs(whole) >= 9007199254740992 LOOP whole := whole / 2; doubled := doubled + 1; END LOOP;"
        " result := whole::bigint::numeric; FOR i IN 1..doubled LOOP result := result * 2; END LOOP;"
        " RETURN result; END",
    ),
    # What is written is compared: 9.2e18 is the double, and not these two digits.
    _in_steps(
        "compared",
        "t text",
        "jsonb",
        "DECLARE result json := t::json; BEGIN"
        " IF t !~ '[0-9][eE]|[0-9]{16}' THEN RETURN t::jsonb; END IF;"
        " CASE json_typeof(result)"
        " WHEN 'object' THEN RETURN coalesce((SELECT jsonb_object_agg(e.key, \"$compared\"(e.value::text))"
        " FROM json_each(result) AS e), '{}');"
        " WHEN 'array' THEN RETURN coalesce((SELECT jsonb_agg(\"$compared\"(e.value::text) ORDER BY e.place)"
        " FROM json_array_elements(result) WITH ORDINALITY AS e(value, place)), '[]');"
        " WHEN 'number' THEN RETURN to_jsonb(CASE WHEN t ~ '[.eE]' THEN \"$exact\"(t::double precision)"
        " ELSE t::numeric END);"
        " ELSE RETURN t::jsonb; END CASE; END",
    ),
    _in_sql(
        "kind",
        "t text",
        "text",
        "SELECT CASE json_typeof(t::json) WHEN 'boolean' THEN 'bool' WHEN 'string' THEN 'string' WHEN 'array' THEN"
        " 'list' WHEN 'object' THEN 'map' WHEN 'null' THEN 'null_type' WHEN 'number' THEN"
        " CASE WHEN t ~ '[.eE]' THEN 'double' ELSE 'int' END END",
    ),
    _in_sql(
        "integer of json",
        "t text",
        "bigint",
        "SELECT CASE WHEN json_typeof(t::json) <> 'number' THEN NULL WHEN t !~ '[.eE]' THEN t::bigint"
        " WHEN t::double precision >= -9223372036854775808.0 AND t::double precision < 9223372036854775808.0"
        " AND trunc(t::double precision) = t::double precision THEN t::double precision::bigint END",
    ),
    _in_sql(
        "double of json",
        "t text",
        "double precision",
        "SELECT CASE WHEN json_typeof(t::json) = 'number' THEN t::double precision END",
    ),
    _in_sql(
        "items",
        "t text",
        "TABLE (place bigint, name text, item json)",
        "SELECT e.place - 1, NULL, e.value FROM json_array_elements(CASE json_typeof(t::json) WHEN 'array' THEN t::json"
        " END) WITH ORDINALITY AS e(value, place) UNION ALL SELECT NULL, e.key, e.value FROM"
        " json_each(CASE json_typeof(t::json) WHEN 'object' THEN t::json END) AS e",
    ),
)  # fmt: skip
"""The statements that make the functions by which values mean the same here."""
