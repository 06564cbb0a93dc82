"""An expression that fails, in each place where one can stand (`sights`): by what the request leaves out, by what it
gives, by what its caller has not, and by itself. No answer is a fault of the service's own, and the service and the
reference interpreter answer alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from tests.agreement.comparing import Asked, Pair, Scenario
from tests.agreement.test_found import NOW, answers, contract, give
from tests.agreement.test_sight import COUNT, PLACES, Place, refusing
from tests.agreement.versions import compiled
from tests.agreement.writing import NONE
from tests.reference.messages import Request

from ninefold.diagnostics.diagnostic import has_errors

FAILING: Final = {
    "what the query leaves out": "(request.query.whole + 1)",
    "what the query gives": "int(request.query.text)",
    "what the body leaves out": "(request.body.whole + 1)",
    "what the caller has not": "(caller.user.absent + 1)",
    "what the row has not": "(box.lost + 1)",
    "itself": "(7 / (now.getFullYear() - now.getFullYear()))",
}
QUERY: Final = {"whole": {"type": "integer"}, "text": {"type": "string"}}
LACKING: Final = {"user": "absent", "box": "lost"}
BODIES: Final[tuple[dict[str, Any], ...]] = ({}, {"id": "1", "n": 0}, {"id": "other", "m": 1, "user": "low"})
QUERIES: Final = ("", "?n=2&whole=9223372036854775807&text=oops")


def failing(place: Place, expression: str) -> dict[str, Any]:
    """The contract of a place, with an expression that fails in the place of the one that counts rows."""
    said = _instead(place.contract(), expression)
    for resource, field in LACKING.items():
        said["resources"][resource]["fields"][field] = {"type": "integer"}
    said["endpoints"]["requests"] |= {"unknown members": "ignored", "unknown parameters": "ignored"}
    for endpoint in said["endpoints"].values():
        if isinstance(endpoint, dict) and "does" in endpoint:
            endpoint["query"] = {**QUERY, **endpoint.get("query", {})}
    return said  # type: ignore[no-any-return]


def _instead(said: Any, expression: str) -> Any:
    match said:
        case str():
            return said.replace(COUNT, expression)
        case dict():
            return {name: _instead(each, expression) for name, each in said.items()}
        case list():
            return [_instead(each, expression) for each in said]
    return said


def requests(said: Mapping[str, Any]) -> Iterator[Request]:
    for query in QUERIES:
        for key, endpoint in said["endpoints"].items():
            method, _, path = key.partition(" ")
            if not path or endpoint["does"] == "stream event":
                continue
            target, headers = path.replace("{id}", "1") + query, {"authorization": "Bearer low"}
            takes = method != "GET" and not isinstance(endpoint.get("body"), str)
            for body in BODIES if takes else [None]:
                yield give(method, target, body, **headers) if takes else Request(method, target, headers)


ALL: Final = {**PLACES, **refusing(COUNT)}
NOT_OF_A_REQUEST: Final = {
    (5, "schemes.SCHEME.credential"): "what a certificate says is all that it reads",
    (6, "delivery.envelope.source"): "what the operator gives is all that it reads",
    (9, "versions.VERSION.changes.CHANGE.stored"): "the value that an older client gives is all that it reads",
    (2, "RESOURCE.fields.FIELD.normalise"): "the value as it came is all that it reads",
}
BY_THE_SERVICE: Final = {(9, "default")}
"""What the interpreter does not know (`tests/agreement/silence.py`)."""


@pytest.mark.parametrize(
    "place", [each for each in ALL if each not in NOT_OF_A_REQUEST], ids=lambda place: " of ".join(place[1:])
)
def test_no_answer_is_a_fault_where_an_expression_fails(place: tuple[Any, ...]) -> None:
    tried = 0
    for why, expression in FAILING.items():
        said = failing(ALL[place], expression)
        loaded = compiled(said)
        if loaded.checked is None or loaded.plan is None or has_errors(loaded.diagnostics):
            continue  # it cannot be read there
        tried += 1
        with Pair(loaded.checked, loaded.plan, Scenario(said, tuple(ALL[place].rows()))) as pair:
            for request in requests(said):
                alone = place in BY_THE_SERVICE
                response = pair.service.answer(request) if alone else pair.tell(Asked(NOW, request))
                assert response.status < 500, (why, request, response)
    assert tried


def test_what_cannot_be_normalised_is_invalid() -> None:
    field = {"type": ["integer", "null"], "normalise": "100 / value"}
    makes = {"does": "create item", "body": ["id", "n"], "responses": {201: "item"}}
    said = contract({"item": {"fields": {"id": {"type": "string"}, "n": field}}}, {"POST /items": makes})
    sent = [give("POST", "/items", {"id": str(n), "n": n}) for n in (5, 0, None, "many")]
    told = answers(said, [], *sent)
    assert [(each.status, each.body if each.status == 201 else None) for each in told] == [
        (201, {"id": "5", "n": 20}), (422, None), (201, {"id": "None", "n": None}), (422, None)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "effect",
    [
        {"sets": {"id": "this.id", "m": "this.n"}},
        {"each": "this.l", "sets": {"id": "string(each)", "m": "each"}},
        {"each": "this.l.map(x, x / (this.n - 9))", "sets": {"id": "string(each)"}},
    ],
)
def test_what_an_effect_makes_of_the_request_is_invalid_by_whatever_way_it_comes(effect: dict[str, Any]) -> None:
    """By a field of the row acted on, and by its items."""
    fields = {"id": {"type": "string"}, "n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "integer"}}}
    part = {"fields": {"id": {"type": "string"}, "m": {"type": "integer", "maximum": 5}}}
    makes = {"does": "create item", "body": ["id", "n", "l"], "responses": {201: "item"}}
    also = [{"does": "create part", **effect}]
    said = contract({"item": {"fields": fields}, "part": part}, {"POST /items": {**makes, "also": also}})
    [told] = answers(said, [], give("POST", "/items", {"id": "a", "n": 9, "l": [9]}))
    assert told.status == 422


ASKED_OF_IT: Final = (
    "item.made != value",
    "!(item.made == value)",
    "has(item.made) ? item.made > value : value > 1",
    "!has(item.made) && value > 1",
    "!(item.made in [value, 2])",
    "[item.made].exists(each, each != value)",
    "item.of != null && item.of.made != value",
)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("asked", ASKED_OF_IT)
def test_what_fails_of_a_computed_field_is_no_value_of_it(asked: str, database: str) -> None:
    """Whoever reads it: a filter, a check, another field. So it is equal to nothing but null."""
    number = {"type": ["integer", "null"]}
    fields = {"id": {"type": "string"}, "n": number, "made": {**number, "computed": "10 / item.n"}}
    fields |= {"holds": {"computed": asked.replace("value", "5")}}
    fields |= {"of": {"references": "item", "inverse": "those", "on delete": "restrict"}}
    said = contract(
        {"item": {"fields": fields}},
        {
            "GET /items": {
                "does": "list item",
                "sort": ["made", "id"],
                "query": {"q": {"type": "integer", "where": asked}},
                "pages": NONE,
                "responses": {200: "page.items"},
            },
            "GET /items/{id}": {"does": "read item", "responses": {200: {"is": asked.replace("value", "5")}}},
            "PATCH /items/{id}": {
                "does": "update item",
                "body": ["n"],
                "patch": "merge",
                "responses": {200: "item"},
                "check": {"that": asked.replace("value", "5")},
            },
        },
    )
    held = [("a", None, None), ("b", 0, "a"), ("c", 2, "b"), ("d", 5, "c")]
    rows = [("item", {"id": name, "n": n, "of": of}) for name, n, of in held]
    loaded = compiled(said)
    assert loaded.checked is not None and not has_errors(loaded.diagnostics), loaded.diagnostics
    scenario = Scenario(said, tuple(rows), database=database)
    with Pair(loaded.checked, scenario.plan(loaded), scenario) as pair:
        for request in [
            *(Request("GET", f"/items{rest}") for rest in ("?q=5", "?q=2", "?q=1", "/a", "/b", "/c", "/d")),
            *(give("PATCH", f"/items/{name}", {"n": n}) for name in "abcd" for n in (0, 5, 2)),
        ]:
            assert pair.tell(Asked(NOW, request)).status in (200, 409)
