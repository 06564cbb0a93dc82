"""Endpoints for `anyone` alone: whatever credential comes along, in whichever way, is not read (meaning
"credentials")."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

pytestmark = pytest.mark.serves

CONTRACT = """\
# Notes

## 1. What the service does

Keeps notes of people, who are known in four ways.

## 2. Resources and their fields

```yaml
user:
  primary key: name
  fields:
    name:     {type: string, pattern: "^[a-z]+$"}
    password: {type: string, minLength: 4, secret: password}
    key:      {type: string, secret: token, on create: token()}
  required: [password]
note:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    text: {type: string}
    by:   {references: user, on create: caller.user, inverse: notes}
  required: [text]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /users:
  does: create user
  body: [name, password]
  issues: session
  responses: {201: {key: issued.key, session: caller.credential}}
POST /sessions:
  does: sign in user
  body: [name, password]
  issues: session
  responses: {200: {session: caller.credential}}
POST /notes:
  does: create note
  body: [text]
  idempotency key: optional
  responses: {201: {id: note.id, by: note.by}}
GET /limited:   {does: list note, sort: [id], pages: none, responses: {200: {total: page.total}}}
GET /notes:     {does: list note, sort: [id], pages: none, responses: {200: {total: page.total}}}
POST /mine:     {does: create note, body: [text], responses: {201: {id: note.id, by: note.by}}}
```

## 5. Authentication

```yaml
schemes:
  session: {type: apiKey, in: cookie, name: session, issued to: user, lasts: P1D}
  key:     {type: http, scheme: bearer, matches: user.key}
  query:   {type: apiKey, in: query, name: key, matches: user.key}
  desk:    {type: http, scheme: basic, realm: Notes, matches: user.name}
rows: all
permissions:
  POST /users:    anyone
  POST /sessions: anyone
  POST /notes:    anyone
  GET /limited:   anyone
  GET /notes:     [session, key, query, desk, anyone]
  POST /mine:     [session, key, query, desk]
```

## 6. Events

Events: none.

## 7. Errors

Errors: none.

## 8. Limits

```yaml
rates:
  few: {of: caller, allow: 2, per: PT1H, algorithm: fixed window, endpoints: [GET /limited]}
body size: 4 KiB
timeout: none
idempotency keys kept: P1D
```

## 9. Versioning

Versions: none.
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    plan = plan_of(CONTRACT)
    with serving(plan, Path(tmp_path_factory.mktemp("notes")) / "service.db", {}) as client:
        yield client


@pytest.fixture(scope="module")
def ada(client: httpx.Client) -> dict[str, str]:
    made = client.post("/users", json={"name": "ada", "password": "secret"})
    assert made.status_code == 201, made.text
    found: dict[str, str] = made.json()
    return found


WAYS = ("session", "key", "query", "desk")


def sent(way: str, credential: str) -> tuple[dict[str, str], dict[str, str]]:
    """Headers and parameters that carry a credential in one of the ways."""
    match way:
        case "session":
            return {"Cookie": f"session={credential}"}, {}
        case "key":
            return {"Authorization": f"Bearer {credential}"}, {}
        case "query":
            return {}, {"key": credential}
        case _:
            return {"Authorization": httpx.BasicAuth(*credential.split(":"))._auth_header}, {}


def good(way: str, ada: dict[str, str]) -> str:
    return {"session": ada["session"], "desk": "ada:secret"}.get(way, ada["key"])


def bad(way: str) -> str:
    return "ada:wrong" if way == "desk" else "expired"


@pytest.mark.parametrize("way", WAYS)
def test_a_credential_is_not_read_where_anyone_alone_may_call(
    client: httpx.Client, ada: dict[str, str], way: str
) -> None:
    for credential in (good(way, ada), bad(way)):
        headers, params = sent(way, credential)
        signed_in = client.post("/sessions", json={"name": "ada", "password": "secret"}, headers=headers, params=params)
        assert signed_in.status_code == 200, signed_in.text
        made = client.post("/notes", json={"text": "x"}, headers=headers, params=params)
        assert made.status_code == 201
        assert "by" not in made.json()  # nobody is the caller


@pytest.mark.parametrize("way", WAYS)
def test_a_bad_credential_is_one_where_anyone_may_call_beside_schemes(
    client: httpx.Client, ada: dict[str, str], way: str
) -> None:
    for credential, status in ((good(way, ada), 200), (bad(way), 401)):
        headers, params = sent(way, credential)
        assert client.get("/notes", headers=headers, params=params).status_code == status
        made = client.post("/mine", json={"text": "x"}, headers=headers, params=params)
        assert (made.status_code, made.json().get("by") if made.content else None) == (
            (201, "ada") if status == 200 else (401, None)
        )


def test_a_rate_of_callers_counts_the_address_there(client: httpx.Client, ada: dict[str, str]) -> None:
    headers = [sent("key", ada["key"])[0], sent("session", "expired")[0], {}]
    assert [client.get("/limited", headers=each).status_code for each in headers] == [200, 200, 429]


def test_an_idempotency_key_is_that_of_callers_without_a_credential_there(
    client: httpx.Client, ada: dict[str, str]
) -> None:
    key = {"Idempotency-Key": "one"}
    first = client.post("/notes", json={"text": "once"}, headers={**sent("key", ada["key"])[0], **key})
    again = client.post("/notes", json={"text": "once"}, headers=key)
    assert first.status_code == 201
    assert first.json() == again.json()
