"""What reads a body, and what makes the values of a row, is made ready once for each choice of members. It is compared
with what is done one by one here as in every case (`made_ready.py`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import made_ready
from tests.contracts import plan_of
from tests.http_cases import serving

from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages import plain
from ninefold.runtime.operations.values import Values

CONTRACT = b"""
purpose: Keeps notes.
resources:
  note:
    primary key: id
    fields:
      id:      {type: string, format: uuid, on create: uuid()}
      title:   {type: string}
      count:   {type: integer, on create: "7"}
      text:    {type: [string, "null"]}
      shelf:   {type: [string, "null"], on create: "note.title"}
      made:    {type: string, format: date-time, on create: now}
      changed: {type: string, format: date-time, on change: now}
    required: [title, count]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes:
    does: create note
    body: [title, text, count]
    responses: {201: note}
  PATCH /notes/{id}: {does: update note, body: [title, text], patch: merge, responses: {200: note}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {error: error.title}}
  codes: none
limits: none
versioning: none
"""


def _plan() -> ServicePlan:
    return plan_of(CONTRACT, "contract.yaml")


def _asked(path: Path) -> list[made_ready.Pair]:
    with made_ready.compared() as found, serving(_plan(), path / "rows.db", {}) as client:
        for body in (
            {"title": "a"},
            {"text": "b", "title": "a"},
            {"count": 3.0, "title": "a", "text": None},
            {"title": 1},
            {"text": "b"},
            {"title": "a", "other": 1},
        ):
            client.post("/notes", json=body)
        client.patch("/notes/00000000-0000-4000-8000-000000000000", json={"text": "c"})
    return found


def test_it_is_what_is_made_one_by_one(tmp_path: Path) -> None:
    found = _asked(tmp_path)
    assert len(found) >= 8  # of those whose body comes with their head, some are read twice
    assert not made_ready.different(found)


def _without(number: int, instead: Any) -> Callable[..., Any]:
    """`Values._surely` that is told something else."""
    of: Any = Values._surely
    return lambda self, *told: of(self, *told[:number], instead, *told[number + 1 :])


@pytest.mark.parametrize(
    ("where", "name", "instead"),
    [
        (Values, "_surely", _without(1, [])),
        (Values, "_surely", _without(2, [])),
        (plain, "_reading", lambda read, there: lambda document: {name: document[name] for name in there}),
        (plain, "_reading", lambda read, there: lambda document: {}),
    ],
)
def test_a_defect_of_what_is_made_ready_is_noticed(where: Any, name: str, instead: Any, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, instead)
        assert made_ready.different(_asked(tmp_path))
