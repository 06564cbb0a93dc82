"""An open stream shows what the same request would be shown that came now: to its caller as of now, however it is
known, by the rules as they hold now; and it ends where that request would be refused."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from tests.events.service import Running, running
from tests.events.stream import Event, listening, over
from tests.server.identity import ec, signed
from tests.waiting import until

from ninefold.runtime.http import streams
from ninefold.runtime.http.capacity import STREAMS_OF_ONE
from ninefold.runtime.sources import Sources

pytestmark = [pytest.mark.serves, pytest.mark.usefixtures("over")]
__all__ = ["over"]

CONTRACT = """
purpose: Keeps notes, of which a desk sees all.
resources:
  person:
    primary key: id
    fields:
      id:       {type: integer, on create: serial()}
      name:     {type: string, unique: true}
      role:     {type: string}
      secret:   {type: string, secret: token, on create: token()}
      password: {type: string, secret: password}
    required: [name, role, password]
  member:
    primary key: [club, person]
    fields:
      club:   {type: string}
      person: {references: person, on delete: cascade}
    required: [club, person]
  note:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      club:  {type: string}
      owner: {type: string}
    required: [club, owner]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /people:
    does: create person
    body: [name, role, password]
    responses: {201: {id: person.id, secret: issued.secret}}
  PATCH /people/{id}:    {does: update person, body: [role, password], patch: merge, responses: {204: none}}
  DELETE /people/{id}:   {does: delete person, responses: {204: none}}
  POST /sessions:
    does: sign in person
    body: [name, password]
    issues: badge
    responses: {201: {badge: caller.credential}}
  POST /out:             {does: sign out person, ends: presented, responses: {204: none}}
  POST /members:         {does: create member, body: [club, person], responses: {201: member}}
  DELETE /members/{club}/{person}: {does: delete member, responses: {204: none}}
  POST /notes:           {does: create note, body: [club, owner], responses: {201: note}}
  GET /events:           {does: stream event, responses: {200: stream}}
  GET /club-events:      {does: stream event, responses: {200: stream}}
  GET /staff-events:     {does: stream event, responses: {200: stream}}
authentication:
  schemes:
    key:   {type: http, scheme: bearer, matches: person.secret}
    badge: {type: apiKey, in: header, name: X-Badge, issued to: person, lasts: PT1H}
    basic: {type: http, scheme: basic, realm: Notes, matches: person.name}
    token: {type: apiKey, in: header, name: X-Token, issuer: operator.issuer, keys: operator.keys, audience: notes,
            algorithms: [ES256], caller: {name: claims.sub}}
  rows:
    person: {key: true, badge: true, basic: true, token: false, anyone: true}
    member: {key: true, badge: true, basic: true, token: true, anyone: true}
    note:
      key:    SEEN
      badge:  SEEN
      basic:  SEEN
      token:  note.owner == caller.name
      anyone: false
  unseen rows: not found
  permissions:
    GET /events:       [key, badge, basic, token]
    GET /club-events:  {key: "all(member).exists(m, m.person == caller.person && m.club == 'chess')"}
    GET /staff-events: {key: "caller.person.role == 'desk'", badge: "caller.person.role == 'desk'"}
    POST /out:         badge
    all others: anyone
events:
  kinds: {noted: {upon: create note, payload: {club: note.club, owner: note.owner}}}
  delivery: {stream: [server-sent events, websocket], envelope: none}
  kept: P1D
errors: none
limits: none
versioning: none
""".replace(
    "SEEN",
    "\"caller.person.role == 'desk' || note.owner == caller.person.name || "
    'all(member).exists(m, m.club == note.club && m.person == caller.person)"',
)
"""Who sees a note: the desk, its owner, and the members of its club."""


@dataclass
class Clock:
    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass
class Notes:
    service: Running
    clock: Clock

    @property
    def http(self) -> httpx.Client:
        return self.service.http

    def person(self, name: str, role: str) -> tuple[int, str]:
        """A new person's number and secret."""
        made = self.http.post("/people", json={"name": name, "role": role, "password": f"{name} has a secret"})
        assert made.status_code == 201, made.text
        return made.json()["id"], made.json()["secret"]

    def becomes(self, id: int, **values: str) -> None:
        assert self.http.patch(f"/people/{id}", json=values).status_code == 204

    def note(self, owner: str, club: str = "go") -> None:
        assert self.http.post("/notes", json={"owner": owner, "club": club}).status_code == 201


