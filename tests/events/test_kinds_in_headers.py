"""A receiver knows of what kind an event is where a header of its deliveries reads it."""

from __future__ import annotations

import pytest
from tests.contracts import ROOT

from ninefold.pipeline import compile_document

CASE = ROOT / "tests/cases/webhooks-that-do-not-say-what-happened/contract.md"


@pytest.mark.parametrize(("header", "told"), [("event.kind", False), ("'a ' + event.kind", False), ("event.id", True)])
def test_a_header_tells_the_kind(header: str, told: bool) -> None:
    text = CASE.read_text(encoding="utf-8")
    assert "attempts: " in text
    stated = text.replace("attempts: ", f'headers: {{X-Kind: "{header}"}}, attempts: ', 1)
    found = [each.code.id for each in compile_document("contract.md", stated.encode()).diagnostics]
    assert ("NF0629" in found) is told, found
