"""Rows that fall with those of their own kind, and what falls with these: the invariants of all whom they belonged to
are asked, however far away the row that was deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.families import contract
from tests.contracts import plan_of
from tests.http_cases import serving

CONTRACT = contract(
    [
        "  folder: {primary key: id, fields: {id: {type: integer}, up: {references: folder, on delete: cascade}}}",
        "  owner:",
        "    primary key: id",
        "    fields: {id: {type: integer}, strict: {type: boolean}}",
        "    required: [strict]",
        "    check: {that: '!owner.strict || owner.papers.size() > 0', else: without}",
        "  paper:",
        "    primary key: id",
        "    fields:",
        "      id: {type: integer}",
        "      folder: {references: folder, on delete: cascade}",
        "      owner: {references: owner, inverse: papers, on delete: cascade}",
        "    required: [folder, owner]",
    ],
    (),
    [
        "  POST /folders: {does: create folder, body: [id, up], responses: {201: folder}}",
        "  POST /owners: {does: create owner, body: [id, strict], responses: {201: owner}}",
        "  PATCH /owners/{id}:",
        "    {does: update owner, patch: merge, body: [strict], responses: {200: owner}}",
        "  POST /papers: {does: create paper, body: [id, folder, owner], responses: {201: paper}}",
        "  DELETE /folders/{id}: {does: delete folder, responses: {204: none}}",
    ],
    codes=["    without: {status: 409, title: Without}"],
)


@pytest.mark.serves
def test_what_falls_behind_a_circle_is_missed_by_its_owner(tmp_path: Path) -> None:
    plan = plan_of(CONTRACT, "contract.yaml")
    with serving(plan, tmp_path / "service.db", {}) as client:
        for path, body in (
            ("/folders", {"id": 1}),
            ("/folders", {"id": 2, "up": 1}),
            ("/folders", {"id": 3, "up": 2}),
            ("/folders", {"id": 4}),
            ("/owners", {"id": 1, "strict": False}),
            ("/papers", {"id": 1, "folder": 3, "owner": 1}),
        ):
            assert client.post(path, json=body).status_code == 201
        merge = {"content-type": "application/merge-patch+json"}
        assert client.patch("/owners/1", json={"strict": True}, headers=merge).status_code == 200
        refused = client.delete("/folders/1")
        assert refused.status_code == 409 and refused.json()["error"] == "without"
        assert client.delete("/folders/4").status_code == 204
        assert client.post("/papers", json={"id": 2, "folder": 3, "owner": 1}).status_code == 201
