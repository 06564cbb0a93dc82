"""What is noted not to be shown to some who may call is not shown to them, and all else is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.http_cases import serving

from ninefold.pipeline import compile_document

SHOWN = {
    "by all": "note.text + '!'",
    "alone": "caller.user",
    "compared": "note.owner == caller.user",
    "behind a term": "own",
    "in a macro": "note.marks.exists(m, m.by == caller.user)",
    "of each": "note.marks.map(m, m.by == caller.user)",
    "made of a condition": "[note.owner == caller.user].size()",
    "of one that asks": "[has(caller.user) && note.owner == caller.user].size()",
    "asked first": "has(caller.user) && note.owner == caller.user",
    "asked otherwise": "!has(caller.user) || note.owner == caller.user",
    "asked of another": "has(caller.level) && note.owner == caller.user",
    "chosen": "has(caller.user) ? caller.user.name + '!' : 'nobody'",
    "of a robot": "caller.level + 1",
    "of both": "string(caller.level) + caller.user.name",
}

CONTRACT = """
purpose: Keeps notes.
resources:
  user:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      name: {type: string}
      key: {type: string, secret: token, on create: token()}
    required: [name]
  robot:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      key: {type: string, secret: token, on create: token()}
  note:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      text: {type: string}
      owner: {references: user, on create: caller.user, inverse: notes, on delete: cascade}
    required: [text]
    views:
      shown: [SHOWN]
  mark:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      note: {references: note, inverse: marks, on delete: cascade}
      by: {references: user, on create: caller.user, on delete: cascade}
    required: [note]
  terms:
    own: note.owner == caller.user
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /users: {does: create user, body: [name], responses: {201: {key: issued.key}}}
  POST /robots: {does: create robot, body: none, responses: {201: {key: issued.key}}}
  POST /notes: {does: create note, body: [text], responses: {201: {id: note.id}}}
  POST /notes/{note.id}/marks: {does: create mark, body: none, responses: {201: {id: mark.id}}}
  GET /notes/{id}: {does: read note, responses: {200: shown(note)}}
authentication:
  schemes:
    key: {type: http, scheme: bearer, matches: user.key}
    robot: {type: apiKey, in: header, name: Robot, matches: robot.key, caller: {level: "1"}}
  rows: all
  permissions: {POST /users: anyone, POST /robots: anyone, "GET /notes/{id}": [key, robot, anyone], all others: key}
events: none
errors: not shown
limits: {rates: none, body size: 64 KiB, timeout: none, pages: none}
versioning: none
"""


@pytest.mark.serves
def test_what_is_noted_is_left_out_and_nothing_else(tmp_path: Path) -> None:
    shown = ", ".join(f'{{"{name}": "{expression}"}}' for name, expression in SHOWN.items())
    text = CONTRACT.replace("SHOWN", shown)
    loaded = compile_document("notes.yaml", text.encode())
    assert loaded.plan is not None, [each.message for each in loaded.diagnostics]
    noted: dict[str, set[str]] = {who: set() for who in ("key", "robot", "anyone")}
    for each in loaded.diagnostics:
        if each.code.id == "NF0810":
            written = text[each.labels[0].span.start : each.labels[0].span.end].strip('"')
            name = next(name for name, expression in SHOWN.items() if expression == written)
            for who in re.findall(r"`(\w+)`", each.message.partition("shown to")[2]):
                noted[who].add(name)

    with serving(loaded.plan, tmp_path / "notes.db", {}) as client:
        ann = {"Authorization": f"Bearer {client.post('/users', json={'name': 'Ann'}).json()['key']}"}
        robot = {"Robot": client.post("/robots").json()["key"]}
        note = client.post("/notes", json={"text": "a"}, headers=ann).json()["id"]
        assert client.post(f"/notes/{note}/marks", headers=ann).status_code == 201
        for who, headers in (("key", ann), ("robot", robot), ("anyone", {})):
            answer = client.get(f"/notes/{note}", headers=headers)
            assert answer.status_code == 200, answer.text
            left_out = set(SHOWN) - set(answer.json())
            assert left_out - ({"alone"} if who != "key" else set()) == noted[who], who
    assert noted["key"] and noted["robot"] and noted["anyone"]
