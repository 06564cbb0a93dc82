"""Who calls (part 5): credentials that are looked up in a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.reference.expressions import Reading, at_hand
from tests.reference.messages import Request
from tests.reference.rows import Row

from ninefold.checked.service import LookedUp, Scheme

ANYONE = "anyone"


@dataclass(frozen=True)
class Caller:
    who: str = ANYONE
    row: Row | None = None
    names: Mapping[str, Any] = field(default_factory=dict)


def presented(scheme: Scheme, request: Request, query: Mapping[str, Sequence[str]]) -> str | None:
    """The text where a scheme looks for its credential; None: there is nothing at all."""
    match scheme.where:
        case "authorization":
            return request.headers.get("authorization")
        case "header":
            return request.headers.get(scheme.parameter.lower())
        case "query":
            given = query.get(scheme.parameter)
            return None if given is None else given[0] if len(given) == 1 else ""
        case "cookie":
            pairs = [pair.strip().partition("=") for pair in request.headers.get("cookie", "").split(";")]
            return next((value for name, equals, value in pairs if equals and name == scheme.parameter), None)
        case _:
            return None


def credential(scheme: Scheme, request: Request, query: Mapping[str, Sequence[str]]) -> str | None:
    text = presented(scheme, request, query)
    if text is None or scheme.where != "authorization":
        return text or None
    word, _, rest = text.strip(" \t").partition(" ")
    return rest.strip(" ") or None if word.lower() == scheme.parameter.lower() else None


def recognised(scheme: Scheme, text: str, reading: Reading) -> Caller | None:
    """The caller whose credential it is. A row that is gone has none (meaning "gone rows")."""
    if not isinstance(scheme.verified, LookedUp):
        return None
    resource, name = scheme.verified.resource, scheme.verified.field
    for row in reading.rows.all(resource):
        if row.fields[name] == text and not row.is_gone:
            names: dict[str, Any] = {resource: at_hand(row)}
            for added, value in scheme.adds:
                names[added] = reading.also(caller=names).value_or_none(value)
            return Caller(scheme.name, row, names)
    return None
