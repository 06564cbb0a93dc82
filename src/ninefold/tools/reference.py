"""What the reference says of a key, a verb, a condition and a fixed meaning: the pages of docs/reference, and
`ninefold explain KEY`; and where else a word stands, a function or a keyword of JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Literal

from ninefold.contract.questions.question import QUESTIONS
from ninefold.diagnostics.frozen import dataclass
from ninefold.language.conditions import CONDITIONS, Condition, ways_to_narrow
from ninefold.language.json_schema import REFUSED, keywords
from ninefold.language.key import Key
from ninefold.language.meanings import Meaning, meaning_named, meanings
from ninefold.language.question import Question
from ninefold.language.shapes import describe, sight_of
from ninefold.language.table import SHAPES, counted, holders, is_item, key_at, keys_under, shape_of, shapes, told_verbs
from ninefold.syntax.nodes import PARTS
from ninefold.tools import functions

LANGUAGE = "language.md"
"""The page of the shapes, keys, verbs, conditions and global meanings, in docs."""

SHAPES_PAGE = "reference/shapes.md"
"""That of the keys of shapes."""

SCHEMAS_PAGE = "reference/schemas.md"
"""That of the keywords of JSON Schema."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is said under one heading of a page. `name`: what it is asked for by. `place`: where meanings belong to it
    (`4 ENDPOINT.etag`, `verb put`); a global meaning has none. `meanings`: those, and what it cites.
    `key`: the row of the table, and what it `says`, with its shape. A `row` has no heading of its own."""

    name: str
    page: str
    heading: str
    paragraphs: tuple[str, ...]
    sort: Literal["key", "verb", "condition", "meaning", "row"] = "meaning"
    place: str = ""
    meanings: tuple[Meaning, ...] = ()
    key: Key | None = None
    says: str = ""

    @property
    def line(self) -> str:
        """Its line in the table of keys: the first sentence, with its shape. The rest stands at its heading."""
        first = first_sentence(self.says)
        shape = re.search(r" \([A-Z]+\)$", self.says)
        return first if shape is None or first.endswith(shape[0]) else first + shape[0]

    @property
    def link(self) -> str:
        return f"{self.page}#{anchor(self.heading)}"


def first_sentence(text: str) -> str:
    """What stands in a table; the rest stands at a heading."""
    return re.split(r"(?<=\.) (?=[A-Z`])", text, maxsplit=1)[0]


def page_of(part: int) -> str:
    """The page of a part, in docs: `reference/4-endpoints.md`."""
    return f"reference/{part}-{PARTS[part - 1]}.md"


def anchor(heading: str) -> str:
    """How a heading is linked to, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def entries() -> tuple[Entry, ...]:
    """All of them, page by page."""
    keys = (_of_key(key, key.path, page_of(part)) for part in range(2, len(PARTS) + 1) for key in counted(part))
    of_shapes = ((f"{shape}.{path}", key) for shape, below in shapes().items() for path, key in below.items())
    own = (_of_key(key, name, SHAPES_PAGE) for name, key in of_shapes)
    everywhere = (each for each in meanings().values() if each.is_global)
    told = (Entry(each.name, LANGUAGE, each.title, (each.text,)) for each in everywhere)
    return (*keys, *own, *_of_verbs(), *map(_of_condition, CONDITIONS), *told)


def on(page: str) -> Iterator[Entry]:
    return (each for each in entries() if each.page == page)


@cache
def _by_place() -> Mapping[str, Entry]:
    return {each.place: each for each in entries() if each.place}


def entry_at(place: str) -> Entry:
    """The entry at a meaning's place. `KeyError`: there is no such key or verb."""
    number, _, path = place.partition(" ")
    if number.isdecimal() and (shape := shape_of(key_at(int(number), path))) is not None:
        return next(each for each in on(SHAPES_PAGE) if each.name == ".".join(shape))
    return _by_place()[place]


def entry_of(meaning: Meaning) -> Entry:
    """Where a meaning is told in full."""
    if meaning.places:
        return entry_at(meaning.places[0])
    return next(each for each in on(LANGUAGE) if each.name == meaning.name)


def asked_for(name: str) -> tuple[Entry, ...]:
    """What is meant by a name: by all of it, as its heading has it too (`put R`), or else by the end of a key's path
    (`pages`, `TRANSITION.after`)."""
    wanted = _asked(name)
    found = tuple(each for each in entries() if wanted in (_asked(each.name), _asked(each.heading)))
    if name in meanings() and not found:
        meaning = meaning_named(name)
        found = (replace(entry_of(meaning), paragraphs=(_in_full(meaning),), meanings=()),)
    ends = tuple(each for each in entries() if each.name.casefold().endswith(f".{wanted}"))
    return (*found, *(each for each in ends if each not in found), *_rows_of(wanted))


