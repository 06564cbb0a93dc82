"""What reads a name by which rows may refer back waits for all that may do so while it is not shown: no endpoint is
blocked, and no gap says which it is."""

from __future__ import annotations

import pytest
from tests.parts import contract

from ninefold.pipeline import compile_document

RESOURCES = """
book:
  primary key: id
  fields:
    id:      {type: integer, on create: serial()}
    title:   {type: string}
    wanted:  {type: integer, computed: "book.loans.size()"}
  views: {short: {title: book.title, lent: book.loans.size()}}
shelf:
  primary key: id
  fields:
    id:      {type: integer, on create: serial()}
    book:    {references: book}
loan:
  primary key: id
  fields:
    id:      {type: integer, on create: serial()}
    book:    {references: book, inverse: loans, on delete: cascade}
"""

ENDPOINTS = """
POST /books:            {does: create book, body: [title], responses: {201: {id: book.id}}}
GET /books/{id}/wanted: {does: read book, responses: {200: {wanted: book.wanted}}}
GET /books/{id}/short:  {does: read book, responses: {200: short(book)}}
GET /shelves/{id}:      {does: read shelf, responses: {200: {loans: "shelf.book.loans.map(l, l.id)"}}}
POST /loans:            {does: create loan, body: [book], responses: {201: {id: loan.id}}}
GET /books/{id}:
  does: read book
  headers: {X-Loans: string(book.loans.size())}
  responses: {200: {title: book.title}}
PATCH /books/{id}:
  does: update book
  body: [title]
  patch: merge
  check: {that: book.loans.size() < 3, else: lent}
  responses: {200: {id: book.id}}
GET /lent:
  does: list book
  where: book.loans.size() > 0
  sort: none
  responses: {200: {ids: "page.items.map(b, b.id)"}}
"""

WHOLE = contract(RESOURCES, ENDPOINTS, codes="lent: {status: 409}", limits="pages: none")
FIELD = "book:    {references: book, inverse: loans, on delete: cascade}"
FIELDS = f"\n    id:      {{type: integer, on create: serial()}}\n    {FIELD}"

HIDDEN = {
    "the name": (FIELD, "book: {references: book, inverse: not shown, on delete: cascade}"),
    "the target": (FIELD, "book: {references: not shown, inverse: loans, on delete: cascade}"),
    "the field": (FIELD, "book: not shown"),
    "the fields": (FIELDS, " not shown"),
    "that there are fields": (f"  fields:{FIELDS}\n", ""),
}


def test_the_whole_contract_is_served() -> None:
    loaded = compile_document("books.md", WHOLE.encode())
    assert loaded.checked is not None and not loaded.checked.stopped, loaded.diagnostics


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_gap_says_of_each_endpoint_that_it_blocks_it(hidden: str) -> None:
    old, new = HIDDEN[hidden]
    assert WHOLE.count(old) == 1
    loaded = compile_document("books.md", WHOLE.replace(old, new).encode())
    assert loaded.checked is not None, loaded.diagnostics
    stopped = {each.key for each in loaded.checked.stopped}
    assert len(stopped) > 5
    assert stopped <= {key for each in loaded.open_questions for key in each.blocks}


TAG = RESOURCES + "tag: {primary key: id, fields: {id: {type: integer, on create: serial()}}}\n"


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_function_is_no_view_that_is_not_shown(hidden: str) -> None:
    read = 'GET /tags/{id}: {does: read tag, responses: {200: {label: "string(tag.id)"}}}'
    loaded = compile_document("tags.md", contract(TAG.replace(*HIDDEN[hidden]), read).encode())
    assert loaded.checked is not None and not loaded.checked.stopped, loaded.diagnostics


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_resource_has_no_view_that_another_one_may_have(hidden: str) -> None:
    read = "GET /tags/{id}: {does: read tag, responses: {200: brief(tag)}}"
    loaded = compile_document("tags.md", contract(TAG.replace(*HIDDEN[hidden]), read).encode())
    assert "`tag` has no view `brief`" in [each.message for each in loaded.diagnostics]
