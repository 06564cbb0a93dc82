"""Which rows an expression reads besides the one in question, by the place where it stands (fixed meaning 17): one
table of every place of the language.

A value is the same for everyone who may see it. So what computes, judges and makes reads all rows; what is shown to a
caller, or by which it says what it wants to be shown, reads those that the caller sees. A computed field that is read
in such a place keeps its value, which is made of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from ninefold.language.key import Key
from ninefold.language.shapes import Expression, ListOf, OneOf, Shape, Template


class Sight(Enum):
    """`ALL`: every row, those that are gone too. `CALLERS`: those that the caller may see by its row rules, and that
    are not gone. `OF_USE`: as the place that uses it. `NONE`: no row but what came with the request, such as the
    caller's."""

    ALL = "all rows"
    CALLERS = "the rows that the caller sees"
    OF_USE = "those of the place that uses it"
    NONE = "no rows: it is judged before any is read"


_EFFECT: Final = ("row", "where", "sets.FIELD")
_OF: Final[Mapping[Sight, Mapping[int, tuple[str, ...]]]] = {
    Sight.ALL: {
        2: (
            "RESOURCE.fields.FIELD.computed",
            "RESOURCE.fields.FIELD.on create",
            "RESOURCE.fields.FIELD.on change",
            "RESOURCE.invariants.INVARIANT.when",
            "RESOURCE.expires.at",
        ),
        3: (
            "RESOURCE.transitions.TRANSITION.when",
            "RESOURCE.transitions.TRANSITION.sets.FIELD",
            "RESOURCE.transitions.TRANSITION.after",
            *(f"RESOURCE.transitions.TRANSITION.then.EFFECT.{key}" for key in _EFFECT),
        ),
        4: (
            "ENDPOINT.when",
            "ENDPOINT.guards.GUARD.when",
            "ENDPOINT.sets.FIELD",
            *(f"ENDPOINT.then.EFFECT.{key}" for key in _EFFECT),
        ),
        5: ("permissions.ENDPOINT.CALLER", "rows.RESOURCE.CALLER", "schemes.SCHEME.granted"),
        6: (
            "kinds.KIND.payload",
            "kinds.KIND.when",
            "delivery.webhooks.when",
            "delivery.webhooks.url",
            "delivery.webhooks.secret",
        ),
        9: ("versions.VERSION.changes.CHANGE.is", "versions.VERSION.changes.CHANGE.on create"),
    },
    Sight.CALLERS: {
        4: (
            "ENDPOINT.responses.STATUS",
            "ENDPOINT.responses.OUTCOME.STATUS",
            "ENDPOINT.headers.HEADER",
            "ENDPOINT.expand.offered.NAME",
            "ENDPOINT.where",
            "ENDPOINT.row",
            "ENDPOINT.filters.FILTER",
            "ENDPOINT.filters.FILTER.is",
        ),
        7: ("codes.CODE.detail", "codes.CODE.headers.HEADER"),
    },
    Sight.OF_USE: {
        2: ("RESOURCE.views.VIEW", "terms.TERM"),
        9: ("versions.VERSION.changes.CHANGE.view",),
    },
    Sight.NONE: {
        2: ("RESOURCE.fields.FIELD.normalise",),
        3: ("RESOURCE.transitions.TRANSITION.then.EFFECT.each",),
        4: (
            "ENDPOINT.body",
            "ENDPOINT.cases.by",
            "ENDPOINT.then.EFFECT.each",
            "ENDPOINT.with.NAME",
            "ENDPOINT.filters.FILTER.default",
            "ENDPOINT.error shape.body",
        ),
        5: (
            "schemes.SCHEME.credential",
            "schemes.SCHEME.openIdConnectUrl",
            "schemes.SCHEME.issuer",
            "schemes.SCHEME.keys",
            "schemes.SCHEME.caller.NAME",
        ),
        6: ("delivery.envelope.source",),
        7: ("shape.body",),
        8: ("rates.RATE.of",),
        9: ("default", "versions.VERSION.changes.CHANGE.stored"),
    },
}

SIGHTS: Final[Mapping[tuple[int, str], Sight]] = MappingProxyType(
    {(part, path): sight for sight, parts in _OF.items() for part, paths in parts.items() for path in paths}
)
"""By part and path of the key. What stands in a case stands for the same key of its endpoint."""


def place_of(key: Key) -> tuple[int, str]:
    """The row of the table that says of a key what it reads."""
    return key.part, key.path.replace("ENDPOINT.cases.CASE.", "ENDPOINT.")


def holds_expressions(shape: Shape) -> bool:
    """Whether an expression, or a template of expressions, may stand there."""
    match shape:
        case Expression() | Template():
            return True
        case OneOf(shapes):
            return any(map(holds_expressions, shapes))
        case ListOf(item):
            return holds_expressions(item)
        case _:
            return False
