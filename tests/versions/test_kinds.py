"""A kind of event has one name in all that is stored and compared, that of the document; each version shows and takes
its own. What is of a kind that a version does not have is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.events.receiver import receiving
from tests.events.service import Running, running
from tests.events.stream import listening
from tests.postgresql import server

pytestmark = pytest.mark.serves

CONTRACT: Final = """\
purpose: Tells of things.
resources:
  thing:
    primary key: number
    fields:
      number: {type: integer, on create: serial()}
      name:   {type: string}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /things:            {does: create thing, body: [name], responses: {201: thing}}
  PATCH /things/{number}:  {does: update thing, body: [name], patch: merge, responses: {200: thing}}
  DELETE /things/{number}: {does: delete thing, responses: {204: none}}
  POST /hooks:             {does: create subscription, body: [url, kinds], responses: {201: subscription}}
  PATCH /hooks/{id}:       {does: update subscription, body: [kinds], patch: merge, responses: {200: subscription}}
  GET /hooks/{id}:         {does: read subscription, responses: {200: {told: subscription.kinds}}}
  GET /hooks:
    does: list subscription
    sort: [url]
    query: {kind: value in subscription.kinds}
    responses: {200: page.items}
  GET /making:
    does: list subscription
    where: "'thing.made' in subscription.kinds"
    sort: [url]
    responses: {200: "page.items.map(each, each.kinds)"}
  GET /log:
    does: list event
    sort: [position]
    query: {kind: event.kind == value}
    responses: {200: {of: "page.items.map(each, each.kind)", told: "all(event).map(each, each.kind)"}}
  GET /log/{position}:     {does: read event, responses: {200: event}}
  GET /stream:             {does: stream event, responses: {200: stream}}
authentication:
  schemes: none
  rows: {thing: all, event: all, subscription: {anyone: subscription.kinds.size() > 0}}
  unseen rows: not found
  permissions: {all others: anyone}
events:
  kinds:
    thing.made:    {upon: create thing, payload: {type: "'made'", number: thing.number}}
    thing.changed: {upon: update thing, payload: {type: "'changed'", number: thing.number}}
  delivery:
    stream: server-sent events
    webhooks: {to: subscription, signature: none, attempts: 2, backoff: [PT1S]}
    envelope: {format: cloudevents 1.0, source: "'/things'"}
  kept: P10D
errors: none
limits: {rates: none, timeout: none, body size: none, pages: none}
"""
VERSIONS: Final = """\
versioning:
  in: header
  name: Api-Version
  default: "2"
  versions:
    "2": {}
    "1":
      changes:
        - {rename: thing.made, to: thing.created}
        - {remove: thing.changed}
        - {add: thing.gone, was: {upon: delete thing, payload: {number: thing.number}}}
  compatible: none
