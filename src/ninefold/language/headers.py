"""What a key says that every response of an endpoint, or of a version, carries in a header."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ninefold.diagnostics.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Header:
    """`name`: as it is sent. `defined`: the document that says what it means, with its section where it has several.
    `text`: what it says of the key's plain value, which is a length of time in microseconds, a size in bytes, a date or
    a word as it is written."""

    name: str
    defined: str
    text: Callable[[Any], str]


def seconds(date: str) -> int:
    """Seconds since 1970 at the beginning of a day, UTC."""
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp())


def structured_date(date: str) -> str:
    """A day as a Date of structured fields (RFC 9651, section 3.3.7)."""
    return f"@{seconds(date)}"


def http_date(date: str) -> str:
    """A day as an HTTP-date (RFC 9110, section 5.6.7)."""
    from email.utils import formatdate  # it takes longer to import than most commands run

    return formatdate(seconds(date), usegmt=True)
