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
`EXCEPTIONS` says why. `pytest -s` prints how often each kind came to what. What the service does without each fact is
judged in `tests/honesty`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

import pytest
from tests.contracts import OWN, ROOT, compiled, title
from tests.slices import some

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import render
from ninefold.diagnostics.source import Span
from ninefold.diff.ablate.facts import Written, without, written
from ninefold.language.key import Kind
from ninefold.language.parameters import EFFECTS
from ninefold.language.table import keys_under
from ninefold.pipeline import Loaded, compile_document, compile_tree
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence

CONTRACTS = [ROOT / "examples" / "orders.md", *(path for path in OWN if path.suffix == ".md")]

SAMPLE = 15
"""`make test` takes one of so many facts out, `make honesty` every one."""

Outcome: TypeAlias = Literal["nothing", "question", "error", "question and error"]

SYNTAX = ("NF01", "NF02")
"""The codes of what is no document any more: never to be seen here."""


@dataclass(frozen=True)
class Fact:
    """A fact as it is written in a text; without it there is `instead` at a stretch of it."""

    written: Written
    text: str
    stretch: Span
    instead: str

    @property
    def taken_out(self) -> str:
        """The whole document without it."""
        return self.text[: self.stretch.start] + self.instead + self.text[self.stretch.end :]

    @property
    def not_shown(self) -> str:
        """The whole document in which it is not shown."""
        return self.text[: self.place.start] + "not shown" + self.text[self.place.end :]

    @property
    def path(self) -> str:
        return f"{self.written.part} {self.written.path}"

    @property
    def kind(self) -> Kind:
        return self.written.kind

    @property
    def name(self) -> str:
        return self.written.names[-1]

    @property
    def place(self) -> Span:
        return self.written.place


def facts(loaded: Loaded) -> Iterator[Fact]:
    text = loaded.source.text
    cuts = (cut for part in loaded.document.parts for cut in _cuts(text, part.facts, top=True))
    for fact, (span, instead) in zip(written(loaded.document), cuts, strict=True):
        yield Fact(fact, text, span, instead)


