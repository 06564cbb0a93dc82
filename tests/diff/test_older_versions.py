"""An older version is named where it is another, and nowhere else."""

from __future__ import annotations

from typing import Final

import pytest
from tests.parts import contract, in_two_versions

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.compare import diff
from ninefold.diff.finding import Finding
from ninefold.diff.report import promised
from ninefold.pipeline import compile_document

ROOMS: Final = in_two_versions(
    contract(
        """room:
  primary key: id
  fields: {id: {type: integer, on create: serial()}, beds: {type: integer}, view: {type: string}}
""",
        "POST /rooms: {does: create room, body: [beds, view], responses: {201: room}}\n"
        "GET /rooms/{id}: {does: read room, responses: {200: room}}\n",
        events="kinds:\n  room.made: {upon: create room, payload: {room: room}}\n"
        "delivery: {stream: server-sent events}\nkept: P1D",
    ),
    "{rename: room.beds, to: places}",
).replace("compatible: none", '  "0": {changes: [{remove: room.view}]}\ncompatible: none')


def found(*edits: tuple[str, str]) -> list[Finding]:
    text = ROOMS
    for was, now in edits:
        assert text.count(was) == 1, was
        text = text.replace(was, now)
    old, new = (compile_document("c.md", each.encode()) for each in (ROOMS, text))
    for each in (old, new):
        assert each.plan is not None and not has_errors(each.diagnostics), each.diagnostics
    return [*diff(old, new).findings]


@pytest.mark.parametrize(
    ("was", "now", "older"),
    [
        ('  "0": {changes: [{remove: room.view}]}\n', "", ("0",)),  # what it is told of is in the plan of all
        ('default: "2"', 'default: "1"', ()),
        ('default: "2"', "default: none", ()),
        ("[{remove: room.view}]", "[{remove: room.view}, {rename: room.places, to: spots}]", ("0",)),
        ("to: places}", "to: bunks}", ("1", "0")),
        ("{201: room}", "{202: room}", ("1", "0")),
        ("payload: {room: room}", "payload: {id: room.id}", ("1", "0")),
        ("view: {type: string}", "view: {type: string, maxLength: 9}", ("1",)),
    ],
)
def test_the_versions_that_are_others_are_named(was: str, now: str, older: tuple[str, ...]) -> None:
    assert {each.older for each in found((was, now))} == {older}


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("{201: room}", "{202: room}", "in older versions, too: 1, 0"),
        ("to: places}", "to: bunks}", "in older versions alone: 1, 0"),
        ('  "0": {changes: [{remove: room.view}]}\n', "", "in older versions alone: 0"),
        (
            "[{remove: room.view}]",
            "[{remove: room.view}, {rename: room.places, to: spots}]",
            "in older versions alone: 0",
        ),
    ],
)
def test_whether_the_newest_is_another_besides_is_told(was: str, now: str, said: str) -> None:
    old, new = (compile_document("c.md", each.encode()) for each in (ROOMS, ROOMS.replace(was, now)))
    difference = diff(old, new)
    assert [line for each in difference.findings for line in promised(difference, each) if "older" in line] == [said]


def test_who_names_no_version_is_met_at_all_endpoints() -> None:
    [finding] = found(('default: "2"', 'default: "1"'))
    assert finding.everywhere and finding.endpoints == ()


def test_a_version_is_not_named_for_what_another_line_takes_back() -> None:
    edits = [("places}", "places}\n      - {change: room.view, was: {type: string}}")]
    findings = found(*edits, ("view: {type: string}}\n", "view: {type: string, maxLength: 9}}\n"))
    assert {each.said.partition("`")[2].partition(" >")[0]: each.older for each in findings}["room"] == ()
