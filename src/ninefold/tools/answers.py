"""How an answer to a question is written: the keys that give it, an example, and how much there is to write.

Nothing here is about the contract at hand. The examples are those of the blank contract, about a service that keeps
notes; they show the form of an answer, and are nobody's answer.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cache

from ninefold.contract.questions.ask import written_path
from ninefold.contract.questions.question import PART_QUESTIONS
from ninefold.diagnostics.source import Source
from ninefold.language.key import Key
from ninefold.language.question import Question
from ninefold.language.shapes import (
    Boolean,
    Date,
    Duration,
    Expression,
    HeaderName,
    Integer,
    MediaType,
    Name,
    Names,
    OneOf,
    Path,
    Shape,
    Size,
    Text,
    Word,
)
from ninefold.language.table import place_of, vocabulary
from ninefold.syntax.nodes import NUMBERED_TITLES, Entry, Mapping
from ninefold.syntax.parser import Form, parse
from ninefold.tools.blank import EXAMPLES

WHOLE_PART = 4
"""The effort of a part that shows nothing yet."""


def keys_answering(question: Question) -> tuple[Key, ...]:
    """The keys that answer a question, in the table's order, but for those of a case, which are its endpoint's. A
    question about a whole part, and a `not shown` at a key that no question asks for, have none of their own."""
    own = (key for key in vocabulary() if place_of(key) == (key.part, key.path))
    return tuple(key for key in own if key.part == question.part and key.question == question.id)


def effort(question: Question, whole: bool = False) -> int:
    """How much there is to write at least, to put short answers first: 1 is a word or a number, 2 a name, an
    expression or a text, 3 a list or a mapping, 4 a part. `whole`: the part shows nothing yet."""
    keys = keys_answering(question)
    if whole or question in PART_QUESTIONS:
        return WHOLE_PART
    match keys:
        case []:
            return 2
        case [outer, inner] if inner.parent == outer.path:
            return _effort(inner.shape)
        case _:
            return min(_effort(key.shape) for key in _outermost(keys))


def _effort(shape: Shape) -> int:
    match shape:
        case Word() | Boolean() | Integer() | Duration() | Size() | Date() | MediaType() | HeaderName() | Path():
            return 1
        case Name() | Expression() | Text() | Names(alone=True):
            return 2
        case OneOf(shapes):
            return min(map(_effort, shapes))
        case _:
            return 3


def _outermost(keys: tuple[Key, ...]) -> list[Key]:
    depth = min(key.path.count(".") for key in keys)
    return [key for key in keys if key.path.count(".") == depth]


@cache
def example(question: Question, whole: bool = False) -> str | None:
    """An answer to the question as the blank contract has it, as YAML, or in words for part 1. `whole`: the part
    shows nothing yet, and all of it is asked for. None: that contract is not asked this question."""
    if question.part == 0:
        return None
    if question.part == 1 or whole or (question in PART_QUESTIONS and not keys_answering(question)):
        return _without_fence(EXAMPLES[question.part - 1])
    facts = _facts(question.part)
    for path in _paths(keys_answering(question)):
        if (found := _find(facts, question.part, "", path)) is not None:
            return _written(question.part, found)
    return None


def _paths(keys: tuple[Key, ...]) -> Iterator[str]:
    """Where the answer may stand in the table, the outermost place first. Where several keys beside each other give
    it, as `type` and `references` do, it is the thing that they describe."""
    parents = Counter(key.parent for key in keys)
    for key in sorted(keys, key=lambda key: key.path.count(".")):
        several = parents[key.parent] > 1 and key.parent.rpartition(".")[2].isupper()
        yield key.parent if several else key.path


def _source(part: int) -> Source:
    return Source("example.md", f"# Notes\n\n## {NUMBERED_TITLES[part - 1]}\n\n{EXAMPLES[part - 1]}\n")


@cache
def _facts(part: int) -> Mapping:
    return parse(_source(part), Form.LITERATE).value.parts[part - 1].facts


def _find(facts: Mapping, part: int, at: str, path: str) -> tuple[Entry, ...] | None:
    """The entries that a path of the table leads through; the first where a segment stands for any name."""
    for entry in facts.entries:
        below = written_path(part, at, entry.name)
        if below == path:
            return (entry,)
        if path.startswith(below + ".") and isinstance(entry.value, Mapping):
            found = _find(entry.value, part, below, path)
            if found is not None:
                return (entry, *found)
    return None


def _written(part: int, entries: tuple[Entry, ...]) -> str:
    """The last entry as it is written, with the keys above it."""
    source, (*above, entry) = _source(part), entries
    lines = [f"{'  ' * depth}{source.cut(each.key.span)}:" for depth, each in enumerate(above)]
    indent = " " * (source.place(entry.span.start).column - 1)
    text = textwrap.dedent(indent + source.cut(entry.span).rstrip())
    return "\n".join([*lines, textwrap.indent(re.sub(r"^(\S[^:]*:) +", r"\1 ", text), "  " * len(above))])


def _without_fence(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("```"))
