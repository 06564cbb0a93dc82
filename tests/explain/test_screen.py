"""What decides an endpoint fits one screen, whatever it is, and says first what stops it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.explain.test_pages import HALF_WRITTEN

from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document, load
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.render import WIDTH
from ninefold.tools.explain.screen import FEWEST, LINES, to_screen

ROOT = Path(__file__).parents[2]
CONTRACTS = [*sorted((ROOT / "examples").glob("*.md")), *sorted((ROOT / "tests" / "cases").glob("*/contract.md"))[::9]]


def screens(loaded: Loaded) -> list[str]:
    return [to_screen(explain_endpoint(loaded, each)) for each in value_of(loaded.contract.endpoints.endpoints) or ()]


@pytest.mark.parametrize("path", CONTRACTS, ids=lambda path: path.parent.name + "/" + path.stem)
def test_an_endpoint_is_told_on_one_screen(path: Path) -> None:
    for text in screens(load(str(path))):
        lines = text.splitlines()
        assert len(lines) <= LINES or text.count("more\n") >= 3, (FEWEST, text)
        assert all(len(line) <= WIDTH or " " not in line.strip() for line in lines[2:]), text
        assert "--all" in lines[-1]
        assert " ," not in text and not any(line.endswith(" ") for line in lines), text


def test_what_stops_it_comes_first() -> None:
    blocked = [text for text in screens(compile_document("a.md", HALF_WRITTEN.encode())) if "\nstopped by" in text]
    assert blocked and all(text.splitlines()[3].startswith("stopped by") for text in blocked)
