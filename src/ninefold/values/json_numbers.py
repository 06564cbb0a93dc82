"""JSON that others have written, whose numbers and whose arrays keep nobody else waiting.

The decoder takes 8 µs for a number near the bounds of a double (`1e300`), forty times as long as Python's `float`: a
megabyte of them is more than a second, in which nobody else has a turn. So of all but little JSON, numbers that are no
integers are given to Python. And a megabyte of empty arrays takes it 60 ms and more, each of which is made: what has
many is decoded part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from decimal import ROUND_05UP, Context, Decimal
from typing import Any, Final

import msgspec

LITTLE: Final = 1024
"""Bytes or characters of which there are at most some 200 numbers."""


EXACT: Final = 15
"""Characters of a number whose digits a double has all (IEEE 754: 15 digits)."""


def huge(written: str) -> int | float:
    """A number; one beyond a double as an integer beyond a double, which keeps no bound and fits in no type."""
    value = float(written)
    return value if abs(value) != float("inf") else beyond(written)


_CONTEXT: Final = Context(prec=400, rounding=ROUND_05UP, traps=[])
"""More digits than the integers of all doubles have: what is cut off of a fraction leaves one all the same."""

_LESS_THAN_ALL: Final = Decimal("1e-330")
"""What is not 0, and less than every double that is not."""


def as_written(written: str) -> int | float | Decimal:
    """A number that somebody gives: an integer in 64 bits exactly, whatever its form (`9007199254740993.0`,
    `90071992547409930e-1`), of which a double would be another one; one with a fraction of which a double is an integer
    (`9007199254740993.5`, `1e-400`) as a decimal, since it is none (JSON Schema 2020-12 Validation, 6.1.1); else as
    `huge`."""
    value = float(written)
    if not value.is_integer():
        return value if abs(value) != float("inf") else beyond(written)
    if value == 0.0:
        is_zero = not written.lower().partition("e")[0].strip("-.0")
        return value if is_zero else _LESS_THAN_ALL.copy_sign(Decimal(value))
    if len(written) <= EXACT:
        return value
    said = _CONTEXT.create_decimal(written)
    if said != said.to_integral_value():
        return said
    return int(said) if abs(value) <= 2.0**63 else value


def as_doubles(document: Any) -> Any:
    """What is given with the doubles that its numbers are kept as, where `as_written` has decimals; itself, where it
    has none."""
    return _as_doubles(document) if has_decimals([document]) else document


_OF_PARTS: Final = frozenset({dict, list})


def has_decimals(parts: Collection[Any]) -> bool:
    """Whether `as_written` has a decimal anywhere among these."""
    kinds = set(map(type, parts))
    if Decimal in kinds or kinds.isdisjoint(_OF_PARTS):
        return Decimal in kinds
    inner = [each for each in parts if type(each) in _OF_PARTS]
    return any(has_decimals(each.values() if type(each) is dict else each) for each in inner)


def _as_doubles(document: Any) -> Any:
    if type(document) is dict:
        return {name: _as_doubles(each) for name, each in document.items()}
    if type(document) is list:
        return [*map(_as_doubles, document)]
    return float(document) if type(document) is Decimal else document


def beyond(written: str) -> int:
    return -(2**1024) if written.startswith("-") else 2**1024


def decoding(type_: Any) -> Callable[[bytes | str], Any]:
    """A function from JSON (RFC 8259) to what it says. It raises msgspec.DecodeError for what is none, RecursionError
    where it is nested too deep, and, where it is little, msgspec.ValidationError for a number beyond a double."""
    little, much = msgspec.json.Decoder(type_).decode, msgspec.json.Decoder(type_, float_hook=huge).decode
    return lambda written: little(written) if len(written) <= LITTLE else much(written)


decoded: Final = decoding(Any)

given: Final = msgspec.json.Decoder(Any, float_hook=as_written).decode
"""The same of what somebody gives, whose integers are taken as they are written."""

MANY: Final = 16 * 1024
"""Arrays and objects, which take up to half a microsecond each to decode."""

_PART: Final = 16 * 1024
"""Bytes that are decoded in one go."""

_items: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decoded_by_parts(written: Any, deepest: int) -> Any:
    """What JSON with `MANY` arrays and objects says, decoded item by item and member by member, so that other threads
    have their turn between them. It raises what `decoding` says; RecursionError where a large part is nested deeper
    than `deepest`. `written`: bytes or a msgspec.Raw."""
    if memoryview(written).nbytes <= _PART:
        return given(written)
    if deepest < 0:
        raise RecursionError
    begin = bytes(memoryview(written)[:_PART]).lstrip(b" \t\n\r")[:1]
    if begin == b"[":
        return [decoded_by_parts(item, deepest - 1) for item in _items(written)]
    if begin == b"{":
        return {name: decoded_by_parts(member, deepest - 1) for name, member in _members(written).items()}
    return given(written)
