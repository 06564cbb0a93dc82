"""Where a version is named, and what says nothing there."""

from __future__ import annotations

import pytest
from tests.contracts import ROOT

from ninefold.pipeline import compile_document

TEXT = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "idle"), [("header", []), ("path", ["name"]), ("none", ["name", "versions", "default"])]
)
def test_what_nothing_is_named_by_is_an_error(place: str, idle: list[str]) -> None:
    found = compile_document("orders.md", TEXT.replace("in: header", f"in: {place}").encode())
    said = [each.message for each in found.diagnostics if each.code.id == "NF0535"]
    assert sorted(said) == sorted(f"`{key}` says nothing beside `in: {place}`" for key in idle)
