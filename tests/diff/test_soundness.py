"""What two contracts answer to the same requests, beside what `diff` says of them: what is answered otherwise is among
the findings, and what is called compatible answers nothing otherwise that was taken before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.contracts import SERVED, compiled, contract_of
from tests.diff.soundness import Pair, changed, facts_of, judged, pairs, turned_round, whole
from tests.facts import one_of_each
from tests.slices import LONG, seldom, some

from ninefold.diff.compare import diff

SMALL = ("bookings-with-a-unique-pair", "a-log-that-is-read", "three-versions-of-a-shelf")
CASES = SERVED if LONG else [each for each in SERVED if each.name in SMALL]


def is_complete(directory: Path) -> bool:
    loaded = compiled(contract_of(directory))
    return loaded.plan is not None and not loaded.open_questions


def are_sound(found: Iterable[Pair]) -> None:
    for pair in found:
        _, breaches = judged(pair)
        assert breaches == []


@pytest.mark.long
@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_what_is_answered_otherwise_is_found(directory: Path) -> None:
    if is_complete(directory):
        of = whole(directory)
        facts = facts_of(of)
        are_sound(pairs(of, seldom(one_of_each(directory.name, facts) if LONG else facts, 2, 80)))


@pytest.mark.long
@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_what_is_answered_otherwise_for_another_value_is_found(directory: Path) -> None:
    if is_complete(directory):
        are_sound(changed(whole(directory), 20))


@pytest.mark.long
@pytest.mark.parametrize("directory", CASES, ids=lambda path: path.name)
def test_what_is_answered_otherwise_for_another_order_is_found(directory: Path) -> None:
    if is_complete(directory):
        are_sound(turned_round(whole(directory), 8))


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("a-row-as-it-was", "open account"),
        ("answers-that-are-always-the-same", "[1, 2.5]"),
        ("answers-that-are-always-the-same", '[old, "none"]'),
        ("clients-of-oauth", "orders.read, orders.write"),
        ("orders-with-their-lines", "delete"),
    ],
)
def test_what_counts_by_its_order_is_found(name: str, what: str) -> None:
    [directory] = [each for each in SERVED if each.name == name]
    found = list(turned_round(whole(directory), only=what))
    assert any(each.answers for each in found)
    are_sound(found)


FOUND = [
    ("a-cart-that-is-looked-up", "2 place > primary key > 1"),
    ("bodies-that-repeat-the-identifier", "2 board > fields > name > immutable"),
    ("bodies-that-repeat-the-identifier", "4 PUT /cards/{id} > body > 2"),
    ("reports-of-a-month", "8 rates > words"),
    ("files-that-their-caller-narrows", "4 GET /files > query > phase"),
    ("files-that-their-caller-narrows", "4 GET /files > query > phase > where"),
    ("a-word-behind-a-name-in-a-path", "4 DELETE /jobs/{id}"),
    ("films-in-several-views", "4 GET /films > where"),
    ("a-word-behind-a-name-in-a-path", "4 GET /jobs/{id}:tries"),
    ("members-inside-members-that-nothing-names", "2 order > fields > open > additionalProperties"),
    ("shelves-that-show-their-items", "3 item > gone"),
    ("reports-of-a-month", "7 codes > no_month > status"),
    ("orders-with-their-lines", "6 kinds > line.removed > upon"),
    ("a-session-in-a-cookie", "4 PUT /me > issues"),
    ("bodies-held-to-the-whole-of-their-type", "2 types > edited > properties > email"),
    ("tasks-that-change-all-at-once", "4 POST /projects/{project.id}/done > where"),
    ("orders-with-their-lines", "2 types > wanted_order > properties > note"),
    ("errors-as-a-map-of-messages", "7 codes > malformed > title"),
    ("bookings-with-a-unique-pair", "2 booking > fields"),
    ("errors-as-a-map-of-messages", "7 codes > malformed > about"),
]
"""What the long run has found."""


@pytest.mark.parametrize(("name", "address"), FOUND)
def test_what_was_once_called_compatible_is_not(name: str, address: str) -> None:
    [directory] = [each for each in SERVED if each.name == name]
    of = whole(directory)
    facts = [each for each in facts_of(of) if each.address == address]
    assert len(facts) == 1
    are_sound(pairs(of, facts))


@pytest.mark.parametrize(
    ("name", "what"), [("projects-that-members-look-into", "204 to 205"), ("clients-of-oauth", "PT1H to PT2H")]
)
def test_what_was_once_not_found_is(name: str, what: str) -> None:
    [directory] = [each for each in SERVED if each.name == name]
    found = list(changed(whole(directory), only=what))
    assert found
    are_sound(found)


@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, len(SERVED)))
def test_the_requests_of_a_case_are_told_as_they_are_written(directory: Path) -> None:
    """What no operator gives to a case stays open here as well: a long run stopped at the first 501 that was none."""
    if is_complete(directory):
        assert whole(directory).asked


@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, 40), ids=lambda path: path.name)
def test_a_contract_is_as_it_is(directory: Path) -> None:
    loaded = compiled(contract_of(directory))
    if loaded.plan is not None:
        assert diff(loaded, loaded).findings == ()
