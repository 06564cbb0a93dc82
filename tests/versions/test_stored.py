"""What clients of an older version give becomes what `stored` makes of it; where that has no value, it is refused."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.http_cases import serving
from tests.postgresql import server

from ninefold.pipeline import compile_document

pytestmark = pytest.mark.serves

CONTRACT = b"""
purpose: Keeps what things cost.
resources:
  thing:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      price: {type: [integer, "null"], minimum: 0}
      double: {computed: doubled(thing)}
    views:
      both: {term: again(thing), in_place: thing.price * 2, computed: thing.double}
  terms: {doubled(t): t.price * 2, again(t): doubled(t)}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /things: {does: create thing, body: [price], responses: {201: thing}}
  PATCH /things/{id}: {does: update thing, body: [price], patch: merge, responses: {200: thing}}
  GET /things/{id}: {does: read thing, responses: {200: both(thing)}}
  GET /dear:
    does: list thing
    where: doubled(thing) >= 100
    sort: [id]
    pages: none
    responses: {200: "page.items.map(t, t.id)"}
  GET /by:
    does: list thing
    query: {least: doubled(thing) >= value}
    sort: [id]
    pages: none
    responses: {200: "page.items.map(t, t.id)"}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: error.fields}
  codes:
    wrong: {status: 422, for: invalid}
    nothing: {status: 404, for: not found}
    cut: {status: 400, for: malformed}
    unread: {status: 415, for: unsupported media type}
    unknown: {status: 400, for: unknown version}
limits: {rates: none, timeout: none, body size: none, pages: none}
versioning:
  in: header
  name: Api-Version
  default: two
  versions:
    two: {}
    one:
      changes:
        - change: thing.price
          is: thing.price * 10
          stored: "value % 10 == 0 ? value / 10 : null"
          was: {type: [integer, "null"], minimum: 0}
  compatible: [deprecate]
"""


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    loaded = compile_document("contract.yaml", CONTRACT)
    plan = loaded.plan_for(request.param)
    assert plan is not None, [each.message for each in loaded.diagnostics]
    is_file = request.param == "sqlite"
    with serving(plan, tmp_path_factory.mktemp("stored") / "things.db" if is_file else server.database(), {}) as client:
        client.headers["Api-Version"] = "one"
        yield client


def test_a_value_of_which_nothing_is_stored_is_refused(client: httpx.Client) -> None:
    response = client.post("/things", json={"price": 15})
    assert response.status_code == 422
    assert [(each["pointer"], each["rule"]) for each in response.json()] == [("/price", "stored")]


def test_null_stays_null(client: httpx.Client) -> None:
    made = client.post("/things", json={"price": 30})
    id = made.json()["id"]
    assert (made.status_code, made.json()) == (201, {"id": id, "price": 30, "double": 6})
    cleared = client.patch(f"/things/{id}", json={"price": None})
    assert (cleared.status_code, cleared.json()) == (200, {"id": id, "price": None})


def test_a_term_reads_what_its_place_does_and_a_computed_field_has_one_value(client: httpx.Client) -> None:
    """A term is as if it were written where it stands: it reads what is shown there, and what is stored where the
    contract decides. What is computed is a field, and the same in every version (decision 126)."""
    made = client.post("/things", json={"price": 500}).json()
    at = f"/things/{made['id']}"
    own, newest = {"Api-Version": "one"}, {"Api-Version": "two"}
    assert client.get(at, headers=own).json() == {"term": 1000, "in_place": 1000, "computed": 100}
    assert client.get(at, headers=newest).json() == {"term": 100, "in_place": 100, "computed": 100}
    for headers, least in ((own, 1000), (newest, 100)):
        assert made["id"] in client.get("/dear", headers=headers).json()
        assert client.get("/by", params={"least": least}, headers=headers).json() == [made["id"]]
        assert client.get("/by", params={"least": least + 1}, headers=headers).json() == []


def test_where_there_is_no_such_version_the_paths_are_those_of_the_newest(client: httpx.Client) -> None:
    named = {"Api-Version": "none"}
    assert client.post("/things", json={}, headers=named).status_code == 400
    assert client.get("/nowhere", headers=named).status_code == 404
    assert client.get("/things", headers=named).status_code == 405
