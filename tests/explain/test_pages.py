"""What is explained, word for word. `NINEFOLD_BLESS=1` writes the pages as they come; the diff is then to be read."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import msgspec
import pytest
from tests.golden import is_golden

from ninefold.pipeline import Loaded, compile_document
from ninefold.tools.explain.endpoint import explain_endpoint, find_endpoint
from ninefold.tools.explain.explanation import Explanation
from ninefold.tools.explain.render import to_json, to_markdown, to_text
from ninefold.tools.explain.service import explain_service

ROOT = Path(__file__).parents[2]
PAGES = Path(__file__).parent / "pages"

EXAMPLE = "examples/orders.md"
CASE = "tests/cases/{}/contract.md"

EXPECTED = (
    ("orders.txt", EXAMPLE, ""),
    ("orders-create.txt", EXAMPLE, "POST /orders"),
    ("orders-create.json", EXAMPLE, "POST /orders"),
    ("orders-list.txt", EXAMPLE, "GET /orders"),
    ("orders-read.txt", EXAMPLE, "GET /orders/{id}"),
    ("orders-change.txt", EXAMPLE, "PATCH /orders/{id}"),
    ("orders-change.md", EXAMPLE, "PATCH /orders/{id}"),
    ("orders-delete.txt", EXAMPLE, "DELETE /orders/{id}"),
    ("orders-place.txt", EXAMPLE, "POST /orders/{id}/place"),
    ("orders-subscribe.txt", EXAMPLE, "POST /webhooks"),
    ("tasks-create.txt", CASE.format("tasks-of-projects-in-nested-paths"), "POST /projects/{project.slug}/tasks"),
    ("shelves-delete.txt", CASE.format("shelves-that-are-taken-down"), "DELETE /books/{isbn}"),
    ("books-read.txt", CASE.format("books-that-show-what-is-asked-for"), "GET /books/{isbn}"),
    ("several-change.txt", CASE.format("orders-in-several-steps"), "PATCH /orders/{id}"),
    ("cards.txt", CASE.format("accounts-that-never-go-below-zero"), ""),
    ("half-written.txt", "half-written", ""),
    ("half-written-list.txt", "half-written", "GET /notes"),
    ("half-written-create.txt", "half-written", "POST /notes"),
    ("wrong-create.txt", "wrong", "POST /notes"),
)
"""The page, the contract, and the endpoint; without one, the service."""

HALF_WRITTEN = """\
# Notes

## 2. Resources and their fields

```yaml
note:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    text: {type: string, maxLength: not shown}
  required: [text]
```

## 4. Endpoints

Notes are listed newest first, probably.

```yaml
requests: {media type: application/json, unknown parameters: refused}
GET /notes:
  does: list note
  sort: !proposed [-id]
  responses: {200: page.items}
POST /notes:
  does: create note
  body:
    - text
  sets:
    text: "'a note'"
  responses:
    201:
      id: note.id
      text: note.text
```

## 5. Authentication

```yaml
permissions:
  GET /notes: anyone
```

## 6. Events

Events: none.
"""

WRONG = HALF_WRITTEN.replace("maxLength: not shown", "maxLength: 80").replace("text: note.text", "text: note.txt")


@cache
def loaded(contract: str) -> Loaded:
    written = {"half-written": HALF_WRITTEN, "wrong": WRONG}.get(contract)
    data = (ROOT / contract).read_bytes() if written is None else written.encode()
    name = Path(contract).with_suffix(".md").name
    return compile_document(name, data)


def explained(contract: str, endpoint: str) -> Explanation:
    compiled = loaded(contract)
    if not endpoint:
        return explain_service(compiled)
    found = find_endpoint(compiled, endpoint)
    assert found is not None
    return explain_endpoint(compiled, found)


def written(page: str, explanation: Explanation) -> str:
    match Path(page).suffix:
        case ".json":
            return json.dumps(to_json(explanation), indent=2, ensure_ascii=False) + "\n"
        case ".md":
            return to_markdown(explanation)
        case _:
            return to_text(explanation)


@pytest.mark.parametrize(("page", "contract", "endpoint"), EXPECTED, ids=[page for page, _, _ in EXPECTED])
def test_a_page_is_as_expected(page: str, contract: str, endpoint: str) -> None:
    came = written(page, explained(contract, endpoint))
    path = PAGES / page
    is_golden(path, came)


def test_no_page_is_left_over() -> None:
    assert {path.name for path in PAGES.iterdir()} == {page for page, _, _ in EXPECTED}


def test_statements_are_those_of_the_plan() -> None:
    compiled = loaded(EXAMPLE)
    found = find_endpoint(compiled, "GET /orders/{id}")
    assert found is not None
    plain, more = explain_endpoint(compiled, found), explain_endpoint(compiled, found, with_statements=True)
    assert more.sections[:-1] == plain.sections
    (key, *_) = more.sections[-1].items
    assert [item.text.partition(":")[0] for item in key.items] == ["reads", "where nothing is found, asks why"]
    assert '"order"' in key.items[0].text
    assert any("`$path.id`" in item.text for item in key.items[0].items)


def test_an_accepted_proposal_is_told_as_such() -> None:
    compiled = compile_document("notes.md", HALF_WRITTEN.encode(), accept_proposals=True)
    found = find_endpoint(compiled, "GET /notes")
    assert found is not None
    items = [item for section in explain_endpoint(compiled, found).sections for item in section.items]
    assert [item.text for item in items if item.standing == "accepted"] == ["order: `id` descending"]


def test_the_json_can_be_read_back() -> None:
    told = to_json(explained(EXAMPLE, "POST /orders"))
    assert msgspec.json.decode(msgspec.json.encode(told)) == told
    assert set(told) == {"contract", "about", "line", "column", "outcome", "sections", "meanings"}


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("POST /orders", "POST /orders"),
        (" post   /orders ", "POST /orders"),
        ("GET /orders/17?x=1", "GET /orders/{id}"),
        ("POST /orders/17/place", "POST /orders/{id}/place"),
        ("GET /order", None),
        ("/orders", None),
        ("", None),
        ("GET /orders/17/lines", None),
    ],
)
def test_an_endpoint_is_found_by_what_a_request_would_be(asked: str, meant: str | None) -> None:
    found = find_endpoint(loaded(EXAMPLE), asked)
    assert (None if found is None else found.key) == meant


def test_an_endpoint_is_found_with_its_base_and_by_literals_first() -> None:
    contract = CASE.format("tasks-of-projects-in-nested-paths")
    found = find_endpoint(loaded(contract), "GET /v0/projects/home/tasks/newest")
    assert found is not None and found.key == "GET /projects/{project.slug}/tasks/newest"
