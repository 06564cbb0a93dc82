"""A content whose expressions are changed is what it was but for these, in every kind of content."""

from __future__ import annotations

from typing import Final

from tests.contracts import ROOT, compiled

from ninefold.checked.contents import expressions_of, with_expressions
from ninefold.expressions.tree import Typed, Variable

CASES: Final = ROOT / "tests" / "cases"
CONTRACTS: Final = (CASES / "books-that-show-what-is-asked-for" / "contract.md", ROOT / "examples" / "orders.md")


def marked(each: Typed) -> Typed:
    return Variable("changed", each.type)


def test_all_of_them_and_nothing_else_is_changed() -> None:
    expanded = 0
    for path in CONTRACTS:
        checked = compiled(path).checked
        assert checked is not None
        shown = [each.operation.response.content for each in checked.endpoints]
        for content in (each for each in shown if each is not None):
            expanded += len(getattr(content, "expanded", ()))
            assert with_expressions(content, lambda each: each) == content
            changed = with_expressions(content, marked)
            assert [*expressions_of(changed)] == [marked(each) for each in expressions_of(content)]
    assert expanded
