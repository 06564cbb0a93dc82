"""Meaning "rows that may be there": of fields that are unique together the path may name some, where what the caller,
the body or `sets` give says the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

from ninefold.pipeline import compile_document

CONTRACT = """\
resources:
  shop:
    primary key: id
    fields: {id: {type: string}, key: {type: string, secret: token, on create: token()}}
  item:
    primary key: id
    fields:
      id:   {type: integer, on create: serial()}
      shop: {references: shop, OWNER}
      name: {type: string}
      tag:  {type: string, on create: "'none'"}
    required: [shop, name]
    unique: [[shop, name]]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /shops: {does: create shop, body: [id], responses: {201: {key: issued.key}}}
  PUT /items/{name}: {does: put item, GIVES, responses: {created: {201: item}, replaced: {200: item}}}
  DELETE /items/{name}: {does: delete item, REMOVES, responses: {deleted: {200: {id: item.id}}, absent: {204: none}}}
authentication:
  schemes: {key: {type: http, scheme: bearer, matches: shop.key}}
  rows: all
  permissions: {POST /shops: anyone, all others: key}
events: none
errors: not shown
limits: {rates: none, body size: none, timeout: none}
versioning: none
"""
CALLER, WHERE = "on create: caller.shop, on delete: cascade", "where: item.shop == caller.shop"


def contract(owner: str, gives: str, removes: str) -> bytes:
    return CONTRACT.replace("OWNER", owner).replace("GIVES", gives).replace(", REMOVES", removes).encode()


@pytest.mark.serves
@pytest.mark.parametrize(
    ("owner", "gives", "removes", "of"),
    [
        (CALLER, "body: [tag]", "", None),
        ("on delete: cascade", "body: [tag], sets: {shop: caller.shop}", f", {WHERE}", None),
        ("on delete: cascade", "body: [shop, tag]", f", {WHERE}", "shop"),
    ],
)
def test_the_path_names_one_of_two_fields(owner: str, gives: str, removes: str, of: str | None, tmp_path: Path) -> None:
    plan = plan_of(contract(owner, gives, removes), "contract.yaml")
    with serving(plan, tmp_path / "service.db", {}) as client:
        callers = {each: client.post("/shops", json={"id": each}).json()["key"] for each in ("a", "b")}
        for status in (201, 200):
            for number, (name, key) in enumerate(callers.items(), 1):
                body = {"tag": f"{name}{status}"} | ({} if of is None else {of: name})
                answer = client.put("/items/x", json=body, headers={"Authorization": f"Bearer {key}"})
                assert answer.status_code == status
                assert answer.json() == {"id": number, "shop": name, "name": "x", "tag": f"{name}{status}"}
        for status in (200, 204):
            answer = client.delete("/items/x", headers={"Authorization": f"Bearer {callers['b']}"})
            assert answer.status_code == status
            assert status == 204 or answer.json() == {"id": 2}


def test_what_nothing_gives_does_not_say_which_row() -> None:
    found = compile_document("contract.yaml", contract("on delete: cascade", "body: [tag]", f", {WHERE}"))
    messages = [each.message for each in found.diagnostics]
    assert "`PUT /items/{name}` does not say which `item`" in messages
