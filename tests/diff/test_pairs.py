"""Pairs of contracts with the verdicts that they have to have (`pairs.yaml`)."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.contracts import ROOT
from tests.slices import LONG

from ninefold.diff.compare import diff
from ninefold.pipeline import Loaded, compile_document

TEXT = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")
PAIRS: list[dict[str, Any]] = msgspec.yaml.decode(Path(__file__).with_name("pairs.yaml").read_bytes())
TAKEN = PAIRS if LONG else PAIRS[::4]


def edited(text: str, edits: list[list[str]]) -> str:
    for before, after in edits:
        pattern = before[1:] if before.startswith("~") else re.escape(before)
        assert re.search(pattern, text), before
        text = re.sub(pattern, after if before.startswith("~") else after.replace("\\", "\\\\"), text)
    return text


@lru_cache(4)  # most pairs change the same contract
def loaded(name: str, text: str) -> Loaded:
    found = compile_document(name, text.encode())
    assert found.plan is not None, found.diagnostics[0].message
    return found


@pytest.mark.parametrize("pair", TAKEN, ids=lambda pair: pair["why"])
def test_a_change_has_its_verdict(pair: dict[str, Any]) -> None:
    old = edited(TEXT, pair.get("old", []))
    found = diff(loaded("old.md", old), loaded("new.md", edited(old, pair["edit"])))
    told = [(each.verdict, each.said, each.effects) for each in found.findings]
    first = found.findings[0] if found.findings else None
    assert ("none" if first is None else first.verdict) == pair["verdict"], told
    if "for" in pair:
        assert first is not None and pair["for"] in first.audiences, told
    assert all(each.said and each.address for each in found.findings)
    assert "all together" not in {each.address for each in found.findings}, told
