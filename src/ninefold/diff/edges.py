"""What of two JSON Schemas admits the same values by other keywords: it is no difference."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final, TypeAlias

Said: TypeAlias = dict[str, Any]

EDGES: Final = (("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1))
"""A number's edge is told by either of two keywords, of which the second leaves it out itself; 1: more lies above."""

_NOTHING: Final[Said] = {
    "minLength": 0, "minItems": 0, "minProperties": 0, "uniqueItems": False, "required": [],
}  # fmt: skip
"""Keywords that refuse nothing, if they say this."""


def without_what_is_the_same(old: Said, new: Said) -> tuple[Said, Said]:
    """Both without what they say of numbers, lengths and single values that is the same set of values in either."""
    old, new = _effective(old), _effective(new)
    if ("const" in old) is not ("const" in new):
        old, new = _listed(old), _listed(new)
    if _is_whole(old) and _is_whole(new):
        for *pair, sign in EDGES:
            if _whole_edge(old, pair, sign) == _whole_edge(new, pair, sign):
                old, new = (_besides(of, *pair) for of in (old, new))
        if _whole_step(old) == _whole_step(new):
            old, new = (_besides(of, "multipleOf") for of in (old, new))
    return old, new


AS_SETS: Final = frozenset(("const", "enum", "multipleOf", *_NOTHING, *(name for *pair, _ in EDGES for name in pair)))
"""Keywords of which two may say the same."""


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def divides(one: Any, other: Any) -> bool:
    """Whether each multiple of the other is one of the first, as decimals are written."""
    return (_exact(other) / _exact(one)).denominator == 1


def _exact(number: Any) -> Fraction:
    return Fraction(str(number))


def _besides(said: Said, *names: str) -> Said:
    return {name: each for name, each in said.items() if name not in names}


def _effective(said: Said) -> Said:
    """Without what refuses nothing, and of two keywords for one edge without the one that the other one says more."""
    said = {name: each for name, each in said.items() if not _is_nothing(name, each)}
    for closed, open, sign in EDGES:
        if is_number(said.get(closed)) and is_number(said.get(open)):
            said = _besides(said, closed if sign * said[open] >= sign * said[closed] else open)
    return said


def _is_nothing(name: str, said: Any) -> bool:
    return name in _NOTHING and type(said) is type(_NOTHING[name]) and said == _NOTHING[name]


def _listed(said: Said) -> Said:
    """A constant is a list of one."""
    return {**_besides(said, "const"), "enum": [said["const"]]} if "const" in said and "enum" not in said else said


def _is_whole(said: Said) -> bool:
    """Whether it admits no number that is none of the whole ones."""
    types = said.get("type", "number")
    return "number" not in ([types] if isinstance(types, str) else types)


def _whole_step(said: Said) -> int:
    """A whole number is a multiple of p/q, in lowest terms, where it is one of p."""
    step = said.get("multipleOf", 1)
    return _exact(step).numerator if is_number(step) and step > 0 else 1


def _whole_edge(said: Said, pair: list[Any], sign: int) -> int | None:
    """The last whole number that is admitted, turned so that more lies above; None: there is no edge."""
    closed, open = (said.get(name) for name in pair)
    found = [math.ceil(_exact(closed) * sign)] if is_number(closed) else []
    found += [math.floor(_exact(open) * sign) + 1] if is_number(open) else []
    if not found:
        return None
    step = _whole_step(said)
    return -(-max(found) // step) * step
