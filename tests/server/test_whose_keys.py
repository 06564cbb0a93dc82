"""An idempotency key belongs to the row that calls: not to the next one with its primary key, however the row goes, and
to it alone whatever it is known by. Over SQLite and PostgreSQL."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from tests.contracts import plan_of
from tests.events.service import Running, running
from tests.events.test_whoever_left import CONTRACT as SUBSCRIBED
from tests.events.test_whoever_left import GOES, STAYS, changed, done, someone
from tests.postgresql import server
from tests.waiting import until

pytestmark = pytest.mark.serves


def edited(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


CONTRACT = edited(
    SUBSCRIBED,
    ("POST /notes: {does: create note,", "POST /notes: {does: create note, idempotency key: required,"),
    (
        "  POST /hooks:",
        "  PATCH /me:\n    does: update user\n    where: user == caller.user\n    body: [name]\n    patch: merge\n"
        "    idempotency key: required\n    responses: {200: {name: user.name}}\n"
        "  DELETE /me: {does: delete user, where: user == caller.user, idempotency key: required,"
        " responses: {204: none}}\n  POST /hooks:",
    ),
    ("permissions: {POST /notes: tok,", "permissions: {POST /notes: tok, PATCH /me: tok, DELETE /me: tok,"),
    ("limits: {rates: none,", "limits: {rates: none, idempotency keys kept: PT1H,"),
)
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    return tmp_path / "a.db" if request.param == "sqlite" else server.database()


@pytest.fixture
def service(database: Path | str) -> Iterator[Running]:
    with running(database, CONTRACT, name="contract.yaml") as one:
        for team in ("red", "blue"):
            done(one.http.post("/teams", json={"name": team}))
        yield one


def noted(service: Running, by: dict[str, str]) -> int:
    """The number of the note that is made under a key, always the same."""
    made = service.http.post("/notes", json={"text": "a"}, headers={**by, "Idempotency-Key": "one"})
    assert made.status_code == 201, made.text
    return int(made.json()["id"])


def is_there(service: Running) -> bool:
    return bool(service.rows("SELECT 1 FROM \"user\" WHERE team = 'red' AND name = 'ada'"))


@pytest.mark.parametrize("way", [*GOES, "by itself"])
def test_the_next_row_with_its_primary_key_is_not_answered_what_it_was(service: Running, way: str) -> None:
    ada = someone(service, "red", "ada")
    first = noted(service, ada)
    if way == "by itself":
        done(service.http.delete("/me", headers={**ada, "Idempotency-Key": "bye"}))
    else:
        GOES[way](service)
    until(lambda: not is_there(service))
    if way == "by a cascade":
        done(service.http.post("/teams", json={"name": "red"}))
    again = someone(service, "red", "ada")
    assert noted(service, again) == noted(service, again) == first + 1


@pytest.mark.parametrize("way", STAYS)
def test_a_retry_is_answered_what_it_was_whatever_became_of_the_row(service: Running, way: str) -> None:
    ada, other = someone(service, "red", "ada"), someone(service, "blue", "ada")
    first = noted(service, ada)
    if way != "another deleted":
        assert noted(service, other) == first + 1
    STAYS[way](service)
    if way == "renamed":
        assert noted(service, someone(service, "red", "ada")) == first + 2
    assert noted(service, ada) == noted(service, ada) == first


def test_what_renames_its_caller_is_done_once(service: Running) -> None:
    ada = someone(service, "red", "ada")

    def renames(key: str, name: str) -> str:
        headers = {**ada, **MERGE, "Idempotency-Key": key}
        return str(done(service.http.patch("/me", json={"name": name}, headers=headers)).json()["name"])

    assert [renames("one", "bea"), renames("two", "cleo"), renames("one", "bea")] == ["bea", "cleo", "bea"]
    assert service.rows('SELECT name FROM "user"') == [("cleo",)]
    refused = service.http.patch("/me", json={"name": "dora"}, headers={**ada, **MERGE, "Idempotency-Key": "two"})
    assert refused.status_code == 422


def test_of_many_at_once_one_is_done_while_its_caller_is_renamed(database: Path | str) -> None:
    """Over PostgreSQL by two nodes."""
    with ExitStack() as stack:
        count = 2 if isinstance(database, str) else 1
        nodes = [stack.enter_context(running(database, CONTRACT, name="contract.yaml")) for _ in range(count)]
        done(nodes[0].http.post("/teams", json={"name": "red"}))
        ada, name = someone(nodes[0], "red", "n0"), 0

        def asked(number: int) -> httpx.Response:
            headers = {**ada, "Idempotency-Key": f"key-{turn}"}
            return nodes[number % count].http.post("/notes", json={"text": f"{turn}"}, headers=headers)

        with ThreadPoolExecutor(9) as pool:
            for turn in range(6):
                came = [pool.submit(asked, number) for number in range(8)]
                changed(nodes[turn % count], f"/users/red/n{name}", name=f"n{name + 1}")
                name += 1
                answers = [each.result() for each in came]
                good = {each.json()["id"] for each in answers if each.status_code == 201}
                assert len(good) == 1, [(each.status_code, each.text) for each in answers]
                assert {each.status_code for each in answers} <= {201, 409}
                assert asked(turn).json()["id"] in good
        assert nodes[0].rows("SELECT text FROM note ORDER BY text") == [(f"{turn}",) for turn in range(6)]


OF_EACH_SCHEME = """
purpose: Keeps notes of members who are known in several ways.
resources:
  member:
    primary key: name
    fields:
      name:     {type: string}
      password: {type: string, secret: password}
      key:      {type: string, secret: token, on create: token()}
    required: [name]
  note:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, text: {type: string}}
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /members:
    does: create member
    body: [name, password]
    issues: session
    responses: {201: {key: issued.key, session: caller.credential}}
  PATCH /members/{name}: {does: update member, body: [name], patch: merge, responses: {200: {name: member.name}}}
  DELETE /members/{name}: {does: delete member, responses: {204: none}}
  POST /notes: {does: create note, body: [text], idempotency key: required, responses: {201: {id: note.id}}}