"""
NONE: Final = "versioning: none\n"
NEW: Final[dict[str, str]] = {"Api-Version": "2"}
OLD: Final[dict[str, str]] = {"Api-Version": "1"}
KINDS: Final = {"2": {"thing.made", "thing.changed"}, "1": {"thing.created", "thing.gone"}}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    return tmp_path / "things.db" if request.param == "sqlite" else server.database()


@contextmanager
def serving(database: Path | str, contract: str = CONTRACT + VERSIONS) -> Iterator[Running]:
    with running(database, contract, name="contract.yaml") as service:
        yield service


def hook(service: Running, url: str, *kinds: str, headers: dict[str, str]) -> str:
    made = service.http.post("/hooks", json={"url": url, "kinds": kinds}, headers=headers)
    assert (made.status_code, made.json().get("kinds")) == (201, [*kinds]), made.text
    return str(made.json()["id"])


def listed(service: Running, headers: dict[str, str], **query: str) -> dict[str, list[str]]:
    found = service.http.get("/hooks", headers=headers, params=query)
    assert found.status_code == 200, found.text
    return {each["url"].rpartition("/")[2]: each["kinds"] for each in found.json()}


def test_every_version_shows_asks_for_and_takes_its_own_names(database: Path | str) -> None:
    at = "http://127.0.0.1:9/"
    with serving(database) as service:
        new = hook(service, f"{at}new", "thing.made", "thing.changed", headers=NEW)
        old = hook(service, f"{at}old", "thing.created", "thing.gone", headers=OLD)
        for headers, shown in (
            (NEW, {"new": ["thing.made", "thing.changed"], "old": ["thing.made"]}),
            (OLD, {"new": ["thing.created"], "old": ["thing.created", "thing.gone"]}),
        ):
            own = KINDS[headers["Api-Version"]]
            assert listed(service, headers) == shown
            for id, name in ((new, "new"), (old, "old")):
                assert service.http.get(f"/hooks/{id}", headers=headers).json() == {"told": shown[name]}
            # What the contract asks itself has the names of the document, and means the same in every version.
            assert service.http.get("/making", headers=headers).json() == [*shown.values()]
            for kind in sorted(each for names in KINDS.values() for each in names):
                assert listed(service, headers, kind=kind) == {
                    url: kinds for url, kinds in shown.items() if kind in kinds
                }
                answer = service.http.patch(f"/hooks/{new}", json={"kinds": [kind]}, headers=headers)
                assert answer.status_code == (200 if kind in own else 422), (own, kind)
                service.http.patch(f"/hooks/{new}", json={"kinds": ["thing.made", "thing.changed"]}, headers=NEW)


@pytest.mark.parametrize(
    ("made", "kind", "updated", "then"),
    [
        (OLD, "thing.created", NEW, "thing.made"),
        (NEW, "thing.made", OLD, "thing.created"),
        (OLD, "thing.created", NEW, "thing.changed"),  # which the version that it was made in does not have
        (NEW, "thing.changed", OLD, "thing.gone"),
        (OLD, "thing.gone", OLD, "thing.created"),
    ],
)
def test_who_subscribes_to_a_kind_in_any_version_is_told_of_it(
    database: Path | str, made: dict[str, str], kind: str, updated: dict[str, str], then: str
) -> None:
    with serving(database) as service, receiving() as receiver, receiving() as beside:
        id = hook(service, receiver.url, kind, headers=made)
        answer = service.http.patch(f"/hooks/{id}", json={"kinds": [then]}, headers=updated)
        assert (answer.status_code, answer.json()["kinds"]) == (200, [then])
        hook(service, beside.url, "thing.created", "thing.gone", headers=OLD)
        number = service.http.post("/things", json={"name": "a"}).json()["number"]
        service.http.patch(f"/things/{number}", json={"name": "b"})
        service.http.delete(f"/things/{number}")
        beside.until(2)
        [came] = receiver.until(1)
        called = {"thing.made": "thing.created"} if made is OLD else {"thing.created": "thing.made"}
        assert came.json["type"] == called.get(then, then)


def renamed(contract: str) -> str:
    """The same where a kind is called otherwise: what was of the other one is of none that there is."""
    return contract.replace("thing.made", "thing.born")


def told(service: Running, headers: dict[str, str], count: int) -> list[str]:
    with listening(service.http, headers, 0, "/stream") as stream:
        return [each.kind for each in stream.take(count)]


def test_what_arose_of_a_kind_that_a_version_does_not_have_is_not_there(database: Path | str) -> None:
    with serving(database, CONTRACT + NONE) as service:
        service.http.post("/things", json={"name": "a"})
        service.http.patch("/things/1", json={"name": "b"})
        assert service.http.get("/log").json() == {
            "of": [own := "thing.made", "thing.changed"],
            "told": [own, "thing.changed"],
        }
    with serving(database, renamed(CONTRACT) + NONE) as service:
        service.http.post("/things", json={"name": "c"})
        shown = ["thing.changed", "thing.born"]
        assert service.http.get("/log").json() == {"of": shown, "told": shown}
        assert service.http.get("/log", params={"kind": "thing.made"}).json()["of"] == []
        assert [service.http.get(f"/log/{each}").status_code for each in (1, 2, 3)] == [404, 200, 200]
        assert told(service, {}, 2) == shown
    versions = VERSIONS.replace("thing.made, to: thing.created", "thing.born, to: thing.made")
    versions = versions.replace("        - {remove: thing.changed}\n", "")
    with serving(database, renamed(CONTRACT) + versions) as service:
        # The older version calls it so still; in it are the events of before, and those of now.
        service.http.post("/things", json={"name": "d"})
        of_then, of_now = ["thing.made", "thing.changed", "thing.made"], ["thing.changed", "thing.born", "thing.born"]
        assert service.http.get("/log", headers=OLD).json() == {"of": of_then, "told": of_then}
        assert service.http.get("/log", headers=NEW).json() == {"of": of_now, "told": of_now}
        assert told(service, OLD, 3) == of_then and told(service, NEW, 3) == of_now
        assert [service.http.get(f"/log/{each}", headers=OLD).status_code for each in (1, 2, 3, 4)] == [
            200,
            200,
            404,
            200,
        ]
        assert [service.http.get(f"/log/{each}", headers=NEW).status_code for each in (1, 2, 3, 4)] == [
            404,
            200,
            200,
            200,
        ]
