"""Every recipe of docs/guide.md is a complete contract, and its service answers as the page shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.docs.reader import ROOT
from tests.http_cases import patient, serving, tell

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import render
from ninefold.diff.requests import Exchange, Known, read_exchanges
from ninefold.pipeline import Loaded, compile_document
from ninefold.tools.gaps import to_text

PAGE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")

_FENCED = re.compile(r"^```(?P<info>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_PART = re.compile(r"^(?P<key>\w+):.*?(?=^\w|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Recipe:
    """A section of the page: its contract, and what is said over HTTP."""

    title: str
    contract: str
    exchanges: str
    functions: str = ""


def recipes() -> list[Recipe]:
    """In the order of the page. The first gives the parts that later ones leave out."""
    found: list[Recipe] = []
    ground: dict[str, str] = {}
    starts = [*_SECTION.finditer(PAGE)]
    for start, end in zip(starts, [*(each.start() for each in starts[1:]), len(PAGE)], strict=True):
        fenced = [(each["info"], each["text"]) for each in _FENCED.finditer(PAGE, start.end(), end)]
        parts = {each["key"]: each[0] for info, text in fenced if info == "yaml" for each in _PART.finditer(text)}
        exchanges = "\n".join(text for info, text in fenced if info == "http")
        code = "\n".join(text for info, text in fenced if info == "python")
        if parts:
            ground = ground or parts
            contract = "".join({**ground, **{key: _added(ground[key], part) for key, part in parts.items()}}.values())
            found.append(Recipe(start["title"], contract, exchanges, code))
    return found


def _added(ground: str, part: str) -> str:
    """A part of a recipe: without `requests` it begins with the ground's, and its codes are added."""
    if part.startswith("endpoints:") and "\n  requests:" not in part:
        common = "".join(
            line for line in ground.splitlines(keepends=True) if line.startswith(("  requests:", "  produces:"))
        )
        return part.replace("endpoints:\n", "endpoints:\n" + common, 1)
    if part.startswith("errors:\n") and part != ground:
        shape, _, codes = part.removeprefix("errors:\n").partition("  codes:\n")
        same, _, common = ground.removeprefix("errors:\n").partition("  codes:\n")
        return f"errors:\n{shape or same}  codes:\n{common}{codes}"
    return part


RECIPES = recipes()
IDS = [each.title.lower().replace(" ", "-").replace(",", "") for each in RECIPES]


@cache
def compiled(recipe: Recipe) -> Loaded:
    return compile_document("recipe.yaml", recipe.contract.encode())


@pytest.mark.parametrize("recipe", RECIPES, ids=IDS)
def test_a_recipe_is_complete_and_nothing_is_wrong_with_it(recipe: Recipe) -> None:
    loaded = compiled(recipe)
    told = [each for each in loaded.diagnostics if each.code.severity is not Severity.NOTE]
    assert not told, render(told, loaded.source)
    assert not loaded.open_questions, to_text(loaded.contract, loaded.open_questions)


@pytest.mark.serves
@pytest.mark.parametrize("recipe", RECIPES, ids=IDS)
def test_a_recipe_answers_as_the_page_shows(recipe: Recipe, tmp_path: Path) -> None:
    plan = compiled(recipe).plan
    assert plan is not None
    exchanges = read_exchanges(recipe.exchanges)
    assert exchanges
    known: Known = {}
    module: dict[str, Any] = {}
    exec(recipe.functions, module)
    functions = {name: module[name] for name in plan.calls()}
    with serving(patient(plan), tmp_path / "recipe.db", {}, functions=functions) as client:
        for exchange in exchanges:
            tell(client, _as_json(exchange), known)


def _as_json(exchange: Exchange) -> Exchange:
    """The page leaves out what type a body has, where it is JSON's own."""
    if not exchange.content or any(name.lower() == "content-type" for name, _ in exchange.headers):
        return exchange
    return replace(exchange, headers=(*exchange.headers, ("Content-Type", "application/json")))


def test_the_page_lists_its_sections() -> None:
    listed = re.findall(r"^\d+\. \[(.+)\]\(#(.+)\)$", PAGE, re.MULTILINE)
    assert [title for title, _ in listed] == [each["title"] for each in _SECTION.finditer(PAGE)]
    assert all(anchor == title.lower().replace(" ", "-").replace(",", "") for title, anchor in listed)
