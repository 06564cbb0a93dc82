"""What a duration was meant to be is the advice, where that can be told; else how one is written."""

from __future__ import annotations

import pytest
from tests.contracts import compiled_once

MEANT = {
    "PT5M30": "PT5M30S",
    "P1H30M": "PT1H30M",
    "1h30m": "PT1H30M",
    "pt5m": "PT5M",
    "90": "PT90S",
    "5 minutes": "PT5M",
    "2 days": "P2D",
    "500ms": "PT0.5S",
    "0.5s": "PT0.5S",
}


@pytest.mark.parametrize("written", [*MEANT, "5:00", "soon", "PT", "-PT5M"])
def test_the_advice_means_what_is_written(written: str) -> None:
    said = compiled_once("contract.yaml", f"purpose: x\nlimits:\n  timeout: {written}\n".encode()).diagnostics
    found = [each for each in said if each.code.id == "NF0305"]
    meant = MEANT.get(written)
    help = "a duration is written as in `PT1H30M`" if meant is None else f"write `{meant}`"
    assert [(each.message, each.help) for each in found] == [(f"`{written}` is not a duration", (help,))]
