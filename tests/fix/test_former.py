"""What is called otherwise now, where it is met: each key, verb, condition and word that is gone names what says it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ninefold.diagnostics.codes import UNKNOWN_KEY, WRONG_WORD
from ninefold.diagnostics.diagnostic import Diagnostic, Label
from ninefold.diagnostics.source import Source
from ninefold.language.former import (
    ACTIONS,
    CONDITIONS,
    CONDITIONS_AT,
    KEYS,
    NARROWED_AT,
    UPON,
    VERBS,
    WORDS,
    At,
)
from ninefold.language.successors import named
from ninefold.syntax.nodes import PARTS, Document
from ninefold.syntax.parser import Form, parse

pytestmark = pytest.mark.usefixtures("nothing_of_it_is_in_force")

ITEMS = ("EFFECT", "CHANGE")
"""Placeholders that stand for items of a list."""


def document(at: At, key: str | None = None, value: object = "x") -> tuple[Document, str]:
    """A contract with a key at a place, in the plain form."""
    part, path = at
    segments = path.split(".")
    held: Any = value if key is None else {key: value}
    for segment in reversed(segments):
        name = {"ENDPOINT": "GET /notes"}.get(segment, segment.lower() if segment.isupper() else segment)
        held = [held] if segment in ITEMS else {name: held}
    text = json.dumps({PARTS[part - 1]: held})
    return parse(Source("contract.yaml", text), Form.PLAIN).value, text


def helped(at: At, word: str, key: str | None = None, value: object = "x") -> tuple[str, ...]:
    """The help of an error that stands at the last place of a word."""
    contract, text = document(at, key, value)
    start = text.rindex(json.dumps(word))
    label = Label(next(each for each in _spans(contract) if each.start == start))
    (said,) = named(contract, [Diagnostic(UNKNOWN_KEY if key is None else WRONG_WORD, "not known", (label,))])
    return said.help


def _spans(contract: Document) -> Any:
    from ninefold.syntax.nodes import Mapping, Sequence

    def below(node: Any) -> Any:
        yield node.span
        for entry in node.entries if isinstance(node, Mapping) else ():
            yield entry.key.span
            yield from below(entry.value)
        for item in node.items if isinstance(node, Sequence) else ():
            yield from below(item)

    for part in contract.parts:
        yield from below(part.facts)


@pytest.mark.parametrize("at", KEYS, ids=lambda at: f"{at[0]} {at[1]}")
def test_an_error_at_a_key_says_what_it_is_now(at: At) -> None:
    last = at[1].rpartition(".")[2]
    word = last.lower() if last.isupper() else last
    says, fix = helped(at, word)
    assert says == f"`{word}` is now {KEYS[at]}"
    assert fix.startswith("`ninefold fix contract.yaml` ")


def test_so_does_one_at_a_key_of_a_case() -> None:
    assert helped((4, "ENDPOINT.cases.CASE.when"), "when")[0].startswith("`when` is now `check: {that: ")


def test_an_error_at_a_mapping_that_is_none_any_more_says_it_too() -> None:
    contract, text = document((2, "RESOURCE.expires.at"))
    span = next(each for each in _spans(contract) if text[each.start : each.end] == '{"at": "x"}')
    (said,) = named(contract, [Diagnostic(WRONG_WORD, "a mapping", (Label(span),))])
    assert said.help[0] == "`at` is now left out: `expires: EXPRESSION`"


WORDS_THERE = [
    *((at, old, new) for at, words in WORDS.items() for old, new in words.items()),
    *((at, f"{old} note", f"{verb.word} note") for at in ACTIONS if at != UPON for old, verb in VERBS.items()),
    (UPON, "ensure note", "create note"),
    (UPON, "replace note", "update note"),
    (UPON, "remove note", "delete note"),
    *((at, old, new) for at in CONDITIONS_AT for old, new in CONDITIONS.items()),
    *((at, f"{old} note", f"{new} note") for at in CONDITIONS_AT for old, new in CONDITIONS.items()),
]


@pytest.mark.parametrize(("at", "old", "new"), WORDS_THERE, ids=str)
def test_an_error_at_a_word_says_what_it_is_now(at: At, old: str, new: str) -> None:
    for value in (old, [old]):
        beside = ", beside `grant: client_credentials`" if old.startswith("grant token") else ""
        assert helped(at, old, value=value)[0] == f"`{old}` is now `{new}`{beside}"


@pytest.mark.parametrize("old", CONDITIONS)
def test_an_error_at_a_condition_that_is_a_key_says_what_it_is_now(old: str) -> None:
    (at,) = NARROWED_AT
    assert helped(at, f"{old} note", key=f"{old} note")[0] == f"`{old} note` is now `{CONDITIONS[old]} note`"


def test_what_rewrites_it_all_is_said_once_and_what_is_right_is_left() -> None:
    text = json.dumps({"resources": {"note": {"identifier": "id", "fields": {"owner": {"refers to": "user"}}}}})
    contract = parse(Source("contract.yaml", text), Form.PLAIN).value
    places = [
        each for each in _spans(contract) if text[each.start : each.end] in ('"identifier"', '"refers to"', '"id"')
    ]
    said = named(contract, [Diagnostic(UNKNOWN_KEY, "not known", (Label(each),), ("as it was",)) for each in places])
    assert [len(each.help) for each in said] == [2, 1, 1]
    assert [each.help[0] for each in said] == [
        "`identifier` is now `primary key`",
        "as it was",
        "`refers to` is now `references`",
    ]
