"""`delete R`: a row that is there, gone for good."""

from __future__ import annotations

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.compile.before import as_deleted, shown_before
from ninefold.compile.endpoints.read import requirements_of_row
from ninefold.compile.endpoints.representation import precondition
from ninefold.compile.endpoints.rows import acted_on, answer, outer_join, pieces, row_columns
from ninefold.compile.endpoints.writes import in_order
from ninefold.compile.events import caused_by_deletion
from ninefold.compile.falling import not_referred_to
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import guard, unchanged
from ninefold.compile.upheld import Change, upheld
from ninefold.compile.which_rows import says_which
from ninefold.plan.statement import Statement
from ninefold.plan.writes import Delete
from ninefold.sql.fragment import Fragment, all_of, identifier, join


def delete(operation: stated.Delete, admission: Admission, perspective: Perspective) -> Delete:
    """A response may show the row as it was: its own fields, which DELETE returns, and what was computed of it."""
    resource = acted_on(operation, perspective)
    operation = as_deleted(operation, resource)
    required = requirements_of_row(operation, admission, resource, perspective)
    if operation.validator:
        required.append(unchanged(resource, operation.place, perspective))
    required += [guard(each, resource, perspective) for each in operation.guards]
    required += not_referred_to(resource, perspective)
    columns = row_columns(resource, perspective)
    response = answer(operation, columns, perspective)
    found = says_which(operation, columns.rows, perspective)
    which = [*found, *[each.holds for each in required]]
    text = (
        f"DELETE FROM {identifier(resource.name)} WHERE "
        + all_of(which)
        + " RETURNING "
        + join(", ", columns.fragments or [Fragment("1")])
    )
    return Delete(
        resource=resource.name,
        response=response,
        statement=Statement(pieces(text), tuple(columns.results)),
        judge=judge(outer_join(resource, operation, perspective), required, operation, resource, perspective),
        key=resource.identifier,
        precondition=precondition(operation, admission, resource, perspective),
        upholds=upheld(Change("delete", resource, found=found), operation, perspective),
        follows=in_order(caused_by_deletion("delete", resource, which, perspective)),
        was=shown_before(operation, resource, found, perspective),
    )
