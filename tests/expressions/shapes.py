"""The resources of the two example contracts, as expressions see them."""

from __future__ import annotations

from collections.abc import Mapping

from ninefold.expressions.ast import Problem
from ninefold.expressions.check import check
from ninefold.expressions.parse import parse
from ninefold.expressions.scope import INFERRED, Inferred, Model, ResourceShape, Scope
from ninefold.expressions.tree import Typed
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Digest,
    Integer,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
)

LINE = Object(members={"sku": Text(), "quantity": Integer(), "unit_price": Integer(), "gift": Boolean(nullable=True)})

SHAPES: Mapping[str, ResourceShape] = {
    "customer": ResourceShape(
        "customer",
        ("id",),
        {
            "id": Text(),
            "email": Text(),
            "name": Text(),
            "api_key": Digest(),
            "referrer": Row(resource="customer", nullable=True),
        },
        {"orders": ("order", "customer")},
    ),
    "order": ResourceShape(
        "order",
        ("id",),
        {
            "id": Text(),
            "customer": Row(resource="customer"),
            "lines": Array(items=LINE),
            "note": Text(nullable=True),
            "status": Text(),
            "weight": Number(nullable=True),
            "paid": Boolean(nullable=True),
            "total": Integer(),
            "created_at": Timestamp(),
            "updated_at": Timestamp(nullable=True),
        },
        computed_fields={"total"},
    ),
    "user": ResourceShape(
        "user",
        ("id",),
        {"id": Integer(), "username": Text(), "bio": Text(nullable=True), "password": Digest(), "following": Boolean()},
        {"articles": ("article", "author"), "followers": ("follow", "followed")},
        computed_fields={"following"},
    ),
    "article": ResourceShape(
        "article",
        ("id",),
        {
            "id": Integer(),
            "slug": Text(),
            "title": Text(),
            "tagList": Array(items=Text()),
            "author": Row(resource="user"),
            "createdAt": Timestamp(),
            "favorited": Boolean(),
            "favoritesCount": Integer(),
        },
        {"favorites": ("favorite", "article")},
        computed_fields={"favorited", "favoritesCount"},
    ),
    "favorite": ResourceShape(
        "favorite", ("user", "article"), {"user": Row(resource="user"), "article": Row(resource="article")}
    ),
    "follow": ResourceShape(
        "follow", ("follower", "followed"), {"follower": Row(resource="user"), "followed": Row(resource="user")}
    ),
}

COMPUTED = {
    ("order", "total"): "order.lines.map(l, l.quantity * l.unit_price).sum()",
    ("user", "following"): "user.followers.exists(f, f.follower == caller.user)",
    ("article", "favorited"): "article.favorites.exists(f, f.user == caller.user)",
    ("article", "favoritesCount"): "article.favorites.size()",
}

ROOTS: Mapping[str, Type | Inferred] = {
    **{name: Row(resource=name) for name in SHAPES},
    "caller": Object(members={"customer": Row(resource="customer"), "user": Row(resource="user"), "role": Anything()}),
    "claims": Anything(),
    "now": Timestamp(),
    "value": INFERRED,
    "page": Object(members={"items": Array(items=Row(resource="article")), "next": Text(nullable=True)}),
    "error": Object(
        members={
            "code": Text(),
            "fields": Array(
                items=Object(members={"place": Text(), "pointer": Text(nullable=True), "message": Text(nullable=True)})
            ),
        }
    ),
}


def _complete(shapes: Mapping[str, ResourceShape]) -> Model:
    """The model with the expressions of its computed fields."""
    made = dict(shapes)
    for (resource, name), text in COMPUTED.items():
        shape = made[resource]
        typed = well_typed(text, Scope(ROOTS, made), shape.fields[name])
        made[resource] = ResourceShape(
            shape.name,
            shape.primary_key,
            shape.fields,
            shape.inverse,
            {**shape.computed, name: typed},
            shape.computed_fields,
        )
    return made


def well_typed(text: str, scope: Scope | None = None, expected: Type | None = None) -> Typed:
    """The typed tree of an expression that has no problem."""
    ast = parse(text)
    assert not isinstance(ast, Problem), ast.message
    checking = check(ast, scope or Scope(ROOTS, MODEL), expected)
    assert checking.typed is not None, [problem.message for problem in checking.problems]
    return checking.typed


def problems(text: str, scope: Scope | None = None, expected: Type | None = None) -> list[Problem]:
    """What is wrong with an expression, in the order in which it is told."""
    ast = parse(text)
    if isinstance(ast, Problem):
        return [ast]
    return list(check(ast, scope or Scope(ROOTS, MODEL), expected).problems)


MODEL: Model = _complete(SHAPES)


def inferred(text: str) -> Mapping[str, Type]:
    """The types that a filter's expression gives to its variables."""
    ast = parse(text)
    assert not isinstance(ast, Problem), ast.message
    checking = check(ast, Scope(ROOTS, MODEL), Boolean())
    assert not checking.problems, [problem.message for problem in checking.problems]
    return checking.inferred
