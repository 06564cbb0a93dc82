"""What is told and compared in the statements of a write and of a stream is the same from PostgreSQL: which events a
stream tells, in which order those of several rows stand, and what `put` says of a row that is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.events.stream import listening
from tests.http_cases import serving
from tests.postgresql import server

from ninefold.cli import main
from ninefold.pipeline import compile_document
from ninefold.trace.identifier import HEADER

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
      slug: {type: string, minLength: 2, on create: slug(thing.title)}
      title: {type: string}
    required: [name, owner, size, slug]
    check: {that: "!has(before.thing) || before.thing.size <= thing.size", else: smaller}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /people: {does: create person, body: none, responses: {201: {key: issued.key}}}
  POST /things: {does: create thing, body: [name, size, title], responses: {201: none}}
  PATCH /things/{name}: {does: update thing, body: [size], patch: merge, responses: {200: {size: thing.size}}}
  PUT /unchanged/{name}: {does: put thing, body: [size], responses: {unchanged: {200: none}}}
  PUT /either/{name}: {does: put thing, body: [size], responses: {created: {201: none}, unchanged: {200: none}}}
  DELETE /things: {does: delete all thing, responses: {204: none}}
  GET /events:
    does: stream event
    where: "event.row != 'hidden'"
    query:
      kind: {explode: false, where: event.kind in value}
      size: {type: integer, where: event.payload.size == value}
    responses: {200: stream}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: person.key}}
  rows: all
  unseen rows: not found
  permissions: {POST /people: anyone, all others: [key, anyone]}
events:
  kinds:
    thing.first: {upon: [create thing, delete thing], payload: {name: thing.name, size: thing.size}}
    thing.second: {upon: [create thing, delete thing], payload: {name: thing.name, size: thing.size}}
  delivery: {stream: server-sent events, envelope: none}
  kept: P1D
errors:
  error shape: {media type: application/json, body: {code: error.code, detail: error.detail}}
  codes:
    smaller: {status: 409, detail: "string(before.thing.size) + ' to ' + string(thing.size)"}
    nothing: {status: 404, for: [not found, no such path]}
    broken: {status: 500, for: [method not allowed, not acceptable, unavailable, internal]}
    wrong: {status: 422, for: invalid}
    other: {status: 409, for: different}
    refused: {status: 400, for: [conflict, unsupported media type, forbidden, unauthenticated, malformed, too large]}
limits: {rates: none, timeout: none, body size: none, pages: none}
versioning: none
"""


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    plan = compile_document("things.yaml", CONTRACT).plan_for("postgresql")
    assert plan is not None
    with serving(plan, server.database(), {}) as client:
        client.headers["Authorization"] = f"Bearer {client.post('/people').json()['key']}"
        for size, name in enumerate(("b", "hidden", "a"), 1):
            made = client.post("/things", json={"name": name, "size": size, "title": "cup"})
            assert made.status_code == 201, made.text
        yield client


def test_what_put_finds_is_compared_and_nothing_is_made_of_what_it_lacks(http: httpx.Client) -> None:
    put = {size: http.put("/either/a", json={"size": size}) for size in (3, 4)}
    assert {size: each.status_code for size, each in put.items()} == {3: 200, 4: 409}, [
        each.text for each in put.values()
    ]
    assert http.put("/unchanged/a", json={"size": 3}).status_code == 200
    assert http.put("/unchanged/c", json={"size": 3}).status_code == 404
    # A new one would have the slug of a title that nobody gives.
    assert http.put("/either/c", json={"size": 3}).status_code == 409


def test_the_detail_of_a_code_tells_of_the_row_as_it_was(http: httpx.Client) -> None:
    refused = http.patch("/things/a", json={"size": 2}, headers={"Content-Type": "application/merge-patch+json"})
    assert (refused.status_code, refused.json()) == (409, {"code": "smaller", "detail": "3 to 2"})


def test_a_stream_tells_what_where_and_the_query_say_in_the_order_of_rows(http: httpx.Client) -> None:
    def told(count: int, query: str = "") -> list[tuple[str, str]]:
        with listening(http, {}, 0, f"/events{query}") as stream:
            return [(each.data["name"], each.kind.removeprefix("thing.")) for each in stream.take(count)]

    made = [("b", "first"), ("b", "second"), ("a", "first"), ("a", "second")]
    assert told(4) == made
    assert told(1, "?size=3&kind=thing.second,thing.other") == [("a", "second")]
    assert http.get("/events?size=three").status_code == 422
    assert http.delete("/things").status_code == 204
    assert told(8)[4:] == [(name, kind) for name in "ab" for kind in ("first", "second")]


def test_what_caused_a_response_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract = tmp_path / "things.yaml"
    contract.write_bytes(CONTRACT)
    plan = compile_document("things.yaml", CONTRACT).plan_for("postgresql")
    assert plan is not None
    with serving(plan, server.database(), {}, trace=True) as client:
        traced = client.post("/people").headers[HEADER]
    assert main(["explain", str(contract), "--response", traced]) == 0
    assert "answered 201" in capsys.readouterr().out
