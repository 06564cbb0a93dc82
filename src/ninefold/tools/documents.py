"""The generated stretches of docs/language.md and docs/reference.

The chapters are written by hand and stand in the documents themselves. What the program knows, the document do not
repeat by hand: a stretch between `<!-- generated: NAME -->` and `<!-- end -->` is made from the tables of
questions, keys, conditions, conventions and fixed meanings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from ninefold.contract.questions.question import QUESTIONS
from ninefold.diagnostics.pages import CHEAT_SHEET, text_of
from ninefold.expressions.forms import MACROS, OF_TEMPLATES, SPECIAL
from ninefold.language.conditions import CONDITIONS
from ninefold.language.json_schema import REFUSED, keywords
from ninefold.language.key import Key
from ninefold.language.meanings import meanings as fixed_meanings
from ninefold.language.question import SUBJECTS
from ninefold.language.shapes import describe
from ninefold.language.table import holders, shapes, told_verbs, vocabulary
from ninefold.syntax.nodes import TITLES
from ninefold.tools import functions, reference
from ninefold.tools.blank import EXAMPLES
from ninefold.tools.propose.conventions import CONVENTIONS
from ninefold.tools.reference import first_sentence, question_of

PAGES = (
    reference.LANGUAGE,
    *(reference.page_of(part) for part in range(2, len(TITLES) + 1)),
    reference.SHAPES_PAGE,
    reference.SCHEMAS_PAGE,
    functions.PAGE,
    "cheat-sheet.md",
)
"""The documents with generated stretches."""

_STRETCH = re.compile(r"(<!-- generated: (?P<name>[a-z0-9 ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def assemble(text: str) -> str:
    """The document with its generated stretches made anew. `KeyError` where a stretch has an unknown name."""
    return _STRETCH.sub(lambda found: f"{found[1]}\n{GENERATED[found['name']]()}\n\n{found[3]}", text)


_OF_KEYS = {question_of(key) for key in vocabulary()}
_OF_PARTS = [each for each in QUESTIONS if each not in _OF_KEYS]
"""The others stand at their keys."""


def questions_of(part: int) -> Callable[[], str]:
    """The questions about a part as a whole: when each is asked, and what a gap costs."""

    def table() -> str:
        rows = (
            (each.in_general, each.asked or "always", f"{each.effect} {each.cost}")
            for each in _OF_PARTS
            if each.part == part
        )
        return _table(("question", "asked", "a gap …"), rows)

    return table


def letters() -> str:
    """What the letters stand for, by which tables speak of what a contract states."""
    return ", ".join(f"{letter} is {words}" for letter, words in SUBJECTS.items()) + "."


def conventions_of(part: int) -> Callable[[], str]:
    """What `ninefold propose` proposes in a part, and who recommends it."""

    def table() -> str:
        rows = (
            (
                each.question.in_general + (" (once it is answered)" if each.beside else ""),
                each.text,
                each.source,
            )
            for each in CONVENTIONS
            if each.question.part == part
        )
        return _table(("question", "proposal", "source"), rows)

    return table


def meanings() -> str:
    """The global ones; the others stand at their keys and verbs."""
    return "\n\n".join(f"### {each.title}\n\n{each.text}" for each in fixed_meanings().values() if each.is_global)


def entries_on(page: str, sort: str) -> Callable[[], str]:
    """What a page says of each key, verb or condition."""
    return lambda: "\n\n".join(map(reference.on_page, (each for each in reference.on(page) if each.sort == sort)))


def conditions() -> str:
    """The closed list, in its order, with bare statuses."""
    entries = (each for each in reference.entries() if each.sort == "condition")
    rows = ((_link(entry), str(each.status), each.words) for entry, each in zip(entries, CONDITIONS, strict=True))
    return _table(("condition", "bare status", "holds where"), rows)


def verbs() -> str:
    """What an endpoint may do."""
    rows = ((written, first_sentence(told), which) for written, told, which, *_ in told_verbs())
    return _table(("`does`", "", "which row"), rows)


def keys_of(part: int) -> Callable[[], str]:
    """The table of a part's keys. Those of shapes and the keywords of a schema have tables of their own."""
    return lambda: _keys_on(reference.page_of(part))


def shape_keys() -> str:
    """The keys of each shape, printed once."""
    tables = []
    for shape in shapes():
        at = ", ".join(f"`{name}`" for name in holders(shape))
        own = _keys_on(reference.SHAPES_PAGE, f"{shape}.")
        tables.append(f"### {shape}\n\nStands at {at}.\n\n{own}")
    return "\n\n".join(tables)


def _keys_on(page: str, begin: str = "") -> str:
    found = ((each, each.key) for each in reference.on(page) if each.name.startswith(begin))
    rows = ((_link(each), key.kind_in_words, each.line) for each, key in found if key is not None)
    return _table(("key", "kind", ""), rows)


def _link(entry: reference.Entry) -> str:
    return f"[{entry.heading}]({entry.link})"


def keyword_names() -> str:
    """The keywords that a schema may use."""
    return ", ".join(f"`{key.name}`" for key in keywords(2, "")) + "."


def example_of(part: int) -> Callable[[], str]:
    """The part's example in the blank contract; all of them together are one contract."""
    return lambda: EXAMPLES[part - 1]


def schema_keywords() -> str:
    return _keys(keywords(2, ""))


def refused_keywords() -> str:
    return _table(("keyword", "instead"), ((f"`{name}`", text) for name, text in REFUSED.items()))


def table_of_functions() -> str:
    return _table(("written", "types", "meaning", "in SQL"), (each[1:] for each in functions.functions()))


def table_of_forms(forms: Mapping[str, str]) -> Callable[[], str]:
    """Operators, or macros."""
    return lambda: _table(("form", "meaning"), ((f"`{form}`", says) for form, says in forms.items()))


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


_PARTS = range(2, len(TITLES) + 1)

GENERATED: Mapping[str, Callable[[], str]] = {
    "letters": letters,
    "cheat sheet": lambda: f"```yaml\n{text_of(CHEAT_SHEET)}```",
    "meanings": meanings,
    "conditions": conditions,
    "verbs": verbs,
    "shapes": shape_keys,
    "keyword names": keyword_names,
    "keywords": schema_keywords,
    "refused keywords": refused_keywords,
    "functions": table_of_functions,
    "operators": table_of_forms(SPECIAL),
    "macros": table_of_forms(MACROS),
    "forms of templates": table_of_forms(OF_TEMPLATES),
    "entries of shapes": entries_on(reference.SHAPES_PAGE, "key"),
    "entries of verbs": entries_on(reference.page_of(4), "verb"),
    "entries of conditions": entries_on(reference.page_of(7), "condition"),
    **{f"example {part}": example_of(part) for part in _PARTS},
    **{
        f"questions {part}": questions_of(part)
        for part in sorted({each.part for each in _OF_PARTS}.intersection(_PARTS))
    },
    **{f"conventions {part}": conventions_of(part) for part in sorted({each.question.part for each in CONVENTIONS})},
    **{f"keys {part}": keys_of(part) for part in _PARTS},
    **{f"entries {part}": entries_on(reference.page_of(part), "key") for part in _PARTS},
}
"""What can stand in a generated stretch, by name."""
