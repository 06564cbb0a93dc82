"""Effects of signing in and out, of `ensure` and `remove`, of cases; the tokens of rows that effects make; and what the
body gives beside fields."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events.service import Running, running
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Accounts

## 1. What the service does

Keeps accounts, and notes what happens to them.

## 2. Resources and their fields

```yaml
user:
  primary key: id
  fields:
    id:       {type: integer, on create: serial()}
    name:     {type: string, unique: true}
    password: {type: string, secret: password}
  required: [name, password]
note:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    user: {references: user, on delete: cascade}
    text: {type: string}
  required: [user, text]
invitation:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    user:  {references: user, on delete: cascade}
    token: {type: string, secret: token, on create: token()}
like:
  primary key: [user, thing]
  fields:
    user:  {references: user, on delete: cascade, on create: caller.user}
    thing: {type: string}
task:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    title: {type: string}
    due:   {type: integer}
    state: {state: true}
  required: [title, due]
types:
  several_tasks:
    type: object
    properties:
      ids:    {type: array, items: {type: integer}}
      title:  {type: string}
      reason: {type: string, minLength: 3}
    required: [reason]
  sum: {type: object, properties: {numbers: {type: array, items: {type: integer}}}, required: [numbers]}
```

## 3. States and transitions

```yaml
user: none
note: none
invitation: none
like: none
task:
  initial: open
  states: [open, done]
  transitions:
    finish:
      from: open
      to: done
      also: [{does: create task, sets: {title: this.title, due: this.due + 7}}]
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /users:
  does: create user
  body: [name, password]
  also: [{does: create invitation, sets: {user: this}}]
  issues: session
  responses: {201: {id: user.id, token: caller.credential, invitation: issued.token}}
POST /sessions:
  does: sign in user
  body: [name, password]
  issues: session
  also: [{does: create note, sets: {user: this, text: "'in'"}}]
  responses: {200: {token: caller.credential}}
DELETE /sessions:
  does: sign out user
  ends: presented
  also: [{does: create note, sets: {user: this, text: "'out'"}}]
  responses: {204: none}
PUT /likes/{thing}:
  does: put like
  body: none
  also: [{does: create note, sets: {user: this.user, text: "'likes ' + this.thing"}}]
  responses: {created: {201: like}, unchanged: {200: like}}
DELETE /likes/{thing}:
  does: delete like
  also: [{does: create note, sets: {user: this.user, text: "'no longer likes ' + this.thing"}}]
  responses: {deleted: {204: none}, absent: {204: none}}
GET /notes:
  does: list note
  sort: [id]
  pages: {by: none}
  responses: {200: "page.items.map(n, n.text)"}
POST /tasks:
  does: create task
  body: [title, due]
  cases:
    by: "request.query.loud == true ? 'loud' : 'quiet'"
    loud:
      also: [{does: create note, sets: {user: caller.user, text: this.title}}]
      responses: {201: {id: task.id}}
    quiet: {responses: {201: {id: task.id}}}
  query: {loud: {type: boolean}}
POST /tasks/{id}/finish: {does: finish task, body: none, responses: {200: task}}
PATCH /tasks/{id}:
  does: update task
  patch: merge
  body: {$ref: "#/types/several_tasks"}
  check: {that: request.body.reason != 'none', else: no_reason}
  also:
    - does: update task
      where: has(request.body.ids) && request.body.ids.exists(i, i == task.id)
      sets: {title: this.title + ' (' + request.body.reason + ')'}
  responses: {200: {title: task.title, reason: request.body.reason}}
GET /tasks:
  does: list task
  sort: [id]
  pages: {by: none}
  responses: {200: "page.items.map(t, {'title': t.title, 'due': t.due, 'state': t.state})"}
POST /sum:
  does: compute
  body: {$ref: "#/types/sum"}
  responses: {200: {sum: request.body.numbers.sum()}}
```

## 5. Authentication

```yaml
schemes: {session: {type: http, scheme: bearer, issued to: user, lasts: P1D}}
permissions:
  POST /users: anyone
  POST /sessions: anyone
  all others: session
rows: all
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {media type: application/problem+json, body: {code: error.code, fields: error.fields}}
codes:
  wrong:     {status: 422, title: Wrong, for: invalid}
  no_reason: {status: 409, title: No reason}
  refused:   {status: 401, title: Refused, for: [unauthenticated, sign in refused]}
```

"""
    + LIMITS_AND_VERSIONS
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "accounts.db", CONTRACT) as service:
        made = service.http.post("/users", json={"name": "ann", "password": "a long secret"})
        assert made.status_code == 201, made.text
        assert len(made.json()["invitation"]) >= 32
        service.http.headers["Authorization"] = f"Bearer {made.json()['token']}"
        yield service


