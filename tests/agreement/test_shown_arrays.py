"""What a response makes of each item of an array: objects, lists and views, of the arrays of rows, of rows that refer
back, and of what a body gives. Whatever says so, both show the same: the database makes the one, Python the other."""

from __future__ import annotations

from typing import Any, Final

import pytest
from tests.agreement.comparing import Asked, Pair, Scenario
from tests.agreement.test_found import KEYED, NOW, answers, contract, give
from tests.agreement.versions import compiled
from tests.reference.messages import Request

TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "integer"}
PAIRS: Final = {"type": "array", "items": {"type": "object", "properties": {"k": TEXT, "v": NUMBER}}}
TEXTS: Final = {"type": "array", "items": TEXT}

OF_TEXTS: Final = {
    "object": "A.map(x, {'a': x})",
    "within": "A.map(x, {'a': {'b': x, 'of': [x, 'c']}})",
    "list": "A.map(x, [{'a': x}])",
    "some": "A.map(x, x != 'b', {'a': x})",
    "choice": "A.map(x, x == 'b' ? null : {'a': x})",
    "made": "A.filter(x, x > 'a').map(x, {'size': size(x), 'first': x == 'b'})",
    "once": "A.distinct().sort().map(x, {'t': x})",
    "null": "A.map(x, {'n': null, 't': nullable(x == 'b' ? null : x), 'in': {'n': null, 't': x == 'b' ? null : x}})",
    "null in a list": "A.map(x, [{'n': null, 't': nullable(x == 'c' ? null : x)}])",
    "null in lists": "A.map(x, [{'n': null, 't': x == 'c' ? null : x}, {'is': x}])",
    "null of some": "A.map(x, x == 'b' ? {'n': null} : {'t': nullable(x == 'a' ? null : x), 'n': x})",
}
OF_GIVEN_TEXTS: Final = {
    "null of each": "A.flatMap(x, [{'n': null, 'x': x}])",
    "null at each": "A.transformList(i, x, {'n': null, 'i': nullable(10 / i), 'x': x == 'b' ? null : x})",
    "null of all": "{'a': A.map(x, {'n': null})}",
}
"""Of what the request gives alone: no database makes such objects."""
OF_PAIRS: Final = {
    "members": "A.map(o, {'k': o.k, 'w': o.v + 1})",
    "fails": "A.map(o, {'k': 10 / o.v})",
    "fails as null": "A.map(o, {'k': nullable(10 / o.v), 'n': null, 'gone': o.k})",
    "asked": "A.map(o, {'there': has(o.k), 'is': o.k == 'x'})",
    "filter": "A.filter(o, o.v > 1).map(o, {'k': o.k})",
    "kept": "A.filter(o, has(o.v) && o.v > 1).map(o, {'k': o.k})",
    "sorted": "A.sortBy(o, o.v).map(o, {'k': o.k})",
    "each of each": "A.map(o, {'k': o.k, 'in': A.map(p, {'k': p.k, 'of': o.v})})",
}
OF_ROWS: Final = {
    "rows": "item.parts.map(p, {'id': p.id, 'n': item.n})",
    "rows sorted": "item.parts.sortBy(p, p.n).map(p, {'id': p.id, 'up': p.item.id})",
    "rows not seen": "all(part).map(p, {'id': p.id, 'tags': p.item.tags.map(x, {'t': x})})",
    "view": "short(item.parts)",
    "view of some": "short(item.parts.filter(p, p.n > 1))",
    "view of one": "item.parts.map(p, short(p))",
    "rows with null": "item.parts.map(p, {'n': nullable(p.n), 'of': nullable(6 / p.n), 'open': p.open, 'no': null})",
}


OF_ERRORS: Final = {
    "exists": ("exists(o, o.v > 1)", True),
    "exists none": ("exists(o, o.v > 5)", False),
    "all": ("all(o, o.v > 1)", False),
    "all but one": ("all(o, o.v > 0)", False),
    "exists_one": ("exists_one(o, o.v > 1) == true", False),
    "filter": ("filter(o, o.v > 1).size()", None),
    "filter by dividing": ("filter(o, 6 / (o.v - 3) > 0).size()", None),
    "map some": ("map(o, o.v > 1, o.k).size()", None),
    "sum": ("map(o, o.v + 1).sum()", None),
    "sortBy": ("sortBy(o, o.v + 1).size()", None),
    "passed over": ("filter(o, has(o.v) && o.v > 1).size()", 1),
}
"""Of what is asked of items, of one of which it is an error, and what is shown of it."""


def _of(forms: dict[str, str], array: str) -> dict[str, str]:
    return {name: form.replace("A.", f"{array}.") for name, form in forms.items()}


