"""The values that texts give: those of paths, queries, headers and forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ninefold.diagnostics import regex
from ninefold.values import (
    LONGEST_NUMBER,
    Anything,
    Array,
    Boolean,
    Digest,
    Duration,
    Integer,
    Invalid,
    Null,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    Value,
    integer,
    number,
    text,
    timestamp,
)

_INTEGER: Final = regex.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER: Final = regex.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def from_text(type_: Type, written: str) -> Value:
    """The value that a text means: a number as JSON writes it, `true` or `false`, text as it is; raises `Invalid`.

    An array or object is not one text, and is `Invalid` here: how it is spread over a query is the reader's.
    """
    return text_reader(type_)(written)


def text_reader(type_: Type) -> Callable[[str], Value]:
    """`from_text` of one type."""
    match type_:
        case Text() | Row() | Anything():
            return text
        case Integer():
            return _integer_of
        case Number():
            return _number_of
        case Boolean():
            return _boolean_of
        case Timestamp():
            return timestamp
        case Null() | Duration() | Digest() | Array() | Object():
            return _nothing_of


def _integer_of(written: str) -> Value:
    # Longer ones are outside of 64 bits anyway, and Python refuses to read thousands of digits.
    if _INTEGER.fullmatch(written) is None:
        raise Invalid("type", "not an integer")
    if len(written) > 20:
        raise Invalid("range", "an integer outside of 64 bits")
    return integer(int(written))


def _number_of(written: str) -> Value:
    if len(written) > LONGEST_NUMBER or _NUMBER.fullmatch(written) is None:
        raise Invalid("type", "not a number")
    return number(float(written))


def _boolean_of(written: str) -> Value:
    if written not in ("true", "false"):
        raise Invalid("type", "not true or false")
    return written == "true"


def _nothing_of(written: str) -> Value:
    raise Invalid("type", "not a value that a text can give")


def apart(*parts: str) -> str:
    """Texts as one, with `/` between them, which no others give: what of several could be taken for that is escaped as
    in a URI (RFC 3986 2.1). One is itself."""
    if len(parts) == 1:
        return parts[0]
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)
