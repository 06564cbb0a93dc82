"""What the commands show of one version."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from ninefold.cli import main
from ninefold.pipeline import compile_document
from ninefold.plan.service import ServicePlan

SHELF = Path(__file__).parents[1] / "cases" / "three-versions-of-a-shelf" / "contract.md"
GAP = Path(__file__).parents[1] / "cases" / "a-version-whose-way-back-is-not-shown" / "contract.md"


def test_each_version_has_a_document_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "openapi", str(SHELF), "--version", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["info"]["version"] == "1"
    assert "/book/{isbn}" in document["paths"] and "/books/{isbn}/lose" not in document["paths"]
    book = document["components"]["schemas"]["book"]["properties"]
    assert list(book) == ["isbn", "label", "author", "price", "state", "shelf", "note", "colour"]
    assert document["paths"]["/books"]["post"]["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/book.create"
    }
    sent = document["components"]["schemas"]["book.create"]
    assert sent["required"] == ["isbn", "label", "author", "price"]
    assert sent["properties"]["price"]["type"] == "number"
    assert main(["export", "openapi", str(SHELF)]) == 0
    assert json.loads(capsys.readouterr().out)["info"]["version"] == "3"


def test_an_endpoint_is_explained_as_its_version_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(SHELF), "GET /books", "--version", "1", "--all"]) == 0
    page = capsys.readouterr().out
    assert "the query parameter `label`" in page
    assert "`/data/0/label`: `book.title`" in page
    assert "`/data/0/price`: worked out, `double(book.cents) / 100.0`" in page
    assert "/data/0/pages" not in page
    assert main(["explain", str(SHELF), "GET /books/{isbn}", "--version", "1"]) == 2
    assert main(["explain", str(SHELF), "--version", "2"]) == 0


def test_a_version_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "openapi", str(SHELF), "--version", "9"]) == 2
    assert "its versions are 3, 2, 1, 0" in capsys.readouterr().err
    assert main(["explain", str(GAP), "--version", "2"]) == 2
    assert "the way back to the version 2 is not shown" in capsys.readouterr().err


def test_a_plan_with_versions_is_data() -> None:
    plan = compile_document("contract.md", SHELF.read_bytes()).plan
    assert plan is not None and plan.versions is not None
    assert msgspec.json.decode(msgspec.json.encode(plan), type=ServicePlan) == plan
    older = next(each for each in plan.versions.versions if each.name == "1")
    assert {route.key for route in older.routes} >= {"GET /book/{isbn}", "GET /all"}
