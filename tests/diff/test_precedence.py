"""Of another precedence it is told which conditions changed places, and where both may hold."""

from __future__ import annotations

from typing import Final

import pytest
from tests.parts import contract

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.compare import diff
from ninefold.pipeline import compile_document

ORDER: Final = (
    "no such path", "method not allowed", "too many requests", "malformed", "invalid", "not found",
    "precondition failed", "illegal transition", "check", "conflict",
)  # fmt: skip

NOTES: Final = contract(
    """note:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    title: {type: string, minLength: 1, unique: true}
    stage: {state: true}
  required: [title]
  check: {that: "note.title != 'x'", else: bad_title}
""",
    """POST /notes: {does: create note, body: [title], responses: {201: note}}
GET /notes/{id}: {does: read note, responses: {200: note}}
PATCH /notes/{id}: {does: update note, body: [title], patch: merge, responses: {200: note}}
POST /notes/{id}/close: {does: close note, body: none, responses: {200: note}}
""",
    states="note:\n  initial: open\n  states: [open, closed]\n  transitions: {close: {from: open, to: closed}}\n",
    codes="bad_title: {status: 409}\n"
    "other: {status: 500, for: [unsupported media type, not acceptable, unavailable, internal]}\n"
    "often: {status: 429, for: too many requests}",
    errors="precedence: [ORDER]\n",
).replace("rates: none", "rates: {calls: {of: address, allow: 5, per: PT1M, algorithm: fixed window}}")

MADE, SEEN, CHANGED, CLOSED = "POST /notes", "GET /notes/{id}", "PATCH /notes/{id}", "POST /notes/{id}/close"
NOWHERE: Final = "a path, or a method, that is not there"


def told(*order: str, was: tuple[str, ...] = ORDER) -> tuple[set[str], set[str], set[str]]:
    """What is said, the verdicts, and at which endpoints."""
    both = (compile_document("c.md", NOTES.replace("ORDER", ", ".join(each)).encode()) for each in (was, order))
    old, new = both
    for each in (old, new):
        assert each.plan is not None and not has_errors(each.diagnostics), [one.message for one in each.diagnostics]
    [finding] = diff(old, new).findings
    said = {each.said.replace(" is told", "").replace("`", "") for each in finding.effects}
    return said, {each.verdict for each in finding.effects}, {*finding.endpoints} or {"everywhere"}


def turned(*last: str, before: str) -> tuple[str, ...]:
    """These conditions before another one."""
    left = [each for each in ORDER if each not in last]
    at = left.index(before)
    return (*left[:at], *last, *left[at:])


@pytest.mark.parametrize(
    ("order", "said", "endpoints"),
    [
        (
            turned("check", before="not found"),
            {
                f"{CHANGED}, {CLOSED}: check before not found, precondition failed, and was behind",
                f"{CLOSED}: check before illegal transition, and was behind",
            },
            {CHANGED, CLOSED},
        ),
        (
            turned("conflict", before="invalid"),
            {
                f"{MADE}, {CHANGED}: conflict before invalid, check, and was behind",
                f"{CHANGED}: conflict before not found, precondition failed, and was behind",
            },
            {MADE, CHANGED},
        ),
        (
            turned("illegal transition", before="precondition failed"),
            {f"{CLOSED}: illegal transition before precondition failed, and was behind"},
            {CLOSED},
        ),
        (
            turned("invalid", before="malformed"),
            {f"{MADE}, {CHANGED}, {CLOSED}: invalid before malformed, and was behind"},
            {MADE, CHANGED, CLOSED},
        ),
        (
            turned("too many requests", before="method not allowed"),
            {f"{NOWHERE}: too many requests before method not allowed, and was behind"},
            {"everywhere"},
        ),
    ],
)
def test_the_conditions_that_changed_places_are_told(
    order: tuple[str, ...], said: set[str], endpoints: set[str]
) -> None:
    assert told(*order) == (said, {"look"}, endpoints)


def test_what_no_request_can_meet_together_is_no_difference() -> None:
    order = [each for each in ORDER if each != "illegal transition"]
    assert told(*order, "illegal transition")[0] == {f"{CLOSED}: check before illegal transition, and was behind"}
    last = ("check", "illegal transition", "conflict")
    before = tuple(each for each in ORDER if each not in last)
    said, verdicts, _ = told(*before, "check", "conflict", "illegal transition", was=(*before, *last))
    assert (said, verdicts) == ({"no endpoint can meet both of what changed places"}, {"compatible"})
