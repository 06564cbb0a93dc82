"""Whether what a command said is what the page shows, where some words differ each time.

A page shows one real run. In another run identifiers, tokens, times and the like are others, but each stands where
it stood, and what was the same twice is the same twice: `Known` holds what each of the page's is called this time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Any, TypeAlias

Known: TypeAlias = dict[str, str]
"""From an identifier or token on the page to the one of this run."""

ELLIPSIS = "…"
"""A line of a page that stands for any lines, or none."""

_OTHER_EACH_TIME = re.compile(
    r"""
      (?P<uuid> [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12} )
    | (?P<time> \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z )
    | (?P<date> (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),\ \d\d\ \w{3}\ \d{4}\ \d\d:\d\d:\d\d\ GMT )
    | (?P<clock> ^\d\d:\d\d:\d\d(?=\ \ ) )
    | (?<=;[rt]=)(?P<left> \d+ )
    | (?<=etag:\ )(?P<etag> "[^"]+" )
    | (?P<duration> \b\d+\.\d+\ ms\b )
    | (?<=content-length:\ )(?P<length> \d+ )
    | \b(?P<trace> \d+\.[\w-]{8}\.[\w-]+\.[\w-]{4} )(?![\w-])
    | (?<![\w-])(?P<token> (?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{40,} )(?![\w-])
    """,
    re.VERBOSE | re.ASCII,
)

_REMEMBERED = ("uuid", "token", "etag", "trace")
"""Kinds of which the same word means the same thing; two times may be equal by chance."""


def is_shown(page: str, came: str, known: Known) -> bool:
    """Whether `page` shows what came. What is newly met is added to `known`, if so. A body of JSON at the end is
    compared as JSON: a page may break its lines."""
    wanted, lines = _lines(page), _lines(came)
    pairs = _pairs([_masked(line) for line in wanted], [_masked(line) for line in lines])
    if pairs is None:
        return False
    met = dict(known)
    for shown, said in pairs:
        for one, other in zip(_words(wanted[shown]), _words(lines[said]), strict=True):
            if met.setdefault(one, other) != other:
                return False
    known.update(met)
    return True


def learn(page: str, came: str, known: Known) -> None:
    """Add to `known` what the page's identifiers are called in something that came and differs otherwise, so that the
    commands after it can go on; nothing where they are not as many."""
    shown = [word for line in _lines(page) for word in _words(line)]
    said = [word for line in _lines(came) for word in _words(line)]
    if len(shown) == len(said):
        for one, other in zip(shown, said, strict=True):
            known.setdefault(one, other)


def in_this_run(command: str, known: Known) -> str:
    """A command of the page, with the identifiers and tokens of this run."""
    return _OTHER_EACH_TIME.sub(lambda found: known.get(found[0], found[0]), command)


def as_on_the_page(came: str, known: Known) -> str:
    """What came, with the identifiers and tokens of the page."""
    of_the_page = {here: shown for shown, here in known.items()}
    return _OTHER_EACH_TIME.sub(lambda found: of_the_page.get(found[0], found[0]), came)


def wrapped(came: str, width: int = 100) -> str:
    """What came, as a page shows it: a body of JSON in lines of a readable length."""
    head, body = _split(came)
    lines = [*(line.rstrip() for line in head), *([] if body is None else _json(body, width, ""))]
    return "".join(f"{line}\n" for line in lines)


def shortened(page: str, came: str) -> str:
    """What came, with lines left out where the page leaves some out."""
    wanted, lines = page.splitlines(), came.splitlines()
    if ELLIPSIS not in wanted:
        return came
    kept: list[str] = []
    matcher = SequenceMatcher(None, [_masked(line) for line in wanted], [_masked(line) for line in lines], False)
    for how, start, end, first, last in matcher.get_opcodes():
        if how == "replace":
            # A line of the page that has changed is the one most like it.
            for line in wanted[start:end]:
                kept += [ELLIPSIS] if line == ELLIPSIS else get_close_matches(line, lines[first:last], 1)
        elif how != "delete":
            kept += lines[first:last]
        else:
            kept += [line for line in wanted[start:end] if line == ELLIPSIS]
    return "".join(f"{line}\n" for line in kept)


def _lines(text: str) -> list[str]:
    head, body = _split(text)
    # A page has no white space at the ends of its lines.
    return [*(line.rstrip() for line in head), *([] if body is None else [json.dumps(body, ensure_ascii=False)])]


def _split(text: str) -> tuple[list[str], Any]:
    """The lines, and the JSON object or array that they end in; None if they do not."""
    lines = text.strip("\n").splitlines() if text.strip() else []
    for number, line in enumerate(lines):
        if line.startswith(("{", "[")):
            try:
                return lines[:number], json.loads("\n".join(lines[number:]))
            except ValueError:
                continue
    return lines, None


def _json(value: Any, width: int, indent: str) -> Iterator[str]:
    """On one line if it fits, else a member or an item a line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= width or not isinstance(value, dict | list) or not value:
        yield line
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    members = list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]
    yield opening
    for number, (name, member) in enumerate(members):
        first, *rest = _json(member, width - 1, indent + "  ")
        key = "" if name is None else json.dumps(name, ensure_ascii=False) + ": "
        lines = [indent + "  " + key + first, *rest]
        lines[-1] += "," if number + 1 < len(members) else ""
        yield from lines
    yield indent + closing


def _masked(line: str) -> str:
    return _OTHER_EACH_TIME.sub(lambda found: f"<{found.lastgroup}>", line)


def _words(line: str) -> list[str]:
    return [found[0] for found in _OTHER_EACH_TIME.finditer(line) if found.lastgroup in _REMEMBERED]


def _pairs(wanted: Sequence[str], lines: Sequence[str]) -> list[tuple[int, int]] | None:
    """Which line of the page is which line that came; None where they do not agree."""
    if not wanted:
        return [] if not lines else None
    if wanted[0] != ELLIPSIS:
        if not lines or wanted[0] != lines[0]:
            return None
        rest = _pairs(wanted[1:], lines[1:])
        return None if rest is None else [(0, 0), *((shown + 1, said + 1) for shown, said in rest)]
    for skipped in range(len(lines) + 1):
        rest = _pairs(wanted[1:], lines[skipped:])
        if rest is not None:
            return [(shown + 1, said + skipped) for shown, said in rest]
    return None
