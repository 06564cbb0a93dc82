"""`grant token R`: how a request for a token is read, and how its clients are told to say who they are."""

from __future__ import annotations

from typing import Any

from ninefold.checked.endpoints import Endpoint, Requests
from ninefold.checked.operations import Operation
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.plan import grants
from ninefold.plan.routes import Body, BodyField
from ninefold.planner.places import traced
from ninefold.values import Text


def body(operation: Operation, resource: Resource, requests: Requests) -> Body:
    """Whether there is such a client its secret tells, and not the rules of its fields."""
    fields = [
        BodyField(
            leaf.field,
            leaf.pointer,
            Text(),
            normalise=resource.fields[leaf.field].normalise,
            trace=traced(resource.fields[leaf.field].place),
        )
        for leaf in operation.takes.body or ()
    ]
    of_grants = ((grants.GRANT_FIELD, grants.GRANT_TYPE), (grants.ASKED_FIELD, grants.SCOPE))
    fields += [BodyField(field, (name,), Text(), trace=traced(operation.place)) for field, name in of_grants]
    text: dict[str, Any] = {"type": "string"}
    properties = {each.pointer[0]: text for each in fields}
    properties[grants.GRANT_TYPE] = text | {"const": grants.CLIENT_CREDENTIALS}
    return Body(
        requests.media_types,
        {"type": "object", "properties": properties, "required": [grants.GRANT_TYPE]},
        tuple(fields),
        requests.unknown_members,
        grants=True,
    )


def challenge(endpoint: Endpoint, checked: Checked) -> str | None:
    """By which scheme clients may say who they are (RFC 6749, section 5.2); None: it grants nothing."""
    if endpoint.mutation is None or endpoint.verb != "grant token":
        return None
    realm = next((each.realm for each in checked.schemes if each.name == endpoint.mutation.issues), None) or ""
    written = realm.replace("\\", "\\\\").replace('"', '\\"')
    return f'Basic realm="{written}"'
