"""A token is told by `issued` where the request makes it, in whatever way, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.events.service import running
from tests.parts import LIMITS_AND_VERSIONS

from ninefold.pipeline import compile_document

CONTRACT = (
    """# Keys

## 1. What the service does

Keeps keys.

## 2. Resources and their fields

```yaml
key:
  primary key: id
  fields:
    id:      {type: integer, on create: serial()}
    name:    {type: string}
    state:   {state: true}
    created: {type: string, secret: token, on create: token()}
    changed: {type: string, secret: token, on change: token()}
    renamed: {type: string, secret: token, on change: {name: token()}}
    given:   {type: string, secret: token}
    never:   {type: string, secret: token}
```

## 3. States and transitions

```yaml
key:
  initial: a
  states: [a, b]
  transitions:
    move: {from: [a, b], to: b}
    name: {from: [a, b], to: b, sets: {name: string(now)}}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
"""
    "%s"
    """```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: none
codes: none
```

""" + LIMITS_AND_VERSIONS
)

TOKENS = ("created", "changed", "renamed", "given", "never")

BY: dict[str, tuple[str, set[str]]] = {
    "POST /keys": ("does: create key, body: [name]", {"created", "changed", "renamed"}),
    "POST /given": ("does: create key, body: [given]", {"created", "changed", "renamed", "given"}),
    "POST /moved": ("does: [create key, move key], body: none", {"created", "changed", "renamed"}),
    "PATCH /keys/{id}": ("does: update key, body: [given], patch: merge", {"changed", "given"}),
    "PATCH /names/{id}": ("does: update key, body: [name], patch: merge", {"changed", "renamed"}),
    "POST /keys/{id}/name": ("does: update key, body: none, sets: {name: string(now)}", {"changed", "renamed"}),
    "POST /keys/{id}/move": ("does: move key, body: none", {"changed"}),
    "POST /keys/{id}/moved": ("does: name key, body: none", {"changed", "renamed"}),
    "GET /keys/{id}": ("does: read key", set()),
    "DELETE /keys/{id}": ("does: delete key", set()),
    "PUT /keys/{id}": ("does: put key, body: [name, given]", {"changed", "renamed", "given"}),
}


def _told(key: str, does: str, tokens: list[str]) -> str:
    shown = ", ".join(["id: '1'", *(f"{each}: issued.{each}" for each in tokens)])
    answer = "200: {" + shown + "}"
    return f"{key}: {{{does}, responses: {{{'replaced: {' + answer + '}' if 'put' in does else answer}}}}}\n"


@pytest.mark.parametrize("key", BY)
def test_what_is_not_made_is_no_member(key: str) -> None:
    does, made = BY[key]
    for token in TOKENS:
        document = CONTRACT % _told(key, does, [token])
        found = {each.code.id for each in compile_document("keys.md", document.encode()).diagnostics}
        assert bool(found & {"NF0403", "NF0404"}) == (token not in made), (token, found)


@pytest.mark.serves
def test_what_is_made_is_told(tmp_path: Path) -> None:
    endpoints = "".join(_told(key, does, sorted(made)) for key, (does, made) in BY.items() if made)
    with running(tmp_path / "keys.db", contract=CONTRACT % endpoints) as service:
        for key, (does, made) in BY.items():
            if made:
                method, path = key.split()
                body = {each: key.ljust(40, "a") for each in ("name", "given") if each in does}
                given = body if "body: none" not in does else None
                answer = service.http.request(method, path.replace("{id}", "1"), json=given)
                assert answer.status_code == 200, (key, answer.text)
                assert answer.json().keys() == made | {"id"}, key


EFFECTS = """
purpose: Teams, and the keys that are made with them.
resources:
  team:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, name: {type: string}, state: {state: true}}
  key:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      text: {type: string, secret: token, MADE: token()}
      team: {references: team, on delete: cascade, unique: true}
states:
  team:
    initial: new
    states: [new, open]
    transitions: {open: {from: new, to: open, OF TRANSITION}}
  key: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /teams: {does: create team, body: [name], responses: {201: {id: team.id}}}
  POST /teams/{id}/open: {does: open team, body: none, responses: {200: {id: team.id, SHOWN}}, OF ENDPOINT}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: {error shape: none, codes: none}
limits: {rates: none, timeout: none, body size: 1 KiB}
versioning: none
"""


@pytest.mark.serves
@pytest.mark.parametrize("at", ["TRANSITION", "ENDPOINT"])
@pytest.mark.parametrize("verb", ["create", "put"])
@pytest.mark.parametrize("made", ["on create", "on change"])
def test_what_an_effect_makes_is_told_by_issued_or_said_to_be_told_to_nobody(
    tmp_path: Path, made: str, verb: str, at: str
) -> None:
    text = EFFECTS.replace("MADE", made).replace(f"OF {at}", f"also: [{{does: {verb} key, sets: {{team: this}}}}]")
    text = text.replace(", OF TRANSITION", "").replace(", OF ENDPOINT", "")
    silent = compile_document("keys.yaml", text.replace(", SHOWN", "").encode()).diagnostics
    assert [(each.code.id, each.help) for each in silent] == [("NF0576", ("show `issued.text`",))]
    told = text.replace("SHOWN", "key: issued.text")
    assert not compile_document("keys.yaml", told.encode()).diagnostics
    with running(tmp_path / "keys.db", contract=told, name="keys.yaml") as service:
        assert service.http.post("/teams", json={"name": "a"}).status_code == 201
        assert service.http.post("/teams/1/open").json().keys() == {"id", "key"}
