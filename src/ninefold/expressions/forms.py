"""The forms of expressions that are no plain functions of their arguments: macros, operators that look at what they do
not evaluate, and what stands around an expression in a template."""

from __future__ import annotations

from typing import Final

MACROS: Final = {
    "has": "`has(a.b)`: whether it has a value",
    "exists": "`a.exists(x, c)`, `a.exists(i, x, c)`: whether c is true of some x",
    "all": "`a.all(x, c)`, `a.all(i, x, c)`: whether c is true of each x",
    "exists_one": "`a.exists_one(x, c)`, `a.exists_one(i, x, c)`: whether c is true of exactly one x",
    "existsOne": "the same",
    "filter": "`a.filter(x, c)`: those x of which c is true; if c is an error of one x, it is an error",
    "map": "`a.map(x, e)`, `a.map(x, c, e)`: e for each x (of which c is true)",
    "flatMap": "`a.flatMap(x, e)`: the items of the arrays e, one array after the other",
    "sortBy": "`a.sortBy(x, e)`: the same items in ascending order of e, nulls last; equal ones as they were",
    "transformList": "`a.transformList(i, x, e)`, `a.transformList(i, x, c, e)`: e for each x (of which c is true)",
    "transformMap": "`o.transformMap(k, x, e)`, `o.transformMap(k, x, c, e)`: the object with e in place of each "
    "member x (of which c is true); a member without a value is left out",
}
"""Written like functions, but they have variables of their own, or look at what they do not evaluate."""

OF_TEMPLATES: Final = {
    "nullable": "`nullable(e)`, around all that is shown as a member, or as an item of a list that is written out: e, "
    "and `null` where e has no value or is an error",
}
"""Written like functions, and no part of an expression: they stand around one, in what is shown alone."""

SPECIAL: Final = {
    "==": "equal; null is equal to null only; a row is equal to itself",
    "!=": "not equal",
    "&&": "both are true; false if one is false, whatever the other",
    "||": "one is true; true if one is true, whatever the other",
    "!": "the opposite",
    "?:": "`c ? a : b`",
    "in": "an item of an array, or the name of a member of an object",
    "[]": "`a[0]` of an array, `o['name']` or `o[k]` of an object",
}
"""Operators that are no plain functions of their operands' values."""
