"""An explanation as text for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from ninefold.diagnostics.render import visible
from ninefold.tools.explain.explanation import Explanation, Item

WIDTH = 100
"""Columns of the text."""

MARGIN = 7
"""Columns before a fact: its line, in five, and two blanks."""

STANDINGS = {
    "in force": "",
    "gap": "gap",
    "proposed": "proposed, not in force",
    "accepted": "a proposal that was accepted",
    "not in force": "not in force in this build",
    "wrong": "",
}
"""What is said behind a fact about how it stands."""


def sentence(item: Item) -> str:
    """A fact with how it stands, and in brackets the fixed meanings that it rests on."""
    standing = STANDINGS[item.standing]
    remark = ": ".join(filter(None, (standing, item.consequence)))
    words = f"{item.text} ({remark})" if remark else item.text
    cited = f" [{', '.join(item.meanings)}]" if item.meanings else ""
    return visible(" ".join(words.split())) + cited


def to_text(explanation: Explanation, *, with_meanings: bool = True) -> str:
    """Each fact behind its line; what stands on no line of the contract, behind none."""
    lines = [f"{visible(explanation.about)}: {explanation.outcome}"]
    lines += [f"{visible(explanation.contract)}:{explanation.place.line}"]
    for section in explanation.sections:
        lines += ["", section.title, *_text(section.items, 0)]
    if explanation.meanings and not with_meanings:
        lines += ["", "With the meanings in brackets, which are the same in every service: --all"]
    elif explanation.meanings:
        lines += ["", "Meanings, the same in every service"]
        for meaning in explanation.meanings:
            first, *more = meaning.text.split("\n\n")
            lines += _wrapped("", f"[{meaning.name}] {first}", 0)
            lines += (line for each in more for line in _wrapped("", each, 1))
    return "\n".join(lines) + "\n"


def _text(items: Iterable[Item], depth: int) -> Iterator[str]:
    for item in items:
        yield from _wrapped(str(item.place.line) if item.place is not None else "", sentence(item), depth)
        yield from _text(item.items, depth + 1)


def _wrapped(margin: str, words: str, depth: int) -> list[str]:
    before = f"{margin:>{MARGIN - 2}}  " + "  " * depth
    after = " " * (MARGIN + 2 * depth + 2)
    return textwrap.wrap(
        words, WIDTH, initial_indent=before, subsequent_indent=after, break_on_hyphens=False, break_long_words=False
    )


def to_markdown(explanation: Explanation) -> str:
    """Headings and lists; each fact begins with its line."""
    lines = [f"# {_escaped(explanation.about)}", ""]
    lines += [f"{_escaped(explanation.contract)}, line {explanation.place.line}: {explanation.outcome}."]
    for section in explanation.sections:
        lines += ["", f"## {section.title}", "", *_markdown(section.items, 0)]
    if explanation.meanings:
        lines += ["", "## Meanings", "", "The same in every service.", ""]
        lines += [f"- [{meaning.name}] {' '.join(meaning.text.split())}" for meaning in explanation.meanings]
    return "\n".join(lines) + "\n"


def _markdown(items: Iterable[Item], depth: int) -> Iterator[str]:
    for item in items:
        line = f"{item.place.line}: " if item.place is not None else ""
        yield f"{'  ' * depth}- {line}{_escaped(sentence(item))}"
        yield from _markdown(item.items, depth + 1)


def _escaped(text: str) -> str:
    """What is not between backticks, with the signs that Markdown reads written as themselves."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return "".join(_plain(part) for part in text)
    return "`".join(part if index % 2 else _plain(part) for index, part in enumerate(parts))


def _plain(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\`*_<>#|" else sign for sign in text)


def to_json(explanation: Explanation) -> dict[str, Any]:
    """The form of `ninefold explain --format json`, which is added to and never changed:

    - `contract`, `about` (an endpoint's key, or the service's title), `line`, `column`, `outcome`
    - `sections`: each with `title` and `items`
    - an item: `text`; `line` and `column`, counted from 1, or null where no single place of the contract says it;
      `standing` (`in force`, `gap`, `proposed`, `accepted`, `not in force` or `wrong`) and `consequence`, `""` if
      there is none to tell; `meanings`, the names of fixed meanings; `items`; and, of what makes the service
      refuse a request, `cause`: `condition`, `subject` or null, `code` or null, `status`
    - `meanings`: each with `name`, `text`, and `places`, the keys and verbs that it belongs to; a global one has none
    """
    return {
        "contract": explanation.contract,
        "about": explanation.about,
        "line": explanation.place.line,
        "column": explanation.place.column,
        "outcome": explanation.outcome,
        "sections": [
            {"title": section.title, "items": [_json(item) for item in section.items]}
            for section in explanation.sections
        ],
        "meanings": [
            {"name": each.name, "text": each.text, "places": list(each.places)} for each in explanation.meanings
        ],
    }


def _json(item: Item) -> dict[str, Any]:
    found: dict[str, Any] = {
        "text": item.text,
        "line": None if item.place is None else item.place.line,
        "column": None if item.place is None else item.place.column,
        "standing": item.standing,
        "consequence": item.consequence,
        "meanings": list(item.meanings),
        "items": [_json(each) for each in item.items],
    }
    if item.cause is not None:
        cause = item.cause
        found["cause"] = {
            "condition": cause.condition,
            "subject": cause.subject,
            "code": cause.code,
            "status": cause.status,
        }
    return found
