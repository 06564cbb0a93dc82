"""`compute`: no row of its own; a response from expressions."""

from __future__ import annotations

from ninefold.checked.operations import Operation
from ninefold.compile.contents import Columns
from ninefold.compile.endpoints.rows import answer, pieces
from ninefold.compile.perspective import Perspective
from ninefold.plan.operations import Compute
from ninefold.plan.statement import Statement


def compute(operation: Operation, perspective: Perspective) -> Compute:
    columns = Columns(perspective, {})
    planned = answer(operation, columns, perspective)
    if not columns.fragments:
        return Compute(response=planned, validator=operation.validator)
    select = Statement(pieces("SELECT " + columns.listed), tuple(columns.results))
    return Compute(response=planned, select=select, validator=operation.validator)
