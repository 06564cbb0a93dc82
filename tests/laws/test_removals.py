"""What the absence of each key costs is what its kind says: facts taken out of complete contracts, one at a time.

Every entry of every mapping and every item of every list is taken out of the text, at its exact place, and so is
every value, for which `not shown` is written instead. Then the contract is compiled again. No contract that comes of
it crashes anything, none stops being YAML, and:

| kind      | taken out                                                | `not shown` instead               |
|-----------|----------------------------------------------------------|-----------------------------------|
| asked     | an open question, or an error where something uses it    | an open question, at that place   |
| restricts | nothing                                                  | an open question, at that place   |
| adds      | nothing                                                  | an open question, at that place   |
| tells     | nothing                                                  | an open question, at that place   |
| names     | an error where something uses the name                   | an open question, or such an error|

Whatever is taken out may be used by something else, and then that is an error there. Where this table does not hold,
`EXCEPTIONS` says why. `pytest -s` prints how often each kind came to what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import render
from ninefold.diagnostics.source import Span
from ninefold.pipeline import Loaded, compile_document
from ninefold.syntax.nodes import Mapping, Node, Scalar, Sequence
from ninefold.vocabulary import Key, Kind, is_open, key_named, keys_under
from ninefold.vocabulary.shapes import JSON, JSONSchema, ListOf, MappingOf, OneOf, Shape, Template

ROOT = Path(__file__).parents[2]
CONTRACTS = [ROOT / "examples" / "orders.md"]
CASES = sorted((ROOT / "tests" / "cases").glob("*/contract.md"))

Outcome: TypeAlias = Literal["nothing", "question", "error", "question and error"]

SYNTAX = ("NF01", "NF02")
"""The codes of what is no document any more: never to be seen here."""


@dataclass(frozen=True)
class Fact:
    """An entry or an item as it is written. `path` is its row of the vocabulary, or, inside templates, schemas and
    values, that of the key that holds them. `taken_out` and `not_shown` are texts of the whole document."""

    path: str
    kind: Kind
    name: str
    place: Span
    taken_out: str
    not_shown: str


# Facts and their kinds.


def facts(loaded: Loaded) -> Iterator[Fact]:
    for part in loaded.document.parts:
        if part.facts.entries:
            yield from _of_mapping(loaded.source.text, part.facts, part.number, "", None, top=True)


def _of_mapping(
    text: str, node: Mapping, part: int, path: str, key: Key | None, *, top: bool = False
) -> Iterator[Fact]:
    for index, entry in enumerate(node.entries):
        own = _key(part, path, entry.name, key)
        cut = _cut_entry(text, node, index, top=top)
        yield _fact(text, part, own, entry.name, cut, entry.value)
        yield from _below(text, entry.value, part, own)


def _below(text: str, node: Node, part: int, key: Key) -> Iterator[Fact]:
    match node:
        case Mapping():
            yield from _of_mapping(text, node, part, key.path, key)
        case Sequence():
            for index, item in enumerate(node.items):
                own = _item(part, key)
                yield _fact(text, part, own, f"item {index}", _cut_item(text, node, index), item)
                yield from _below(text, item, part, own)
        case Scalar():
            pass


def _fact(text: str, part: int, key: Key, name: str, cut: tuple[Span, str], value: Node) -> Fact:
    span, instead = cut
    return Fact(
        path=f"{part} {key.path}",
        kind=key.kind,
        name=name,
        place=value.span,
        taken_out=text[: span.start] + instead + text[span.end :],
        not_shown=text[: value.span.start] + "not shown" + text[value.span.end :],
    )


def _key(part: int, path: str, name: str, holder: Key | None) -> Key:
    """The row of a key: its own, the placeholder that stands for it, or, inside a schema, a template or a value,
    a row of the same path that says what such a member does."""
    if found := key_named(part, path, name):
        return found
    if is_open(part, path):
        return next(key for key in keys_under(part, path) if key.is_placeholder)
    assert holder is not None, (path, name)
    return _inside(holder)


def _item(part: int, holder: Key) -> Key:
    """The row of an item of a list: the placeholder for it, or that of the list."""
    if is_open(part, holder.path):
        return next(key for key in keys_under(part, holder.path) if key.is_placeholder)
    return _inside(holder)


def _inside(holder: Key) -> Key:
    """What has no row of its own. A member of a template is shown, or read, and is not where it is not there: it
    adds. What is inside a schema narrows. The words of other lists are of the kind of their list."""
    if _has(holder.shape, Template) or _has(holder.shape, JSON):
        kind = Kind.ADDS
    elif _has(holder.shape, JSONSchema):
        kind = Kind.RESTRICTS
    else:
        kind = holder.kind
    return Key(holder.part, holder.path + ".*", kind, holder.shape, "", "")


def _has(shape: Shape, wanted: type) -> bool:
    match shape:
        case OneOf(shapes):
            return any(_has(each, wanted) for each in shapes)
        case ListOf(item):
            return _has(item, wanted)
        case MappingOf(of):
            return wanted is JSONSchema and "schemas" in of
        case _:
            return isinstance(shape, wanted)


# Surgery.


def _cut_entry(text: str, node: Mapping, index: int, *, top: bool) -> tuple[Span, str]:
    """The stretch of an entry, and what stands there without it."""
    spans = [entry.span for entry in node.entries]
    if text.startswith("{", node.span.start) and not top:
        return _cut_flow(spans, index)
    lines = _lines(text, spans[index])
    return (lines, "") if top or len(spans) > 1 else (spans[index], "{}")


def _cut_item(text: str, node: Sequence, index: int) -> tuple[Span, str]:
    spans = [item.span for item in node.items]
    if text.startswith("[", node.span.start):
        return _cut_flow(spans, index)
    dash = text.rindex("-", 0, spans[index].start)
    if len(spans) == 1:
        return Span(dash, spans[index].end), "[]"
    return _lines(text, Span(dash, spans[index].end)), ""


def _cut_flow(spans: list[Span], index: int) -> tuple[Span, str]:
    """Between braces or brackets, with the comma behind it, or before it where it is the last."""
    if index + 1 < len(spans):
        return Span(spans[index].start, spans[index + 1].start), ""
    return Span(spans[index - 1].end if index else spans[index].start, spans[index].end), ""


def _lines(text: str, span: Span) -> Span:
    end = text.find("\n", span.end)
    return Span(text.rfind("\n", 0, span.start) + 1, len(text) if end < 0 else end + 1)


# What comes of it.


def outcome(loaded: Loaded) -> Outcome:
    errors = _errors(loaded)
    if loaded.open_questions:
        return "question and error" if errors else "question"
    return "error" if errors else "nothing"


def _errors(loaded: Loaded) -> list[str]:
    return [each.code.id for each in loaded.diagnostics if each.code.severity is Severity.ERROR]


_USED: tuple[Outcome, ...] = ("error",)
_COVERED: tuple[Outcome, ...] = ("nothing",)
_ASKS: tuple[Outcome, ...] = ("question",)

EXCEPTIONS: tuple[tuple[str, tuple[Outcome, ...], str], ...] = (
    # Asked, and what remains answers.
    ("2 RESOURCE.fields.FIELD.on delete", _COVERED, "asked only where something deletes the target"),
    ("5 permissions.ENDPOINT", _COVERED, "`all others` answers"),
    ("5 *.CALLER", _COVERED, "the others may call, or see; such callers do not"),
    ("* *.[*]", _COVERED, "a list answers as long as it says something"),
    ("* *.[*]", _USED, "an item of a list may be used like anything"),
    # Adds or restricts, and something is asked in its stead.
    ("2 RESOURCE.fields.FIELD.on create", _ASKS, "of an identifier: who makes it is asked"),
    ("* *.otherwise", _ASKS, "the condition `guard` or `invariant` arises then, and its code is asked for"),
    ("2 RESOURCE.fields.FIELD.enum", _ASKS, "where there is no `type`, it says which values there are"),
    # Adds or restricts, and something relies on it.
    ("2 *.format", _USED, "it makes a time of a text, which expressions compare with times"),
    ("2 *.items", _USED, "it says what the items are that expressions read"),
    ("9 *.CHANGE.rename", _USED, "the rest of the step is nothing without its verb"),
    ("9 *.CHANGE.remove", _USED, "the rest of the step is nothing without its verb"),
    # Names, and nothing uses the name.
    ("2 RESOURCE.fields.FIELD.back", _COVERED, "nothing reads it"),
    ("4 ENDPOINT", _COVERED, "no permission, rate or link names it"),
    ("9 versions.VERSION", _COVERED, "no older version is named elsewhere"),
    ("7 codes.CODE", _ASKS, "its `when` answers what is asked then"),
)
"""Rows of the vocabulary, as patterns, of which something else may come when a fact is taken out, and why."""

EXPECTED: dict[Kind, tuple[Outcome, ...]] = {
    Kind.ASKED: ("question", "error", "question and error"),
    Kind.RESTRICTS: ("nothing",),
    Kind.ADDS: ("nothing",),
    Kind.TELLS: ("nothing",),
    Kind.NAMES: ("error", "question and error"),
}


@cache
def complete(path: Path) -> Loaded | None:
    """A contract in which no question is open and nothing is wrong; None for the others."""
    loaded = compile_document(path.name, path.read_bytes())
    return None if loaded.open_questions or _errors(loaded) else loaded


@cache
def contracts() -> list[Path]:
    return [path for path in (*CONTRACTS, *CASES) if complete(path) is not None]


def title(path: Path) -> str:
    return path.stem if path.stem != "contract" else path.parent.name


def new_facts(path: Path) -> Iterator[Fact]:
    """The facts of a contract; of all but the first, those at keys that none before it has."""
    seen: set[str] = set()
    for each in contracts():
        whole = complete(each)
        assert whole is not None
        own = tuple(facts(whole))
        if each == path:
            yield from (fact for fact in own if fact.path not in seen)
            return
        seen |= {fact.path for fact in own}


@pytest.mark.slow
@pytest.mark.parametrize("path", contracts(), ids=title)
def test_an_absence_costs_what_its_kind_says(path: Path) -> None:
    whole = complete(path)
    assert whole is not None
    came: Counter[tuple[Kind, Outcome]] = Counter()
    wrong = []
    for fact in new_facts(path):
        loaded = compile_document(path.name, fact.taken_out.encode())
        found = outcome(loaded)
        came[fact.kind, found] += 1
        broken = [code for code in _errors(loaded) if code.startswith(SYNTAX)]
        allowed = EXPECTED[fact.kind]
        for pattern, outcomes, _ in EXCEPTIONS:
            if fnmatchcase(fact.path, pattern):
                allowed = (*allowed, *outcomes)
        if broken or found not in allowed:
            place = whole.source.place(fact.place.start)
            wrong.append(f"{place} {fact.kind.value} {fact.path} ({fact.name}): {found}\n{_told(loaded)}")
    print(f"\n{title(path)}, taken out: {_table(came)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("path", contracts(), ids=title)
def test_not_shown_is_a_gap_whatever_it_stands_for(path: Path) -> None:
    whole = complete(path)
    assert whole is not None
    came: Counter[tuple[Kind, Outcome]] = Counter()
    wrong = []
    for fact in new_facts(path):
        loaded = compile_document(path.name, fact.not_shown.encode())
        found = outcome(loaded)
        came[fact.kind, found] += 1
        errors = _errors(loaded)
        named = any(each.span.start == fact.place.start for each in loaded.open_questions)
        if any(code.startswith(SYNTAX) for code in errors) or not (named or errors):
            place = whole.source.place(fact.place.start)
            wrong.append(f"{place} {fact.kind.value} {fact.path} ({fact.name}): {found}\n{_told(loaded)}")
    print(f"\n{title(path)}, not shown: {_table(came)}")
    assert not wrong, "\n".join(wrong)


def _told(loaded: Loaded) -> str:
    errors = [each for each in loaded.diagnostics if each.code.severity is Severity.ERROR]
    questions = [f"  open: {each.text} ({loaded.source.place(each.span.start)})\n" for each in loaded.open_questions]
    return render(errors[:2], loaded.source) + "".join(questions[:3])


def _table(came: Counter[tuple[Kind, Outcome]]) -> str:
    kinds = {kind: {found: n for (k, found), n in came.items() if k is kind} for kind in Kind}
    return "; ".join(f"{k.value}: {', '.join(f'{n} {f}' for f, n in row.items())}" for k, row in kinds.items() if row)
