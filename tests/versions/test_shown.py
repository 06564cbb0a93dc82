"""What is shown in an older version reads what that version shows, wherever an expression asks it of each of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.events.service import running
from tests.versions.test_unchanged import PAIRS

from ninefold.contract.versions.derive import derive
from ninefold.expressions.ast import VARIABLES, Member, every
from ninefold.language.expressions import Leaf
from ninefold.language.fact import value_of
from ninefold.pipeline import compile_document

ASKING = [
    f"author.books.{macro}({'i, ' * (count - 1)}b, b.state == 'here')"
    for macro, counts in sorted(VARIABLES.items())
    for count in sorted(set(counts.values()))
    if macro != "transformMap"
]
KEEPING = [f"author.books.{kept}.map(b, b.state)" for kept in ("filter(b, true)", "sortBy(b, b.isbn)", "distinct()")]


@pytest.mark.parametrize("asked", [*ASKING, *KEEPING])
def test_what_is_asked_of_each_row_reads_what_is_shown(asked: str) -> None:
    endpoint = f'GET /authors/{{id}}: {{does: read author, responses: {{200: "{asked}"}}}}\n'
    text = (PAIRS / "shelf" / "newer.md").read_text(encoding="utf-8").replace("GET /stats:", f"{endpoint}GET /stats:")
    older = derive(compile_document("contract.md", text.encode()).contract).value[0].contract
    found = next(each for each in value_of(older.endpoints.endpoints) or () if each.key == "GET /authors/{id}")
    (response,) = value_of(found.responses) or ()
    content = value_of(response.content)
    assert isinstance(content, Leaf)
    read = {node.name for node in every(content.expression.ast) if isinstance(node, Member)}
    assert "state of 2" in read
    assert "state" not in read


PREDICATES = """\
purpose: Notes.
resources:
  user:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, key: {type: string, secret: token, on create: token()}}
  note:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      owner: {references: user, on create: caller.user, on delete: cascade}
    views:
      short: [id, {mine: note.owner == caller.user}]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /users: {does: create user, body: none, responses: {201: {key: issued.key}}}
  POST /notes: {does: create note, body: none, responses: {201: short(note)}}
  GET /notes/{id}: {does: read note, responses: {200: short(note)}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: user.key}}
  rows: all
  permissions: {POST /users: anyone, "GET /notes/{id}": [key, anyone], all others: key}
events: none
errors: not shown
limits: none
versioning:
  in: header
  name: Version
  default: "2"
  compatible: none
  versions:
    2: {}
    1:
      changes:
        - {change: note.views.short, was: [id, {mine: "has(caller.user) ? note.owner == caller.user : null"}]}
"""


@pytest.mark.serves
def test_an_older_version_leaves_a_predicate_out_where_its_template_does(tmp_path: Path) -> None:
    """What 2 shows as false to whom nobody knows, 1 left out: part 9 says so by a view of its own (decision 0103)."""
    with running(tmp_path / "service.db", PREDICATES, name="contract.yaml") as service:
        by = [{"Authorization": f"Bearer {service.http.post('/users').json()['key']}"} for _ in range(2)]
        assert service.http.post("/notes", headers=by[0]).json() == {"id": 1, "mine": True}
        for version, nobody in (("2", {"id": 1, "mine": False}), ("1", {"id": 1})):
            own = {"Version": version}
            assert service.http.get("/notes/1", headers=own).json() == nobody
            told = [service.http.get("/notes/1", headers=own | each).json()["mine"] for each in by]
            assert told == [True, False]


TOLD = """\
purpose: Items.
resources:
  item:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      zone: {type: integer, minimum: 0}
      state: {state: true}
    required: [zone]
    check: {that: "!has(before.item) || item.zone >= before.item.zone", else: lower}
states: {item: {initial: here, states: [here, gone], transitions: {leave: {from: here, to: gone}}}}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /items: {does: create item, body: [zone], responses: {201: {zone: item.zone}}}
  PATCH /items/{id}: {does: update item, body: [zone], patch: merge, responses: {200: {zone: item.zone}}}
  POST /items/{id}/leave: {does: leave item, body: none, responses: {200: {zone: item.zone}}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {said: error.detail}}
  codes:
    left:  {status: 409, for: illegal transition, detail: string(item.zone), headers: {X-Zone: string(item.zone + 0)}}
    lower: {status: 422, detail: string(before.item.zone), headers: {X-Zone: "string(before.item.zone)"}}
    bad:   {status: 400, for: [invalid, not found, malformed]}
limits: {rates: none, timeout: none, body size: none}
versioning:
  in: header
  name: V
  default: "2"
  versions: {"2": {}, "1": {changes: [{change: item.zone, is: item.zone + 100, stored: value - 100}]}}
  compatible: none
"""


@pytest.mark.parametrize("version", ["1", "2"])
def test_errors_tell_what_the_version_shows(version: str, tmp_path: Path) -> None:
    more = 100 if version == "1" else 0
    with running(tmp_path / "service.db", TOLD, name="items.yaml") as service:

        def ask(method: str, path: str, **more: object) -> tuple[str, str | None]:
            found = service.http.request(method, path, headers={"V": version}, **more)  # type: ignore[arg-type]
            assert found.status_code >= 400, found.text
            return found.json()["said"], found.headers.get("X-Zone")

        for zone in (3, 4):
            made = service.http.post("/items", json={"zone": zone + more}, headers={"V": version})
            assert made.json() == {"zone": zone + more}
        assert ask("PATCH", "/items/1", json={"zone": 2 + more}) == (str(3 + more), str(3 + more))
        assert service.http.post("/items/2/leave", headers={"V": version}).status_code == 200
        assert ask("POST", "/items/2/leave") == (str(4 + more), str(4 + more))