authentication:
  schemes:
    key:     {type: apiKey, in: header, name: Key, matches: member.key}
    basic:   {type: http, scheme: basic, realm: Notes, matches: member.name}
    session: {type: http, scheme: bearer, issued to: member, lasts: P1D, scopes: [writes], granted: "['writes']"}
  rows: all
  permissions: {POST /notes: [key, basic, session], all others: anyone}
events: none
errors: none
limits: {rates: none, idempotency keys kept: PT1H, timeout: none, body size: 64 KiB}
versioning: none
"""


@pytest.mark.parametrize("scheme", ["key", "basic", "session"])
def test_so_it_is_of_each_scheme_whose_callers_are_rows(database: Path | str, scheme: str) -> None:
    with running(database, OF_EACH_SCHEME, name="notes.yaml") as service:
        made = dict[str, dict[str, str]]()

        def member(name: str) -> None:
            body = {"name": name, "password": "correct horse"}
            made[name] = done(service.http.post("/members", json=body)).json()

        def note(name: str) -> int:
            word = b64encode(f"{name}:correct horse".encode()).decode()
            known = {
                "key": {"Key": made[name]["key"]},
                "basic": {"Authorization": f"Basic {word}"},
                "session": {"Authorization": f"Bearer {made[name]['session']}"},
            }
            headers = {**known[scheme], "Idempotency-Key": "one"}
            return int(done(service.http.post("/notes", json={"text": "a"}, headers=headers)).json()["id"])

        member("ada")
        assert note("ada") == 1
        done(service.http.patch("/members/ada", json={"name": "bea"}, headers=MERGE))
        made["bea"] = made["ada"]
        assert note("bea") == 1
        member("ada")
        assert note("ada") == note("ada") == 2 and note("bea") == 1
        done(service.http.delete("/members/bea"))
        member("bea")
        assert note("bea") == 3


def test_nothing_is_kept_of_rows_that_are_no_callers_or_where_no_keys_are() -> None:
    identified = {each.name for each in plan_of(OF_EACH_SCHEME, "notes.yaml").schema.tables if each.identified}
    assert identified == {"member"}
    without = edited(OF_EACH_SCHEME, ("idempotency key: required, ", ""), ("idempotency keys kept: PT1H, ", ""))
    plan = plan_of(without, "notes.yaml")
    assert not [each.name for each in plan.schema.tables if each.identified]
    assert not [each for each in plan.schemes if each.of_row and "$identity" in str(each.of_row.find)]
