"""The contracts that benchmarks serve are written in the words of today: what is refused is not measured."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diagnostics.render import render
from ninefold.pipeline import compile_document

FOLDER: Final = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def contracts(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """By file: benchmarks are programs, and import each other as such."""
    monkeypatch.syspath_prepend(FOLDER)
    idle, lists, sign_in, one = map(import_module, ("idle_streams", "lists", "sign_in", "one_request"))
    return {
        "idle_streams.yaml": idle.CONTRACT,
        "lists.yaml": lists.contract(lists.FILTERS),
        "lists-without-filters.yaml": lists.contract(""),
        "sign_in.yaml": sign_in.CONTRACT.decode(),
        "one_request.md": one.CONTRACT % "ignored",
        **{path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("**/*.md") if path.name != "README.md"},
    }


def test_they_have_no_errors(contracts: dict[str, str]) -> None:
    for name, text in contracts.items():
        found = compile_document(name, text.strip().encode() + b"\n")
        assert not has_errors(found.diagnostics), render(found.diagnostics, found.source)
        assert found.plan is not None
