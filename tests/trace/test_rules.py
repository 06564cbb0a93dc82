"""Wherever a rule stands in the schema of a value, its place is known, so that a refusal can name it."""

from __future__ import annotations

import pytest
from tests.server.test_rows_that_do_not_fit import source

from ninefold.pipeline import compile_document
from ninefold.values.keywords import BY_NAME, EACH, SAME_VALUE

RULE = "{type: string,\n        maxLength: 1}"
ITSELF = "type: [object, string, array], "


def schema(keyword: str) -> str:
    """One that holds the rule by a keyword. The rule is on a line of its own."""
    rest = "if: {}, " if keyword in ("then", "else") else ""
    if keyword in BY_NAME:
        return f"{{{ITSELF}{keyword}: {{a: {RULE}}}}}"
    if keyword in ("allOf", "anyOf", "oneOf", "prefixItems"):
        return f"{{{ITSELF}{keyword}: [{RULE}]}}"
    return f"{{{ITSELF}{rest}{keyword}: {RULE}}}"


@pytest.mark.parametrize("keyword", sorted(EACH | SAME_VALUE | BY_NAME))
def test_a_rule_is_known_by_its_place_whatever_keyword_holds_it(keyword: str) -> None:
    document = source(schema(keyword))
    line = document[: document.index(RULE) + len(RULE)].count("\n") + 1
    checked = compile_document("notes.yaml", document.encode()).checked
    assert checked is not None
    found = checked.resources["note"].fields["text"].rules
    assert line in {each.place.line for each in found}, [(each.keyword, each.place) for each in found]
