"""JSON whose numbers others have written.

The decoder takes 8 µs for a number near the bounds of a double (`1e300`), forty times as long as Python's `float`: a
megabyte of them is more than a second, in which nobody else has a turn. So of all but little JSON, numbers that are no
integers are given to Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

LITTLE: Final = 1024
"""Bytes or characters of which there are at most some 200 numbers."""


def huge(written: str) -> int | float:
    """A number; one beyond a double as an integer beyond a double, which keeps no bound and fits in no type."""
    value = float(written)
    return value if abs(value) != float("inf") else beyond(written)


def beyond(written: str) -> int:
    return -(2**1024) if written.startswith("-") else 2**1024


def decoding(type_: Any) -> Callable[[bytes | str], Any]:
    """A function from JSON (RFC 8259) to what it says. It raises msgspec.DecodeError for what is none, RecursionError
    where it is nested too deep, and, where it is little, msgspec.ValidationError for a number beyond a double."""
    little, much = msgspec.json.Decoder(type_).decode, msgspec.json.Decoder(type_, float_hook=huge).decode
    return lambda written: little(written) if len(written) <= LITTLE else much(written)


decoded: Final = decoding(Any)
