"""JSON as it comes from outside: bytes, read without trust."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, NoReturn

import msgspec

from ninefold.values.json_numbers import MANY, as_written, beyond, decoded_by_parts, given

DEEPEST = 128
"""How deep arrays and objects may be nested; what is deeper is `malformed`."""


def parse(data: bytes) -> Any:
    """JSON (RFC 8259) in UTF-8, of bounded depth; of members given twice the last counts. Raises ValueError."""
    opened = data.count(b"[") + data.count(b"{")
    try:
        document = given(data) if opened <= MANY else decoded_by_parts(data, DEEPEST)
    except msgspec.ValidationError:
        # The one thing that is JSON and that it does not take: a number beyond a double.
        document = _with_huge_numbers(data)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if opened > DEEPEST and _depth(document) > DEEPEST:
        raise ValueError("nested too deep")
    return document


def is_within(document: Any, most: int) -> bool:
    """Whether a value takes no more than so many bytes, written as JSON without spaces."""
    return len(msgspec.json.encode(document)) <= most


def _with_huge_numbers(data: bytes) -> Any:
    try:
        document = json.loads(data.decode("utf-8"), parse_float=_huge, parse_int=_huge, parse_constant=_no_number)
        msgspec.json.encode(document)  # refuses half of a surrogate pair
    except RecursionError:
        raise ValueError("nested too deep") from None
    return document


def _huge(written: str) -> int | float | Decimal:
    if not set(written) & set(".eE"):
        return int(written) if len(written) < 400 else beyond(written)
    return as_written(written)


def _no_number(written: str) -> NoReturn:
    raise ValueError(f"{written} is not JSON")


def _depth(document: Any) -> int:
    """How deep arrays and objects are nested: level by level, since recursion is what is to be kept from."""
    depth, level = 0, [document]
    while containers := [node for node in level if isinstance(node, dict | list)]:
        depth += 1
        level = [child for node in containers for child in (node.values() if isinstance(node, dict) else node)]
    return depth
