"""Scopes of tokens (oauth2): what a token may do is what it was granted, and what it lacks is said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from tests.contracts import plan_of
from tests.server.conftest import Running, running
from tests.server.identity import Provider, providing

from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

NOTES = """\
# Notes

## 1. What the service does

Keeps notes.

## 2. Resources and their fields

```yaml
note:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    by:   {type: string, maxLength: 80, on create: caller.user}
    text: {type: string, maxLength: 80}
  required: [text]
```

## 3. States and transitions

No states: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /notes:        {does: create note, body: [text], responses: {201: note}}
GET /notes:         {does: list note, sort: [id], pages: {by: none}, responses: {200: page.items}}
PATCH /notes/{id}:  {does: update note, body: [text], patch: merge, responses: {200: note}}
DELETE /notes/{id}: {does: delete note, responses: {204: none}}
GET /me:            {does: compute, responses: {200: {scopes: caller.scopes, user: caller.user}}}
```

## 5. Authentication

```yaml
schemes:
  app:
    type: oauth2
    issuer: operator.issuer
    keys: operator.keys
    audience: orders
    algorithms: [RS256]
    scopes: [notes.read, notes.write, notes.delete]
    caller: {user: claims.sub}
rows: all
unseen rows: not found
permissions:
  POST /notes:        {app: "'notes.write' in caller.scopes"}
  GET /notes:         {app: "'notes.read' in caller.scopes || caller.user == 'root'"}
  PATCH /notes/{id}:  {app: "'notes.write' in caller.scopes && note.by == caller.user"}
  DELETE /notes/{id}: {app: "'notes.write' in caller.scopes && 'notes.delete' in caller.scopes"}
  GET /me:            app
```

## 6. Events

No events: none.

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes: {no: {status: 403, title: "No", for: forbidden}}
```

## 8. Limits

No limits: none.

## 9. Versioning

No versions: none.
"""

LACKING = 'Bearer error="insufficient_scope", scope="{}"'


class Notes:
    def __init__(self, provider: Provider, service: Running) -> None:
        self.provider, self.http = provider, service.http

    def call(self, method: str, path: str, body: object = None, **claims: object) -> httpx.Response:
        token = self.provider.token(**claims)  # type: ignore[arg-type]
        return self.http.request(method, path, json=body, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notes]:
    with ExitStack() as stack:
        provider = stack.enter_context(providing())
        operator = {"issuer": provider.url, "keys": provider.url + "/keys"}
        path = tmp_path_factory.mktemp("notes") / "a.db"
        yield Notes(provider, stack.enter_context(running(plan_of(NOTES), path, operator=operator)))


@pytest.mark.parametrize(
    ("claims", "scopes"),
    (
        ({"scope": "notes.read notes.write"}, ["notes.read", "notes.write"]),
        ({"scope": "openid  notes.read notes.read "}, ["notes.read"]),
        ({"scp": ["notes.write", "notes.read", 7]}, ["notes.write", "notes.read"]),
        ({"scp": "notes.delete"}, ["notes.delete"]),
        ({"scope": "notes.read", "scp": ["notes.write"]}, ["notes.read"]),
        ({"scope": ""}, []),
        ({"scope": {"notes.read": True}}, []),
        ({"scope": ["notes.read"]}, []),
        ({"scope": ["notes.read"], "scp": ["notes.write"]}, []),
        ({"scope": None, "scp": ["notes.write"]}, ["notes.write"]),
        ({"scope": "notes.reads NOTES.READ"}, []),
        ({}, []),
    ),
)
def test_what_a_token_was_granted(notes: Notes, claims: dict[str, object], scopes: list[str]) -> None:
    assert notes.call("GET", "/me", **claims).json() == {"scopes": scopes, "user": "grace"}


def test_what_a_token_lacks_is_said(notes: Notes) -> None:
    made = notes.call("POST", "/notes", {"text": "one"}, scope="notes.write")
    assert (made.status_code, made.json()["by"]) == (201, "grace")
    path = f"/notes/{made.json()['id']}"
    for method, where, body, scope, needed in (
        ("POST", "/notes", {"text": "two"}, "notes.read", "notes.write"),
        ("PATCH", path, {"text": "two"}, "notes.read", "notes.write"),
        ("DELETE", path, None, "notes.write", "notes.write notes.delete"),
    ):
        refused = notes.call(method, where, body, scope=scope)
        assert (refused.status_code, refused.json()) == (403, {"code": "no"}), (method, refused.text)
        assert refused.headers["www-authenticate"] == LACKING.format(needed), method


def test_where_a_scope_is_not_what_is_missing_nothing_is_said_of_it(notes: Notes) -> None:
    path = f"/notes/{notes.call('POST', '/notes', {'text': 'one'}, scope='notes.write').json()['id']}"
    another = notes.call("PATCH", path, {"text": "two"}, scope="notes.write", sub="linus")
    assert another.status_code == 403 and "www-authenticate" not in another.headers
    either = notes.call("GET", "/notes", scope="")
    assert either.status_code == 403 and "www-authenticate" not in either.headers
    assert notes.call("GET", "/notes", scope="", sub="root").status_code == 200


def test_a_bad_token_is_no_token_with_too_few_scopes(notes: Notes) -> None:
    for claims in ({"aud": "others"}, {"iss": "https://id.example"}, {"exp": 1}):
        refused = notes.call("POST", "/notes", {"text": "x"}, scope="notes.write", **claims)
        assert refused.status_code == 401
        assert "insufficient_scope" not in refused.headers["www-authenticate"]


def codes(document: str) -> list[str]:
    return [each.code.id for each in compile_document("notes.md", document.encode()).diagnostics]


def test_a_scope_that_nobody_can_have() -> None:
    assert "NF0563" in codes(NOTES.replace("'notes.delete' in", "'notes.remove' in"))
    assert "NF0564" in codes(NOTES.replace("caller: {user: claims.sub}", "caller: {scopes: claims.groups}"))
    assert not codes(NOTES)


def test_without_scopes_there_are_none_to_ask_for() -> None:
    assert codes(NOTES.replace("    scopes: [notes.read, notes.write, notes.delete]\n", ""))
