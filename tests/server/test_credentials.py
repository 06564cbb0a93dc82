"""Credentials that the service issues: kept as digests, in the transaction of their cause, until they end."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from time import sleep

import httpx
import pytest
from tests.contracts import plan_of
from tests.events.stream import listening
from tests.server.conftest import Running, running
from tests.serving import in_a_thread
from tests.waiting import PATIENCE, until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import Capacity
from ninefold.runtime.request.service import ready
from ninefold.runtime.sources import Clock, Sources
from ninefold.runtime.store.protocol import Row
from ninefold.runtime.store.sqlite import Opened, open_sqlite

pytestmark = pytest.mark.serves

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

MEMBERS = """
purpose: Lets members in.
resources:
  club:
    primary key: name
    fields: {name: {type: string}}
  member:
    primary key: id
    fields:
      id:       {type: integer, on create: serial()}
      club:     {references: club, on delete: cascade, inverse: members}
      name:     {type: string}
      password: {type: string, secret: password}
      seen:     {type: string, format: date-time}
      visits:   {type: integer, on create: "0"}
      changed:  {type: string, format: date-time, on change: now}
    required: [club, name, password]
    unique: [[club, name]]
    check: [{that: "member.name != 'nobody'", else: no_name}, {that: member.visits < 3, else: too_often}]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /clubs: {does: create club, body: [name], responses: {201: club}}
  DELETE /clubs/{name}: {does: delete club, responses: {204: none}}
  POST /clubs/{club.name}/members:
    does: create member
    body: [name, password]
    issues: badge
    responses: {201: {id: member.id, badge: caller.credential}}
  POST /clubs/{club.name}/visits:
    does: sign in member
    body: [name, password]
    sets: {visits: member.visits + 1, seen: now}
    issues: badge
    responses: {201: {badge: caller.credential, visits: member.visits, changed: member.changed}}
  POST /clubs/{club.name}/keys:
    does: sign in member
    body: [name, password]
    where: "member.name != 'Hal'"
    issues: key
    responses: {200: {key: caller.credential, changed: member.changed, club: member.club.name}}
  GET /me:
    does: read member
    where: member == caller.member
    responses: {200: {id: member.id, credential: caller.credential}}
  DELETE /me: {does: delete member, where: member == caller.member, responses: {204: none}}
  PUT /me/password:
    does: put member
    where: member == caller.member
    body: [password]
    responses: {replaced: {204: none}}
  POST /out:     {does: sign out member, ends: presented, responses: {204: none}}
  POST /all-out: {does: sign out member, ends: all, responses: {204: none}}
  GET /events: {does: stream event, responses: {200: stream}}
authentication:
  schemes:
    badge: {type: http, scheme: bearer, realm: Club, issued to: member, lasts: PT1H}
    key:   {type: apiKey, in: header, name: X-Key, issued to: member, lasts: none}
  permissions:
    POST /clubs: anyone
    DELETE /clubs/{name}: anyone
    POST /clubs/{club.name}/members: anyone
    POST /clubs/{club.name}/visits: {anyone: "member.name != 'Zoe'"}
    POST /clubs/{club.name}/keys: anyone
    POST /out: [badge, key]
    all others: [badge, key]
  rows: {club: all, member: {badge: member == caller.member, key: member == caller.member, anyone: false}}
  unseen rows: not found
events:
  kinds:
    came: {upon: sign in member, payload: {name: member.name, visits: member.visits}}
  delivery: {stream: server-sent events, envelope: none}
  kept: P1D
errors:
  error shape: {media type: application/json, body: {code: error.code}}
  codes:
    who:        {status: 401, for: unauthenticated}
    refused:    {status: 401, for: sign in refused}
    banned:     {status: 403, for: forbidden}
    no_club:    {status: 404, for: not found}
    taken:      {status: 409, for: conflict}
    invalid:    {status: 422, for: invalid}
    no_name:    {status: 422}
    too_often:  {status: 429}
    busy:       {status: 503, for: unavailable}
