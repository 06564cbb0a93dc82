"""Part 6: the kinds of event, and what receivers of webhooks are sent (`webhooks` of OpenAPI 3.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ninefold.checked.endpoints import EventKind, Webhooks
from ninefold.language.fact import value_of
from ninefold.plan.events import CLOUD_EVENT, PLAIN
from ninefold.tools.openapi.names import camel
from ninefold.tools.openapi.responses import TEXT
from ninefold.tools.openapi.schemas import as_in_version, component, payload, reference
from ninefold.tools.openapi.service import Json, Service

TIME: Json = {"type": "string", "format": "date-time"}


def kinds(service: Service) -> Json:
    found = [
        {
            "kind": kind.name,
            "upon": [f"{action.verb} {action.subject or ''}".strip() for action in value_of(kind.upon) or ()],
            **({} if (where := value_of(kind.where)) is None else {"where": where.text}),
            "line": service.line(kind.span),
        }
        for kind in value_of(service.contract.events.kinds) or ()
    ]
    return {"events": found} if found else {}


def webhooks(service: Service, schemas: Json) -> Json:
    """What a receiver is sent, by kind. What each carries is added to `schemas`."""
    sent = service.checked.events.webhooks
    return {} if sent is None else dict(_webhooks(sent, service, schemas))


def _webhooks(sent: Webhooks, service: Service, schemas: Json) -> Iterator[tuple[str, Json]]:
    for kind in service.checked.events.kinds:
        version = as_in_version(kind, service)
        if (name := version.name) is None or (version is kind and kind.hidden):
            continue
        media_type = PLAIN if service.checked.events.envelope is None else CLOUD_EVENT
        schemas[component(f"event.{name}")] = _body(kind, name, service)
        operation: Json = {
            "operationId": camel("on", *re.findall(r"[^\W_]+", name)),
            "summary": name,
            "parameters": _headers(sent),
            "requestBody": {"required": True, "content": {media_type: {"schema": reference(f"event.{name}")}}},
            "responses": {
                "2XX": {"description": "it has arrived"},
                "410": {"description": "nothing more is sent to this receiver"},
            },
            "security": [],
        }
        yield name, {"post": operation}


def _headers(sent: Webhooks) -> list[Json]:
    """Those of Standard Webhooks 1.0, and what the contract says besides."""
    names = ["webhook-id", "webhook-timestamp", *(["webhook-signature"] if sent.signed else [])]
    ours: list[Json] = [{"name": name, "in": "header", "required": True, "schema": TEXT} for name in names]
    return ours + [{"name": name, "in": "header", "required": False, "schema": TEXT} for name, _ in sent.headers]


def _body(kind: EventKind, name: str, service: Service) -> Json:
    """The payload, or the envelope with it: CloudEvents 1.0.2, JSON format."""
    data = payload([kind], service)
    if service.checked.events.envelope is None:
        return data
    properties: Json = {
        "specversion": {"const": "1.0"},
        "id": TEXT,
        "source": TEXT | {"format": "uri-reference"},
        "type": {"const": name},
        "subject": TEXT,
        "time": TIME,
        "datacontenttype": {"const": PLAIN},
        "data": data,
    }
    return {"type": "object", "properties": properties, "required": [*properties]}
