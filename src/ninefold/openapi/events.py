"""Part 6: the kinds of event. They leave the service elsewhere than in its responses."""

from __future__ import annotations

from ninefold.contract.fact import value_of
from ninefold.openapi.service import Json, Service


def events(service: Service) -> Json:
    kinds = [
        {
            "kind": kind.name,
            "upon": [f"{action.verb} {action.subject or ''}".strip() for action in value_of(kind.upon) or ()],
            "line": service.line(kind.span),
        }
        for kind in value_of(service.contract.events.kinds) or ()
    ]
    return {"events": kinds} if kinds else {}
