"""For whom a difference is that cannot be made alone, or that goes with another one."""

from __future__ import annotations

from typing import Final

import pytest
from tests.parts import contract

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.compare import diff
from ninefold.diff.finding import Finding
from ninefold.pipeline import compile_document

BOOKS: Final = contract(
    """book:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    name:  {type: string}
    pages: {type: integer}
    twice: {computed: book.pages * 2}
  required: [name]
""",
    """POST /books: {does: create book, body: [name, pages], responses: {201: book}}
GET /books/{id}: {does: read book, responses: {200: book}}
DELETE /books/{id}: {does: delete book, responses: {204: none}}
""",
    callers="schemes: none\nrows: all\n"
    'permissions: {all others: anyone, "DELETE /books/{id}": {anyone: book.pages > 2}}\n',
)


def found(*edits: tuple[str, str], turned: bool = False) -> dict[str, Finding]:
    text = BOOKS
    for was, now in edits:
        assert was in text, was
        text = text.replace(was, now)
    both = [compile_document("c.md", each.encode()) for each in (BOOKS, text)]
    for each in both:
        assert each.plan is not None and not has_errors(each.diagnostics), [one.message for one in each.diagnostics]
    old, new = both[::-1] if turned else both
    return {each.address.partition(" ")[2]: each for each in diff(old, new).findings}


@pytest.mark.parametrize("turned", [False, True])
def test_who_may_call_an_endpoint_comes_and_goes_with_it(turned: bool) -> None:
    line, endpoint = ', "DELETE /books/{id}": {anyone: book.pages > 2}', "DELETE /books/{id}: {does"
    gone = (line, ""), (next(each for each in BOOKS.splitlines() if each.startswith(endpoint)) + "\n", "")
    [finding] = found(*gone, turned=turned).values()
    assert (finding.address, finding.verdict) == ("4 DELETE /books/{id}", "opens" if turned else "breaking")
    assert [each.address for each in found((line, "")).values()] == ["5 permissions > DELETE /books/{id}"]


def test_operators_are_told_of_what_is_required_of_a_field_that_comes() -> None:
    edits = ("    pages: {type", "    first: {type: string}\n    pages: {type"), ("[name]\n", "[name, first]\n"), (
        "body: [name, pages]", "body: [name, first, pages]")  # fmt: skip
    effects = found(*edits)["book > required > first"].effects
    assert {each.audience for each in effects if each.verdict == "look"} == {"operators"}


@pytest.mark.parametrize(
    ("now", "verdict"),
    [("string(book.pages * 2)", "breaking"), ("book.pages > 2", "breaking"), ("double(book.pages)", "look")],
)
def test_what_is_computed_of_another_type_is_breaking(now: str, verdict: str) -> None:
    [finding] = found(("computed: book.pages * 2", f'computed: "{now}"')).values()
    assert finding.verdict == verdict
    assert any("is of another type" in each.said for each in finding.effects) is (verdict == "breaking")
