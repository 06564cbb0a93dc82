"""What the functions of the table do in Python, and how much they may look at.

Arguments are never null; what has no value is an `EvaluationError`. Macros within macros go through what a client
writes again and again: what they look at is counted.
"""

from __future__ import annotations

import math
import unicodedata
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import lru_cache
from struct import Struct
from typing import Any, Final, TypeAlias

from ninefold.diagnostics import regex
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.tree import Comprehension, Constant, Typed
from ninefold.values import (
    GREATEST_INTEGER,
    LEAST_INTEGER,
    LONGEST_SUM,
    LONGEST_TEXT,
    Anything,
    Array,
    Invalid,
    Object,
    Row,
    Text,
    Value,
    patterns,
)

Env: TypeAlias = Mapping[str, Any]
Evaluate: TypeAlias = Callable[[Env], Any]

MOST_ITEMS: Final = 40_000
"""Items of values that the macros of one expression look at. What a function is given for an item counts by its items,
members, or 16 characters each. Rows are not counted."""

INSIDE: Final = ContextVar("inside a macro", default=False)
"""Whether what is being compiled is evaluated for an item of a value."""

LOOPS: Final[ContextVar[list[Comprehension] | None]] = ContextVar("macros over values", default=None)
"""Where macros over values are noted as they are compiled, the outermost of each expression."""

_LEFT: Final = "$left"
"""The root under which the items of a macro have what is left of them, in a list of one number."""


class TooMuch(Exception):
    """An expression would look at more items than it may. It is no error that `||` absorbs: nobody knows what the
    expression is worth."""


def is_counted(range_: Typed) -> bool:
    """Whether the items of a macro's range are counted: those of values are."""
    return not (isinstance(range_.type, Array) and isinstance(range_.type.items, Row))


