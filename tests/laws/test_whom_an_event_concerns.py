"""Whom an event may concern is known without asking each: nobody else is shown it, whatever the row rule says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts import plan_of

from ninefold.plan import environment
from ninefold.plan.operations import Stream
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operations.audience import Concerns, Index
from ninefold.runtime.store.protocol import Session
from ninefold.runtime.store.sqlite import Opened, SQLite, open_sqlite
from ninefold.runtime.store.statements import Prepared

CONTRACT = """
purpose: Keeps notes.
resources:
  person:
    primary key: id
    fields:
      id:    {type: integer}
      role:  {type: string}
      team:  {type: string}
      level: {type: integer}
      boss:  {references: person, on delete: restrict}
      born:  {type: string, format: date-time}
      token: {type: string, secret: token, on create: token()}
      high:  {computed: "person.level > 1", type: boolean}
      young: {computed: "person.born > now", type: boolean}
    required: [id, role]
  note:
    primary key: id
    fields:
      id:     {type: integer}
      owner:  {references: person, on delete: restrict}
      helper: {references: person, on delete: restrict}
      kind:   {type: string}
      team:   {type: string}
      n:      {type: integer}
      at:     {type: string, format: date-time}
      shared: {type: boolean}
    required: [id, owner, kind, n, shared]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes: {does: create note, body: [id, owner, helper, kind, team, n, at, shared], responses: {201: note}}
  GET /events: {does: stream event, responses: {200: stream}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: person.token}}
  rows:
    person: {key: true, anyone: true}
    note:   {key: RULE, anyone: false}
  unseen rows: not found
  permissions: {all others: key}
events:
  kinds: {noted: {upon: create note, payload: note}}
  delivery: {stream: server-sent events, envelope: none}
  kept: PT1H
