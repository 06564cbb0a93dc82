"""What is shown in an older version reads what that version shows, wherever an expression asks it of each of them."""

from __future__ import annotations

import pytest
from tests.versions.test_unchanged import PAIRS

from ninefold.expressions.ast import VARIABLES, Member, every
from ninefold.language.expressions import Leaf
from ninefold.language.fact import value_of
from ninefold.pipeline import compile_document
from ninefold.versions.derive import derive

ASKING = [
    f"author.books.{macro}({'i, ' * (count - 1)}b, b.state == 'here')"
    for macro, counts in sorted(VARIABLES.items())
    for count in sorted(set(counts.values()))
    if macro != "transformMap"
]
KEEPING = [f"author.books.{kept}.map(b, b.state)" for kept in ("filter(b, true)", "sortBy(b, b.isbn)", "distinct()")]


@pytest.mark.parametrize("asked", [*ASKING, *KEEPING])
def test_what_is_asked_of_each_row_reads_what_is_shown(asked: str) -> None:
    endpoint = f'GET /authors/{{id}}: {{does: read author, responses: {{200: "{asked}"}}}}\n'
    text = (PAIRS / "shelf" / "newer.md").read_text(encoding="utf-8").replace("GET /stats:", f"{endpoint}GET /stats:")
    older = derive(compile_document("contract.md", text.encode()).contract).value[0].contract
    found = next(each for each in value_of(older.endpoints.endpoints) or () if each.key == "GET /authors/{id}")
    (response,) = value_of(found.responses) or ()
    content = value_of(response.content)
    assert isinstance(content, Leaf)
    read = {node.name for node in every(content.expression.ast) if isinstance(node, Member)}
    assert "state of 2" in read
    assert "state" not in read
