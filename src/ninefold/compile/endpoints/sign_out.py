"""`sign out R`: credentials that were issued to a row end. The row itself stays as it is."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Operation
from ninefold.checked.resources import Resource
from ninefold.compile.credentials import endings
from ninefold.compile.endpoints.read import requirements_of_row
from ninefold.compile.endpoints.rows import acted_on, answer, outer_join, pieces, row_columns
from ninefold.compile.endpoints.writes import told_after
from ninefold.compile.events import caused
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.places import traced
from ninefold.compile.requirements import Requirement, Scope, guard, permission
from ninefold.compile.which_rows import says_which
from ninefold.expressions.tree import Select, Variable
from ninefold.plan.problems import Condition
from ninefold.plan.statement import Statement
from ninefold.plan.writes import SignOut
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier
from ninefold.values import Object, Row, required


def sign_out(operation: stated.SignOut, admission: Admission, perspective: Perspective) -> SignOut:
    """Where neither the path nor `row` says whose, they are the caller's own: the row that the credential belongs to.
    It was there when the credential was found, so without it nobody is known."""
    resource = acted_on(operation, perspective)
    columns = row_columns(resource, perspective)
    name = identifier(resource.name)
    if is_of_caller(operation):
        found = _callers_own(resource)
        there = column(resource.name, resource.identifier[0]) + " IS NOT NULL"
        nobody = Condition("unauthenticated", subject=resource.name, trace=traced(operation.place))
        required_ = [Requirement(nobody, there, Scope.PRESENCE), *permission(admission, resource, perspective)]
        source = f"(SELECT 1) LEFT JOIN {name} AS {name} ON " + all_of(found)
    else:
        found = says_which(operation, columns.rows, perspective)
        required_ = requirements_of_row(operation, admission, resource, perspective)
        source = outer_join(resource, operation, perspective)
    required_ += [guard(each, resource, perspective) for each in operation.guards]
    response = answer(operation, columns, perspective)
    steps = (
        caused("sign out", resource, operation, perspective),
        *endings(operation, resource, perspective.checked),
    )
    told = told_after(operation, resource, columns, [], perspective, *steps, by_key=True)
    text = (
        "SELECT "
        + told.returning
        + f" FROM {name} AS {name} WHERE "
        + all_of([*found, *[each.holds for each in required_]])
    )
    return SignOut(
        resource=resource.name,
        response=response,
        statement=Statement(pieces(text), tuple(columns.results)),
        judge=judge(source, required_, operation, resource, perspective),
        key=resource.identifier,
        follows=told.follows,
    )


def is_of_caller(operation: Operation) -> bool:
    """Whether nothing but the credential itself says whose credentials end."""
    return not operation.names and operation.row is None


def _callers_own(resource: Resource) -> Sequence[Fragment]:
    own = Select(Variable("caller", Object()), resource.name, Row(resource=resource.name))
    return [
        column(resource.name, key) + " = " + bind(Select(own, key, required(resource.fields[key].type), "field"))
        for key in resource.identifier
    ]