def _cuts(text: str, node: Node, *, top: bool = False) -> Iterator[tuple[Span, str]]:
    """The stretches of all facts of a node, and what stands there without each, in the order of `written`."""
    match node:
        case Mapping(entries=entries):
            for index, entry in enumerate(entries):
                yield _cut_entry(text, node, index, top=top)
                yield from _cuts(text, entry.value)
        case Sequence(items=items):
            for index, item in enumerate(items):
                yield _cut_item(text, node, index)
                yield from _cuts(text, item)
        case Scalar():
            pass


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
    ("4 ENDPOINT.pages*", _COVERED, "part 8 answers"),
    ("4 ENDPOINT.ends", _COVERED, "asked where signing out is all that an endpoint does"),
    ("5 schemes.SCHEME.realm", _COVERED, "asked of HTTP's Basic scheme alone"),
    ("5 permissions.ENDPOINT", _COVERED, "`all others` answers"),
    ("* *.[*]", _COVERED, "a list answers as long as it says something"),
    ("* *.[*]", _USED, "an item of a list may be used like anything"),
    ("9 *.CHANGE.was.*", _ASKS, "it is said in the words of part 4, of which some are asked for"),
    # Adds or restricts, and something is asked in its stead.
    ("2 RESOURCE.fields.FIELD.on create", _ASKS, "of a primary key: who makes it is asked"),
    ("2 *.enum", _ASKS, "where there is no `type`, it says which values there are"),
    ("4 ENDPOINT.query.PARAMETER.enum", _ASKS, "where there is no `type`, it says which values there are"),
    *(
        (f"4 ENDPOINT.query.PARAMETER.{effect}", _ASKS, "where there is no `type`, it says which values there are")
        for effect in EFFECTS
    ),
    ("4 ENDPOINT.query.PARAMETER.selects", ("question and error",), "what is `always` shown says nothing without it"),
    ("4 ENDPOINT.where", _ASKS, "of a path that identifies nothing: which row is meant is asked"),
    # Adds or restricts, and something relies on it.
    ("2 RESOURCE.fields.FIELD.on create", _USED, "it makes the token that a response tells as `issued.NAME`"),
    ("2 *.format", _USED, "it makes a time of a text, which expressions compare with times"),
    ("2 *.items", _USED, "it says what the items are that expressions read"),
    ("2 *.oneOf", _USED, "it says of which types the members are that expressions read"),
    ("2 *.properties", _USED, "it says what the members are that expressions read"),
    ("2 *.if", _USED, "without it `then` does not count, whose members expressions read"),
    ("2 *.then", _USED, "it says which further members there are that expressions read"),
    ("4 ENDPOINT.grant", _USED, "a token or a narrowed condition is of what clients sign in by"),
    ("4 ENDPOINT.issues", _USED, "the response shows the credential, and where `anyone` calls there is no other"),
    ("4 ENDPOINT.query*", _USED, "expressions read the parameters, if only those of part 5"),
    ("* *.also.EFFECT.where", _USED, "it says which rows that are there change: never all of them in silence"),
    ("* *.also.EFFECT.each", _USED, "expressions read its items"),
    ("* *.also.EFFECT.sets", _USED, "the row that is created requires what it gives"),
    ("* *.also.EFFECT.sets.FIELD", _USED, "the row that is created requires what it gives"),
    ("9 *.CHANGE.rename", _USED, "the rest of the step is nothing without its verb"),
    ("9 *.CHANGE.remove", _USED, "the rest of the step is nothing without its verb"),
    ("9 *.CHANGE.change", _USED, "the rest of the step is nothing without its verb"),
    ("9 *.CHANGE.is", _USED, "nothing can be stored by what nobody was shown"),
    ("9 *.CHANGE.stored", _USED, "what older clients give would be lost"),
    (
        "9 *.CHANGE.was",
        _USED,
        "what is shown is of the schema that is told of it",
    ),
    # Names, and nothing uses the name.
    ("2 RESOURCE.fields.FIELD.inverse", _COVERED, "nothing reads it"),
    ("4 ENDPOINT", _COVERED, "no permission, rate or link names it"),
    ("6 kinds.KIND", _COVERED, "no older version names it"),
    ("9 versions.VERSION", _COVERED, "no older version is named elsewhere"),
    ("7 codes.CODE", _ASKS, "its `for` answers what is asked then"),
)
"""Rows of the vocabulary, as patterns, of which something else may come when a fact is taken out, and why."""

EXPECTED: dict[Kind, tuple[Outcome, ...]] = {
    Kind.ASKED: ("question", "error", "question and error"),
    Kind.ASKED_WHEN: ("question", "error", "question and error", "nothing"),
    Kind.FALLS_BACK: ("question", "error", "question and error", "nothing"),
    Kind.RESTRICTS: ("nothing",),
    Kind.ADDS: ("nothing",),
    Kind.TELLS: ("nothing",),
    Kind.NAMES: ("error", "question and error"),
}


def complete(path: Path) -> Loaded | None:
    """A contract in which no question is open and nothing is wrong; None for the others."""
    loaded = compiled(path)
    return None if loaded.open_questions or _errors(loaded) else loaded


