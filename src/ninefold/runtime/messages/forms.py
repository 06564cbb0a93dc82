"""Forms as bodies: `application/x-www-form-urlencoded` (WHATWG URL, section 5), read as JSON would be.

What a form gives is text. A member whose field is a number or a truth value is read as JSON writes these; one that is
repeated is an array. A text that is none of what is meant stays as it is, for the field's schema to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from ninefold.runtime.messages import json_text
from ninefold.values import GREATEST_INTEGER, LEAST_INTEGER, Array, Boolean, Integer, Invalid, Number, Type
from ninefold.values.texts import from_text

MEDIA_TYPE = "application/x-www-form-urlencoded"

_BYTES: Final = re.compile("(?:%[0-9A-Fa-f]{2}|[\udc80-\udcff])+")
"""Bytes that are escaped, or no text by themselves. A `%` that escapes nothing is passed over without a call."""


def parse(data: bytes) -> dict[str, Any]:
    """The members of a form, each a text, or, where it is repeated, a list of texts. Raises ValueError for what is not
    in UTF-8."""
    members: dict[str, Any] = {}
    for key, value in pairs(data, "strict"):
        known = members.get(key)
        if known is None:
            members[key] = value
        elif isinstance(known, list):
            known.append(value)
        else:
            members[key] = [known, value]
    return members


def pairs(data: bytes, errors: str) -> Iterator[tuple[str, str]]:
    """What is written as names and values, one after another (WHATWG URL 5.1): `+` is a space, `%` with two digits a
    byte. `errors`: what becomes of bytes that are not UTF-8, as `bytes.decode` has it."""
    text, meant = _spaced(data), _meant(errors)
    is_plain = _BYTES.search(text) is None
    for pair in text.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            yield (name, value) if is_plain else (meant(name), meant(value))


def decoded(written: bytes) -> str:
    """What is written of a name or a value. Raises ValueError for what is not in UTF-8."""
    return _meant("strict")(_spaced(written))


def _spaced(written: bytes) -> str:
    return written.decode("utf-8", "surrogateescape").replace("+", " ")


def _meant(errors: str) -> Callable[[str], str]:
    """What is meant by a text in which bytes are escaped."""
    return partial(_BYTES.sub, partial(_text, errors))


def _text(errors: str, found: re.Match[str]) -> str:
    written = found[0]
    if written.isascii():
        return bytes.fromhex(written.replace("%", "")).decode("utf-8", errors)
    return unquote_to_bytes(written.encode("utf-8", "surrogateescape")).decode("utf-8", errors)


def typed(members: Mapping[str, Any], fields: Iterable[tuple[str, Type]]) -> dict[str, Any]:
    """The members as JSON would have them, where they are those of fields of these types."""
    document = dict(members)
    for name, type_ in fields:
        if name in document:
            given = document[name]
            several = given if isinstance(given, list) or not isinstance(type_, Array) else [given]
            document[name] = meant(several, type_)
    return document


def meant(given: Any, type_: Type) -> Any:
    """What is meant by a text, or by each of several, where a value of a type is: `3` by `"3"` of an integer."""
    if isinstance(given, list):
        return [_one(each, type_.items) for each in given] if isinstance(type_, Array) else given
    return _one(given, type_)


def _one(text: Any, type_: Type) -> Any:
    match type_:
        case Integer() | Number() | Boolean() if isinstance(text, str):
            try:
                return from_text(type_, text)
            except Invalid:
                return text if isinstance(type_, Boolean) else _beyond(text, type_)
        case _:
            return text


def _beyond(text: str, type_: Integer | Number) -> Any:
    """A number beyond its type, as JSON has it: it is a number all the same, which no bound admits."""
    try:
        value = json_text.parse(text.encode())
    except ValueError:
        return text
    is_beyond = type(value) is int and not LEAST_INTEGER <= value <= GREATEST_INTEGER
    is_number = is_beyond or (isinstance(value, float | Decimal) and isinstance(type_, Number))
    return value if is_number and text == text.strip() else text
