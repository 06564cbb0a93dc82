"""The callers that `dev` makes: known by what the service issues, and by passwords."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from tests.contracts import ROOT, compiled, plan_of
from tests.parts import contract
from tests.server.conftest import running
from tests.slices import some

from ninefold.cli.try_it import Where, caller_lines, lines
from ninefold.development.callers import Known, Unknown, callers
from ninefold.development.identity import Identity
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store.sqlite import Opened, open_sqlite

CONTRACT = """
purpose: Keeps notes.
resources:
  writer:
    primary key: id
    fields:
      id:       {type: integer, on create: serial()}
      email:    {type: string, format: email, unique: true}
      password: {type: string, minLength: 8, secret: password}
    required: [email, password]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /writers:
    does: create writer
    body: [email, password]
    issues: token
    responses: {201: {writer: {id: writer.id, token: caller.credential}}}
  GET /me: {does: read writer, where: writer == caller.writer, responses: {200: writer}}
  GET /writers: {does: list writer, sort: [id], pages: none, responses: {200: {writers: page.items}}}
authentication:
  schemes:
    token: {type: http, scheme: bearer, issued to: writer, lasts: P30D}
    never: {type: http, scheme: never, issued to: writer, lasts: P30D}
    desk:  {type: http, scheme: basic, realm: Desk, matches: writer.email}
  permissions: {POST /writers: anyone, all others: [token, never, desk]}
  rows: all
events: none
errors: none
limits: none
versioning: none
"""


def plan() -> ServicePlan:
    return plan_of(CONTRACT, "notes.yaml")


def found(path: Path) -> tuple[Known | Unknown, ...]:
    opened = open_sqlite(str(path), plan().schema)
    assert isinstance(opened, Opened), opened
    identity = Identity("http://127.0.0.1:8081", lambda: datetime.now(UTC))

    async def ask() -> tuple[Known | Unknown, ...]:
        return await callers(plan(), opened.database, {}, identity)

    try:
        return asyncio.run(ask())
    finally:
        opened.database.close()


def test_the_key_of_each_run_has_a_name_of_its_own() -> None:
    """By which a node that knows the one before is told to ask for it."""

    def name() -> object:
        identity = Identity("http://127.0.0.1:8081", lambda: datetime.now(UTC))
        identity.take_over(plan_of((ROOT / "examples/orders.md").read_bytes(), "orders.md"), {})
        found = identity.document("http://127.0.0.1:8081/identity/staff/keys")
        assert found is not None
        return msgspec.json.decode(found)["keys"][0]["kid"]

    assert name() != name()


@pytest.mark.serves
def test_there_is_one_of_each_kind_the_same_at_each_start(tmp_path: Path) -> None:
    token, never, desk = found(tmp_path / "dev.db")
    assert isinstance(token, Known) and isinstance(desk, Known)
    assert never == Unknown("never", "no endpoint issues a credential of it")
    assert found(tmp_path / "dev.db") == (token, never, desk)
    with running(plan(), tmp_path / "dev.db") as service:
        by_token = service.http.get("/me", headers={"Authorization": f"Bearer {token.credential}"})
        basic = b64encode(desk.credential.encode()).decode()
        by_password = service.http.get("/me", headers={"Authorization": f"Basic {basic}"})
    assert (by_token.status_code, by_token.json()["id"]) == (200, 1)
    assert (by_password.status_code, by_password.json()["id"]) == (200, 2)
    shown = list(caller_lines(plan(), "http://x", {}, [token, desk]))
    assert f"-u {desk.credential}  # desk: writer 2" in shown[2]


def test_what_a_line_reads_another_has_put_there_before() -> None:
    assert list(lines(plan(), Where("http://x", "notes.md", "notes.db"), {})) == [
        "curl -i http://x/writers -H 'Content-Type: application/json'"
        ' -d \'{"email": "ada@example.com", "password": "ada@example.com"}\'',
        "TOKEN='the writer.token of that answer'",
        'curl -i http://x/writers -H "Authorization: Bearer $TOKEN"',
        'curl -i http://x/me -H "Authorization: Bearer $TOKEN"',
        "# never: no endpoint issues a credential of it",
        "DESK=ada@example.com:ada@example.com",
        'curl -i http://x/writers -u "$DESK"',
        'curl -i http://x/me -u "$DESK"',
    ]


@pytest.mark.parametrize("required", [True, False])
def test_what_refers_to_a_row_is_not_tried_first(required: bool) -> None:
    """Nobody may have made such a row; where none has to be named, the order of the document counts."""
    text = contract(
        "owner: {primary key: name, fields: {name: {type: string}}}\n"
        "item: {primary key: id, fields: {id: {type: integer, on create: serial()}, of: {references: owner}}"
        + (", required: [of]}" if required else "}"),
        "POST /items: {does: create item, body: [of], responses: {201: item}}\n"
        "POST /owners: {does: create owner, body: [name], responses: {201: owner}}",
    )
    first, *_ = lines(plan_of(text.encode(), "items.md"), Where("http://x", "items.md", "items.db"), {})
    assert first.split()[2] == ("http://x/owners" if required else "http://x/items")


CONTRACTS = sorted((*ROOT.glob("examples/*.md"), *ROOT.glob("tests/cases/*/contract.md")))


@pytest.mark.long
@pytest.mark.parametrize("given", [True, False])
def test_no_line_of_any_contract_reads_what_no_line_has_put_there(given: bool) -> None:
    read = 0
    for path in some(CONTRACTS, 4):
        found = compiled(path).plan
        if found is None:
            continue
        values = {value.name: "x" for value in found.operator} if given else {}
        where = Where("http://x", "c.md", "c.db", {each.scheme: "http://y" for each in found.schemes} if given else {})
        known = set[str]()
        for line in lines(found, where, values):
            reads = set(re.findall(r"\$([A-Z_0-9]+)", line))
            assert reads <= known, (path, line)
            read += len(reads)
            known |= set(re.findall(r"^([A-Z_0-9]+)=", line))
    assert read
