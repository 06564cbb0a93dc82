"""`was` without `is` is asked of what clients give: of a field that none gives it would be in force nowhere."""

from __future__ import annotations

import pytest
from tests.parts import contract, in_two_versions

from ninefold.pipeline import compile_document

RESOURCES = """
match:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    goals:  {type: integer}
    status: {state: true}
    twice:  {type: integer, computed: match.goals * 2}
"""
STATES = "match: {initial: open, states: [open, over], transitions: {end: {from: open, to: over}}}"
ENDPOINTS = """
POST /matches: {does: create match, body: [goals], responses: {201: match}}
POST /matches/{id}/end: {does: end match, body: none, responses: {200: match}}
"""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("{change: match.status, was: {enum: [open]}}", "`match.status` is the state"),
        ("{change: match.twice, was: {type: integer, maximum: 3}}", "`match.twice` is computed"),
        ("{change: match.goals, was: {type: integer, maximum: 3}}", None),
        ("{change: match.status, was: {enum: [open]}, is: \"'open'\"}", None),
        ('{change: match.twice, was: {type: string}, is: "string(match.twice)"}', None),
    ],
)
def test_what_would_be_in_force_nowhere_is_an_error(change: str, why: str | None) -> None:
    document = in_two_versions(contract(RESOURCES, ENDPOINTS, states=STATES), change)
    told = [each.message for each in compile_document("contract.md", document.encode()).diagnostics]
    assert told == ([] if why is None else [f"`was` is asked of what clients give, and {why}"])
