"""Whether a note says that a caller learns of rows that it may not see: not where the rule of the row that it sees says
that it sees those, too."""

from __future__ import annotations

import pytest

from ninefold.diagnostics.codes import LEARNS
from ninefold.diagnostics.diagnostic import has_errors
from ninefold.pipeline import compile_document

CONTRACT = """
purpose: Tasks of projects of teams.
resources:
  user:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, key: {type: string, secret: token, on create: token()}}
  team:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, lead: {references: user}, name: {type: string}}
  project:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, team: {references: team}, open: {type: boolean}}
  task:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      project: {references: project, inverse: tasks}
      by: {references: user}
      shown: {computed: FIELD}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /tasks/{id}: {does: read task, responses: {200: {shown: task.shown}}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: user.key}}
  rows: {user: {key: true}, team: {key: TEAM}, project: {key: PROJECT}, task: {key: TASK}}
  unseen rows: not found
  permissions: {all others: key}
events: none
errors: none
limits: none
versioning: none
"""

NAME, OPEN = "task.project.team.name", "task.project.open"
LEADS = "team.lead == caller.user"
OF_PROJECT = "project.team.lead == caller.user"
OF_TASK = "task.project.team.lead == caller.user"


@pytest.mark.parametrize(
    ("field", "team", "project", "task", "learns"),
    [
        (OPEN, LEADS, OF_PROJECT, OF_TASK, False),
        (OPEN, LEADS, OF_PROJECT, "caller.user == task.project.team.lead", False),
        (OPEN, LEADS, f"project.open || {OF_PROJECT}", OF_TASK, False),
        (OPEN, LEADS, f"project.open && {OF_PROJECT}", OF_TASK, True),
        (OPEN, LEADS, f"project.open || {OF_PROJECT}", f"task.project.open || {OF_TASK}", False),
        (OPEN, LEADS, OF_PROJECT, f"task.project.open || {OF_TASK}", True),
        (OPEN, LEADS, OF_PROJECT, f"{OF_TASK} && task.by == caller.user", False),
        (OPEN, LEADS, OF_PROJECT, "task.by == caller.user", True),
        (NAME, LEADS, "true", OF_TASK, False),
        (NAME, LEADS, "true", "task.by == caller.user", True),
        (NAME, f"{LEADS} && team.name == 'a'", "true", OF_TASK, True),
        ("task.project.tasks.size()", LEADS, "true", OF_TASK, True),
    ],
)
def test_what_is_learnt_is_told(field: str, team: str, project: str, task: str, learns: bool) -> None:
    text = CONTRACT
    for name, written in (("FIELD", field), ("TEAM", team), ("PROJECT", project), ("TASK", task)):
        text = text.replace(name, f'"{written}"')
    loaded = compile_document("contract.yaml", text.encode())
    assert not has_errors(loaded.diagnostics)
    assert any(each.code is LEARNS for each in loaded.diagnostics) is learns


def test_rules_of_many_parts_are_compared_part_by_part() -> None:
    """Each pair once: forty parts beside forty others would else be compared along every way through them."""
    parts = [f"team.name == '{number}'" for number in range(40)]
    of_task = " && ".join(f"task.id == {number}" for number in range(40))
    text = CONTRACT.replace("FIELD", f'"{NAME}"').replace("PROJECT", '"true"')
    text = text.replace("TEAM", f'"{" || ".join(parts)}"').replace("TASK", f'"({of_task}) || task.project.open"')
    loaded = compile_document("contract.yaml", text.encode())
    assert not has_errors(loaded.diagnostics)
    assert any(each.code is LEARNS for each in loaded.diagnostics)