KEY = ec("one")


@contextmanager
def noting(path: Path) -> Iterator[Notes]:
    clock = Clock()
    given = {"issuer": "us", "keys": json.dumps({"keys": [KEY.as_dict(private=False)]})}
    contract = CONTRACT.strip() + "\n"
    with running(path, contract, Sources(clock=clock), given=given, name="notes.yaml") as service:
        yield Notes(service, clock)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    with noting(tmp_path / "notes.db") as found:
        yield found


def by_key(notes: Notes, name: str, secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def by_badge(notes: Notes, name: str, secret: str) -> dict[str, str]:
    made = notes.http.post("/sessions", json={"name": name, "password": f"{name} has a secret"})
    return {"X-Badge": made.json()["badge"]}


def by_password(notes: Notes, name: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{name}:{name} has a secret".encode()).decode()}


def by_token(notes: Notes, name: str, secret: str) -> dict[str, str]:
    claims = {"iss": "us", "aud": "notes", "sub": name, "exp": int(time.time()) + 600}
    return {"X-Token": signed({"alg": "ES256", "kid": "one"}, claims, KEY)}


Known = Callable[[Notes, str, str], dict[str, str]]
OF_ROWS: tuple[Known, ...] = (by_key, by_badge, by_password)


def owners(events: list[Event]) -> list[str]:
    return [event.data["owner"] for event in events]


@pytest.mark.parametrize("known", OF_ROWS)
def test_who_is_demoted_sees_no_more_and_who_is_promoted_sees(notes: Notes, known: Known) -> None:
    id, secret = notes.person("Ann", "desk")
    with listening(notes.http, known(notes, "Ann", secret)) as stream:
        notes.note("Bob")
        assert owners(stream.take(1)) == ["Bob"]
        for role in ("member", "desk", "member"):
            notes.becomes(id, role=role)
            notes.note("Bob")
            notes.note("Ann")
            assert owners(stream.take(2 if role == "desk" else 1)) == (["Bob", "Ann"] if role == "desk" else ["Ann"])


@pytest.mark.parametrize("known", OF_ROWS)
def test_rows_that_a_rule_reads_are_read_as_of_now(notes: Notes, known: Known) -> None:
    id, secret = notes.person("Ann", "member")
    with listening(notes.http, known(notes, "Ann", secret)) as stream:
        for joined in (True, False, True):
            if joined:
                assert notes.http.post("/members", json={"club": "go", "person": id}).status_code == 201
            else:
                assert notes.http.delete(f"/members/go/{id}").status_code == 204
            notes.note("Bob")
            notes.note("Ann")
            assert owners(stream.take(2 if joined else 1)) == (["Bob", "Ann"] if joined else ["Ann"])


def signed_out(notes: Notes, id: int, headers: Mapping[str, str]) -> None:
    assert notes.http.post("/out", headers=headers).status_code == 204


def deleted(notes: Notes, id: int, headers: Mapping[str, str]) -> None:
    assert notes.http.delete(f"/people/{id}").status_code == 204


def another_secret(notes: Notes, id: int, headers: Mapping[str, str]) -> None:
    notes.service.rows(f"UPDATE person SET secret = x'00' WHERE id = {id}")


def another_password(notes: Notes, id: int, headers: Mapping[str, str]) -> None:
    notes.becomes(id, password="another")


def its_time_has_come(notes: Notes, id: int, headers: Mapping[str, str]) -> None:
    notes.clock.ahead = timedelta(hours=2)


ENDS: dict[str, tuple[Known, Callable[[Notes, int, Mapping[str, str]], None]]] = {
    "a key whose row is deleted": (by_key, deleted),
    "a key that is another now": (by_key, another_secret),
    "a session whose row is deleted": (by_badge, deleted),
    "a session that is signed out": (by_badge, signed_out),
    "a session that has expired": (by_badge, its_time_has_come),
    "a session of another password": (by_badge, another_password),
    "a password whose row is deleted": (by_password, deleted),
    "a password that is another now": (by_password, another_password),
    "a token that has expired": (by_token, its_time_has_come),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("happens", [True, False], ids=["with events", "without events"])
def test_a_credential_that_has_ended_ends_its_streams(
    notes: Notes, name: str, happens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.1)
    known, end = ENDS[name]
    id, secret = notes.person("Ann", "desk")
    headers = known(notes, "Ann", secret)
    with listening(notes.http, headers) as stream, listening(notes.http, headers) as second:
        notes.note("Ann")
        assert owners(stream.take(1)) == owners(second.take(1)) == ["Ann"]
        end(notes, id, headers)
        if happens:
            notes.note("Ann")
        began = time.monotonic()
        assert stream.rest() == second.rest() == []
        assert time.monotonic() - began < 60
    assert notes.http.get("/events", headers=headers).status_code == 401


def test_a_permission_is_asked_again(notes: Notes) -> None:
    id, secret = notes.person("Ann", "desk")
    key = by_key(notes, "Ann", secret)
    assert notes.http.get("/club-events", headers=key).status_code == 403
    for path, begin, end in (
        ("/staff-events", lambda: notes.becomes(id, role="desk"), lambda: notes.becomes(id, role="member")),
        (
            "/club-events",
            lambda: notes.http.post("/members", json={"club": "chess", "person": id}),
            lambda: notes.http.delete(f"/members/chess/{id}"),
        ),
    ):
        begin()
        with listening(notes.http, key, path=path) as stream:
            assert stream.accepted
            notes.note("Ann")
            assert owners(stream.take(1)) == ["Ann"]
            end()
            notes.note("Ann")
            assert stream.rest() == []
        assert notes.http.get(path, headers=key).status_code == 403


def test_who_comes_back_goes_on_from_where_it_was(notes: Notes) -> None:
    id, secret = notes.person("Ann", "desk")
    badge = by_badge(notes, "Ann", secret)
    with listening(notes.http, badge) as stream:
        notes.note("Ann")
        [seen] = stream.take(1)
        signed_out(notes, id, badge)
        assert stream.rest() == []
    notes.note("Zoe")
    # It is bound to who calls, and not to the credential.
    with listening(notes.http, by_badge(notes, "Ann", secret), seen.id) as stream:
        assert owners(stream.take(1)) == ["Zoe"]


def test_where_a_stream_goes_on_is_of_its_caller_and_endpoint_alone(notes: Notes) -> None:
    keys = [by_key(notes, name, notes.person(name, "desk")[1]) for name in ("Ann", "Bob")]
    ids: list[list[str]] = []
    for number in range(300):
        notes.note(f"{number}")
    for key in (keys[0], keys[0], keys[1]):
        with listening(notes.http, key, 0) as stream:
            ids.append([event.id for event in stream.take(300)])
    with listening(notes.http, keys[0], 0, path="/staff-events") as stream:
        ids.append([event.id for event in stream.take(300)])
    ann, again, bob, elsewhere = ids
    # The same event is told to the same caller with the same id, and no id says more than any other.
    assert ann == again and len({*ann, *bob, *elsewhere}) == 900
    assert len({len(each) for each in ann}) == 1
    forged = [ann[0][:-1] + ("A" if ann[0][-1] != "A" else "B"), ann[0] + "A", ann[0][:20], "300"]
    for strange in (*forged, bob[0], elsewhere[0]):
        assert notes.http.get("/events", headers={**keys[0], "Last-Event-ID": strange}).status_code == 422
    with listening(notes.http, keys[0], ann[298]) as stream:
        assert owners(stream.take(1)) == ["299"]


def test_streams_of_one_caller_are_bounded(notes: Notes) -> None:
    ann, bob = (by_key(notes, name, notes.person(name, "desk")[1]) for name in ("Ann", "Bob"))
    limits = httpx.Limits(max_connections=None)
    with httpx.Client(base_url=notes.service.url, timeout=60, limits=limits) as http:
        open_ = [
            http.send(http.build_request("GET", "/events", headers=ann), stream=True) for _ in range(STREAMS_OF_ONE)
        ]
        assert {each.status_code for each in open_} == {200}
        assert http.get("/events", headers=ann).status_code == 503
        assert http.get("/staff-events", headers=ann).status_code == 503
        with listening(http, bob) as stream:
            assert stream.accepted
        open_.pop().close()

        def is_accepted() -> bool:
            with listening(http, ann) as stream:
                return stream.accepted

        until(is_accepted, lambda: "the place of a stream that ended was not given to another")
        for each in open_:
            each.close()
