"""A contract that needs more columns than SQLite has is told so; one that needs as many as there are is served."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.families import READ, contract, fields
from tests.http_cases import serving

from ninefold.pipeline import compile_document
from ninefold.values import MOST_COLUMNS

STATES = ["  item: {initial: a, states: [a, b], transitions: {go: {from: a, to: b}}}"]


def stored(count: int) -> str:
    """A resource of so many stored fields (its identifier and its state among them), all of which are shown."""
    text = fields(count - 2)
    made = "      s: {state: true}\n      id: {type: integer, on create: serial()}\n"
    return text.replace("      id: {type: integer, on create: serial()}\n", made).replace(
        "states: none\n", "states:\n" + "\n".join(STATES) + "\n"
    )


def shown(count: int) -> str:
    """A response of so many values that are made of one field, and the row's own two."""
    members = ", ".join(f"m{i}: item.n + {i}" for i in range(count - 2))
    item = [
        "  item:",
        "    primary key: id",
        "    fields: {id: {type: integer, on create: serial()}, n: {type: integer}}",
    ]
    response = f"{{201: {{id: item.id, n: item.n, {members}}}}}"
    return contract(item, (), [f"  POST /items: {{does: create item, body: [n], responses: {response}}}", READ])


@pytest.mark.parametrize(
    ("text", "body"),
    [(stored(MOST_COLUMNS), {f"f{i}": "x" for i in range(MOST_COLUMNS - 2)}), (shown(MOST_COLUMNS), {"n": 1})],
    ids=["stored", "shown"],
)
def test_as_many_as_there_are_are_served(text: str, body: dict[str, object], tmp_path: Path) -> None:
    loaded = compile_document("contract.yaml", text.encode())
    assert [each.code.id for each in loaded.diagnostics if each.code.severity.value == "error"] == []
    assert loaded.plan is not None
    with serving(loaded.plan, tmp_path / "items.db", {}) as client:
        made = client.post("/items", json=body)
        assert made.status_code == 201 and len(made.json()) == MOST_COLUMNS
        assert client.get(f"/items/{made.json()['id']}").status_code == 200


@pytest.mark.parametrize(
    ("text", "code"),
    [(stored(MOST_COLUMNS + 1), "NF0643"), (shown(MOST_COLUMNS + 1), "NF0644")],
    ids=["stored", "shown"],
)
def test_one_more_is_told(text: str, code: str) -> None:
    loaded = compile_document("contract.yaml", text.encode())
    assert [each.code.id for each in loaded.diagnostics if each.code.severity.value == "error"] == [code]
    assert loaded.plan is None