def _served() -> dict[str, Any]:
    tags, pairs = _of(OF_TEXTS, "item.tags"), _of(OF_PAIRS, "item.pairs")
    shows = {**tags, **pairs, **OF_ROWS}
    given = {**_of({**OF_TEXTS, **OF_GIVEN_TEXTS}, "request.body.tags"), **_of(OF_PAIRS, "request.body.pairs")}
    fields = {"id": TEXT, "n": {"type": ["integer", "null"]}, "tags": TEXTS, "pairs": PAIRS}
    part = {"id": TEXT, "n": {"type": ["integer", "null"]}, "open": {"type": "boolean"}}
    refers = {"references": "item", "inverse": "parts", "on delete": "cascade"}
    said = contract(
        {
            "user": {"fields": {"id": TEXT, "key": KEYED}},
            "item": {"fields": fields},
            "part": {"fields": {**part, "item": refers}, "views": {"short": ["id", "n"]}},
        },
        {
            "GET /items/{id}": {"does": "read item", "responses": {200: shows}},
            "GET /items": {"does": "list item", "sort": ["id"], "responses": {200: {}}},
            "POST /given": {"does": "compute", "body": {"$ref": "#/types/given"}, "responses": {200: given}},
        },
        schemes={"key": {"type": "http", "scheme": "bearer", "matches": "user.key"}},
        rows={"user": "all", "item": "all", "part": {"anyone": "part.open"}},
        **{"unseen rows": "not found"},
    )
    members = ", ".join(f"'{name}': {form}" for name, form in {**tags, **pairs}.items())
    said["endpoints"]["GET /items"]["responses"][200]["all"] = f"page.items.map(item, {{{members}}})"
    said["resources"]["types"] = {"given": {"type": "object", "properties": {"tags": TEXTS, "pairs": PAIRS}}}
    return said


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_each_item_is_shown_alike(database: str) -> None:
    pairs = [{"k": "x", "v": 2}, {"k": "y", "v": 0}, {"v": 1}, {"k": "z"}]
    rows: list[tuple[str, Any]] = [
        ("item", {"id": "a", "n": None, "tags": ["b", "a", "c", "b"], "pairs": pairs}),
        ("item", {"id": "b", "n": 3, "tags": ["é"], "pairs": pairs[:2]}),
        ("item", {"id": "c", "n": 4, "tags": [], "pairs": []}),
        ("part", {"id": "p", "n": 2, "open": True, "item": "a"}),
        ("part", {"id": "o", "n": None, "open": True, "item": "a"}),
        ("part", {"id": "n", "n": 1, "open": True, "item": "a"}),
        ("part", {"id": "m", "n": 3, "open": False, "item": "a"}),
        ("part", {"id": "l", "n": 3, "open": True, "item": "b"}),
    ]
    bodies: list[Any] = [{}, {"tags": []}, {"tags": ["b", "a", "c", "b"], "pairs": pairs}, {"pairs": pairs[:2]}]
    reads = [Request("GET", f"/items/{each}") for each in "abc"]
    requests = [*reads, Request("GET", "/items"), *(give("POST", "/given", each) for each in bodies)]
    scenario = Scenario(_served(), tuple(rows), database=database)
    loaded = compiled(scenario.contract)
    assert loaded.checked is not None, [each.message for each in loaded.diagnostics]
    with Pair(loaded.checked, scenario.plan(loaded), scenario) as pair:
        told = [pair.tell(Asked(NOW, each)) for each in requests]
    assert [each.status for each in told] == [200] * len(told)
    first = told[0].body
    assert first["object"] == [{"a": "b"}, {"a": "a"}, {"a": "c"}, {"a": "b"}]
    assert first["rows sorted"] == [{"id": each, "up": "a"} for each in "npo"], "m is not seen"
    assert first["fails"] == [{"k": 5}, {}, {"k": 10}, {}]
    assert "filter" not in first and first["kept"] == [{"k": "x"}], "an array of which a part is an error is left out"
    assert told[6].body["object"] == first["object"] and told[6].body["kept"] == first["kept"]
    assert all(told[6].body[each] == first[each] for each in first if each.startswith("null") and each in OF_TEXTS)
    assert first["null in lists"][2] == [{"n": None}, {"is": "c"}]
    assert told[6].body["null at each"][:2] == [{"n": None, "i": None}, {"n": None, "i": 10, "x": "a"}]
    assert all(each not in told[4].body for each in OF_TEXTS)


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_an_error_of_one_item_is_one_of_all_but_of_what_is_decided(database: str) -> None:
    def shown(array: str) -> dict[str, str]:
        return {name: f"{array}.{form}" for name, (form, _) in OF_ERRORS.items()}

    parts = {"references": "item", "inverse": "parts", "on delete": "cascade"}
    said = contract(
        {
            "item": {"fields": {"id": TEXT, "pairs": PAIRS}},
            "part": {"fields": {"id": TEXT, "k": TEXT, "v": NUMBER, "item": parts}},
        },
        {
            "GET /items/{id}": {"does": "read item", "responses": {200: shown("item.pairs")}},
            "GET /rows/{id}": {"does": "read item", "responses": {200: shown("item.parts")}},
            "POST /given": {
                "does": "compute",
                "body": {"$ref": "#/types/given"},
                "responses": {200: shown("request.body.pairs")},
            },
        },
    )
    said["resources"]["types"] = {"given": {"type": "object", "properties": {"pairs": PAIRS}}}
    pairs: list[dict[str, Any]] = [{"k": "x", "v": 3}, {"k": "y", "v": 1}, {"k": "z"}]
    rows: list[tuple[str, Any]] = [("item", {"id": "a", "pairs": pairs})]
    rows += [("part", {"id": str(at), "item": "a", "v": None, **each}) for at, each in enumerate(pairs)]
    requests = [Request("GET", "/items/a"), Request("GET", "/rows/a"), give("POST", "/given", {"pairs": pairs})]
    expected = {name: value for name, (_, value) in OF_ERRORS.items() if value is not None}
    assert [each.body for each in answers(said, rows, *requests, database=database)] == [expected] * 3
