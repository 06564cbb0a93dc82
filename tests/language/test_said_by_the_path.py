"""What the path gives a row that is created or put is given once: no body and no `sets` gives it too. A part of the
primary key that does not change is repeated, or breaks its rule."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.events.service import running

from ninefold.diagnostics.codes import NOT_THE_CLIENTS, SAYS_NOTHING
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.pipeline import compile_document

CONTRACT: Final = """purpose: Keeps tasks.
resources:
  types:
    given:  {{type: object, properties: {{title: {{type: string}}, {field}: {schema}}}}}
  project:
    primary key: id
    fields: {{id: {{type: string, maxLength: 10}}, slug: {{type: string, unique: true}}}}
    required: [slug]
  task:
    primary key: id
    fields:
      id:      {{type: string, maxLength: 36, on create: uuid()}}
      code:    {{type: string, maxLength: 36, unique: true, on create: uuid()}}
      project: {{references: project, inverse: tasks, on delete: restrict}}
      title:   {{type: string}}
    required: [project, title, code]
states: none
endpoints:
  requests: {{media type: application/json, unknown members: refused, unknown parameters: refused}}
  produces: application/json
  GET /projects/{{id}}: {{does: read project, responses: {{200: project}}}}
  {method} {path}: {{does: {does} task, {body}, responses: {{{responses}}}}}
authentication: {{schemes: none, rows: all, permissions: {{all others: anyone}}}}
events: none
errors: {{error shape: {{media type: application/json, body: {{rules: "error.fields.map(f, f.rule)"}}}}, codes: {{
  no: {{status: 422, for: [invalid, conflict, not found, different, no such path, malformed]}}}}}}
limits: {{rates: none, timeout: none, body size: none}}
versioning: none
"""
BODIES: Final = {
    "a list": "body: [title, {field}]",
    "a template": "body: {{title: task.title, of: task.{field}}}",
    "a shared type": 'body: {{$ref: "#/types/given"}}',
    "sets": "body: [title], sets: {{{field}: {value}}}",
}
PATHS: Final = {
    "POST /projects/{project.id}/tasks": "project",
    "POST /in/{project.slug}": "project",
    "PUT /tasks/{id}": "id",
    "PUT /coded/{code}": "code",
    "PUT /projects/{project.id}/tasks/{id}": "project",
    "PUT /in/{project.slug}/tasks/{id}": "id",
}
OUTCOMES: Final = {
    "POST": ("201: task",),
    "PUT": ("created: {201: task}", "created: {201: task}, unchanged: {200: task}",
            "created: {201: task}, replaced: {200: task}", "replaced: {200: task}"),
}  # fmt: skip


def written(endpoint: str, field: str, body: str, responses: str) -> str:
    method, path = endpoint.split()
    value = "all(project).first()" if field == "project" else "\"'x'\""
    said = BODIES[body].format(field=field, value=value)
    does = {"POST": "create", "PUT": "put"}[method]
    schema = "{type: string}" if field == "project" else "{type: string, maxLength: 36}"
    return CONTRACT.format(
        field=field, schema=schema, method=method, path=path, does=does, body=said, responses=responses
    )


def errors(text: str) -> list[Diagnostic]:
    found = compile_document("tasks.yaml", text.encode()).diagnostics
    return [each for each in found if each.code.severity is Severity.ERROR]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("endpoint", PATHS)
def test_what_the_path_gives_nothing_else_gives(endpoint: str, body: str) -> None:
    field = PATHS[endpoint]
    for responses in OUTCOMES[endpoint.split()[0]]:
        text = written(endpoint, field, body, responses)
        told = [(each.code, f"`task.{field}`" in each.message) for each in errors(text)]
        assert (SAYS_NOTHING if body == "sets" else NOT_THE_CLIENTS, True) in told, (responses, told)


@pytest.mark.parametrize("endpoint", [each for each in PATHS if PATHS[each] != "project"])
def test_an_update_is_given_it(endpoint: str) -> None:
    """By an update the row is called otherwise: the path says which row it is, and not what it becomes."""
    field = PATHS[endpoint]
    text = written(endpoint, field, "a list", "200: task").replace("PUT", "PATCH").replace("does: put task,", "")
    assert not errors(text.replace("body: [title", "does: update task, patch: merge, body: [title"))


def test_a_part_of_the_primary_key_that_stays_is_repeated(tmp_path: Path) -> None:
    text = written("PUT /tasks/{id}", "id", "a list", "created: {201: task}, replaced: {200: task}")
    text = text.replace("id:      {", "id:      {immutable: true, ").replace("[project, title, code]", "[title]")
    with running(tmp_path / "service.db", text, name="tasks.yaml") as service:
        for title, status in (("One", 201), ("Two", 200)):
            said = service.http.put("/tasks/a", json={"id": "a", "title": title})
            assert said.status_code == status and said.json()["id"] == "a", said.text

        for key in ("a", "new"):
            said = service.http.put(f"/tasks/{key}", json={"id": "b", "title": "One"})
            assert said.status_code == 422 and said.json()["rules"] == ["immutable"], said.text