limits: none
versioning: none
"""


def plan() -> ServicePlan:
    return plan_of(MEMBERS, "members.yaml")


@contextmanager
def members(path: Path, clock: Clock | None = None) -> Iterator[Running]:
    with running(plan(), path, Sources() if clock is None else Sources(clock=clock)) as service:
        if service.http.post("/clubs", json={"name": "chess"}).status_code == 201:
            assert service.http.post("/clubs", json={"name": "go"}).status_code == 201
        yield service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with members(tmp_path / "a.db") as service:
        yield service


def join(service: Running, name: str = "Ann", club: str = "chess") -> dict[str, str]:
    made = service.http.post(f"/clubs/{club}/members", json={"name": name, "password": f"{name} has a secret"})
    assert made.status_code == 201, made.text
    return bearer(made.json()["badge"])


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def visit(service: Running, name: str = "Ann", club: str = "chess", what: str = "visits") -> httpx.Response:
    return service.http.post(f"/clubs/{club}/{what}", json={"name": name, "password": f"{name} has a secret"})


def is_known(service: Running, headers: dict[str, str]) -> bool:
    return service.http.get("/me", headers=headers).status_code == 200


def kept(service: Running) -> Sequence[Row]:
    text = 'SELECT "$digest", "$scheme", "$expires", id FROM "$credential member" ORDER BY rowid'
    rows = service.database.select(text, ())
    assert isinstance(rows, list)
    return rows


# ── Kept ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_the_digest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with members(path, Clock(START)) as service:
        badge = join(service)["Authorization"].removeprefix("Bearer ")
        [(digest, scheme, expires, row)] = kept(service)
        assert (digest, scheme, row) == (sha256(badge.encode()).digest(), "badge", 1)
        assert str(expires)[:16] == "2026-03-01T13:00"
        key = visit(service, what="keys").json()["key"]
        assert kept(service)[1][2] is None
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert badge.encode() not in content and key.encode() not in content and b"has a secret" not in content


def test_it_outlives_the_service(tmp_path: Path) -> None:
    with members(tmp_path / "a.db") as service:
        ann = join(service)
    with members(tmp_path / "a.db") as service:
        assert is_known(service, ann)


def test_a_refused_request_leaves_none_behind(service: Running) -> None:
    nobody = service.http.post("/clubs/chess/members", json={"name": "nobody", "password": "x"})
    assert (nobody.status_code, nobody.json()["code"]) == (422, "no_name")
    join(service)
    assert service.http.post("/clubs/chess/members", json={"name": "Ann", "password": "x"}).status_code == 409
    assert len(kept(service)) == 1
    assert [visit(service).status_code for _ in range(3)] == [201, 201, 429]
    assert len(kept(service)) == 3


# ── Ended ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_ends_when_its_time_is_over(tmp_path: Path) -> None:
    clock = Clock(START)
    with members(tmp_path / "a.db", clock) as service:
        ann, key = join(service), {"X-Key": ""}
        key = {"X-Key": visit(service, what="keys").json()["key"]}
        clock.set(START + timedelta(minutes=59))
        assert is_known(service, ann)
        clock.set(START + timedelta(minutes=61))
        refused = service.http.get("/me", headers=ann)
        assert refused.json() == {"code": "who"}
        assert refused.headers["www-authenticate"] == 'Bearer realm="Club", error="invalid_token", apiKey'
        clock.set(START + timedelta(days=36_000))
        assert is_known(service, key)


def test_those_that_have_ended_are_cleaned_away(tmp_path: Path) -> None:
    clock = Clock(START)
    with members(tmp_path / "a.db", clock) as service:
        for number in range(10):
            join(service, f"m{number}")
        visit(service, "m0", what="keys")
        clock.set(START + timedelta(hours=2))
        visit(service, "m0")
        assert len(kept(service)) == 4
        visit(service, "m1")
        assert [(scheme, row) for _, scheme, _, row in kept(service)] == [("key", 1), ("badge", 1), ("badge", 2)]


def test_it_ends_with_its_row(service: Running) -> None:
    ann, bob = join(service), join(service, "Bob", "go")
    assert service.http.delete("/me", headers=ann).status_code == 204
    assert not is_known(service, ann) and is_known(service, bob)
    # A deletion that cascades deletes the row just as well.
    assert service.http.delete("/clubs/go").status_code == 204
    assert not is_known(service, bob)
    assert kept(service) == []


def test_it_ends_with_the_password_unless_it_is_presented(service: Running) -> None:
    ann, bob = join(service), join(service, "Bob")
    second, key = bearer(visit(service).json()["badge"]), {"X-Key": visit(service, what="keys").json()["key"]}
    assert service.http.put("/me/password", headers=second, json={"password": "another"}).status_code == 204
    assert [is_known(service, each) for each in (ann, second, key, bob)] == [False, True, False, True]


def test_a_stream_ends_with_it(tmp_path: Path) -> None:
    clock = Clock(START)
    with members(tmp_path / "a.db", clock) as service:
        ann, bob = join(service), join(service, "Bob")
        with listening(service.http, ann) as stream:
            visit(service)
            [event] = stream.take(1)
            assert (event.kind, event.data) == ("came", {"name": "Ann", "visits": 1})
            clock.set(START + timedelta(hours=2))
            visit(service)
            assert stream.rest() == []
        assert not is_known(service, bob)


def test_what_is_signed_out_is_kept_no_more(service: Running) -> None:
    ann, bob = join(service), join(service, "Bob")
    second, key = bearer(visit(service).json()["badge"]), {"X-Key": visit(service, what="keys").json()["key"]}
    assert service.http.post("/out", headers=second).status_code == 204
    assert [is_known(service, each) for each in (ann, second, key, bob)] == [True, False, True, True]
    assert len(kept(service)) == 3
    # Whoever comes again is known by nobody, whatever they ask for.
    assert service.http.post("/out", headers=second).json() == {"code": "who"}
    assert service.http.post("/all-out", headers=key).status_code == 204
    assert [is_known(service, each) for each in (ann, key, bob)] == [False, False, True]
    assert [row for _, _, _, row in kept(service)] == [2]


def test_signing_out_at_once_ends_it_once(service: Running) -> None:
    ann = join(service)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: service.http.post("/out", headers=ann).status_code, range(4)))
    assert 204 in found and set(found) <= {204, 401}
    assert not is_known(service, ann) and kept(service) == []


def test_a_stream_ends_with_signing_out(service: Running) -> None:
    ann, bob = join(service), join(service, "Bob")
    with listening(service.http, ann) as stream:
        assert service.http.post("/all-out", headers=ann).status_code == 204
        visit(service)
        assert stream.rest() == []
    assert is_known(service, bob)


# ── Signing in ────────────────────────────────────────────────────────────────────────────────────────────────


def test_path_and_body_say_together_who_it_is(service: Running) -> None:
    ann, other = join(service), join(service, "Ann", "go")
    badge = bearer(visit(service, club="go").json()["badge"])
    found = [service.http.get("/me", headers=each).json()["id"] for each in (ann, other, badge)]
    assert found == [1, 2, 2]
    assert visit(service, "Bob", club="go").json() == {"code": "refused"}
    # A club that is not there is missing, and nobody is looked for.
    assert visit(service, club="bridge").json() == {"code": "no_club"}


def test_it_changes_only_what_it_sets(tmp_path: Path) -> None:
    clock = Clock(START)
    with members(tmp_path / "a.db", clock) as service:
        join(service)
        clock.set(START + timedelta(minutes=1))
        # Without `sets` nothing is written, so that `on change` takes no part; who signs in sees the row.
        answer = visit(service, what="keys").json()
        assert (answer["changed"][:16], answer["club"]) == ("2026-03-01T12:00", "chess")
        answer = visit(service).json()
        assert (answer["changed"][:16], answer["visits"]) == ("2026-03-01T12:01", 1)


def test_permissions_and_where_tell_nothing_without_the_password(service: Running) -> None:
    join(service, "Zoe"), join(service, "Hal")
    assert visit(service, "Zoe").json() == {"code": "banned"}
    wrong = service.http.post("/clubs/chess/visits", json={"name": "Zoe", "password": "wrong"})
    assert wrong.json() == {"code": "refused"}
    # What `where` leaves out is not there.
    assert visit(service, "Hal", what="keys").json() == {"code": "refused"}
    assert visit(service, "Hal").status_code == 201


@pytest.mark.parametrize("password", ["", "Ann has a secre", "ann has a secret", "\x7f", "ü" * 1000])
def test_another_password_is_refused(service: Running, password: str) -> None:
    join(service)
    refused = service.http.post("/clubs/chess/visits", json={"name": "Ann", "password": password})
    assert (refused.status_code, refused.json()) == (401, {"code": "refused"})


# ── Under load ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("hashes_that_cost")
def test_passwords_are_verified_beside_everything_else(tmp_path: Path) -> None:
    """Many who sign in at once: some are told that there are too many, and others are answered meanwhile."""
    opened = open_sqlite(str(tmp_path / "a.db"), plan().schema)
    assert isinstance(opened, Opened)
    capacity = Capacity(most_computations=6)
    application = Application(ready(plan(), opened.database.key("cursors")), opened.database, capacity=capacity)
    with closing(opened.database), in_a_thread(application) as (host, port):
        url = f"http://{host}:{port}"
        with httpx.Client(base_url=url, timeout=PATIENCE) as http, ThreadPoolExecutor(24) as pool:
            http.post("/clubs", json={"name": "chess"})
            made = http.post("/clubs/chess/members", json={"name": "Ann", "password": "a secret"})
            ann = bearer(made.json()["badge"])

            def guess(number: int) -> int:
                body = {"name": "Ann", "password": f"{number}"}
                return httpx.post(f"{url}/clubs/chess/visits", json=body, timeout=PATIENCE).status_code

            guesses = [pool.submit(guess, number) for number in range(72)]
            answered = 0
            while not all(each.done() for each in guesses):
                assert http.get("/me", headers=ann).status_code == 200
                answered += 1
                sleep(0.01)
            statuses = {each.result() for each in guesses}
            assert statuses == {401, 503} and answered > 3
            until(lambda: capacity.computations == 0)


def test_basic_is_good_only_as_long_as_its_hash(tmp_path: Path) -> None:
    text = MEMBERS.replace("name:     {type: string}\n", "name:     {type: string, unique: true}\n")
    text = text.replace(
        "    key:   {", "    desk:  {type: http, scheme: basic, realm: Club, matches: member.name}\n    key:   {"
    )
    text = text.replace("all others: [badge, key]", "all others: [badge, key, desk]")
    text = text.replace("key: member == caller.member,", "key: member == caller.member, desk: member == caller.member,")
    plan = plan_of(text, "members.yaml")
    with running(plan, tmp_path / "a.db") as service:
        service.http.post("/clubs", json={"name": "chess"})
        ann = join(service)
        desk = {"Authorization": "Basic " + b64encode(b"Ann:Ann has a secret").decode()}
        assert service.http.get("/me", headers=desk).json() == {"id": 1}
        with listening(service.http, desk) as stream:
            visit(service)
            assert len(stream.take(1)) == 1
            assert service.http.put("/me/password", headers=ann, json={"password": "another"}).status_code == 204
            service.http.post("/clubs/chess/visits", json={"name": "Ann", "password": "another"})
            assert stream.rest() == []
        assert service.http.get("/me", headers=desk).status_code == 401
