"""What schemas say that is right by JSON Schema and hardly meant: patterns that take long, keywords without effect."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from ninefold.diagnostics.codes import OF_ANOTHER_TYPE, SLOW_NAMES, SLOW_PATTERN
from ninefold.diagnostics.diagnostic import Label
from ninefold.language.json_schema import TYPES, TYPES_OF
from ninefold.language.reading import Reading
from ninefold.syntax.nodes import Entry, Mapping
from ninefold.values import patterns
from ninefold.values.of_schemas import kinds_of

LONG_FOR_A_PATTERN: Final = 1_000
"""Code points of a text that any pattern may be matched with."""

_LOOKS: Final = "looks around, or back"
_SLOW: Final = "this pattern takes the longer, the more a client writes"


def matched_slowly(r: Reading, node: Mapping, found: dict[str, Any]) -> None:
    """Notes a pattern that takes more time than a little in proportion to the text, where the text may be long."""
    if "pattern" not in found:
        return
    pattern, longest = found["pattern"], found.get("maxLength")
    bound, why = LONG_FOR_A_PATTERN, _LOOKS
    if patterns.is_linear(pattern):
        if (at_most := patterns.longest_of_others(pattern)) is None:
            return
        bound, why = at_most, patterns.how_slow(pattern)
    if not (isinstance(longest, int) and longest <= bound):
        span = next(entry.value.span for entry in node.entries if entry.name == "pattern")
        r.say(SLOW_PATTERN, _SLOW, Label(span, why), help=(f"`maxLength` of at most {bound:,} beside it bounds that",))


def names_matched_slowly(r: Reading, entry: Entry) -> None:
    """Says of a key of `patternProperties` that names take too long to be matched with it."""
    pattern, span = entry.name, entry.key.span
    if not patterns.is_linear(pattern):
        help = ("write which names there are without that, or put a list of names with values in its place",)
        r.say(SLOW_NAMES, "names of members cannot be matched so", Label(span, _LOOKS), help=help)
    elif patterns.longest_of_others(pattern) is not None:
        help = ("one that takes only whole names of a bounded length (`^[a-z]{1,20}$`) is given up early",)
        r.say(SLOW_PATTERN, _SLOW, Label(span, patterns.how_slow(pattern)), help=help)


def of_another_type(r: Reading, node: Mapping, found: dict[str, Any]) -> None:
    """Warns of keywords that say nothing of the values that `type`, or a list of them, says beside these."""
    types = kinds_of(found)
    for entry in node.entries if types else ():
        own = TYPES_OF.get(entry.name)
        if entry.name in found and own is not None and types.isdisjoint(own):
            label = Label(entry.key.span, f"it narrows {_called(own)} alone")
            r.say(OF_ANOTHER_TYPE, f"`{entry.name}` says nothing of {_called(types)}", label)


def _called(types: Collection[str]) -> str:
    """Values of these types, such as `integers and numbers`."""
    return " and ".join(each if each == "null" else f"{each}s" for each in TYPES if each in types)
