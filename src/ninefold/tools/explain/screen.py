"""An endpoint on one screen: what decides it, a line for each fact. All of it is `--all` (`render.to_text`)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

from ninefold.diagnostics.render import visible
from ninefold.language.conditions import BY_NAME
from ninefold.tools.explain.explanation import Explanation, Item, Section, every
from ninefold.tools.explain.render import WIDTH, sentence

LINES = 40
"""What a screen has."""

FEWEST, MOST = 2, 12
"""How many facts of a section are told: as many as leave the whole on one screen."""

CALLERS = "callers"
ERRORS = "Errors, in the order in which they count"
LABELS = {
    "What stands in the way": "stopped by",
    "What it does": "does",
    "Who may call": CALLERS,
    "Which rows they see": "rows",
    "The body": "body",
    "Parameters and headers": "parameters",
    "Checks and transitions": "checks",
    "Values that the service gives": "gives",
    "What other rows have to do with it": "other rows",
    "The response": "response",
    "Events": "events",
    "Also written": "also",
    "Accepted besides": "accepted",
}
"""The sections of an explanation that are told here, besides its errors, in a word each. What is left out is the same
for every endpoint: limits, versions, the shape of an error."""

MARGIN = max(map(len, LABELS.values())) + 2


def to_screen(explanation: Explanation) -> str:
    """Each fact behind its line, in at most two lines, or in one where the screen is too small for that."""
    sizes = [(MOST, 2), *((most, 1) for most in range(MOST, FEWEST - 1, -1))]
    tried = (_lines(explanation, most, high) for most, high in sizes)
    lines = next((lines for lines in tried if len(lines) <= LINES), None) or _lines(explanation, FEWEST, 1)
    return "\n".join(lines) + "\n"


def _lines(explanation: Explanation, most: int, high: int) -> list[str]:
    place = f"{visible(explanation.contract)}:{explanation.place.line}"
    lines = [f"{visible(explanation.about)}: {explanation.outcome}", place, ""]
    for section in explanation.sections:
        if section.title in LABELS:
            lines += _of_section(LABELS[section.title], section.items, most, high)
        elif section.title == ERRORS:
            lines += _of_errors(section, most, high)
    return [*lines, "", "Each fact with all that is under it, and the meanings that it rests on: --all"]


def _of_section(label: str, items: tuple[Item, ...], most: int, high: int) -> Iterator[str]:
    for number, item in enumerate(items[:most]):
        # Which line of part 5 it is matters less than what that line says.
        said = item.items if label == CALLERS and item.items else (item,)
        words = "; ".join(_words(each) for each in every(said))
        yield from _fact(label if number == 0 else "", item, words, high)
    if len(items) > most:
        yield from _wrapped("", "", f"… and {len(items) - most} more")


def _of_errors(section: Section, most: int, high: int) -> Iterator[str]:
    """Those that have to do with what this endpoint acts on and who calls, a line each; the others by name."""
    codes = [item for item in section.items if any(each.cause is not None for each in item.items)]
    own = [item for item in codes if any(_is_own(each) for each in item.items)]
    for number, item in enumerate(own[:most]):
        causes = [each for each in item.items if _is_own(each)]
        more = f" (and {len(causes) - 1} more)" if len(causes) > 1 else ""
        words = f"{_begin(item)} {_words(causes[0]).split(': ', 1)[-1]}{more}"
        yield from _fact("errors" if number == 0 else "", causes[0], words, high)
    if len(own) > most:
        yield from _wrapped("", "", f"… and {len(own) - most} more")
    told = {each for each in map(_begin, own) if len(each) > 3}
    others = [each for each in dict.fromkeys(map(_begin, codes)) if each not in told]
    if others:
        by_status = (f"{status} {_listed(found)}".strip() for status, found in groupby(others, lambda each: each[:3]))
        yield from _wrapped("" if own else "errors", "", "as of any endpoint: " + ", ".join(by_status))


def _is_own(item: Item) -> bool:
    """Whether it has to do with what the endpoint acts on. A precondition does where the contract has entity tags for
    it: HTTP itself lets any request have one."""
    if item.cause is None or (item.cause.condition == "precondition failed" and item.place is None):
        return False
    return bool(BY_NAME[item.cause.condition].narrowed)


def _begin(item: Item) -> str:
    """The status and the code: what comes before its title."""
    return item.text.partition(",")[0]


def _listed(found: Iterable[str]) -> str:
    """The codes; a bare status has none."""
    return ", ".join(each[4:] for each in found if len(each) > 3)


def _words(item: Item) -> str:
    """A fact without the meanings that it rests on."""
    cited = f" [{', '.join(item.meanings)}]" if item.meanings else ""
    return sentence(item).removesuffix(cited)


def _fact(label: str, item: Item, words: str, high: int) -> list[str]:
    place = next((each.place for each in (item, *every(item.items)) if each.place is not None), None)
    return _wrapped(label, "" if place is None else str(place.line), words, high)


def _wrapped(label: str, place: str, words: str, high: int | None = None) -> list[str]:
    """`high`: in how many lines at most."""
    before = f"{label:<{MARGIN}}{place:>5}  "
    after = " " * len(before)
    return textwrap.wrap(
        words,
        WIDTH,
        initial_indent=before,
        subsequent_indent=after,
        break_on_hyphens=False,
        max_lines=high,
        placeholder=" …",
    )
