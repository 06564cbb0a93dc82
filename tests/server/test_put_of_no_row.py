"""What a `put` says of a row that is not there, and of a body that nobody could read: no more than is known."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import contract, told

pytestmark = pytest.mark.serves

CONTRACT = b"""
purpose: Keeps things for people.
resources:
  person:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      key: {type: string, secret: token, on create: token()}
  thing:
    primary key: name
    fields:
      name: {type: string}
      owner: {references: person, on create: caller.person, on delete: cascade}
      size: {type: integer}
    required: [name, owner]
states: none
endpoints:
  requests: {media type: application/json, unknown members: ignored, unknown parameters: ignored}
  produces: application/json
  POST /people: {does: create person, body: none, responses: {201: {key: issued.key}}}
  POST /things: {does: create thing, body: [name, size], responses: {201: {name: thing.name}}}
  PUT /replaced/{name}: {does: put thing, body: [owner, size], responses: {replaced: {200: none}}}
  PUT /unchanged/{name}: {does: put thing, body: [owner, size], responses: {unchanged: {200: none}}}
  PUT /either/{name}: {does: put thing, body: [owner, size], responses: {replaced or unchanged: {200: none}}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: person.key}}
  rows: all
  unseen rows: not found
  permissions: {POST /people: anyone, POST /things: key, all others: [key, anyone]}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    nothing: {status: 404, for: not found}
    wrong: {status: 422, for: invalid}
    other: {status: 409, for: different}
    taken: {status: 409, for: conflict}
    unread: {status: 415, for: unsupported media type}
    refused: {status: 403, for: forbidden}
    unknown: {status: 401, for: unauthenticated}
    large: {status: 413, for: too large}
    cut: {status: 400, for: malformed}
  precedence: [different, conflict, invalid, unsupported media type]
limits: {rates: none, timeout: none, body size: none, pages: none}
versioning: none
"""

PATHS = ["/replaced", "/unchanged", "/either"]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    plan = plan_of(CONTRACT, "things.yaml")
    with serving(plan, tmp_path_factory.mktemp("put") / "things.db", {}) as client:
        key = {"Authorization": f"Bearer {client.post('/people').json()['key']}"}
        assert client.post("/things", json={"name": "cup", "size": 1}, headers=key).status_code == 201
        yield client


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", [{}, {"owner": 1}, {"owner": 99}, {"size": 2}])
def test_what_a_row_that_is_not_there_would_lack_is_not_told(
    http: httpx.Client, path: str, body: dict[str, int]
) -> None:
    answer = http.put(f"{path}/nothing", json=body)
    assert (answer.status_code, answer.json()) == (404, {"code": "nothing"})


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("media_type", ["application/json; charset=utf-16", "text/plain"])
def test_whether_a_row_is_another_nobody_knows_where_the_body_was_not_read(
    http: httpx.Client, path: str, media_type: str
) -> None:
    answer = http.put(f"{path}/cup", content=b'{"owner": 1, "size": 5}', headers={"Content-Type": media_type})
    assert (answer.status_code, answer.json()) == (415, {"code": "unread"})


@pytest.mark.parametrize(
    ("body", "status"), [({"size": 2}, 409), ({"size": "x"}, 422), ({"owner": 99, "size": 2}, 409)]
)
def test_a_row_is_another_by_values_that_are_known(http: httpx.Client, body: dict[str, object], status: int) -> None:
    assert http.put("/unchanged/cup", json=body).status_code == status


@pytest.mark.parametrize("path", ["/replaced", "/either"])
def test_what_a_row_that_is_there_would_lack_is_invalid(http: httpx.Client, path: str) -> None:
    assert http.put(f"{path}/cup", json={"size": 1}).status_code == 422


MADE = contract(
    """
    thing:
      primary key: name
      fields:
        name:  {type: string}
        size:  {type: integer}
        title: {type: string}
        slug:  {type: string, on change: slug(thing.title)}
        seen:  {type: integer, on create: 100 / thing.size}
    """,
    """
    POST /things: {does: create thing, body: [name, size, title], responses: {201: thing}}
    PUT /either/{name}: {does: put thing, body: [size], responses: {created: {201: thing}, unchanged: {200: thing}}}
    PUT /created/{name}: {does: put thing, body: [size], responses: {created: {201: thing}}}
    """,
)
"""Without a title no slug can be made."""


def test_what_a_new_row_could_not_be_made_of_says_nothing_of_one_that_is_there(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    plan = plan_of(MADE)
    with serving(plan, tmp_path_factory.mktemp("made") / "things.db", {}) as client:
        client.post("/things", json={"name": "a", "size": 2, "title": "Tea"})

        def told_of(path: str, size: int) -> object:
            return told(client.put(path, json={"size": size}))

        # 0 makes `seen` impossible too; the row that is there has what it has.
        assert [told_of("/either/a", size) for size in (2, 3, 0)] == [200, "different", "different"]
        assert [told_of("/created/a", size) for size in (2, 3, 0)] == ["conflict"] * 3
        assert [told_of("/either/b", size) for size in (2, 0)] == [409, "invalid"]
