"""A contract with errors is never said to be complete: nothing of it is served."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from ninefold.cli.gaps import gaps

EXAMPLE = Path(__file__).parents[2] / "examples" / "orders.md"


def test_errors_are_told_in_place_of_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract = tmp_path / "orders.md"
    contract.write_text(EXAMPLE.read_text(encoding="utf-8").replace("does: read order", "does: raed order"), "utf-8")
    assert gaps(str(contract)) == 1
    said = capsys.readouterr().out
    assert "Complete" not in said
    assert said.splitlines()[-1].startswith("The contract has ")
    assert "so nothing of it is served" in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("format", "told"),
    [("json", '"errors": 1'), ("markdown", "The contract has one error"), ("sarif", '"ruleId": "NF0')],
)
def test_every_format_tells_of_errors(
    format: Literal["json", "markdown", "sarif"], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the gaps, where a program or the contract's owner reads nothing else."""
    contract = tmp_path / "orders.md"
    gaps(str(EXAMPLE), format=format)
    assert told not in capsys.readouterr().out
    contract.write_text(EXAMPLE.read_text(encoding="utf-8").replace("patch: merge", "patch: smerge"), "utf-8")
    assert gaps(str(contract), format=format) == 1
    said = capsys.readouterr().out
    assert told in said and '"complete": true' not in said
