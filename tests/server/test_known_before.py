"""A row of which all is known before it is made is stored by its values alone, and told as it is known: what refuses it
is found as ever. What is known is compared with what a statement gives here as in every case (`known_before.py`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests import known_before
from tests.contracts import plan_of
from tests.http_cases import serving

from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import parts
from ninefold.plan.writes import Create
from ninefold.runtime.store.statements import Known

CONTRACT = b"""
purpose: Keeps parts.
resources:
  maker: {primary key: name, fields: {name: {type: string}}, required: [name]}
  part:
    primary key: code
    fields:
      code:   {type: string}
      maker:  {references: maker, inverse: parts, on delete: restrict}
      within: {references: part, inverse: inside, on delete: restrict}
      label:  {type: [string, "null"], unique: true}
      width:  {type: integer}
      height: {type: [integer, "null"]}
      area:   {type: integer, computed: part.width * part.height}
      large:  {type: boolean, computed: part.area > 100}
      said:   {type: string, computed: "part.code + ' by ' + part.maker.name"}
      tags:   {type: array, items: {type: string}}
      made:   {type: string, format: date-time, on create: now}
      weight: {type: number}
    required: [code, width]
states: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /makers: {does: create maker, body: [name], responses: {201: maker}}
  POST /plain:
    does: create part
    body: [code, maker, label, width, height, tags]
    responses: {201: {code: part.code, maker: part.maker, area: part.area, tags: part.tags, made: part.made}}
    headers: {Location: "'/parts/' + part.code"}
  POST /inside: {does: create part, body: [code, within, width], responses: {201: {code: part.code}}}
  POST /large:  {does: create part, body: [code, width, height], responses: {201: {large: part.large}}}
  POST /heavy:  {does: create part, body: [code, width, weight], responses: {201: {weight: part.weight}}}
  POST /said:   {does: create part, body: [code, maker, width], responses: {201: {said: part.said}}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape: {media type: application/json, body: {error: error.title}}
  codes: none
limits: none
versioning: none
"""


def _plan() -> ServicePlan:
    return plan_of(CONTRACT, "contract.yaml")


def test_only_what_constraints_refuse_and_values_say_is_made_so() -> None:
    """A row that points at itself is there when the foreign key is looked at, and a number may be stored as another.
    What another row holds is read, by the key of the row that was made."""
    found = {route.key: create.plainly is not None for route in _plan().routes for create in parts(route, Create)}
    assert found == {
        "POST /makers": True,
        "POST /plain": True,
        "POST /inside": False,
        "POST /large": True,
        "POST /heavy": False,
        "POST /said": True,
    }


def test_what_refuses_it_is_found(tmp_path: Path) -> None:
    with known_before.compared() as found, serving(_plan(), tmp_path / "rows.db", {}) as client:
        _asked(client)
    assert len(found) > 8
    assert any(known is None for known, _ in found)
    assert not known_before.different(found)


def _asked(client: httpx.Client) -> None:
    def status(path: str, **body: Any) -> int:
        return client.post(path, json=body).status_code

    assert status("/makers", name="ada") == 201
    assert status("/makers", name="ada") == 409
    made = client.post(
        "/plain", json={"code": "a", "maker": "ada", "label": "x", "width": 3, "height": 4, "tags": ["é"]}
    )
    assert made.status_code == 201
    assert made.headers["location"] == "/parts/a"
    told = made.json()
    assert (told["code"], told["maker"], told["area"], told["tags"]) == ("a", "ada", 12, ["é"])
    assert status("/plain", code="a", width=1) == 409  # its key is taken
    assert status("/plain", code="b", label="x", width=1) == 409  # what is unique is taken
    assert status("/plain", code="c", maker="bob", width=1) == 422  # there is no such row
    lone = client.post("/plain", json={"code": "d", "label": None, "width": 2**62, "height": 4})
    assert lone.status_code == 201
    assert lone.json().get("area") is None  # it overflows
    assert status("/plain", code="e", label=None, width=1) == 201  # nulls are distinct
    assert status("/inside", code="f", within="f", width=1) == 422
    assert status("/inside", code="g", within="a", width=1) == 201
    for width, large in ((1, False), (2, True)):
        made = client.post("/large", json={"code": f"l{width}", "width": width, "height": 60})
        assert made.json() == {"large": large}
    assert client.post("/large", json={"code": "l", "width": 1}).json() == {"large": False}
    assert status("/said", code="h", maker="ada", width=1) == 201


_ROW: Any = Known.row


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("row", lambda *told: tuple(reversed(_ROW(*told)))),
        ("row", lambda *told: tuple(map(str, _ROW(*told)))),
        ("row", lambda self, env, binds: _ROW(self, env, [*binds[1:], binds[0]])),
        ("stored", lambda self, session, env: self.row(env, self.bound(env)[1])),
    ],
)
def test_a_row_that_is_known_otherwise_is_noticed(name: str, instead: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, known_before.compared() as found:
        patch.setattr(Known, name, instead)
        with serving(_plan(), tmp_path / "rows.db", {}) as client:
            client.post("/plain", json={"code": "a", "width": 3, "height": 4})
            client.post("/plain", json={"code": "a", "width": 3, "height": 4})
    assert known_before.different(found)
