"""What the reference says of a key, of a verb and of a fixed meaning: docs/reference, and `ninefold explain KEY`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from ninefold.language.json_schema import KEYWORDS
from ninefold.language.key import Key
from ninefold.language.shapes import describe
from ninefold.language.table import VOCABULARY, key_at, place_of
from ninefold.language.verbs import table as verbs_table
from ninefold.meanings import Meaning, meanings
from ninefold.questions.question import QUESTIONS
from ninefold.syntax.nodes import PARTS

LANGUAGE = "language.md"
"""The page of the global meanings, in docs."""

_VERB = "verb "


@cache
def verbs() -> Mapping[str, tuple[str, ...]]:
    """What the table of verbs says of each, by its name: `put`, `sign in`, `all` of what is done to all rows."""
    rows = ((tuple(re.findall(r"`([^`]+)`", row[0])), row) for row in verbs_table())
    return {_name_of_verb(forms): row for forms, row in rows}


def _name_of_verb(forms: tuple[str, ...]) -> str:
    if len(forms) > 1:
        return "all"
    return "transition" if forms[0].islower() and forms[0] == "close note" else re.sub(r" [A-Z]+$", "", forms[0])


def page_of(part: int) -> str:
    """The page of a part, in docs: `reference/4-endpoints.md`."""
    return f"reference/{part}-{PARTS[part - 1]}.md"


def anchor(heading: str) -> str:
    """How a heading is linked to, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def link_to(meaning: Meaning) -> str:
    """Where a meaning stands, in docs."""
    if meaning.is_global:
        return f"{LANGUAGE}#{anchor(meaning.title)}"
    place = meaning.places[0]
    if place.startswith(_VERB):
        return f"{page_of(4)}#{anchor(_heading_of_verb(verb_at(place)))}"
    return f"{page_of(key_of(place).part)}#{anchor(_heading(key_of(place)))}"


def key_of(place: str) -> Key:
    """The key at a meaning's place: `4 ENDPOINT.etag`. `KeyError`: there is none."""
    part, _, path = place.partition(" ")
    return key_at(int(part), path)


def verb_at(place: str) -> tuple[str, ...]:
    """The row of the verb at a meaning's place: `verb put`. `KeyError`: there is none."""
    return verbs()[place.removeprefix(_VERB)]


def of_key(key: Key) -> Iterator[str]:
    """What is said of a key, its heading first: paragraphs in Markdown."""
    yield f"### {_heading(key)}"
    yield f"*{key.kind_in_words}*; written as {describe(key.shape)}. {key.meaning} Absent: {_lower(key.absence)}"
    question = next((each for each in QUESTIONS if each.id == key.question), None)
    if question is not None and key.absence.startswith("A gap"):
        yield f"Asked for: {question.in_general}."
    yield from _meanings_at(f"{key.part} {key.path}")


def of_verb(name: str) -> Iterator[str]:
    """What is said of a verb, its heading first: paragraphs in Markdown."""
    row = verbs()[name]
    _, does, which, body, shown = row
    yield f"### {_heading_of_verb(row)}"
    yield f"{does} The row: {which}. The body: {body}. A response may show: {shown}."
    yield from _meanings_at(f"{_VERB}{name}")


def of_meaning(meaning: Meaning) -> str:
    """A meaning as it stands under a heading."""
    first, *rest = meaning.text.split("\n\n")
    return "\n\n".join((f"**{meaning.title}.** {first}", *rest))


def keys_of(part: int) -> Iterator[Key]:
    """The keys of a part that have an entry: not those of a case, which are its endpoint's, nor the keywords of
    schemas, which have a table of their own."""
    own = (key for key in VOCABULARY if key.part == part and place_of(key) == (part, key.path))
    return (key for key in own if not _is_keyword(key))


def _is_keyword(key: Key) -> bool:
    """Whether a key belongs to a schema: its parent admits `$ref` and its name is a keyword."""
    return key.name in KEYWORDS and (key.part, f"{key.parent}.contentSchema") in _SCHEMAS


_SCHEMAS = {(key.part, key.path) for key in VOCABULARY if key.name == "contentSchema"}


def _meanings_at(place: str) -> Iterator[str]:
    """In full at the first of its places; at the others, where that is."""
    for each in meanings().values():
        if each.places[:1] == (place,):
            yield of_meaning(each)
        elif place in each.places:
            yield f"**{each.title}**: at [{_written(each.places[0])}]({link_to(each).removeprefix('reference/')})."


def _written(place: str) -> str:
    return _heading_of_verb(verb_at(place)) if place.startswith(_VERB) else _heading(key_of(place))


def _heading(key: Key) -> str:
    return f"`{key.path}`"


def _heading_of_verb(row: tuple[str, ...]) -> str:
    return row[0]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
