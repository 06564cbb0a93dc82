"""`read R`: one row, found by the path."""

from __future__ import annotations

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Mutation, Operation
from ninefold.checked.resources import Resource
from ninefold.compile.contents import choices
from ninefold.compile.endpoints.rows import acted_on, answer, outer_join, row_columns
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import Requirement, guard, parents, permission, presence, still_there
from ninefold.compile.which_rows import says_which
from ninefold.plan.operations import Read
from ninefold.plan.statement import Statement
from ninefold.sql.fragment import all_of, identifier


def requirements_of_row(
    operation: Operation, admission: Admission, resource: Resource, perspective: Perspective
) -> list[Requirement]:
    """What every verb that acts on a row that is there requires. A transition may bring back what is gone."""
    transition = operation.transition if isinstance(operation, Mutation) else None
    return [
        *parents(operation, perspective),
        *presence(operation, resource, perspective),
        *still_there(operation, resource, perspective, () if transition is None else transition.origins),
        *permission(admission, resource, perspective),
    ]


def read(operation: stated.Read, admission: Admission, perspective: Perspective) -> Read:
    resource = acted_on(operation, perspective)
    required = requirements_of_row(operation, admission, resource, perspective)
    required += [guard(each, resource, perspective) for each in operation.guards]
    columns = row_columns(resource, perspective)
    response = answer(operation, columns, perspective)
    found = says_which(operation, columns.rows, perspective)
    name = identifier(resource.name)
    holds = all_of([*found, *[each.holds for each in required]])
    source = " FROM " + perspective.source(resource.name) + f" AS {name} WHERE " + holds
    return Read(
        resource=resource.name,
        response=response,
        select=Statement(columns.select(source), tuple(columns.results)),
        judge=judge(outer_join(resource, operation, perspective), required, operation, resource, perspective),
        conditional=operation.is_conditional,
        choices=choices(operation),
    )
