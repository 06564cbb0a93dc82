"""What GET shows at the path of a write: what entity tags are of, where they are of more than the row."""

from __future__ import annotations

from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Operation, Read
from ninefold.checked.resources import Resource
from ninefold.compile import inputs
from ninefold.compile.contents import unchosen
from ninefold.compile.endpoints.read import requirements_of_row
from ninefold.compile.endpoints.rows import answer, is_at_path_of, pieces, row_columns
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import guard
from ninefold.compile.which_rows import path_conditions
from ninefold.language.cases import ALL_OTHERS
from ninefold.plan.statement import Statement
from ninefold.plan.writes import Precondition, Represented
from ninefold.sql.fragment import all_of, bind, column, identifier


def precondition(
    operation: Operation, admission: Admission, resource: Resource, perspective: Perspective
) -> Precondition | None:
    """None: there are no entity tags, and the row is one that is there."""
    if not operation.validator:
        return Precondition() if operation.kind.may_be_absent else None
    return Precondition(_shown(operation, admission, resource, perspective))


def is_of_more(condition: Precondition | None) -> bool:
    """Whether it asks for more than the row."""
    return condition is not None and condition.represented is not None


def _shown(
    operation: Operation, admission: Admission, resource: Resource, perspective: Perspective
) -> Represented | None:
    """None: the tags are of the row alone, or this caller is given none by GET."""
    digested = perspective.checked.digested.get(resource.name, ())
    showing = [each for each in digested if is_at_path_of(each.operation, operation)]
    # Of several cases it is the one of the same name, or that of the rest.
    named = (each for name in (perspective.case, ALL_OTHERS) for each in showing if each.called == name)
    endpoint = next(iter((*named, *showing)), None)
    if endpoint is None or not isinstance(shown := endpoint.operation, Read):
        return None
    own = next((each for each in endpoint.admissions if each.who == perspective.who), None)
    if own is None or (own.of_request and own.condition not in (None, admission.condition)):
        return None
    return _represented(operation, shown, own, resource, perspective)


def _represented(
    operation: Operation, shown: Read, admission: Admission, resource: Resource, perspective: Perspective
) -> Represented:
    columns = row_columns(resource, perspective)
    response = answer(shown, columns, perspective, unchosen(shown.response))
    required = requirements_of_row(shown, admission, resource, perspective)
    required += [guard(each, resource, perspective) for each in shown.guards]
    holds = [each.holds for each in required]
    name = identifier(resource.name)
    select = "SELECT " + columns.listed + f" FROM {name} AS {name} WHERE "
    by_path = path_conditions(operation, columns.rows, perspective)
    by_key = [
        column(resource.name, key) + " = " + bind(inputs.row_key(key, resource.fields[key].type))
        for key in resource.primary_key
    ]
    results = tuple(columns.results)
    gone = operation.kind.removes
    after = None if gone else Statement(pieces(select + all_of([*by_key, *holds])), results)
    return Represented(Statement(pieces(select + all_of([*by_path, *holds])), results), response, after)
