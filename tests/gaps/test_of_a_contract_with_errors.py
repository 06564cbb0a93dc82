"""A contract with errors is never said to be complete: nothing of it is served."""

from __future__ import annotations

from pathlib import Path

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