def begun(env: Mapping[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """The environment of a macro's items, and what is left of them: the outermost macro begins to count."""
    inner = dict(env)
    return inner, inner.setdefault(_LEFT, [MOST_ITEMS])


def spend(left: list[int], items: int) -> None:
    """Raises TooMuch where that many are not left."""
    left[0] -= items
    if left[0] < 0:
        raise TooMuch(f"more than {MOST_ITEMS} items")


def counted(evaluate: Callable[[Mapping[str, Any]], Any], typed: Typed) -> Callable[[Mapping[str, Any]], Any]:
    """An expression that counts by its size, where it is evaluated for each item of a macro."""
    if not INSIDE.get() or isinstance(typed, Constant) or not isinstance(typed.type, Text | Array | Object | Anything):
        return evaluate

    def count(env: Mapping[str, Any]) -> Any:
        value = evaluate(env)
        if isinstance(value, str):
            spend(env[_LEFT], len(value) // 16)
        elif isinstance(value, list | dict):
            spend(env[_LEFT], len(value))
        return value

    return count


class EvaluationError(Exception):
    """What CEL calls an error: the expression has no value for these values."""


def no_value() -> EvaluationError:
    return EvaluationError("null where a value is needed")


def needed(value: Any) -> Any:
    if value is None:
        raise no_value()
    return value


def truth(value: Any) -> bool:
    if value is True or value is False:
        return value is True
    raise EvaluationError("null is no predicate")


def _random_bytes(count: int) -> bytes:
    from secrets import token_bytes  # the compiler makes no tokens, and would load half of cryptography with it

    return token_bytes(count)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where `uuid()`, `token()` and `random(n)` take their bytes from."""

    random_bytes: Callable[[int], bytes] = _random_bytes


# ── Numbers ───────────────────────────────────────────────────────────────────────────────────────────────


def within(value: int) -> int:
    if LEAST_INTEGER <= value <= GREATEST_INTEGER:
        return value
    raise EvaluationError("an integer outside of 64 bits")


def finite(value: float) -> float:
    if math.isfinite(value):
        return value + 0.0  # one zero, as stored
    raise EvaluationError("a number that is not finite")


def quotient(left: int, right: int) -> int:
    """Truncated toward zero."""
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return within(quotient if (left < 0) == (right < 0) else -quotient)


def remainder(left: int, right: int) -> int:
    """With the sign of the left operand."""
    return left - right * quotient(left, right)


def ratio(left: float, right: float) -> float:
    if right == 0.0:
        raise EvaluationError("division by zero")
    return finite(left / right)


def truncated(value: float) -> int:
    # The bounds themselves are outside, as in the official implementation.
    if not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("a number outside of 64 bits")
    return int(value)


def number_text(value: float) -> str:
    return repr(value).removesuffix(".0")


def exact_sum(values: Iterable[float]) -> float:
    try:
        return finite(math.fsum(values))
    except OverflowError:
        raise EvaluationError("a number that is not finite") from None


# ── Texts ─────────────────────────────────────────────────────────────────────────────────────────────────

_UPPER: Final = bytes.maketrans(b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LOWER: Final = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")


def upper_ascii(text: str) -> str:
    return _translated(text, _UPPER)


def lower_ascii(text: str) -> str:
    return _translated(text, _LOWER)


def _translated(text: str, table: bytes) -> str:
    """In UTF-8, where the bytes of ASCII stand for nothing else: a tenth of the time for long texts."""
    return text.encode("utf-8", "surrogatepass").translate(table).decode("utf-8", "surrogatepass")


def together(one: Any, other: Any) -> Any:
    """A text after another, or an array. Raises TooMuch where that is too long."""
    if len(one) + len(other) > LONGEST_SUM:
        raise TooMuch(f"more than {LONGEST_SUM} code points or items")
    return one + other


def substring(text: str, start: int, end: int | None = None) -> str:
    """The code points from one place up to another, which have to be places in the text."""
    end = len(text) if end is None else end
    if not 0 <= start <= end <= len(text):
        raise EvaluationError("not a part of the text")
    return text[start:end]


def replaced(text: str, old: str, new: str) -> str:
    """With every `old`, from the left, as `new`."""
    if not old or len(text) + text.count(old) * (len(new) - len(old)) > LONGEST_TEXT:
        raise EvaluationError("nothing to replace, or a text too long")
    return text.replace(old, new)


def split(text: str, separator: str) -> list[str]:
    """The texts between the separators; its code points, where the separator is empty."""
    if len(text) > LONGEST_TEXT:
        raise EvaluationError("a text too long")
    return text.split(separator) if separator else list(text)


def joined(texts: list[str | None], separator: str = "") -> str:
    found = [text for text in texts if text is not None]
    if len(found) < len(texts) or sum(map(len, found)) + len(separator) * len(found) > LONGEST_TEXT:
        raise EvaluationError("an item without a value, or a text too long")
    return separator.join(found)


@lru_cache(maxsize=256)
def pattern(written: str) -> Callable[[str], bool]:
    """A search for a regular expression in a text, in linear time whatever both are; raises `Invalid`. One in a text in
    which that takes long raises EvaluationError."""
    try:
        found = patterns.linear(written)
    except ValueError:
        raise Invalid("format", "not a regular expression without back-references and look-around") from None
    longest = patterns.longest(written)
    if longest is None:
        return found

    def look(text: str) -> bool:
        if len(text) > longest:
            raise EvaluationError("a text too long")
        return found(text)

    return look


def matches(text: str, written: str) -> bool:
    return pattern(written)(text)


_NOT_UNRESERVED: Final = regex.compile(rb"[^A-Za-z0-9._~-]")


def escaped(text: str) -> str:
    """As a value stands in the query of a URI (RFC 3986, 2.1)."""
    written = text.encode("utf-8", "surrogatepass")
    return _NOT_UNRESERVED.sub(lambda found: b"%%%02X" % found[0][0], written).decode("ascii")


_SEPARATORS: Final = regex.compile(r"[\W_]+")
_ACCENTS: Final = regex.compile("[\u0300-\u036f]+")


LONGEST_SLUGGED: Final = 32_768
"""Code points of a text that `slug` takes: a normal form may be eighteen times as long, and takes its time."""


def slug(text: str) -> str:
    """Lower-case letters and digits of any script, accents removed, joined by single hyphens."""
    if len(text) > LONGEST_SLUGGED:
        raise EvaluationError("a text too long")
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text)).lower()
    return unicodedata.normalize("NFC", _SEPARATORS.sub("-", bare).strip("-"))


# ── Times ─────────────────────────────────────────────────────────────────────────────────────────────────

_EPOCH: Final = datetime(1970, 1, 1)
_MICROSECOND: Final = timedelta(microseconds=1)


def moment(stamp: str) -> datetime:
    return datetime.fromisoformat(stamp[:-1])


def written(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds") + "Z"


def later(stamp: str, microseconds: int) -> str:
    try:
        return written(moment(stamp) + timedelta(microseconds=microseconds))
    except OverflowError:
        raise EvaluationError("a date-time outside of the years 1 to 9999") from None


def from_epoch(seconds: int) -> str:
    try:
        return written(_EPOCH + timedelta(seconds=seconds))
    except OverflowError:
        raise EvaluationError("a date-time outside of the years 1 to 9999") from None


def between(later: str, earlier: str) -> int:
    """The microseconds between two times."""
    return (moment(later) - moment(earlier)) // _MICROSECOND


def seconds_since_1970(stamp: str) -> int:
    return (moment(stamp) - _EPOCH) // timedelta(seconds=1)


def whole_units(microseconds: int) -> Callable[[int], int]:
    """The whole units in a duration, truncated toward zero."""
    return lambda length: quotient(length, microseconds)


# ── Values ────────────────────────────────────────────────────────────────────────────────────────────────


def reading(function: Callable[..., Value], *first: object) -> Callable[[str], Value]:
    """A function of `ninefold.values` that raises `Invalid`, as one that raises `EvaluationError`."""

    def read(written: str) -> Value:
        try:
            return function(*first, written)
        except Invalid as invalid:
            raise EvaluationError(invalid.message) from None

    return read


def in_order(values: list[Any]) -> list[Any]:
    """In the order of stored values; nulls last."""
    nulls = values.count(None)
    return sorted([value for value in values if value is not None] if nulls else values) + [None] * nulls


def present(values: list[Any]) -> list[Any]:
    if None in values:
        raise EvaluationError("null is not a number")
    return values


_UUID_RANDOM: Final = ~(0xF << 76 | 0b11 << 62)
_UUID_VERSION_4: Final = 4 << 76 | 0b10 << 62
_uuid_parts: Final = Struct("8s4s4s4s12s").unpack


def new_uuid(sources: Sources) -> str:
    """Version 4 (RFC 9562, 5.4)."""
    bits = int.from_bytes(sources.random_bytes(16), "big") & _UUID_RANDOM | _UUID_VERSION_4
    return b"-".join(_uuid_parts(b"%032x" % bits)).decode("ascii")


def new_token(sources: Sources) -> str:
    """256 random bits in the URL-safe alphabet (RFC 4648, 5)."""
    return urlsafe_b64encode(sources.random_bytes(32)).rstrip(b"=").decode()


LONGEST_RANDOM: Final = 256
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


def random_text(sources: Sources, length: int) -> str:
    if not 1 <= length <= LONGEST_RANDOM:
        raise EvaluationError(f"random(n) makes 1 to {LONGEST_RANDOM} characters")
    made = ""
    while len(made) < length:
        # 252 is the greatest multiple of 36 in a byte: what lies above would favour the first letters.
        made += "".join(_ALPHABET[byte % 36] for byte in sources.random_bytes(length) if byte < 252)
    return made[:length]


def by_the_database() -> Value:
    raise EvaluationError("serial() is made by the database")