@cache
def new_facts() -> MappingProxyType[Path, list[Fact]]:
    """The facts of each complete contract; of all but the first, those at keys that none before it has."""
    seen: set[str] = set()
    found = {}
    for path in CONTRACTS:
        if (whole := complete(path)) is not None:
            own = tuple(facts(whole))
            found[path] = some([fact for fact in own if fact.path not in seen], SAMPLE)
            seen |= {fact.path for fact in own}
    return MappingProxyType(found)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_an_absence_costs_what_its_kind_says(path: Path) -> None:
    if (whole := complete(path)) is None:
        return
    came: Counter[tuple[Kind, Outcome]] = Counter()
    wrong = []
    for fact in new_facts()[path]:
        loaded = compile_document(path.name, fact.taken_out.encode())
        found = outcome(loaded)
        came[fact.kind, found] += 1
        broken = [code for code in _errors(loaded) if code.startswith(SYNTAX)]
        allowed = EXPECTED[fact.kind]
        for pattern, outcomes, _ in EXCEPTIONS:
            if fnmatchcase(fact.path, pattern):
                allowed = (*allowed, *outcomes)
        if broken or found not in allowed or _stopped_in_silence(loaded):
            place = whole.source.place(fact.place.start)
            wrong.append(f"{place} {fact.kind.value} {fact.path} ({fact.name}): {found}\n{_told(loaded)}")
    print(f"\n{title(path)}, taken out: {_table(came)}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_not_shown_is_a_gap_whatever_it_stands_for(path: Path) -> None:
    if (whole := complete(path)) is None:
        return
    came: Counter[tuple[Kind, Outcome]] = Counter()
    wrong = []
    for fact in new_facts()[path]:
        loaded = compile_document(path.name, fact.not_shown.encode())
        found = outcome(loaded)
        came[fact.kind, found] += 1
        errors = _errors(loaded)
        named = any(each.span.start == fact.place.start for each in loaded.open_questions)
        if any(code.startswith(SYNTAX) for code in errors) or not (named or errors) or _stopped_in_silence(loaded):
            place = whole.source.place(fact.place.start)
            wrong.append(f"{place} {fact.kind.value} {fact.path} ({fact.name}): {found}\n{_told(loaded)}")
    print(f"\n{title(path)}, not shown: {_table(came)}")
    assert not wrong, "\n".join(wrong)


def _stopped_in_silence(loaded: Loaded) -> bool:
    """Whether an endpoint answers 501 of which no gap says so."""
    stopped = () if loaded.checked is None or _errors(loaded) else loaded.checked.stopped
    return not {each.key for each in stopped} <= {key for each in loaded.open_questions for key in each.blocks}


def _told(loaded: Loaded) -> str:
    errors = [each for each in loaded.diagnostics if each.code.severity is Severity.ERROR]
    questions = [f"  open: {each.text} ({loaded.source.place(each.span.start)})\n" for each in loaded.open_questions]
    return render(errors[:2], loaded.source) + "".join(questions[:3])


def _table(came: Counter[tuple[Kind, Outcome]]) -> str:
    kinds = {kind: {found: n for (k, found), n in came.items() if k is kind} for kind in Kind}
    return "; ".join(f"{k.value}: {', '.join(f'{n} {f}' for f, n in row.items())}" for k, row in kinds.items() if row)


@pytest.mark.long
@pytest.mark.parametrize("path", some(CONTRACTS, 16), ids=title)
def test_what_is_asked_of_all_stands_wherever_no_question_is_open(path: Path) -> None:
    """A key that the table calls asked, without a condition, and that a complete contract does without is asked when
    something is so; the table has to say when."""
    if (whole := complete(path)) is None:
        return
    said: dict[tuple[int, str, tuple[int, ...]], set[str]] = {}
    paths = {(fact.part, fact.route): fact.path for fact in written(whole.document)}
    for fact in written(whole.document):
        if fact.is_named:
            above = paths.get((fact.part, fact.route[:-1]), "")
            said.setdefault((fact.part, above, fact.route[:-1]), set()).add(fact.names[-1])
    silent = [
        key.path
        for (part, above, _), names in said.items()
        for key in keys_under(part, above)
        if key.kind is Kind.ASKED and not key.is_placeholder and key.name not in names
    ]
    assert silent == []


KEYED = sorted(path for path in (ROOT / "tests" / "cases").glob("*/contract.*") if "unique: [[" in path.read_text())


@pytest.mark.parametrize("path", KEYED, ids=lambda path: path.parent.name)
def test_a_field_that_is_unique_with_others_may_be_missing(path: Path) -> None:
    """Of the cases, most of which the law above does not take apart. It is an error, and no fault of the program."""
    document = compiled(path).document
    groups = {
        name.text
        for resource in document.parts[1].facts.entries
        for group in _items(resource.value.get("unique") if isinstance(resource.value, Mapping) else None)
        for name in _items(group)
        if isinstance(name, Scalar)
    }
    fields = [each for each in written(document) if each.address.split(" > ")[1:2] == ["fields"]]
    taken = [each for each in fields if each.address.split(" > ")[2:] in [[name] for name in groups]]
    assert taken
    for each in taken:
        assert compile_tree(without(document, each, "taken out")).plan is None, each.address


def _items(node: Node | Entry | None) -> tuple[Node, ...]:
    value = node.value if isinstance(node, Entry) else node
    return value.items if isinstance(value, Sequence) else ()
