"""`put`: what refuses it, by its outcomes, what they make, its checks, conditions of HTTP, bodies and parameters."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, Final

import pytest
from tests.agreement.test_found import answers, contract, give
from tests.slices import PARTS, piece, seldom

TEXT: Final = {"type": "string"}
SLUG: Final = {"type": ["string", "null"]}
OUTCOMES: Final[tuple[dict[str, Any], ...]] = tuple(
    {outcome: {201 if outcome == "created" else 200: "item"} for outcome in outcomes}
    for outcomes in (["created", "unchanged"], ["created", "replaced"], ["unchanged"], ["replaced"])
)
MADE: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"slug": SLUG | {"on create": "slug(item.b)"}},
    {"slug": SLUG | {"on change": "slug(item.b)"}},
    {"slug": {"type": "string", "on create": "slug(item.b)"}},
)
CHECKS: Final = ("item.owner.id == 'v'", "item.id != 'z'", "!item.b.contains('b')", "!item.slug.contains('a')")
CONDITIONS: Final[tuple[dict[str, str], ...]] = ({}, {"if-match": '"nothing"'}, {"if-none-match": "*"})
BODIES: Final[tuple[dict[str, Any], ...]] = (
    {"owner": "none", "b": "a"},
    {"owner": "u", "b": " ab "},
    {"owner": "u", "b": "a"},
    {"owner": "u", "b": None},
    {"owner": 5, "b": "a"},
)
PRECEDENCE: Final[tuple[list[str], ...]] = ([], ["check", "precondition failed"])
ALL: Final = [
    each
    for each in product(
        OUTCOMES, MADE, CHECKS, CONDITIONS, BODIES, PRECEDENCE, ("/items/x", "/items/x?unheard=1"), (True, False)
    )
    if "slug" not in each[2] or each[1]
]
Random(0).shuffle(ALL)  # every so many of a product have the same of some of its factors


@pytest.mark.long
@pytest.mark.parametrize("part", seldom(PARTS, 2, 1))
def test_it_is_refused_for_what_the_interpreter_refuses_it_for(part: int) -> None:
    found = set()
    for outcomes, made, check, condition, body, precedence, path, there in piece(ALL, part, 67):
        put = {"does": "put item", "body": ["owner", "b"], "responses": outcomes, "check": {"that": check}}
        item = {"id": TEXT, "owner": {"references": "user"}, "b": {"type": ["string", "null"]}, **made}
        said = contract(
            {"user": {"fields": {"id": TEXT}}, "item": {"fields": item}},
            {"PUT /items/{id}": put | {"etag": True}},
            {
                "error shape": {"media type": "application/json", "body": {"told": "error.fields"}},
                "codes": {"bad": {"status": 422, "for": "invalid"}},
                **({"precedence": precedence} if precedence else {}),
            },
        )
        rows: list[Any] = [("user", {"id": "u"})]
        rows += [("item", {"id": "x", "owner": "u", "b": "a", **dict.fromkeys(made, "a")})] if there else []
        [answer] = answers(said, rows, give("PUT", path, body, **condition))
        found.add(answer.status)
    assert len(found & {200, 201, 404, 409, 412, 422}) > 3  # of one piece: few puts are good, and it may have none


@pytest.mark.parametrize("path", ["/items/x", "/items/new"])
@pytest.mark.parametrize("precedence", [["conflict", "invalid"], ["invalid", "conflict"]], ids=" ".join)
@pytest.mark.parametrize("outcomes", [*OUTCOMES, {"created": {201: "item"}}], ids=" ".join)
def test_what_cannot_be_made_hides_nothing_that_comes_first(
    outcomes: dict[str, Any], precedence: list[str], path: str
) -> None:
    """Of a field that nothing can be made for, and of another whose value is another row's."""
    fields = {"id": TEXT, "b": {"type": ["string", "null"]}, "code": {"type": "string", "unique": True}}
    said = contract(
        {"item": {"fields": fields | {"slug": {"type": "string", "on create": "slug(item.b)"}}}},
        {"PUT /items/{id}": {"does": "put item", "body": ["b", "code"], "responses": outcomes}},
        {
            "error shape": {"media type": "application/json", "body": {"told": "error.fields"}},
            "codes": {"bad": {"status": 422, "for": "invalid"}, "taken": {"status": 409, "for": "conflict"}},
            "precedence": precedence,
        },
    )
    rows: list[Any] = [("item", {"id": id, "b": "a", "code": id, "slug": "a"}) for id in ("x", "y")]
    for code, b in product(("x", "y", "z"), (None, "a")):
        answers(said, rows, give("PUT", path, {"code": code, "b": b}))
