"""Where a mapping takes keys of its own beside those of a schema, what is misspelt of either is told which it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from ninefold.language.json_schema import KEYWORDS, REFUSED
from ninefold.language.table import keys_under, vocabulary
from ninefold.pipeline import compile_document

PLACES: Final = {
    (2, "types.TYPE"): "resources: {types: {n: {%s: 1}}}",
    (2, "RESOURCE.fields.FIELD"): "resources: {note: {primary key: id, fields: {id: {%s: 1}}}}",
    (4, "ENDPOINT.path.NAME"): "endpoints: {GET /a/{n}: {does: compute, path: {n: {%s: 1}}}}",
    (4, "ENDPOINT.query.PARAMETER"): "endpoints: {GET /a: {does: compute, query: {n: {%s: 1}}}}",
    (4, "ENDPOINT.request headers.PARAMETER"): "endpoints: {GET /a: {does: compute, request headers: {n: {%s: 1}}}}",
    (4, "functions.FUNCTION.takes.NAME"): "endpoints: {functions: {f: {takes: {n: {%s: 1}}, gives: none}}}",
    (4, "functions.FUNCTION.gives"): "endpoints: {functions: {f: {takes: none, gives: {%s: 1}}}}",
}
"""By the part and the path of a mapping that takes the keywords of a schema, where it stands in a contract."""


def names(part: int, path: str) -> frozenset[str]:
    return frozenset(each.path.rpartition(".")[2] for each in keys_under(part, path))


def misspelt(part: int, path: str) -> Iterator[tuple[str, str]]:
    """Each key with two letters turned, and with one left out, where that is no other word."""
    known = names(part, path)
    words = known | KEYWORDS | REFUSED.keys() | names(2, "RESOURCE.fields.FIELD") | names(4, "ENDPOINT.query.PARAMETER")
    for name in sorted(known):
        at = len(name) // 2
        for typo in (name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :], name[:at] + name[at + 1 :]):
            if len(name) > 3 and typo not in words and name[0].isalpha():
                yield typo, name


def test_the_places_are_those_of_the_table() -> None:
    found = {(each.part, each.path) for each in vocabulary() if {"type", "minLength"} <= names(each.part, each.path)}
    assert found == set(PLACES)


@pytest.mark.parametrize(
    ("place", "typo", "meant"),
    [(place, *each) for place in PLACES for each in misspelt(*place)],
    ids=lambda each: each if isinstance(each, str) else each[1],
)
def test_what_is_misspelt_is_told_as_what_it_was(place: tuple[int, str], typo: str, meant: str) -> None:
    text = "purpose: Notes.\n" + PLACES[place] % f'"{typo}"' + "\n"
    told = [each.help[:1] for each in compile_document("notes.yaml", text.encode()).diagnostics if typo in each.message]
    assert told == [(f"did you mean `{meant}`?",)]