def _rows_of(wanted: str) -> Iterator[Entry]:
    """What tables say of a word that has no heading of its own: a function, an operator, a macro, a keyword of JSON
    Schema, or one that is written otherwise here."""
    for heading, told in functions.told_of(wanted):
        yield Entry(wanted, functions.PAGE, heading, told, "row")
    for key in keywords(2, ""):
        if key.name.casefold() == wanted:
            kind, says = _of_key(key, key.name, SCHEMAS_PAGE).paragraphs
            yield Entry(key.name, SCHEMAS_PAGE, "Schemas", (f"`{key.name}` · {kind}", says), "row")
    for keyword, instead in REFUSED.items():
        if keyword.casefold() == wanted:
            yield Entry(keyword, SCHEMAS_PAGE, "Schemas", (f"`{keyword}` is not in the language: {instead}.",), "row")


def _asked(heading: str) -> str:
    return heading.replace("`", "").casefold()


def names() -> Iterator[str]:
    """All that can be asked for."""
    for each in entries():
        yield each.name
        yield each.name.rpartition(".")[2]
    yield from meanings()
    yield from functions.names()
    yield from (key.name for key in keywords(2, ""))
    yield from REFUSED


def on_page(entry: Entry) -> str:
    """An entry in Markdown; a meaning that is told in full elsewhere is a link."""
    told = [f"### {entry.heading}", *entry.paragraphs]
    for each in entry.meanings:
        at = entry_of(each)
        where = at.link.removeprefix("reference/") if at.page != LANGUAGE else f"../{at.link}"
        told.append(_in_full(each) if at is entry else f"**{each.title}**: at [{at.heading}]({where}).")
    return "\n\n".join(told)


def as_text(entry: Entry, above: Container[Meaning] = ()) -> tuple[str, ...]:
    """Its paragraphs for a terminal, where it stands first; every meaning in full, but for those that stand above."""
    meanings = (f"**{each.title}**: above." if each in above else _in_full(each) for each in entry.meanings)
    told = "\n\n".join((*entry.paragraphs, *meanings)).split("\n\n")
    return (f"{entry.heading.replace('`', '')}: docs/{entry.link}", *map(_plain, told))


def _plain(text: str) -> str:
    """Without the marks of links and of emphasis; what is code stays as it is (`If-None-Match: *`)."""
    unlinked = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    return "`".join(each if number % 2 else each.replace("*", "") for number, each in enumerate(unlinked.split("`")))


def _in_full(meaning: Meaning) -> str:
    return f"**{meaning.title}.** {meaning.text}"


def _of_key(key: Key, name: str, page: str) -> Entry:
    holds = SHAPES.get(key.name, "")
    says = f"{key.meaning} ({holds})" if key.name in holders(holds) else key.meaning
    kind = [f"*{key.kind_in_words}*", describe(key.shape)]
    if (of := shape_of(key)) is not None and (at := holders(*of)) != holders(of[0]):
        kind.append("at " + ", ".join(f"`{name}`" for name in at) + " alone")
    here = (key, *filter(is_item, keys_under(key.part, key.path)))
    sight = next((found for each in here if (found := sight_of(each.shape)) is not None), None)
    if sight is not None:
        kind.append(f"reads {sight.value}")
    paragraphs = (" · ".join(kind), f"{says} Absent: {key.absence[:1].lower()}{key.absence[1:]}{_asked_for(key)}")
    place = f"{key.part} {key.path}"
    return Entry(name, page, f"`{name}`", paragraphs, "key", place, _belonging(place), key, says)


def question_of(key: Key) -> Question | None:
    """What is asked where a key is missing; None: nothing, or another line holds."""
    return None if key.line is not None else next((each for each in QUESTIONS if each.id == key.question), None)


def _asked_for(key: Key) -> str:
    question = question_of(key)
    if question is None:
        return ""
    asked = f", {question.asked}" if question.asked and key.when is None else ""
    return f" Asked for: {question.in_general}{asked}."


def _of_verbs() -> Iterator[Entry]:
    for written, does, which, body, shown in told_verbs():
        name = "transition" if ":" in written else re.sub(r" [A-Z]+$", "", written.strip("`"))
        place = f"verb {name}"
        told = f"{does} The row: {which}. The body: {body}. A response may show: {shown}."
        yield Entry(name, page_of(4), written, (told,), "verb", place, _belonging(place))


def _of_condition(condition: Condition) -> Entry:
    told = (
        f"{condition.words[:1].upper()}{condition.words[1:]}. Without a code: {condition.status}, with an empty body."
    )
    if ways := ways_to_narrow(condition.name):
        told += f" May be narrowed to {' or '.join(ways)}."
    place = f"condition {condition.name}"
    cited = tuple(map(meaning_named, condition.meanings))
    return Entry(condition.name, page_of(7), f"`{condition.name}`", (told,), "condition", place, cited)


def _belonging(place: str) -> tuple[Meaning, ...]:
    return tuple(each for each in meanings().values() if place in each.places)
