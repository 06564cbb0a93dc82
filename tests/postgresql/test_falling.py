"""What falls with a row, over PostgreSQL, where each column has one type: keys of any types refer to one another."""

from __future__ import annotations

from typing import Any, Final

import pytest
from benchmarks.families import contract
from tests.http_cases import serving
from tests.postgresql import server

from ninefold.pipeline import compile_document

KEYS: Final[dict[str, tuple[str, Any]]] = {
    "i": ("{type: integer}", 7),
    "t": ("{type: string}", "é"),
    "n": ("{type: number}", 1.5),
    "d": ("{type: string, format: date-time}", "2026-01-01T00:00:00.000000Z"),
}
"""A key that is stored in each form, and one such."""

CHAIN: Final = "itinidtntdndii"
"""Rows each of which falls with the one before it, so that each form follows on each other; but the last, which keeps
all of them."""


@pytest.mark.serves
def test_a_row_is_kept_by_what_refers_to_any_that_falls_with_it() -> None:
    resources, endpoints, above, last = list[str](), list[str](), "", len(CHAIN) - 1
    for level, form in enumerate(CHAIN):
        name, deletion = f"r{level}", "restrict" if level == last else "cascade"
        up = f", up: {{references: {above}, on delete: {deletion}}}" if above else ""
        resources.append(f"  {name}: {{primary key: id, fields: {{id: {KEYS[form][0]}{up}}}}}")
        body = "[id, up]" if above else "[id]"
        endpoints.append(f"  POST /{name}: {{does: create {name}, body: {body}, responses: {{201: {name}}}}}")
        above = name
    for level in (0, last):
        endpoints.append(f"  DELETE /r{level}/{{id}}: {{does: delete r{level}, responses: {{204: none}}}}")
    loaded = compile_document("contract.yaml", contract(resources, (), endpoints).encode())
    plan = loaded.plan_for("postgresql")
    assert plan is not None, loaded.diagnostics
    with serving(plan, server.database(), {}) as client:
        for level, form in enumerate(CHAIN):
            referring = {"up": KEYS[CHAIN[level - 1]][1]} if level else {}
            assert client.post(f"/r{level}", json={"id": KEYS[form][1], **referring}).status_code == 201
        assert client.delete("/r0/7").status_code == 409
        assert client.delete(f"/r{last}/7").status_code == 204
        assert client.delete("/r0/7").status_code == 204
