"""Regular expressions as JSON Schema has them, and how long it takes to look for one in a text.

They are matched in time in proportion to the text, unless they look around or back. But the factor is how many places
of the pattern a match may be at, which are as many as it repeats: as long as all sets of them are kept that a text can
bring about, a character takes a nanosecond; where these are too many, each character takes some ten for each place, in
one piece of work in which nobody else has a turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import jsonschema_rs

FEW_PLACES: Final = 12
"""All sets of so many places are kept."""

MOST_STEPS: Final = 2_000_000
"""Places times code points of a text: some 25 ms."""

_PART: Final = re.compile(
    r"(?P<open>\((?:\?(?:P?<\w+>|[A-Za-z-]*:)?)?)|(?P<close>\))"
    r"|(?P<several>[*+]|\{(?P<least>\d+)(?P<more>,(?P<most>\d*))?\})\??|(?P<nothing>[?|^$])"
    r"|\\[pPxu]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.",
    re.DOTALL,
)


def linear(pattern: str) -> Callable[[object], bool]:
    """A search for a pattern in a text. Raises ValueError for what is none, or looks around or back."""
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


def places(pattern: str) -> int:
    """How many places there are in what a pattern repeats: characters and classes, each as often as is counted. Of what
    does not look around or back."""
    # Of each group that is open: its places, and those that are repeated; the same of the last of its parts.
    within = [[0, 0, 0, 0]]
    for found in _PART.finditer(pattern):
        group = within[-1]
        if found["open"]:
            within.append([0, 0, 0, 0])
        elif found["close"] and len(within) > 1:
            every, repeated, _, _ = within.pop()
            within[-1] = [within[-1][0] + every, within[-1][1] + repeated, every, repeated]
        elif found["several"]:
            often = max(int(found["most"] or found["least"] or 1), 1)
            if often > 1 or found["more"] or not found["least"]:
                every = group[2] * often
                within[-1] = [group[0] - group[2] + every, group[1] - group[3] + every, every, every]
        elif not found["nothing"]:
            within[-1] = [group[0] + 1, group[1], 1, 0]
    return within[0][1]


def longest(pattern: str) -> int | None:
    """Code points of a text in which it takes no longer to look for a pattern than anything else that is done at once;
    None: of any."""
    count = places(pattern)
    return None if count <= FEW_PLACES else MOST_STEPS // count


def is_of_short_texts(pattern: str) -> bool:
    """Whether only texts of a bounded length match, so that in a longer one it is given up early."""
    parts = [*_PART.finditer(pattern)]
    unbounded = (each[0] == "|" or (each["several"] and not (each["least"] and (each["most"] or not each["more"])))
                 for each in parts)  # fmt: skip
    return len(parts) > 1 and parts[0][0] == "^" and parts[-1][0] == "$" and not any(unbounded)
