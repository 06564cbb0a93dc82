"""Writes the generated stretches of docs/language.md and docs/reference: `python -m ninefold.docs [DIRECTORY]`.

The chapters are written by hand and stand in the documents themselves. What the program knows, the document do not
repeat by hand: a stretch between `<!-- generated: NAME -->` and `<!-- end -->` is made from the tables of
questions, keys, conditions, conventions and fixed meanings.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ninefold.language.conditions import CONDITIONS
from ninefold.language.json_schema import REFUSED, keywords
from ninefold.language.key import Key
from ninefold.language.question import SUBJECTS
from ninefold.language.shapes import Sight, describe
from ninefold.language.table import sights as sights_of_places
from ninefold.language.verbs import table as verbs_table
from ninefold.meanings import meanings as fixed_meanings
from ninefold.questions.question import QUESTIONS
from ninefold.syntax.nodes import TITLES
from ninefold.tools import reference
from ninefold.tools.blank import EXAMPLES
from ninefold.tools.propose.conventions import CONVENTIONS

DOCS = Path("docs")

PAGES = (reference.LANGUAGE, *(reference.page_of(part) for part in range(2, len(TITLES) + 1)))
"""The documents with generated stretches."""

_STRETCH = re.compile(r"(<!-- generated: (?P<name>[a-z0-9 ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def assemble(text: str) -> str:
    """The document with its generated stretches made anew. `KeyError` where a stretch has an unknown name."""
    return _STRETCH.sub(lambda found: f"{found[1]}\n{GENERATED[found['name']]()}\n\n{found[3]}", text)


def questions() -> str:
    """All questions by part: when each is asked, and what a gap costs."""
    letters = ", ".join(f"{letter} is {words}" for letter, words in SUBJECTS.items())
    rows = (
        (str(each.part), each.text.replace("{}", each.of), each.asked or "always", f"{each.effect} {each.cost}")
        for each in QUESTIONS
    )
    return f"{letters}.\n\n" + _table(("part", "question", "asked", "a gap …"), rows)


def meanings() -> str:
    """The global ones; the others stand at their keys and verbs."""
    return "\n\n".join(f"### {each.title}\n\n{each.text}" for each in fixed_meanings().values() if each.is_global)


def reference_of(part: int) -> Callable[[], str]:
    """What is said of each key of a part, and of the verbs in part 4."""

    def entries() -> str:
        verbs = reference.verbs() if part == 4 else ()
        told = [*map(reference.of_verb, verbs), *map(reference.of_key, reference.keys_of(part))]
        return "\n\n".join(paragraph for entry in told for paragraph in entry)

    return entries


def sights() -> str:
    """Which rows an expression reads, place by place."""
    rows = []
    for sight in Sight:
        found = [f"`{path}` (part {part})" for (part, path), of in sights_of_places().items() if of is sight]
        rows.append((sight.value, ", ".join(found)))
    return _table(("reads", "an expression at"), rows)


def conditions() -> str:
    """The closed list, in its order, with bare statuses."""
    return _table(("condition", "bare status"), ((f"`{each.name}`", str(each.status)) for each in CONDITIONS))


def conventions() -> str:
    """What `ninefold propose` proposes, and who recommends it."""
    rows = (
        (
            str(each.question.part),
            each.question.text.replace("{}", each.question.of) + (" (once it is answered)" if each.beside else ""),
            each.text,
            each.source,
        )
        for each in CONVENTIONS
    )
    return _table(("part", "question", "proposal", "source"), rows)


def verbs() -> str:
    """What an endpoint may do."""
    return _table(("`does`", "what it does", "which row", "body", "a response may show"), verbs_table())


def keys_of(part: int) -> Callable[[], str]:
    """The table of a part's keys. The keywords of a schema have a table of their own."""

    def table() -> str:
        return _keys(reference.keys_of(part))

    return table


def example_of(part: int) -> Callable[[], str]:
    """The part's example in the blank contract; all of them together are one contract."""
    return lambda: EXAMPLES[part - 1]


def schema_keywords() -> str:
    return _keys(keywords(2, ""))


def refused_keywords() -> str:
    return _table(("keyword", "instead"), ((f"`{name}`", text) for name, text in REFUSED.items()))


def _keys(keys: Iterable[Key]) -> str:
    return _table(("key", "kind", "written as", "meaning", "absent"), _rows(keys))


def _rows(keys: Iterable[Key]) -> Iterator[tuple[str, ...]]:
    for key in keys:
        path = f"`{key.path.lstrip('.')}`"
        yield path, key.kind_in_words, describe(key.shape), key.meaning, key.absence


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


GENERATED: Mapping[str, Callable[[], str]] = {
    "questions": questions,
    "meanings": meanings,
    "conditions": conditions,
    "sights": sights,
    "conventions": conventions,
    "keywords": schema_keywords,
    "verbs": verbs,
    "refused keywords": refused_keywords,
    **{f"example {number}": example_of(number) for number in range(2, len(TITLES) + 1)},
    **{f"reference {number}": reference_of(number) for number in range(2, len(TITLES) + 1)},
    **{f"keys {number}": keys_of(number) for number in range(2, len(TITLES) + 1)},
}
"""What can stand in a generated stretch, by name."""


def main(arguments: list[str]) -> None:
    """Rewrites the documents in place."""
    for page in PAGES:
        path = Path(*arguments[:1] or (DOCS,)) / page
        path.write_text(assemble(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
