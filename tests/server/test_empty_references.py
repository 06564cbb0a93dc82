"""The primary key of the row that a reference names, where the reference may have no value: read in each place that
the database takes no part in."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.events.service import running
from tests.parts import contract, told

CONTRACT = contract(
    """
    team:
      primary key: name
      fields: {name: {type: string}}
      records: [{name: red}, {name: blue}]
    person:
      primary key: id
      fields:
        id:   {type: integer, on create: serial()}
        team: {references: team, inverse: people, on delete: restrict}
        key:  {type: string, secret: token, on create: token()}
    task:
      primary key: id
      fields:
        id:    {type: integer, on create: serial()}
        team:  {references: team, on create: caller.person.team, on delete: restrict}
        label: {type: string, on create: "'for ' + task.team.name"}
      check: {that: "task.team == null || task.team.name != 'grey'", else: grey}
    note:
      primary key: id
      fields: {id: {type: integer, on create: serial()}, text: {type: string}}
    """,
    """
    POST /people: {does: create person, body: [team], responses: {201: {key: issued.key}}}
    POST /tasks:
      does: create task
      body: none
      check: {that: "caller.person.team.name != 'blue'", else: blue}
      also: [{does: create note, sets: {text: "'made for ' + this.team.name"}}]
      headers: {X-Team: "caller.person.team.name + '!'"}
      responses: {201: task}
    GET /notes: {does: list note, sort: [id], pages: none, responses: {200: page.items}}
    GET /tasks:
      does: list task
      where: task.label == 'for ' + caller.person.team.name
      sort: [id]
      pages: none
      responses: {200: {of: caller.person.team.name, tasks: "page.items.map(t, t.id)"}}
    GET /team: {does: compute, responses: {200: {team: "'team ' + caller.person.team.name"}}}
    """,
    callers="""
    schemes: {key: {type: http, scheme: bearer, matches: person.key}}
    rows: {team: all, person: all, note: all, task: {key: task.label == 'for ' + caller.person.team.name}}
    unseen rows: not found
    permissions:
      POST /people: anyone
      GET /notes: anyone
      POST /tasks: {key: has(caller.person.team) && caller.person.team.name != 'grey'}
      all others: key
    """,
    codes="""
    blue: {status: 409, detail: "'not for ' + caller.person.team.name"}
    grey: {status: 409}
    """,
)


@pytest.mark.serves
def test_a_reference_that_may_be_empty_is_read_for_its_primary_key(tmp_path: Path) -> None:
    with running(tmp_path / "tasks.db", CONTRACT) as service:
        client = service.http

        def person(**team: str) -> dict[str, str]:
            key = client.post("/people", json=team).json()["key"]
            return {"Authorization": f"Bearer {key}"}

        red, blue, nobody = person(team="red"), person(team="blue"), person()
        made = client.post("/tasks", headers=red)
        assert (made.status_code, made.json()) == (201, {"id": 1, "team": "red", "label": "for red"})
        assert made.headers["X-Team"] == "red!"
        assert client.get("/notes").json() == [{"id": 1, "text": "made for red"}]
        assert client.get("/tasks", headers=red).json() == {"of": "red", "tasks": [1]}
        assert client.get("/tasks", headers=blue).json() == {"of": "blue", "tasks": []}
        assert told(client.post("/tasks", headers=blue)) == "blue"
        assert told(client.post("/tasks", headers=nobody)) == "forbidden"
        assert client.get("/tasks", headers=nobody).json() == {"tasks": []}
        shown = [client.get("/team", headers=each).json() for each in (red, nobody)]
        assert shown == [{"team": "team red"}, {}]
