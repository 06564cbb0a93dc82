"""`compute`: no row of its own; a response from expressions."""

from __future__ import annotations

from ninefold.checked.endpoints import Endpoint
from ninefold.plan.operations import Compute
from ninefold.plan.statement import Statement
from ninefold.planner.contents import Columns, response
from ninefold.planner.endpoints.rows import pieces
from ninefold.planner.perspective import Perspective


def compute(endpoint: Endpoint, perspective: Perspective) -> Compute:
    columns = Columns(perspective, {})
    planned = response(endpoint.response, perspective.checked.response_media_type, columns)
    if not columns.fragments:
        return Compute(response=planned)
    return Compute(response=planned, select=Statement(pieces("SELECT " + columns.listed), tuple(columns.results)))
