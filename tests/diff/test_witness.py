"""Requests that are made of two contracts, so that each difference has one that shows it."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.contracts import ALL, compiled, title
from tests.diff.test_pairs import PAIRS, TEXT, edited, loaded
from tests.slices import seldom

from ninefold.development.samples import admits, sample
from ninefold.diff.bounds import telling
from ninefold.diff.compare import diff
from ninefold.diff.finding import Difference
from ninefold.diff.making import path_of_new, puts
from ninefold.diff.rehearsal import Rehearsal, Told
from ninefold.diff.report import results
from ninefold.diff.witness import made, showing
from ninefold.plan.routes import PathParameter, Served
from ninefold.runtime.operations.credentials import hashed
from ninefold.runtime.operations.flow import Unreachable

SEEN = [each for each in PAIRS if each["verdict"] not in ("none", "words")]
TAKEN = seldom(SEEN, 4, 80)


def found(pair: dict[str, Any]) -> Difference:
    old = loaded("old.md", edited(TEXT, pair.get("old", [])))
    new = loaded("new.md", edited(old.source.text, pair["edit"]))
    assert new.plan is not None
    shown = showing(new.plan, None, partial(made, old, new, {}, lambda: False), lambda: False)
    return diff(old, new, shown)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("pair", TAKEN, ids=lambda pair: pair["why"])
def test_a_difference_has_a_request_that_shows_it(pair: dict[str, Any]) -> None:
    difference = found(pair)
    first = next(each for each in difference.findings if each.verdict != "words")
    assert first.told != 0
    if "unseen" in pair:
        assert first.witness is None, "its line in pairs.yaml can lose `unseen`"
    else:
        assert first.witness is not None
        assert first.told and first.witness.was != first.witness.now
        (told,) = results(difference, [first])
        assert f"shown by: {first.witness.request}" in told.message


@pytest.mark.slow
def test_a_request_for_which_there_is_no_time_is_not_told() -> None:
    pair = next(each for each in PAIRS if each["why"] == "a bound deep in a body")
    old, new = loaded("old.md", TEXT), loaded("new.md", edited(TEXT, pair["edit"]))
    assert new.plan is not None
    shown = showing(new.plan, None, partial(made, old, new, {}, lambda: True), lambda: True)
    assert [(each.witness, each.told) for each in diff(old, new, shown).findings] == [(None, 0)]


@pytest.mark.parametrize(
    ("old", "new", "tells"),
    [
        ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 7}, "aaaaaa"),
        ({"type": "integer", "minimum": 1}, {"type": "integer"}, 0),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, "b"),
        ({"type": ["string", "null"]}, {"type": "string"}, None),
        ({"type": "array", "items": {"enum": [1]}}, {"type": "array", "items": {"enum": [1, 2]}}, [2]),
        ({"type": "array", "maxItems": 2}, {"type": "array", "uniqueItems": True, "maxItems": 2}, ["text", "text"]),
        ({"type": "string", "pattern": "^[A-Z]{2,20}$"}, {"type": "string", "pattern": "^[A-Z]{2,30}$"}, "A" * 30),
        ({"properties": {"a": {"maximum": 5}}}, {"properties": {"a": {"maximum": 7}}}, {"a": 6}),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, {"type": "string", "pattern": "^[A-Z]{3}$"}, "AA"),
    ],
)  # fmt: skip
def test_what_one_of_two_schemas_admits_comes_first(old: Any, new: Any, tells: Any) -> None:
    assert tells in telling((old, new))[:4]


GUESTS = """
purpose: Knows its guests.
resources:
  guest:
    primary key: name
    fields: {name: {type: string}, word: {type: string, secret: password}}
    required: [name, word]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /guests:    {does: create guest, body: [name, word], responses: {201: {name: guest.name}}}
  POST /visits:    {does: sign in guest, body: [name, word], issues: key, responses: {200: {key: caller.credential}}}
  DELETE /visits:  {does: sign out guest, ends: presented, responses: {204: none}}
  GET /me:         {does: read guest, where: guest == caller.guest, responses: {200: {name: guest.name}}}
  GET /me/{name}:
    does: read guest
    query: {name: {type: string, required: true}}
    check: {that: request.query.name == guest.name, else: other}
    responses: {200: {name: guest.name}}
