"""What is wrong with what an item of a body gives is told at its position, and called as the nearest member is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts import plan_of
from tests.parts import contract
from tests.server.conftest import running

TEXTS = ["a", "taken"], ["taken", "taken"], ["a", "much too long"]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    text = contract(
        """
        types:
          texts: {type: object, properties: {of: {type: array, items: {type: string}}}, required: [of]}
          rows:
            type: object
            properties:
              of: {type: array, items: {type: object, properties: {word: {type: string}}, required: [word]}}
            required: [of]
        box: {primary key: id, fields: {id: {type: integer, on create: serial()}}}
        label: {primary key: text, fields: {text: {type: string, maxLength: 5}}}
        """,
        """
        POST /labels: {does: create label, body: [text], responses: {201: label}}
        POST /texts:
          does: create box
          body: {$ref: "#/types/texts"}
          also: {does: create label, each: request.body.of, sets: {text: each}}
          responses: {201: box}
        POST /rows:
          does: create box
          body: {$ref: "#/types/rows"}
          also: {does: create label, each: request.body.of, sets: {text: each.word}}
          responses: {201: box}
        """,
    )
    path: Path = tmp_path_factory.mktemp("items") / "service.db"
    with running(plan_of(text.encode(), "labels.md"), path) as service:
        assert service.http.post("/labels", json={"text": "taken"}).status_code == 201
        yield service.http


@pytest.mark.parametrize("texts", TEXTS)
def test_it_is_told_where_the_item_stands(http: httpx.Client, texts: list[str]) -> None:
    """Whether what refuses it is a row that is there, another item, or the field itself."""

    def told(of: list[Any], path: str) -> tuple[str, list[tuple[str, str]]]:
        refused = http.post(path, json={"of": of}).json()
        return refused["code"], [(each["name"], each["pointer"]) for each in refused["fields"]]

    plain, of_member = told(texts, "/texts"), told([{"word": each} for each in texts], "/rows")
    assert plain[1] and {name for name, _ in plain[1]} == {"of"}
    assert of_member == (plain[0], [("word", f"{pointer}/word") for _, pointer in plain[1]])
    assert {pointer for _, pointer in plain[1]} <= {"/of/0", "/of/1"}
