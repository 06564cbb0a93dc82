"""Changes of the contracts of cases: the verdict for each audience, and what both answer (`pairs_of_cases.yaml`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.contracts import DIRECTORIES
from tests.diff.soundness import both_ways, unsound, whole
from tests.diff.test_pairs import edited, loaded
from tests.slices import some

from ninefold.diff.compare import diff
from ninefold.diff.verdicts import Audience, Effect, Verdict, gravest
from ninefold.pipeline import Loaded

PAIRS: list[dict[str, Any]] = msgspec.yaml.decode(Path(__file__).with_name("pairs_of_cases.yaml").read_bytes())
TAKEN = some(PAIRS, 10)


@pytest.mark.long
@pytest.mark.parametrize("pair", TAKEN, ids=lambda pair: f"{pair['of']}: {pair['edit'][0][1]}")
def test_each_audience_is_told_what_concerns_it(pair: dict[str, Any]) -> None:
    [directory] = [each for each in DIRECTORIES if each.name == pair["of"]]
    of = whole(directory)
    new = loaded(pair["of"], edited(of.loaded.source.text, pair["edit"]))
    found = diff(of.loaded, new)
    assert _by_audience([one for each in found.findings for one in each.effects]) == pair["gravest"]
    for answered in both_ways(of, new):
        assert [*unsound(answered, diff(answered.old, answered.new))] == []


def _by_audience(effects: list[Effect]) -> dict[Audience, Verdict]:
    told = {each: gravest(tuple(one for one in effects if one.audience == each.audience)) for each in effects}
    return {each.audience: verdict for each, verdict in told.items() if verdict not in ("compatible", "words")}


@pytest.mark.parametrize("own", ["", "  requests: {unknown members: refused}\n"], ids=["of all", "of its own"])
def test_a_member_more_is_compatible_wherever_unknown_ones_are_refused(own: str) -> None:
    """Members that nobody knows are refused in a plan that leaves the word out as well."""
    [directory] = [each for each in DIRECTORIES if each.name == "recipes-changed-by-merge-patches"]
    text = (directory / "contract.md").read_text(encoding="utf-8")
    text = text.replace("  does: update recipe\n", f"  does: update recipe\n{own}")
    body = "\n  body: {recipe: [name, servings, ingredients"
    less = text.replace(f"{body}, oven", body)
    assert less != text
    found = diff(loaded("old.md", less), loaded("new.md", text))
    assert [each.verdict for each in found.findings] == ["compatible"]


@pytest.mark.parametrize("responses", ["{204: none}", "{deleted: {204: none}, absent: {204: none}}"])
@pytest.mark.parametrize(
    ("was", "now", "verdict"),
    [
        (("cascade", "cascade"), ("cascade", "restrict"), "breaking"),
        (("cascade", "cascade"), ("restrict", "cascade"), "breaking"),
        (("cascade", "restrict"), ("restrict", "restrict"), "breaking"),
        (("set null", "restrict"), ("cascade", "restrict"), "breaking"),
        (("cascade", "restrict"), ("cascade", "cascade"), "compatible"),
        (("restrict", "restrict"), ("cascade", "restrict"), "compatible"),
        (("cascade", "restrict"), ("set null", "restrict"), "compatible"),
        (("set null", "cascade"), ("set null", "restrict"), None),
        (("set null", "set null"), ("cascade", "set null"), None),
    ],
)
def test_what_keeps_a_row_keeps_what_it_would_fall_with(
    was: tuple[str, str], now: tuple[str, str], verdict: Verdict | None, responses: str
) -> None:
    """Requests delete projects, and tasks and steps only with them: what is said of tasks, and of steps."""
    [directory] = [each for each in DIRECTORIES if each.name == "tasks-of-projects-in-nested-paths"]
    text = (directory / "contract.md").read_text(encoding="utf-8")
    deletes = "DELETE /projects/{slug}: {does: delete project, responses: "
    text = edited(text, [[deletes + "{204: none}", deletes + responses]])

    def stated(words: tuple[str, str]) -> Loaded:
        pairs = zip(("tasks", "steps"), words, strict=True)
        edits = [[f"inverse: {of}, on delete: cascade", f"inverse: {of}, on delete: {word}"] for of, word in pairs]
        return loaded(directory.name, edited(text, edits))

    effects = [one for each in diff(stated(was), stated(now)).findings for one in each.effects]
    assert [one.verdict for one in effects if one.audience == "senders"] == ([] if verdict is None else [verdict])


NOTES = """
purpose: Keeps notes.
resources:
  note:
    primary key: id
    fields: {id: {type: integer}, title: {type: string}}
    required: [title]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  PUT /notes/{id}: {does: put note, body: [title], responses: RESPONSES}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: none
limits: none
versioning: none
"""


@pytest.mark.parametrize(
    ("responses", "told"),
    [
        ("{created: {201: note}, replaced: {200: note}}", {"senders": "look", "operators": "look"}),
        ("{created: {201: note}, unchanged: {200: note}}", {"senders": "look", "operators": "look"}),
        ("{replaced: {200: note}}", {}),
    ],
)
def test_who_makes_rows_finds_one_that_the_contract_states(responses: str, told: dict[Audience, Verdict]) -> None:
    old = NOTES.replace("RESPONSES", responses)
    new = edited(old, [["    required: [title]\n", "    required: [title]\n    records: [{id: 1, title: A}]\n"]])
    found = diff(loaded("old.yaml", old), loaded("new.yaml", new)).findings
    assert _by_audience([one for each in found for one in each.effects]) == told
