"""What decides an endpoint fits one screen, whatever it is, and says first what stops it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.explain.test_pages import HALF_WRITTEN
from tests.parts import contract
from tests.slices import some

from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document, load
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.render import WIDTH
from ninefold.tools.explain.screen import FEWEST, LINES, to_screen

ROOT = Path(__file__).parents[2]
CASES = some(sorted((ROOT / "tests" / "cases").glob("*/contract.md")), 9)
CONTRACTS = [*sorted((ROOT / "examples").glob("*.md")), *CASES]


def screens(loaded: Loaded) -> list[str]:
    return [to_screen(explain_endpoint(loaded, each)) for each in value_of(loaded.contract.endpoints.endpoints) or ()]


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=lambda path: path.parent.name + "/" + path.stem)
def test_an_endpoint_is_told_on_one_screen(path: Path) -> None:
    for text in screens(load(str(path))):
        lines = text.splitlines()
        assert len(lines) <= LINES or text.count("more\n") >= 3, (FEWEST, text)
        assert all(len(line) <= WIDTH or " " not in line.strip() for line in lines[2:]), text
        assert "--all" in lines[-1]
        others = text.partition("as of any endpoint: ")[2].partition("\n\n")[0].replace(",", "").split()
        codes = [each for each in others if not each.isdigit()]
        assert len(codes) == len({*codes}), text
        assert " ," not in text and not any(line.endswith(" ") for line in lines), text


def test_what_stops_it_comes_first() -> None:
    blocked = [text for text in screens(compile_document("a.md", HALF_WRITTEN.encode())) if "\nstopped by" in text]
    assert blocked and all(text.splitlines()[3].startswith("stopped by") for text in blocked)


def test_a_precondition_that_no_tag_answers_to_is_as_of_any_endpoint() -> None:
    """HTTP lets every GET have one; only where the contract has tags is it the endpoint's own."""
    text = contract(
        "thing: {primary key: id, fields: {id: {type: integer, on create: serial()}}}",
        """
        GET /plain/{id}: {does: read thing, responses: {200: thing}}
        GET /tagged/{id}: {does: read thing, etag: true, responses: {200: thing}}
        """,
    )
    plain, tagged = screens(compile_document("a.md", text.encode()))
    assert "If-Match" not in plain and "412" in plain.partition("as of any endpoint")[2]
    assert "If-Match" in tagged.partition("as of any endpoint")[0]


def test_bare_statuses_are_told_once_and_without_a_code() -> None:
    """That it cannot answer and that it answers too late may both be a 503 without a code."""
    text = contract(
        "thing: {primary key: id, fields: {id: {type: integer, on create: serial()}}}",
        "GET /things/{id}: {does: read thing, responses: {200: thing}}",
    )
    (screen,) = screens(compile_document("a.md", text.replace("timeout: none", "timeout: PT10S").encode()))
    assert ", 503, " in screen and " ," not in screen, screen