authentication:
  schemes: {key: {type: http, scheme: bearer, issued to: guest, lasts: none}}
  rows: all
  permissions: {POST /guests: anyone, POST /visits: anyone, all others: key}
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes: {other: {status: 409, title: Other}}
limits: none
versioning: none
"""


def test_callers_sign_in_and_go_on_after_they_signed_out() -> None:
    """With the password that a row was made with; and what has to be given is given, as the row has it."""
    contract = loaded("guests.yaml", GUESTS)
    assert contract.plan is not None
    times = count()
    asked = made(contract, contract, {}, lambda: next(times) > 60).asked
    told = [(each.where.split("\0")[0], each.seen.status) for each in asked]
    for route in contract.plan.routes:
        assert [status for key, status in told if key == route.key and status < 300], (route.key, told)
    after = told[1 + told.index(("DELETE /visits", 204)) :]
    assert {("GET /me", 401), ("GET /me", 200), ("DELETE /visits", 204)} <= {*after}


@pytest.mark.usefixtures("hashes_that_cost")
def test_a_password_of_a_row_that_nobody_keeps_costs_the_least() -> None:
    """Else the time of a search goes into the passwords of those who ask."""
    plan = loaded("guests.yaml", GUESTS).plan
    assert plan is not None
    rehearsal = Rehearsal(plan, {}, lambda url: Unreachable("nobody is there"))
    rehearsal.opened()
    body = b'{"name": "ann", "word": "a long secret"}'
    headers = {"content-type": "application/json", "content-length": f"{len(body)}"}
    told = Told("POST", b"/guests", b"", headers, body)
    assert rehearsal.ask(told, rehearsal.moment(0, 0)).status == 201
    [(hash,)] = rehearsal.database.select('SELECT "word" FROM "guest"', ())
    assert isinstance(hash, bytes) and hash.startswith(b"$argon2id$v=19$m=32,t=1,p=4$")
    assert hashed("a long secret").startswith("$argon2id$v=19$m=65536,t=3,p=4$")  # as in earnest everywhere else


@pytest.mark.parametrize("path", ALL, ids=title)
def test_rows_of_each_resource_can_be_asked_for(path: Path) -> None:
    """What a path names when a row is made by it, and what a body gives, is as the schemas of the fields say."""
    plan = compiled(path).plan
    if plan is None:
        return
    held = {(one.resource, each.column.name): each.schema for one in plan.stored for each in one.fields}
    for of, schema in held.items():
        if "\\b" not in schema.get("pattern", "\\b"):  # of what has to stand beside what no text is made
            assert sample(schema) is not None, of
    for route in plan.routes:
        places = [
            each for each in route.segments if isinstance(each, PathParameter) and (each.resource, each.name) in held
        ]
        if isinstance(route, Served) and places and puts(route):
            paths = [path_of_new(plan, route, {}, turn) for turn in (1, 2)]
            assert paths[0] != paths[1]
            for each in places:
                at = len(plan.base) + 1 + route.segments.index(each)
                assert all(admits(held[each.resource or "", each.name], one.split("/")[at]) for one in paths), paths


NOTES = """
purpose: Keeps notes.
resources:
  note:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, text: {type: string}, more: {type: string}}
    required: [text]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes:
    does: create note
    idempotency key: optional
    request headers: {One: {type: string}, Two: {type: string, required: true}}
    query: {one: {type: string}, two: {type: string, required: true}}
    body: [text, more]
    responses: {201: note}
  GET /notes/{id}:
    does: read note
    request headers: {Some: {type: string}, Other: {type: string, required: true}}
    query: {some: {type: string}, other: {type: string, required: true}}
    responses: {200: note}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: none
limits: {rates: none, body size: none, timeout: none, idempotency keys kept: P1D}
versioning: none
"""


@pytest.mark.parametrize("back", [False, True], ids=["has to be given", "need not be given"])
@pytest.mark.parametrize(
    ("text", "optional", "required"),
    [
        (NOTES, "idempotency key: optional", "idempotency key: required"),
        (NOTES, "One: {type: string}", "One: {type: string, required: true}"),
        (NOTES, "query: {one: {type: string}", "query: {one: {type: string, required: true}"),
        (NOTES, "Some: {type: string}", "Some: {type: string, required: true}"),
        (NOTES, "some: {type: string}", "some: {type: string, required: true}"),
        (NOTES, "required: [text]", "required: [text, more]"),
        (GUESTS, "permissions: {POST /guests: anyone, ", "permissions: {POST /guests: key, "),
    ],
)
def test_what_may_be_left_out_is_left_out_alone(text: str, optional: str, required: str, back: bool) -> None:
    """Each part of a request that is optional in one contract and required in the other, beside others that have to be
    given in both."""
    assert text.count(optional) == 1
    old, new = text, text.replace(optional, required)
    old, new = (new, old) if back else (old, new)
    before, after = loaded("old.yaml", old), loaded("new.yaml", new)
    assert after.plan is not None
    shown = showing(after.plan, None, partial(made, before, after, {}, lambda: False), lambda: False)
    findings = diff(before, after, shown).findings
    assert findings and all(each.witness is not None for each in findings)
