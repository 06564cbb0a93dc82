"""JSON that others have written, whose numbers and whose arrays keep nobody else waiting.

The decoder takes 8 µs for a number near the bounds of a double (`1e300`), forty times as long as Python's `float`: a
megabyte of them is more than a second, in which nobody else has a turn. So of all but little JSON, numbers that are no
integers are given to Python. And a megabyte of empty arrays takes it 60 ms and more, each of which is made: what has
many is decoded part by part.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
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


def as_written(written: str) -> int | float:
    """A number that somebody gives: an integer in 64 bits exactly, whatever its form (`9007199254740993.0`,
    `90071992547409930e-1`), of which a double would be another one; else as `huge`."""
    value = huge(written)
    if len(written) <= EXACT or isinstance(value, int) or not value.is_integer() or abs(value) > 2.0**63:
        return value
    said = Decimal(written)
    return int(said) if said == said.to_integral_value() else value


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
