"""What the verbs share: the row acted on, its columns, and the answer about it."""

from __future__ import annotations

import hashlib

import msgspec

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.resources import Resource
from ninefold.plan.responses import Response
from ninefold.plan.statement import Piece
from ninefold.planner.contents import Columns, response
from ninefold.planner.perspective import Perspective
from ninefold.planner.requirements import all_of, path_conditions
from ninefold.sql.fragment import Fragment, identifier


def acted_on(endpoint: Endpoint, perspective: Perspective) -> Resource:
    assert endpoint.resource is not None
    return perspective.checked.resources[endpoint.resource]


def row_columns(resource: Resource, perspective: Perspective) -> Columns:
    """Columns over the row of a resource, which goes by the resource's own name in every statement."""
    return Columns(perspective, {resource.name: resource.name})


def pieces(text: Fragment) -> tuple[Piece, ...]:
    return (Piece(text.text, text.binds),)


def outer_join(resource: Resource, endpoint: Endpoint, perspective: Perspective) -> Fragment:
    """The row that the path names, or one row without values."""
    rows = {resource.name: resource.name}
    found = [perspective.holds(each, rows) for each in path_conditions(endpoint)]
    name = identifier(resource.name)
    return f"(SELECT 1) LEFT JOIN {name} AS {name} ON " + all_of(found)


def answer(endpoint: Endpoint, columns: Columns, perspective: Perspective) -> Response:
    """The response, with an entity tag where the endpoint has validators."""
    planned = response(endpoint.response, perspective.checked.response_media_type, columns)
    if not endpoint.validator or endpoint.resource is None:
        return planned
    revision = columns.add_revision(endpoint.resource)
    return msgspec.structs.replace(planned, revision=revision, tag_prefix=_prefix(endpoint, perspective))


def _prefix(endpoint: Endpoint, perspective: Perspective) -> str:
    """Tells apart what one revision looked like under different contracts: a digest of all that is answered at
    this path, so that an entity tag of GET serves for PATCH, whose own response may differ."""
    shown = [
        repr(other.response.content)
        for other in perspective.checked.endpoints
        if [getattr(each, "text", each) for each in other.segments]
        == [getattr(each, "text", each) for each in endpoint.segments]
    ]
    return hashlib.sha256("\n".join(sorted(shown)).encode()).hexdigest()[:8]
