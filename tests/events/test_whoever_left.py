"""Who subscribed is a row: what it subscribed to ends with that row, however it goes, and is not that of the next row
with its primary key; while the row is there, it follows it. Over SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.events.receiver import receiving
from tests.events.service import Running, running
from tests.postgresql import server
from tests.waiting import until

pytestmark = pytest.mark.serves

CONTRACT = """\
purpose: Names that come back.
resources:
  team:
    primary key: name
    fields: {name: {type: string}}
  user:
    primary key: [team, name]
    expires: user.until
    fields:
      team:   {references: team, on delete: cascade}
      name:   {type: string}
      until:  {type: [string, "null"], format: date-time}
      key:    {type: string, secret: token, on create: token()}
      status: {state: true}
  bell:
    primary key: id
    fields:
      id:     {type: integer, on create: serial()}
      team:   {type: string}
      name:   {type: string}
      status: {state: true}
  note:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      text:  {type: string}
      owner: {type: string, on create: caller.user.name}
states:
  team: none
  user:
    initial: here
    states: [here, away]
    gone: [away]
    transitions: {leave: {from: here, to: away}, return: {from: away, to: here}}
  note: none
  bell:
    initial: still
    states: [still, rung]
    transitions:
      ring:
        from: still
        to: rung
        after: PT0.1S
        also: [{does: delete user, where: user.team.name == this.team && user.name == this.name}]
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /teams: {does: create team, body: [name], responses: {201: {name: team.name}}}
  PATCH /teams/{name}: {does: update team, body: [name], patch: merge, responses: {200: {name: team.name}}}
  DELETE /teams/{name}: {does: delete team, responses: {204: none}}
  DELETE /users: {does: delete all user, query: {team: user.team.name == value}, responses: {204: none}}
  PUT /users/{team}/{name}:
    does: put user
    body: [until]
    responses: {created: {201: {key: issued.key}}, replaced: {200: {name: user.name}}}
  PATCH /users/{team}/{name}:
    does: update user
    body: [name, until]
    patch: merge
    responses: {200: {name: user.name}}
  POST /users/{team}/{name}/leave: {does: leave user, body: none, responses: {204: none}}
  POST /users/{team}/{name}/return: {does: return user, body: none, responses: {204: none}}
  DELETE /users/{team}/{name}: {does: delete user, responses: {204: none}}
  POST /bells: {does: create bell, body: [team, name], responses: {201: {id: bell.id}}}
  DELETE /bells/{id}:
    does: delete bell
    also: [{does: delete user, where: user.team.name == this.team && user.name == this.name}]
    responses: {204: none}
  POST /notes: {does: create note, body: [text], responses: {201: {id: note.id}}}
  POST /hooks: {does: create subscription, body: [url, kinds], responses: {201: {id: subscription.id}}}
authentication:
  schemes: {tok: {type: http, scheme: bearer, matches: user.key}}
  rows: {team: all, user: all, bell: all, note: {tok: note.owner == caller.user.name}, subscription: {tok: true}}
  unseen rows: not found
  permissions: {POST /notes: tok, POST /hooks: tok, all others: anyone}
events:
  kinds: {noted: {upon: create note, payload: note}}
  delivery: {webhooks: {to: subscription, signature: none, attempts: 1, backoff: [PT1S]}, envelope: none}
errors: none
limits: {rates: none, timeout: none, body size: 64 KiB}
versioning: none
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    database: Path | str = tmp_path / "a.db" if request.param == "sqlite" else server.database()
    with running(database, CONTRACT, name="contract.yaml") as one:
        for team in ("red", "blue"):
            done(one.http.post("/teams", json={"name": team}))
        yield one


def done(answer: httpx.Response) -> httpx.Response:
    assert answer.is_success, answer.text
    return answer


def someone(service: Running, team: str, name: str) -> dict[str, str]:
    """Headers of a new user."""
    made = done(service.http.put(f"/users/{team}/{name}", json={}))
    assert made.status_code == 201
    return {"Authorization": f"Bearer {made.json()['key']}"}


def subscribed(service: Running, by: dict[str, str], url: str = "http://127.0.0.1:9/") -> str:
    made = done(service.http.post("/hooks", json={"url": url, "kinds": ["noted"]}, headers=by))
    return str(made.json()["id"])


def noted(service: Running, by: dict[str, str], text: str) -> None:
    done(service.http.post("/notes", json={"text": text}, headers=by))


def told(service: Running) -> list[str]:
    """Those that events are kept for."""
    return [id for (id,) in service.rows('SELECT id FROM "$subscription" ORDER BY id')]


def rings(service: Running) -> int:
    return int(done(service.http.post("/bells", json={"team": "red", "name": "ada"})).json()["id"])


GOES: dict[str, Callable[[Running], object]] = {
    "deleted": lambda service: done(service.http.delete("/users/red/ada")),
    "deleted with all": lambda service: done(service.http.delete("/users?team=red")),
    "by an effect": lambda service: done(service.http.delete(f"/bells/{rings(service)}")),
    "by a cascade": lambda service: done(service.http.delete("/teams/red")),
    "by a timer": rings,
    "as it expires": lambda service: done(
        service.http.patch(
            "/users/red/ada",
            json={"until": "2020-01-01T00:00:00Z"},
            headers={"Content-Type": "application/merge-patch+json"},
        )
    ),
}


@pytest.mark.parametrize("way", GOES)
def test_what_a_row_has_subscribed_to_ends_with_it(service: Running, way: str) -> None:
    ada, other = someone(service, "red", "ada"), someone(service, "blue", "ada")
    subscribed(service, ada)
    kept = subscribed(service, other)
    assert len(told(service)) == 2
    GOES[way](service)
    until(lambda: service.rows("SELECT team FROM \"user\" WHERE name = 'ada' ORDER BY team") == [("blue",)])
    if way == "by a cascade":
        done(service.http.post("/teams", json={"name": "red"}))
    again = someone(service, "red", "ada")
    assert told(service) == [kept]
    noted(service, again, "of the next one")
    assert service.rows("SELECT count(*) FROM subscription") == [(2,)]
    assert told(service) == [kept]


def changed(service: Running, path: str, **values: str) -> None:
    headers = {"Content-Type": "application/merge-patch+json"}
    done(service.http.patch(path, json=values, headers=headers))


STAYS: dict[str, Callable[[Running], object]] = {
    "put": lambda service: done(service.http.put("/users/red/ada", json={"until": None})),
    "renamed": lambda service: changed(service, "/users/red/ada", name="adax"),
    "its team renamed": lambda service: changed(service, "/teams/red", name="green"),
    "gone and back": lambda service: [
        done(service.http.post(f"/users/red/ada/{each}")) for each in ("leave", "return")
    ],
    "another deleted": lambda service: done(service.http.delete("/users/blue/ada")),
}


@pytest.mark.parametrize("way", STAYS)
def test_what_a_row_has_subscribed_to_follows_it(service: Running, way: str) -> None:
    with receiving() as receiver:
        ada = someone(service, "red", "ada")
        someone(service, "blue", "ada")
        kept = subscribed(service, ada, receiver.url)
        STAYS[way](service)
        assert told(service) == [kept]
        if way == "renamed":
            noted(service, someone(service, "red", "ada"), "of the next one")
        noted(service, ada, "of its own")
        until(lambda: not service.rows('SELECT 1 FROM "$delivery"'))
        assert [each.json["text"] for each in receiver.came] == ["of its own"]
