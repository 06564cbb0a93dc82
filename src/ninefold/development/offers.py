"""What `upgrade` offers where rows have values of another type than a field has now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ninefold.development.samples import admits
from ninefold.plan.schema import Stored
from ninefold.values import Text

_NUMBERS: Final = ("1", "12", "1234567")
_UUID: Final = "9c858901-8a57-4791-81fe-4c455b099bc9"


def values_of(stored: Sequence[Stored]) -> dict[str, str | None]:
    """By each field of texts that admits none of numbers, an expression that makes a value of it: a UUID where it
    admits one; None: nobody knows one. The text of a number would be offered, and refused."""
    return dict(_made(stored))


def _made(stored: Sequence[Stored]) -> Iterator[tuple[str, str | None]]:
    for one in stored:
        for each in one.fields:
            is_text = isinstance(each.column.type, Text)
            if is_text and not any(admits(each.schema, number) for number in _NUMBERS):
                made = "uuid()" if admits(each.schema, _UUID) else None
                yield f"{one.resource}.{each.column.name}", made
