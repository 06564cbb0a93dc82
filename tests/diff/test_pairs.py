"""Pairs of contracts with the verdicts that they have to have (`pairs.yaml`)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.contracts import ROOT, compiled_once
from tests.sarif import VALIDATOR
from tests.slices import some

from ninefold.diagnostics.sarif import Tool, to_sarif
from ninefold.diff.compare import diff
from ninefold.diff.report import results
from ninefold.pipeline import Loaded

TEXT = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8")
PAIRS: list[dict[str, Any]] = msgspec.yaml.decode(Path(__file__).with_name("pairs.yaml").read_bytes())
TOOL = Tool("ninefold", "1.2.3")
TAKEN = some(PAIRS, 16)


def edited(text: str, edits: list[list[str]]) -> str:
    for before, after in edits:
        pattern = before[1:] if before.startswith("~") else re.escape(before)
        assert re.search(pattern, text), before
        text = re.sub(pattern, after if before.startswith("~") else after.replace("\\", "\\\\"), text)
    return text


def loaded(name: str, text: str) -> Loaded:
    found = compiled_once(name, text.encode())
    assert found.plan is not None, found.diagnostics[0].message
    return found


@pytest.mark.long
@pytest.mark.parametrize("pair", TAKEN, ids=lambda pair: pair["why"])
def test_a_change_has_its_verdict(pair: dict[str, Any]) -> None:
    old = edited(TEXT, pair.get("old", []))
    found = diff(loaded("old.md", old), loaded("new.md", edited(old, pair["edit"])))
    told = [(each.verdict, each.said, each.effects) for each in found.findings]
    first = found.findings[0] if found.findings else None
    assert ("none" if first is None else first.verdict) == pair["verdict"], told
    if "for" in pair:
        assert first is not None and pair["for"] in first.audiences, told
    if "never" in pair:
        assert pair["never"] not in {one.audience for each in found.findings for one in each.effects}, told
    if "opens" in pair:
        assert any(one.verdict == "opens" for each in found.findings for one in each.effects) is pair["opens"], told
    assert all(each.said and each.address for each in found.findings)
    log = to_sarif(results(found, found.findings), found.new, TOOL, "new.md", (found.old, "old.md"))
    VALIDATOR.validate(json.loads(json.dumps(log)))
    assert "all together" not in {each.address for each in found.findings}, told


RATE = "  more: {of: address, allow: 20, per: PT1M, algorithm: token bucket, burst: 20}\nrate headers:"
LONG_CHECK = "order.total > 0 && order.note != 'what nobody has ever written to anyone, and'"
WRITTEN = [
    (
        "what is new",
        "rate headers:",
        RATE,
        RATE.replace("{of: address, allow: 20", "{allow: 20, of: address"),
        ("20,", "21,"),
    ),
    (
        "a long text",
        "order.total > 0",
        LONG_CHECK,
        LONG_CHECK.replace("order.total > 0", "0 < order.total"),
        ("and'", "but'"),
    ),
]


@pytest.mark.parametrize(
    ("before", "after", "otherwise", "other"), [each[1:] for each in WRITTEN], ids=[each[0] for each in WRITTEN]
)
def test_a_fingerprint_is_of_all_that_is_said_and_not_of_how(
    before: str, after: str, otherwise: str, other: tuple[str, str]
) -> None:
    """Who accepts a finding has not accepted what stands in its place a week later."""

    def found(said: str) -> str:
        assert TEXT.count(before) == 1
        [one] = diff(loaded("old.md", TEXT), loaded("new.md", TEXT.replace(before, said))).findings
        return one.fingerprint

    assert found(after) == found(otherwise) != found(after.replace(*other))


LENDING = (ROOT / "examples" / "lending.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("was", "becomes"), [("here", "shelved"), ("lent", "out"), ("lent_out", "away"), ("book", "volume")]
)
def test_what_is_called_otherwise_is_one_finding_wherever_it_is_named(was: str, becomes: str) -> None:
    """Of states as of all else; of a state it was one at each transition, and one for what was gone and had come."""
    now = re.sub(rf"\b{was}\b", becomes, LENDING)
    found = diff(loaded("old.yaml", LENDING), loaded("new.yaml", now))
    assert [each.said.rpartition("` is called ")[2] for each in found.findings] == [f"`{becomes}`"]