errors: none
limits: none
versioning: none
"""

TOLD_BY_A_VALUE = (
    "note.owner == caller.person",
    "caller.person == note.helper",
    "note.kind == caller.person.role",
    "note.team == caller.person.role",
    "note.kind == caller.person.team",
    "note.n == caller.person.level",
    "note.n == caller.person.level + 1",
    "caller.person.boss == note.owner",
    "note.owner.id == caller.person.id",
    "note.n == 1",
    "note.shared",
    "!note.shared",
)
OF_THE_CALLER = (
    "caller.person.role == 'a'",
    "caller.person.level > 1",
    "has(caller.person.team)",
    "caller.person.high",
)
OTHERS = (
    "note.team == caller.person.team",
    "note.helper == caller.person.boss",
    "note.at == caller.person.born",
    "note.n > 1",
    "has(note.helper)",
    "note.owner.role == caller.person.role",
    "note.kind in ['a', caller.person.role]",
    "all(person).exists(p, p.role == note.kind)",
    "caller.person.young",
    "caller.person.born < now",
    "note.at < now",
)

RULES = st.recursive(
    st.sampled_from((*TOLD_BY_A_VALUE, *OF_THE_CALLER, *OTHERS, "true", "false")),
    lambda rules: st.one_of(
        st.tuples(rules, st.sampled_from(("||", "&&")), rules).map(lambda each: f"({' '.join(each)})"),
        rules.map(lambda each: f"!({each})"),
        st.tuples(rules, rules, rules).map(lambda each: "({} ? {} : {})".format(*each)),
    ),
    max_leaves=5,
)
WORDS = st.sampled_from(("a", "b"))
SMALL = st.integers(0, 2)
TIMES = st.sampled_from(("2026-01-01T00:00:00.000000Z", "2027-01-01T00:00:00.000000Z"))
PEOPLE = st.lists(
    st.fixed_dictionaries(
        {
            "role": WORDS,
            "team": st.none() | WORDS,
            "level": st.none() | SMALL,
            "boss": st.none() | SMALL,
            "born": st.none() | TIMES,
        }
    ),
    min_size=3,
    max_size=3,
)
NOTE = st.fixed_dictionaries(
    {
        "owner": SMALL,
        "helper": st.none() | SMALL,
        "kind": WORDS,
        "team": st.none() | WORDS,
        "n": SMALL,
        "at": st.none() | TIMES,
        "shared": st.booleans(),
    }
)
Note: TypeAlias = tuple[dict[str, Any], dict[str, Any] | None]
"""As the event finds it, and as it is now; None: it is not there any more."""

NOW = "2026-06-01T00:00:00.000000Z"


@cache
def planned(rule: str) -> ServicePlan:
    return plan_of(CONTRACT.replace("RULE", msgspec.json.encode(rule).decode()), "notes.yaml")


def stream(plan: ServicePlan) -> Stream:
    served = (route for route in plan.routes if isinstance(route, Served))
    found = [each.operation for route in served for each in route.admissions if isinstance(each.operation, Stream)]
    return found[0]


def caller(id: int, person: Mapping[str, Any]) -> dict[str, Any]:
    """What expressions read of who calls, as the service loads it."""
    level, born = person["level"], person["born"]
    computed = {"high": level is not None and level > 1, "young": born is not None and born > NOW}
    return {"caller": {"credential": "x", "person": {**person, **computed, "id": id}}, "now": NOW, "request": {}}


def run(session: Session, table: str, row: Mapping[str, Any]) -> None:
    names = ", ".join(f'"{name}"' for name in row)
    session.run(f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(row))})', list(row.values()))


@contextmanager
def noted(plan: ServicePlan, people: Sequence[Mapping[str, Any]], notes: Sequence[Note]) -> Iterator[SQLite]:
    """A database of these rows, and an event of each note, as it was and as it has become."""

    def begin(session: Session) -> tuple[str, ...]:
        for id, person in enumerate(people):
            run(session, "person", {**person, "id": id, "token": bytes([id]), "$revision": "r", "boss": None})
        for id, person in enumerate(people):
            session.run("UPDATE person SET boss = ? WHERE id = ?", [person["boss"], id])
        for id, (then, now) in enumerate(notes):
            if now is not None:
                run(session, "note", {**now, "id": id, "$revision": "r"})
            seen = msgspec.json.encode({**then, "id": id, "shared": int(then["shared"])}).decode()
            event = {"id": str(id), "kind": "noted", "resource": "note", "row": f"[{id}]", "seen": seen, "time": NOW}
            run(session, "$event", {**event, "payload": "{}"})
        return ()

    with TemporaryDirectory() as folder:
        opened = open_sqlite(str(Path(folder, "notes.db")), plan.schema, begin)
        assert isinstance(opened, Opened), opened
        try:
            yield opened.database
        finally:
            opened.database.close()


def test_a_value_in_common_is_what_is_looked_for() -> None:
    """What this law is about is not left out: it is known where it can be."""
    assert [rule for rule in (*TOLD_BY_A_VALUE, *OF_THE_CALLER) if stream(planned(rule)).concerns is None] == []
    assert [rule for rule in OTHERS if stream(planned(rule)).concerns is not None] == []
    both = stream(planned("caller.person.role == 'a' || note.n > 1 && note.owner == caller.person")).concerns
    assert both is not None
    assert len(both.callers) == 2


@settings(deadline=None)
@given(RULES, PEOPLE, st.lists(st.tuples(NOTE, st.none() | NOTE), min_size=1, max_size=5))
def test_nobody_is_shown_an_event_that_cannot_concern_it(
    rule: str, people: list[dict[str, Any]], notes: list[Note]
) -> None:
    plan = planned(rule)
    operation = stream(plan)
    if operation.concerns is None:
        return
    concerns, shown = Concerns(operation.concerns), Prepared(operation.select)
    with noted(plan, people, notes) as database:
        index = Index[int]()
        for id, person in enumerate(people):
            index.know(id, concerns, concerns.of_caller(caller(id, person)), frozenset(), 0)
        for position in range(len(notes)):
            rows = database.read(*concerns.bound(position, position + 1))
            concerned = set(index.concerned({concerns: rows}))
            for id, person in enumerate(people):
                env = {**caller(id, person), environment.LOG: {"position": position}}
                at, seen, *_ = database.read(*shown.bound(env))[0]
                assert at == position + 1
                assert not seen or id in concerned, (rule, id, notes[position])
