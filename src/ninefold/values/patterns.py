"""Regular expressions as JSON Schema has them, and how long it takes to look for one in a text.

They are matched in time in proportion to the text, unless they look around or back. But the factor is how many places
of the pattern a match may be at, which are as many as it repeats: as long as all sets of them are kept that a text can
bring about, a character takes a nanosecond; where these are too many, each character takes some ten for each place, in
one piece of work in which nobody else has a turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import jsonschema_rs

from ninefold.diagnostics import regex

FEW_PLACES: Final = 12
"""All sets of so many places are kept."""

FEW_AT_WORDS: Final = 4
"""So many, where a pattern asks for the end of a word: in a text beyond ASCII no sets are kept then."""

MOST_STEPS: Final = 2_000_000
"""Places times code points of a text: some 25 ms."""

MOST_READY: Final = 512
"""Patterns that are kept as they were made ready."""

_MANY: Final = 500
_OF_ANY_SCRIPT: Final = 50
"""Places of a pattern that take some milliseconds to make ready, and how many a class of Unicode's counts for."""

_PART: Final = regex.compile(
    r"(?P<open>\((?:\?(?:P?<\w+>|[A-Za-z-]*:)?)?)|(?P<close>\))"
    r"|(?P<several>[*+]|\{(?P<least>\d+)(?P<more>,(?P<most>\d*))?\})\??|(?P<nothing>[?|^$])"
    r"|\\[pPxu]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.",
    re.DOTALL,
)

_CLASS: Final = regex.compile(r"\.$|\[|\\[pPwWdDsS]")
"""Of the parts that are one character, those that may be one of several."""

_WORDS: Final = regex.compile(r"(?<!\\)(?:\\\\)*\\[bB]")


def linear(pattern: str) -> Callable[[object], bool]:
    """A search for a pattern in a text. Raises ValueError for what is none, or looks around or back."""
    found = _linear(pattern)
    if isinstance(found, ValueError):
        raise found
    return found


@lru_cache(MOST_READY)
def _linear(pattern: str) -> Callable[[object], bool] | ValueError:
    try:
        return _made_ready(pattern)
    except ValueError as error:
        return error


def _made_ready(pattern: str) -> Callable[[object], bool]:
    return jsonschema_rs.Draft202012Validator(
        {"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions()
    ).is_valid


def is_linear(pattern: str) -> bool:
    """Whether it is one that neither looks around nor back."""
    try:
        linear(pattern)
    except ValueError:
        return False
    return True


@lru_cache(MOST_READY)
def is_dear(pattern: str) -> bool:
    """Whether it takes more than a few milliseconds to make a pattern ready: up to some 200, and nobody else has a turn
    meanwhile."""
    every, _ = _counted(pattern)
    return every * (_OF_ANY_SCRIPT if "\\p" in pattern.lower() else 1) > _MANY


def places(pattern: str) -> int:
    """How many places there are in what a pattern repeats, characters and classes, each as often as is counted; and how
    many classes come where a match may have begun at many characters: behind what is repeated without end, or
    anywhere in what does not begin with `^`. (How far a match is in characters alone, the last ones say.) Of what does
    not look around or back."""
    return _counted(pattern)[1]


def _counted(pattern: str) -> tuple[int, int]:
    """All places of a pattern, each as often as is counted, and those that are repeated."""
    # Of each group that is open: its places, and those that are repeated; the same of the last of its parts; and
    # whether it is one of several.
    within = [[0, 0, 0, 0, 0]]
    begins, many = True, False
    for found in _PART.finditer(pattern):
        group = within[-1]
        if begins:
            many = found[0] != "^"
        begins = len(within) == 1 and found[0] == "|"
        many = many or (found["several"] is not None and _has_no_end(found))
        if found["open"]:
            within.append([0, 0, 0, 0, 0])
        elif found["close"] and len(within) > 1:
            every, repeated, _, _, either = within.pop()
            repeated = max(repeated, either and many)
            within[-1] = [within[-1][0] + every, within[-1][1] + repeated, every, repeated, within[-1][4]]
        elif found["several"]:
            often = max(int(found["most"] or found["least"] or 1), 1)
            if often > 1 or found["more"] or not found["least"]:
                every = group[2] * often
                within[-1] = [group[0] - group[2] + every, group[1] - group[3] + every, every, every, group[4]]
        elif found[0] == "|":
            group[4] = 1
        elif not found["nothing"]:
            own = int(many and _CLASS.match(found[0]) is not None)
            within[-1] = [group[0] + 1, group[1] + own, 1, own, group[4]]
    return within[0][0], within[0][1]


def _has_no_end(several: re.Match[str]) -> bool:
    """Whether something is repeated as often as a text has it."""
    return not several["least"] or (several["more"] is not None and not several["most"])


def longest(pattern: str) -> int | None:
    """Code points of a text in which it takes no longer to look for a pattern than anything else that is done at once;
    None: of any."""
    count = places(pattern)
    return None if count <= few(pattern) else MOST_STEPS // count


def few(pattern: str) -> int:
    """How many places of a pattern are few."""
    return FEW_AT_WORDS if _WORDS.search(pattern) else FEW_PLACES


def is_of_short_texts(pattern: str) -> bool:
    """Whether only texts of a bounded length match, so that in a longer one it is given up early."""
    parts = [*_PART.finditer(pattern)]
    unbounded = (each[0] == "|" or (each["several"] is not None and _has_no_end(each)) for each in parts)
    return len(parts) > 1 and parts[0][0] == "^" and parts[-1][0] == "$" and not any(unbounded)


def longest_of_others(pattern: str) -> int | None:
    """The same as `longest`; None, too, of one that is of short texts."""
    return None if is_of_short_texts(pattern) else longest(pattern)


def how_slow(pattern: str) -> str:
    """In words."""
    return f"up to {places(pattern)} ms for 100,000 characters"
