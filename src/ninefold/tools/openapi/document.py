"""The whole document. `openapi` is where to start reading."""

from __future__ import annotations

from collections.abc import Iterable

from ninefold.contract.questions.ask import in_order
from ninefold.language.conditions import Step
from ninefold.tools.openapi import endpoints, errors, events, schemas
from ninefold.tools.openapi import service as of_service
from ninefold.tools.openapi.responses import TEXT
from ninefold.tools.openapi.schemas import component
from ninefold.tools.openapi.service import Json, Service
from ninefold.trace.refusal import Refusal

VERSION = "3.1.0"


def openapi(service: Service) -> Json:
    """The OpenAPI document of a service, as JSON values. What is not served is not in `paths`."""
    shared = errors.shared(service)
    named = schemas.components(service) | errors.components(service)
    by_path = endpoints.paths(service, shared, named)
    components: Json = {
        "schemas": named,
        "responses": shared | _outside(shared, service),
        "securitySchemes": endpoints.security_schemes(service),
    }
    return {
        "openapi": VERSION,
        "info": of_service.info(service),
        "servers": of_service.servers(service),
        "tags": [{"name": each} for each in _tags(by_path)],
        "paths": by_path,
        **({"webhooks": sent} if (sent := events.webhooks(service, named)) else {}),
        "components": {kind: members for kind, members in components.items() if members},
        "x-ninefold": _beyond(service),
    }


def _tags(by_path: Json) -> Iterable[str]:
    """The resources that operations are about, each once."""
    operations = (each for methods in by_path.values() for each in methods.values())
    return dict.fromkeys(name for each in operations for name in each.get("tags", ()))


def _outside(shared: Json, service: Service) -> Json:
    """The answers to requests that no path of the document is about. A contract may call a code of its own so."""
    found: Json = {}
    for condition in ("no such path", "method not allowed"):
        for answer in errors.answers([Refusal(condition, Step.ROUTE)], service):
            name, response = component(condition), answer.response
            if condition == "method not allowed":
                response["headers"] = {"Allow": {"required": True, "schema": TEXT}}
            found[name if shared.get(name, response) == response else f"outside.{name}"] = response
    return found


def _beyond(service: Service) -> Json:
    """What OpenAPI has no words for, and what the contract does not show."""
    return {
        "contract": service.contract.document.source.name,
        "blocked": [
            {"endpoint": each.key, "line": each.place.line, "reasons": list(each.reasons)}
            for each in service.checked.stopped
        ],
        "gaps": [
            {
                "part": each.question.part,
                "question": each.text,
                "line": service.line(each.span),
                "effect": each.effect,
                "blocks": list(each.blocks),
            }
            for each in in_order(service.open_questions)
        ],
        "not in force": [
            {"what": each.what, "consequence": each.consequence, "line": each.place.line}
            for each in service.plan.not_in_force
        ],
        "precedence": list(service.plan.problems.precedence),
        **of_service.cors(service),
        **of_service.states(service),
        **endpoints.rows(service),
        **events.kinds(service),
        **errors.limits(service),
    }
