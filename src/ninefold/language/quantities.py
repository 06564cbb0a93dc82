"""Durations, sizes and dates: from text to microseconds, bytes and full-dates."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import NOT_A_DATE, NOT_A_DURATION, NOT_A_SIZE
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import shapes
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.syntax.nodes import Node, Scalar

SECOND: Final = 1_000_000
"""In microseconds, as all lengths of time."""

LONGEST: Final = 365_250 * 86_400 * SECOND
"""A thousand years."""

_UNITS: Final = {"W": 7 * 86_400, "D": 86_400, "H": 3_600, "M": 60, "S": 1}
_WEEKS = regex.compile(r"P([0-9]{1,9})W")
_DURATION = regex.compile(
    r"P(?=[0-9T])(?:(?P<D>[0-9]{1,9})D)?"
    r"(?:T(?=[0-9])(?:(?P<H>[0-9]{1,9})H)?(?:(?P<M>[0-9]{1,9})M)?(?:(?P<S>[0-9]{1,12}(?:\.[0-9]{1,6})?)S)?)?"
)
_CALENDAR = regex.compile(r"P(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})D)?(?:T.*)?")
_IN_WORDS = regex.compile(
    r"P?T?\s*([0-9]{1,9})\s*"
    r"(?:(?P<MS>ms|milliseconds?)|(?P<S>s|secs?|seconds?)|(?P<M>m|mins?|minutes?)|(?P<H>h|hrs?|hours?)"
    r"|(?P<D>d|days?)|(?P<W>w|weeks?))",
    re.IGNORECASE,
)


def duration(r: Reading, node: Node, slot: Slot) -> int | None:
    """A length of time above zero, in microseconds (ISO 8601 without months and years; RFC 3339, appendix A)."""
    is_zero = isinstance(node, Scalar) and (node.text == "0" or _meant(node.text) == "PT0S")
    length = 0 if is_zero else wait(r, node, slot)
    if length == 0:
        help = (f"where there is none, write `{slot.none}`",) if slot.none else ()
        r.say(NOT_A_DURATION, f"{quoted(slot.called)} is no time at all", Label(node.span), help=help)
        return None
    return length


def wait(r: Reading, node: Node, slot: Slot) -> int | None:
    """A length of time that may be zero, in microseconds."""
    if not isinstance(node, Scalar) or node.text == "":
        r.wrong_shape(node, slot)
        return None
    length = _microseconds(node.text)
    if length is not None and length <= LONGEST:
        return length
    if length is not None:
        r.say(NOT_A_DURATION, f"{quoted(node.text)} is more than a thousand years", Label(node.span))
    elif (calendar := _CALENDAR.fullmatch(node.text)) and (calendar[1] or calendar[2]):
        days = int(calendar[1] or 0) * 365 + int(calendar[2] or 0) * 30 + int(calendar[3] or 0)
        r.say(
            NOT_A_DURATION,
            "months and years have no fixed length",
            Label(node.span, "not a fixed length"),
            help=(f"write days, such as `P{days}D`",),
        )
    else:
        r.say(
            NOT_A_DURATION,
            f"{quoted(node.text)} is not a duration",
            Label(node.span),
            help=(f"write `{meant}`" if (meant := _meant(node.text)) else "a duration is written as in `PT1H30M`",),
        )
    return None


def _microseconds(text: str) -> int | None:
    if weeks := _WEEKS.fullmatch(text):
        return int(weeks[1]) * _UNITS["W"] * SECOND
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    whole, _, fraction = (found["S"] or "0").partition(".")
    seconds = int(whole) + sum(int(found[unit] or 0) * _UNITS[unit] for unit in "DHM")
    return seconds * SECOND + int(fraction.ljust(6, "0") if fraction else 0)


def _meant(text: str) -> str | None:
    """The duration that a text was probably meant to be; None: that cannot be told."""
    nearly = text.strip().upper()
    for each in (nearly, f"{nearly}S", f"PT{nearly.removeprefix('P')}"):
        if 0 < (_microseconds(each) or 0) <= LONGEST:
            return each
    found = _IN_WORDS.fullmatch(f"{text.strip()}s" if text.strip().isdecimal() else text.strip())
    if found is None:
        return None
    number = int(found[1])
    if found["MS"]:
        seconds = f"{number / 1000:.3f}".rstrip("0").rstrip(".")
        return f"PT{seconds}S"
    unit = next(unit for unit in "SMHDW" if found[unit])
    return f"P{number}{unit}" if unit in "DW" else f"PT{number}{unit}"


def waits(r: Reading, node: Node, slot: Slot) -> tuple[int, ...] | None:
    """Lengths of time that may be zero, one after another."""
    items = r.items(node, slot)
    if items is None:
        return None
    found = (wait(r, item, Slot(slot.called, shapes.Duration())) for item in items)
    return tuple(each for each in found if each is not None)


_BYTES: Final = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = regex.compile(r"([0-9]{1,12}) (B|KiB|MiB|GiB)")
_NEARLY_A_SIZE = regex.compile(r"([0-9]{1,12})\s*(?:(b|bytes?)|([kmg])(?:i?b)?)?", re.IGNORECASE)


def size(r: Reading, node: Node, slot: Slot) -> int | None:
    """A number of bytes above zero."""
    if not isinstance(node, Scalar) or node.text == "":
        r.wrong_shape(node, slot)
        return None
    found = _SIZE.fullmatch(node.text)
    if found is not None and int(found[1]) > 0:
        return int(found[1]) * _BYTES[found[2]]
    help = "write `64 KiB`"
    if nearly := _NEARLY_A_SIZE.fullmatch(node.text.strip()):
        unit = f"{nearly[3].upper()}iB" if nearly[3] else "B"
        number = int(nearly[1])
        if unit == "B" and number and number % 1024 == 0:
            number, unit = number // 1024, "KiB"
        help = f"write `{number} {unit}`" if number else help
    r.say(NOT_A_SIZE, f"{quoted(node.text)} is not a size", Label(node.span), help=(help,))
    return None


_DATE = regex.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NEARLY_A_DATE = regex.compile(r"([0-9]{4})[-/.]?([0-9]{1,2})[-/.]?([0-9]{1,2})(?:[T ].*)?")


def full_date(r: Reading, node: Node, slot: Slot) -> str | None:
    """A date as RFC 3339 writes it (5.6, full-date)."""
    if not isinstance(node, Scalar) or node.text == "":
        r.wrong_shape(node, slot)
        return None
    if _DATE.fullmatch(node.text) and _in_calendar(node.text):
        return node.text
    nearly = _NEARLY_A_DATE.fullmatch(node.text)
    meant = f"{nearly[1]}-{nearly[2]:0>2}-{nearly[3]:0>2}" if nearly else ""
    example = meant if meant and _in_calendar(meant) else "2026-06-01"
    r.say(NOT_A_DATE, f"{quoted(node.text)} is not a date", Label(node.span), help=(f'write `"{example}"`',))
    return None


def _in_calendar(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
