"""What a resource is called, and what its rows are known by, wherever that stands in the contract."""

from __future__ import annotations

from itertools import permutations
from typing import Final

import pytest
from tests.contracts import compiled_once

from ninefold.diff.compare import diff
from ninefold.diff.finding import Finding
from ninefold.pipeline import Loaded

CONTRACT: Final = """purpose: Notes.
resources:
  user:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      name: {type: string}
  entry:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      owner: {references: user, inverse: entries}
  note:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      text: {type: string}
states: {user: none, entry: none, note: none}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /users: {does: create user, body: [name], responses: {201: {name: user.name}}}
  POST /entries: {does: create entry, body: [owner], responses: {201: entry}}
  POST /notes: {does: create note, body: [text], responses: {201: note}}
authentication: {schemes: none, rows: {user: all, entry: all, note: all}, permissions: {all others: anyone}}
events: none
errors: none
limits: none
versioning: none
"""


def loaded(text: str) -> Loaded:
    found = compiled_once("notes.yaml", text.encode())
    assert found.plan is not None, found.diagnostics
    return found


def findings(old: str, new: str) -> list[Finding]:
    return list(diff(loaded(old), loaded(new)).findings)


@pytest.mark.parametrize("order", [*permutations(("user", "entry", "note"))], ids=" ".join)
@pytest.mark.parametrize("part", ["states", "rows"])
def test_another_name_of_a_resource_is_no_matter_of_callers_in_whatever_order_it_stands(
    part: str, order: tuple[str, ...]
) -> None:
    """What stands at the same place of several parts goes from each of them."""
    what = {"states": "none", "rows": "all"}[part]
    listed = "{" + ", ".join(f"{each}: {what}" for each in ("user", "entry", "note")) + "}"
    assert listed in CONTRACT
    old = CONTRACT.replace(listed, "{" + ", ".join(f"{each}: {what}" for each in order) + "}")
    for name in ("entry", "note"):
        new = old.replace(f"  {name}:\n", f"  {name}d:\n").replace(f" {name}:", f" {name}d:")
        new = new.replace(f"{{{name}:", f"{{{name}d:").replace(f"create {name},", f"create {name}d,")
        new = new.replace(f"201: {name}}}", f"201: {name}d}}")
        (one,) = findings(old, new)
        assert {each.audience for each in one.effects} <= {"operators"}, one
        assert not any("gap" in each.said for each in one.effects), one


@pytest.mark.parametrize("shown", [True, False])
def test_a_reference_shows_what_its_rows_are_known_by(shown: bool) -> None:
    old = CONTRACT if shown else CONTRACT.replace("201: entry}", "201: {id: entry.id}}")
    of_user = "  user:\n    primary key: id\n    fields:\n      id:   {type: "
    new = old.replace(f"{of_user}integer, on create: serial()", f"{of_user}string, on create: uuid()")
    assert new != old
    told = {(effect.audience, effect.verdict) for each in findings(old, new) for effect in each.effects}
    assert (("readers", "breaking") in told) is shown, told
