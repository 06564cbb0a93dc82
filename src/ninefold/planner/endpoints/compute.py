"""`compute`: no row of its own; a response from expressions."""

from __future__ import annotations

from ninefold.checked.endpoints import Endpoint
from ninefold.plan.operations import Compute
from ninefold.plan.statement import Statement
from ninefold.planner.contents import Columns
from ninefold.planner.endpoints.rows import answer, pieces
from ninefold.planner.perspective import Perspective


def compute(endpoint: Endpoint, perspective: Perspective) -> Compute:
    columns = Columns(perspective, {})
    planned = answer(endpoint, columns, perspective)
    if not columns.fragments:
        return Compute(response=planned, validator=endpoint.validator)
    select = Statement(pieces("SELECT " + columns.listed), tuple(columns.results))
    return Compute(response=planned, select=select, validator=endpoint.validator)
