"""Streams of many callers, of whom an event concerns few: each is told what the same request would be told then,
whoever becomes somebody else meanwhile, and whatever a row becomes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.events.service import Running, plan_of, running
from tests.events.stream import Stream, listening

from ninefold.plan.operations import Stream as Operation
from ninefold.plan.routes import Served
from ninefold.runtime.operations.audience import Concerns, Index

PEOPLE = 12
ROUNDS = 60

CONTRACT = """purpose: Keeps notes, which their owners hear of, and whoever is at the desk.
resources:
  person:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      role:  {type: string}
      token: {type: string, secret: token, on create: token()}
    required: [role]
  note:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      owner: {references: person, on delete: cascade}
    required: [owner]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /people: {does: create person, body: [role], responses: {201: {id: person.id, token: issued.token}}}
  PATCH /people/{id}: {does: update person, body: [role], patch: merge, responses: {204: none}}
  POST /notes:  {does: create note, body: [owner], responses: {201: note}}
  PATCH /notes/{id}: {does: update note, body: [owner], patch: merge, responses: {204: none}}
  GET /events:  {does: stream event, responses: {200: stream}}
authentication:
  schemes:
    key: {type: http, scheme: bearer, matches: person.token}
  rows:
    person: {key: true, anyone: true}
    note:   {key: "caller.person.role == 'desk' || note.owner == caller.person", anyone: true}
  unseen rows: not found
  permissions: {GET /events: key, all others: anyone}
events:
  kinds:
    noted:   {upon: create note, payload: {note: note.id}}
    changed: {upon: update note, payload: {note: note.id}}
  delivery: {stream: server-sent events, envelope: none}
  kept: P1D
errors: none
limits: none
versioning: none
"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "notes.db", CONTRACT, name="notes.yaml") as found:
        yield found


@pytest.mark.serves
@pytest.mark.parametrize("seed", [1, 2])
def test_each_is_told_what_it_would_be_told_if_all_were_asked(service: Running, seed: int) -> None:
    chance = random.Random(seed)
    with ExitStack() as stack:
        roles = ["member"] * PEOPLE
        ids, streams = list[int](), list[Stream]()
        for role in roles:
            made = service.http.post("/people", json={"role": role}).json()
            ids.append(made["id"])
            streams.append(stack.enter_context(listening(service.http, {"Authorization": f"Bearer {made['token']}"})))
        owners, told = dict[int, int](), [list[int]() for _ in ids]
        for _ in range(ROUNDS):
            who = chance.randrange(PEOPLE)
            match chance.randrange(4):
                case 0:
                    roles[who] = chance.choice(("desk", "member"))
                    assert service.http.patch(f"/people/{ids[who]}", json={"role": roles[who]}).status_code == 204
                    continue
                case 1 if owners:
                    note = chance.choice(list(owners))
                    assert service.http.patch(f"/notes/{note}", json={"owner": ids[who]}).status_code == 204
                case _:
                    note = service.http.post("/notes", json={"owner": ids[who]}).json()["id"]
            owners[note] = who
            for number, stream in enumerate(streams):
                if roles[number] == "desk" or number == who:
                    told[number].append(note)
                    assert [event.data["note"] for event in stream.take(1)] == [note]
            service.until_all_were_asked()  # whoever becomes another is not asked of this any more
        for who in range(PEOPLE):
            # Nothing else has come before this one.
            note = service.http.post("/notes", json={"owner": ids[who]}).json()["id"]
            for number, stream in enumerate(streams):
                if roles[number] == "desk" or number == who:
                    assert [event.data["note"] for event in stream.take(1)] == [note]
        assert sum(map(len, told)) > ROUNDS / 2


def test_an_event_concerns_its_owner_and_those_who_see_all() -> None:
    route = next(each for each in plan_of(CONTRACT, "notes.yaml").routes if each.key == "GET /events")
    assert isinstance(route, Served)
    operation = route.admissions[0].operation
    assert isinstance(operation, Operation)
    assert operation.concerns is not None
    concerns, index, state = Concerns(operation.concerns), Index[int](), {frozenset(("person",)): 1}
    for id in range(1_000):
        caller = {"person": {"id": id, "role": "desk" if id == 7 else "member"}}
        index.know(id, concerns, concerns.of_caller({"caller": caller}), frozenset(("person",)), 1)
    about = {concerns: [(1, 1, 500)]}  # the position, that it is a note, and whose it is
    assert set(index.concerned(about)) == {7, 500}
    assert index.doubt(state.__getitem__) == []
    index.forget(500)
    assert set(index.concerned(about)) == {7}
    state[frozenset(("person",))] = 2
    assert len(index.doubt(state.__getitem__)) == 999
    assert len(set(index.concerned(about))) == 999


def test_who_was_found_while_something_changed_is_asked_until_that_is_settled() -> None:
    [operation] = [
        each.operation
        for route in plan_of(CONTRACT, "notes.yaml").routes
        for each in (route.admissions if isinstance(route, Served) else ())
        if isinstance(each.operation, Operation)
    ]
    assert operation.concerns is not None
    concerns, index, tables = Concerns(operation.concerns), Index[str](), frozenset(("person",))
    for who, state in (("before", 1), ("after", 2)):
        index.know(who, concerns, frozenset(((1, who),)), tables, state)
    assert sorted(index.doubt(lambda _: None)) == ["after", "before"]
    for who, state in (("before", 1), ("after", 2)):
        index.know(who, concerns, frozenset(((1, who),)), tables, state)
    assert index.doubt(lambda _: 2) == ["before"]
    assert index.doubt(lambda _: 2) == []
