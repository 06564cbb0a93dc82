"""The matrix of permissions, word for word. `NINEFOLD_BLESS=1` writes the pages as they come; read the diff then."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import msgspec
import pytest
from tests.golden import is_golden
from tests.slices import some

from ninefold.pipeline import compile_document
from ninefold.tools.permissions.matrix import Cell, Matrix, Verdict, matrix
from ninefold.tools.permissions.render import to_json, to_markdown, to_text

ROOT = Path(__file__).parents[2]
PAGES = Path(__file__).parent / "pages"

EXAMPLE = "examples/orders.md"
CASE = "tests/cases/{}/contract.md"

EXPECTED = (
    ("orders.txt", EXAMPLE),
    ("orders.md", EXAMPLE),
    ("orders.json", EXAMPLE),
    ("appointments.txt", CASE.format("appointments-that-move-through-states")),
    ("appointments.md", CASE.format("appointments-that-move-through-states")),
    ("gone.txt", CASE.format("notes-that-are-gone-and-come-back")),
    ("nothing.txt", CASE.format("nothing-is-shown")),
    ("half-written.txt", "half-written"),
    ("half-written.md", "half-written"),
    ("wrong.txt", "wrong"),
)

HALF_WRITTEN = """\
# Notes

## 2. Resources and their fields

```yaml
author: {primary key: id, fields: {id: {type: integer}, key: {type: string, secret: token}}}
note:
  primary key: id
  fields:
    id:     {type: integer}
    author: {references: author}
    text:   {type: string}
    status: {state: true}
```

## 3. States and transitions

```yaml
note:
  initial: draft
  states: [draft, public, hidden]
  gone: [hidden]
  transitions:
    publish: {from: draft, to: public, check: {that: "note.text.size() > 0 && note.status != 'hidden'"}}
    hide:    {from: [draft, public], to: hidden}
```

## 4. Endpoints

```yaml
GET /notes:               {does: list note, responses: {200: page.items}}
GET /notes/{id}:          {does: read note, responses: {200: note}}
POST /notes/{id}/publish: {does: publish note, responses: {200: note}}
DELETE /notes/{id}:       {does: delete note, responses: {204: none}}
GET /about:               {does: not shown}
```

## 5. Authentication

```yaml
schemes:
  author: {type: http, scheme: bearer, matches: author.key}
  desk:   {type: not shown}
rows:
  author: not shown
  note:
    author: "note.author == caller.author || note.status == 'public'"
    anyone: "note.status in ['public', 'hidden']"
unseen rows: not shown
permissions:
  GET /notes:               [author, anyone]
  POST /notes/{id}/publish: {author: "note.author == caller.author", desk: not shown}
  DELETE /notes/{id}:       none
  GET /notes/{id}:          [author, desk, anyone]
```
"""


@cache
def made(document: str) -> Matrix:
    data = {
        "half-written": HALF_WRITTEN.encode(),
        "wrong": HALF_WRITTEN.replace("note.author == caller.author", "note.autor == caller.author").encode(),
    }.get(document) or (ROOT / document).read_bytes()
    loaded = compile_document(document, data)
    return matrix(loaded.contract, loaded.checked)


@pytest.mark.parametrize(("page", "document"), EXPECTED, ids=[page for page, _ in EXPECTED])
def test_a_page(page: str, document: str) -> None:
    found = made(document)
    match Path(page).suffix:
        case ".txt":
            came = to_text(found)
        case ".md":
            came = to_markdown(found)
        case _:
            came = msgspec.json.format(msgspec.json.encode(to_json(found)), indent=2).decode() + "\n"
    path = PAGES / page
    is_golden(path, came)


def test_without_lines_prose_changes_nothing() -> None:
    moved = HALF_WRITTEN.replace("# Notes\n", "# Notes\n\nProse.\n")
    before, after = (compile_document("a.md", each.encode()) for each in (HALF_WRITTEN, moved))
    texts = [
        write(matrix(each.contract, each.checked), False)
        for write in (to_text, to_markdown)
        for each in (before, after)
    ]
    assert texts[0] == texts[1] and texts[2] == texts[3] and "(line " not in "".join(texts)
    assert json.dumps(to_json(made("half-written"), False)).count('"line"') == 0


@pytest.mark.long
def test_every_endpoint_has_a_cell_for_every_kind_of_caller() -> None:
    for directory in some(sorted((ROOT / "tests" / "cases").iterdir()), 4):
        for path in directory.glob("contract.*"):
            found = made(str(path.relative_to(ROOT)))
            whos = [*(each.name for each in found.schemes), "anyone"]
            assert all([cell.who for cell in line.cells] == whos for line in found.lines), directory.name
            assert all(_is_whole(cell) for line in found.lines for cell in line.cells), directory.name


def _is_whole(cell: Cell) -> bool:
    """Whoever is not admitted sees nothing."""
    return cell.verdict in (Verdict.ADMITTED, Verdict.AS_ANYONE) or not (cell.rows or cell.states or cell.condition)
