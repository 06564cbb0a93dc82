"""What the contract makes of the caller says which row is meant, too: as long as it is not shown, nobody knows whether
an endpoint says so, and it is no error that it does not."""

from __future__ import annotations

import pytest
from tests.parts import contract

from ninefold.diagnostics.codes import NO_ROW
from ninefold.pipeline import compile_document

RESOURCES = """
user:
  primary key: id
  fields: {id: {type: string}, key: {type: string, secret: token, on create: token()}}
article:
  primary key: slug
  fields: {slug: {type: string}}
favorite:
  primary key: [user, article]
  fields:
    user:    {references: user, MADE, on delete: cascade}
    article: {references: article, on delete: cascade}
"""

ENDPOINTS = """
PUT /articles/{article.slug}/favorite:
  {does: put favorite, body: none, responses: {created or replaced or unchanged: {204: none}}}
DELETE /articles/{article.slug}/favorite: {does: delete favorite, responses: {deleted or absent: {204: none}}}
DELETE /articles/{article.slug}/favorites/{user.id}:
  {does: delete favorite, responses: {deleted or absent: {204: none}}}
"""

CALLERS = """
schemes: {key: {type: http, scheme: bearer, matches: user.key}}
rows: all
permissions: {all others: key}
"""

ITS_OWN = {f"{method} /articles/{{article.slug}}/favorite" for method in ("PUT", "DELETE")}


@pytest.mark.parametrize("made", ["not shown", "!proposed caller.user", "caller.user", None])
def test_a_row_that_may_be_absent_waits_for_what_makes_its_key(made: str | None) -> None:
    resources = RESOURCES.replace("MADE, ", "" if made is None else f"on create: {made}, ")
    text = contract(resources=resources, endpoints=ENDPOINTS, callers=CALLERS)
    loaded = compile_document("contract.md", text.encode())
    blocked = {key for each in loaded.open_questions for key in each.blocks}
    wrong = [each.message for each in loaded.diagnostics if each.code is NO_ROW]
    if made is None:
        assert len(wrong) == 1 and blocked == {"PUT /articles/{article.slug}/favorite"}
    else:
        assert not wrong and blocked == (set() if made == "caller.user" else ITS_OWN)
