"""What tokens have to claim, read from conditions."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts import plan_of

from ninefold.development.claims import kinds

CONTRACT = """
purpose: Notes.
resources:
  note: {primary key: id, fields: {id: {type: integer, on create: serial()}, text: {type: string}}}
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /notes/{id}: {does: read note, responses: {200: note}}
  POST /notes: {does: create note, query: {role: {type: string}}, body: [text], responses: {201: note}}
authentication:
  schemes:
    staff: {type: openIdConnect, issuer: operator.issuer, audience: notes,
            caller: {role: claims.role, groups: claims.their_groups, is_admin: "claims.level > 3"}}
  rows: all
  unseen rows: not found
  permissions:
    GET /notes/{id}: staff
    POST /notes: {staff: "CONDITION"}
"""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("caller.role == 'billing'", [{"role": "billing"}]),
        ("'billing' == caller.role", [{"role": "billing"}]),
        ("caller.role == 'a' || caller.role == 'b'", [{"role": "a"}, {"role": "b"}]),
        ("caller.role in ['a', 'b']", [{"role": "a"}, {"role": "b"}]),
        ("'admins' in caller.groups", [{"their_groups": ["admins"]}]),
        ("caller.role == 'a' && 'x' in caller.groups", [{"role": "a", "their_groups": ["x"]}]),
        ("caller.role != 'a'", [{}]),
        ("caller.is_admin", [{}]),
        ("caller.role == 'a' && caller.role == 'b'", [{}]),
        ("request.query.role == 'a'", [{}]),
    ],
)
def test_what_a_token_has_to_claim(condition: str, expected: list[dict[str, Any]]) -> None:
    plan = plan_of(CONTRACT.replace("CONDITION", condition), "notes.yaml")
    found = kinds(plan, plan.schemes[0])
    assert [each.claims for each in found] == expected
    assert all(each.endpoints == (("POST /notes",) if each.claims else ()) for each in found)
