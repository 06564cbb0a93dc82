"""The laws of the table of keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from ninefold.contract.questions.question import QUESTIONS
from ninefold.language.json_schema import KEYWORDS, REFUSED
from ninefold.language.key import Key, Kind
from ninefold.language.shapes import Integer, ListOf, MappingOf, Names, OneOf, Text, Word, describe
from ninefold.language.table import vocabulary

QUESTION_IDS = {question.id for question in QUESTIONS}
PATHS = {(key.part, key.path) for key in vocabulary()}


def of_every_key(law: Callable[[Key], None]) -> Callable[[], None]:
    """A test that names every key of which a law is not true."""

    def offenders() -> None:
        found = []
        for key in vocabulary():
            try:
                law(key)
            except AssertionError as error:
                found.append(f"{key.part} {key.path}: {error}")
        assert not found, "\n".join(found)

    offenders.__name__, offenders.__doc__ = law.__name__, law.__doc__
    return offenders


SILENT = (Kind.RESTRICTS, Kind.ADDS, Kind.NAMES, Kind.TELLS)


ANSWERED = {"delivery.envelope", "requests.texts", "pages.size"}
"""What adds, and where `none` is an answer all the same: its absence, which is warned of, is meant; or the line of all
does not hold here."""


@of_every_key
def test_what_its_absence_hangs_on_is_said(key: Key) -> None:
    assert (key.kind is Kind.ASKED_WHEN) == (key.when is not None)
    assert (key.kind is Kind.FALLS_BACK) == (key.line is not None)
    assert key.line is None or key.line in PATHS
    assert not key.says_none or key.is_asked or key.kind is Kind.FALLS_BACK or key.path in ANSWERED
    # What is a condition of the absence, or another line, is said as data and not as prose.
    assert not re.search(r"A gap (where|of|unless)", key.absence) or key.kind is Kind.FALLS_BACK


def test_each_key_stands_once() -> None:
    assert [path for path, count in Counter((key.part, key.path) for key in vocabulary()).items() if count > 1] == []


@of_every_key
def test_a_row_is_whole(key: Key) -> None:
    assert key.parent == "" or (key.part, key.parent) in PATHS
    assert key.meaning.endswith(".") and key.absence.endswith(".")
    assert describe(key.shape)


@of_every_key
def test_what_is_asked_names_its_question(key: Key) -> None:
    assert (key.kind in (Kind.ASKED, Kind.ASKED_WHEN)) <= key.is_asked <= (key.kind not in SILENT)
    assert key.question is None or key.question in QUESTION_IDS


def test_nothing_in_part_5_and_no_secret_merely_restricts() -> None:
    assert [key.path for key in vocabulary() if key.part == 5 and key.kind is Kind.RESTRICTS] == []
    assert [key.kind for key in vocabulary() if key.name == "secret"] == [Kind.ASKED_WHEN] * 2


def test_a_keyword_is_used_or_refused() -> None:
    assert KEYWORDS.isdisjoint(REFUSED)


def test_shapes_in_words() -> None:
    assert describe(Word(("a", "b", "c"))) == "`a`, `b` or `c`"
    assert describe(Integer(1)) == "a whole number of at least 1"
    assert describe(Integer(400, 599)) == "a whole number from 400 to 599"
    assert describe(Names("a field")) == "a list in brackets, each item a field"
    assert describe(Names("a field", alone=True)) == "a field, or a list of them"
    assert describe(OneOf((Text(), ListOf(Text("an action"))))) == "text, or a list, each item an action"
    assert describe(MappingOf("rates to what they allow")) == "a mapping from rates to what they allow"
