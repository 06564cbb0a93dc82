"""What two contracts say otherwise, as values to ask with: numbers and texts, times, sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.changes import Change
from ninefold.syntax.nodes import scalars
from ninefold.values import Invalid, duration

MOST: Final = 12
"""Of each."""

_NUMBER = re.compile(r"(?<![\w.'])-?\d+(?:\.\d+)?(?![\w.'-])")
_QUOTED = re.compile(r"'([^'\\]*)'")
_TIME = re.compile(r"\bP(?:\d+[DW])?(?:T(?:\d+[HMS])+)?\b")
_SIZE = re.compile(r"\b(\d+) (B|KiB|MiB)\b")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_UNITS: Final = {"B": 1, "KiB": 1024, "MiB": 1024 * 1024}


@dataclass(frozen=True, slots=True)
class Said:
    """`numbers` with their neighbours; `times`: how often something may come, as part 8 says it; `forms`: whether texts
    are normalised otherwise."""

    numbers: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    seconds: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    times: tuple[int, ...] = ()
    dates: tuple[date, ...] = ()
    forms: bool = False


def said(found: Sequence[Change]) -> Said:
    """What the changed values of either contract say."""
    numbers, texts, seconds, sizes, times = dict[float, None](), dict[str, None](), set[int](), set[int](), set[int]()
    dates = set[date]()
    for change in found:
        for place in (change.old, change.new):
            for each in scalars(None if place is None else place.node):
                for one in _NUMBER.findall(each.text):
                    value = float(one) if "." in one else int(one)
                    numbers |= dict.fromkeys((value, value - 1, value + 1))
                    if change.part == 8 and isinstance(value, int):
                        times.add(value)
                texts |= dict.fromkeys(_QUOTED.findall(each.text))
                if re.fullmatch(r"[\w -]{1,40}", each.text) and not _NUMBER.fullmatch(each.text):
                    texts[each.text] = None
                seconds |= {length for one in _TIME.findall(each.text) if (length := _seconds(one))}
                dates |= {day for one in _DATE.findall(each.text) if (day := _date(one))}
                sizes |= {int(count) * _UNITS[unit] for count, unit in _SIZE.findall(each.text)}
    return Said(
        tuple(numbers)[:MOST], tuple(texts)[:MOST], tuple(sorted(seconds))[:MOST], tuple(sorted(sizes))[:MOST],
        tuple(sorted(times))[-2:], tuple(sorted(dates))[:MOST], any(each.key.name == "normalise" for each in found),
    )  # fmt: skip


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _seconds(text: str) -> int:
    try:
        return duration(text) // 1_000_000
    except Invalid:
        return 0
