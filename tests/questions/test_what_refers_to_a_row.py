"""Whether a row may be deleted is for the rows that refer to it to say, be it through a cascade: what is not shown of
those concerns the deletion too. A service that serves it keeps none of them, and would delete what they refer to."""

from __future__ import annotations

import pytest
from tests.parts import contract

from ninefold.pipeline import compile_document

FILES = """
shelf:
  primary key: id
  fields: {id: {type: integer, on create: serial()}}
book:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    shelf: {references: shelf, on delete: cascade}
loan:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    book:  {references: book, on delete: WORD}
    days:  {type: integer, maximum: BOUND}
"""

ENDPOINTS = """
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /shelves: {does: create shelf, body: none, responses: {201: {id: shelf.id}}}
DELETE /shelves/{id}: {does: delete shelf, responses: {204: none}}
POST /shelves/{shelf.id}/books: {does: create book, body: none, responses: {201: {id: book.id}}}
POST /books/{id}/move: {does: update book, body: [shelf], patch: merge, responses: {200: {id: book.id}}}
POST /clear:
  does: create shelf
  body: none
  also: [{does: delete book, where: book.shelf != this}]
  responses: {201: {id: shelf.id}}
"""


@pytest.mark.parametrize("word", ["restrict", "cascade"])
def test_what_is_not_shown_of_rows_that_refer_to_others_stops_their_deletion(word: str) -> None:
    def blocked(bound: str) -> set[str]:
        resources = FILES.replace("WORD", word).replace("BOUND", bound)
        loaded = compile_document("contract.md", contract(resources=resources, endpoints=ENDPOINTS).encode())
        return {key for each in loaded.open_questions for key in each.blocks}

    assert not blocked("30")
    assert blocked("not shown") == {"DELETE /shelves/{id}", "POST /clear"}