def notes(service: Running) -> object:
    return service.http.get("/notes").json()


def test_signing_in_and_out_is_noted(service: Running) -> None:
    refused = service.http.post("/sessions", json={"name": "ann", "password": "another secret"})
    assert (refused.status_code, notes(service)) == (401, [])
    found = service.http.post("/sessions", json={"name": "ann", "password": "a long secret"})
    assert (found.status_code, notes(service)) == (200, ["in"]), found.text
    own = {"Authorization": f"Bearer {found.json()['token']}"}
    assert service.http.delete("/sessions", headers=own).status_code == 204
    assert notes(service) == ["in", "out"]


def test_what_was_done_already_has_no_effect(service: Running) -> None:
    assert [service.http.put("/likes/tea").status_code for _ in range(2)] == [201, 200]
    assert notes(service) == ["likes tea"]
    assert [service.http.delete("/likes/tea").status_code for _ in range(2)] == [204, 204]
    assert notes(service) == ["likes tea", "no longer likes tea"]


def test_one_case_has_an_effect_and_the_other_has_none(service: Running) -> None:
    for query in ("?loud=true", "?loud=false", ""):
        assert service.http.post(f"/tasks{query}", json={"title": "Water", "due": 3}).status_code == 201
    assert notes(service) == ["Water"]


def test_what_is_done_makes_the_next_one(service: Running) -> None:
    service.http.post("/tasks", json={"title": "Water", "due": 3})
    assert service.http.post("/tasks/1/finish").status_code == 200
    assert service.http.get("/tasks").json() == [
        {"title": "Water", "due": 3, "state": "done"},
        {"title": "Water", "due": 10, "state": "open"},
    ]


def test_what_the_body_gives_beside_fields_is_read(service: Running) -> None:
    for title in ("a", "b", "c"):
        service.http.post("/tasks", json={"title": title, "due": 1})
    changed = service.http.patch("/tasks/1", json={"title": "x", "ids": [1, 3, 9], "reason": "late"})
    assert (changed.status_code, changed.json()) == (200, {"title": "x", "reason": "late"}), changed.text
    assert [each["title"] for each in service.http.get("/tasks").json()] == ["x", "b", "x (late)"]
    refused = service.http.patch("/tasks/1", json={"title": "y", "reason": "none"})
    assert (refused.status_code, refused.json()["code"]) == (409, "no_reason")
    refused = service.http.patch("/tasks/1", json={"ids": ["y"], "reason": "no"})
    found = {(each["pointer"], each["rule"]) for each in refused.json()["fields"]}
    assert (refused.status_code, found) == (422, {("/ids/0", "type"), ("/reason", "minLength")}), refused.text
    refused = service.http.patch("/tasks/1", json={"ids": [2**70], "reason": "long"})
    assert refused.status_code == 422, refused.text
    assert service.http.patch("/tasks/1", json={"title": "z", "reason": "none of these"}).json()["title"] == "z"
    assert [each["title"] for each in service.http.get("/tasks").json()] == ["z", "b", "x (late)"]


def test_a_response_is_computed_from_a_body(service: Running) -> None:
    assert service.http.post("/sum", json={"numbers": [1, 2, 3]}).json() == {"sum": 6}
    refused = service.http.post("/sum", json={"numbers": [1, "2"], "x": 1})
    assert refused.status_code == 422, refused.text
    assert service.http.post("/sum").status_code in (400, 415, 422)


def test_a_token_that_an_effect_makes_is_told_or_warned_of() -> None:
    silent = CONTRACT.replace(", invitation: issued.token", "")
    assert "NF0576" not in {each.code.id for each in compile_document("a.md", CONTRACT.encode()).diagnostics}
    found = [each for each in compile_document("a.md", silent.encode()).diagnostics if each.code.id == "NF0576"]
    assert [each.help for each in found] == [("show `issued.token`",)]
