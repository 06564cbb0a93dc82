"""`compute`: no row of its own; a response from expressions."""

from __future__ import annotations

from ninefold.checked.operations import Operation
from ninefold.compile.contents import Columns
from ninefold.compile.endpoints.rows import answer, pieces
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import of_way
from ninefold.plan.operations import Compute
from ninefold.plan.problems import Condition
from ninefold.plan.statement import Statement
from ninefold.sql.fragment import Fragment


def compute(operation: Operation, perspective: Perspective) -> Compute:
    columns = Columns(perspective, {})
    planned = answer(operation, columns, perspective)
    select = Statement(pieces("SELECT " + columns.listed), tuple(columns.results)) if columns.fragments else None
    checks = [
        of_way(each.that, Condition("check", code=each.code, trace=(each.place,)), operation, perspective)
        for each in operation.guards
    ]
    nothing = Fragment(perspective.dialect.nothing)
    judged = judge(nothing, checks, operation, None, perspective) if checks else None
    return Compute(response=planned, select=select, judge=judged, conditional=operation.is_conditional)
