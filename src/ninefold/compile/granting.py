"""`sign in R` by a grant: how a request for a token is read, and how its clients are told to say who they are."""

from __future__ import annotations

from typing import Any

from ninefold.checked.endpoints import Endpoint, Requests
from ninefold.checked.operations import Operation
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.plan import authentication
from ninefold.plan.routes import Body, BodyField
from ninefold.values import Text


def body(operation: Operation, resource: Resource, requests: Requests) -> Body:
    """Whether there is such a client its secret tells, and not the rules of its fields."""
    fields = [
        BodyField(
            leaf.field,
            leaf.pointer,
            Text(),
            normalise=resource.fields[leaf.field].normalise,
            trace=(resource.fields[leaf.field].place,),
        )
        for leaf in operation.takes.body or ()
    ]
    of_grants = (
        (authentication.GRANT_FIELD, authentication.GRANT_TYPE),
        (authentication.ASKED_FIELD, authentication.SCOPE),
    )
    fields += [BodyField(field, (name,), Text(), trace=(operation.place,)) for field, name in of_grants]
    text: dict[str, Any] = {"type": "string"}
    properties = {each.pointer[0]: text for each in fields}
    properties[authentication.GRANT_TYPE] = text | {"const": authentication.CLIENT_CREDENTIALS}
    return Body(
        requests.media_types,
        {"type": "object", "properties": properties, "required": [authentication.GRANT_TYPE]},
        tuple(fields),
        requests.unknown_members,
        grants=True,
    )


def challenge(endpoint: Endpoint, checked: Checked) -> str | None:
    """By which scheme clients may say who they are (RFC 6749, section 5.2); None: it grants nothing."""
    if endpoint.mutation is None or not endpoint.kind.grants:
        return None
    said = next((each.said for each in checked.schemes if each.name == endpoint.mutation.issues), {})
    written = str(said.get("realm", "")).replace("\\", "\\\\").replace('"', '\\"')
    return f'Basic realm="{written}"'
