"""`delete R`: a row that is there, gone for good; or, where `absent` has an answer, one if there is one."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Mutation
from ninefold.checked.resources import Field, Resource
from ninefold.compile import inputs
from ninefold.compile.before import as_deleted, before_deletion
from ninefold.compile.endpoints.create import references_from_path
from ninefold.compile.endpoints.read import requirements_of_row
from ninefold.compile.endpoints.representation import precondition
from ninefold.compile.endpoints.rows import acted_on, answer, outer_join, pieces, row_columns
from ninefold.compile.endpoints.writes import in_order
from ninefold.compile.events import caused_by_deletion
from ninefold.compile.falling import not_referred_to
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import (
    Requirement,
    Scope,
    guard,
    of_conditions,
    parents,
    permission,
    still_there,
    unchanged,
)
from ninefold.compile.upheld import Change, upheld
from ninefold.compile.which_rows import equals, says_which
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.plan.problems import Condition
from ninefold.plan.statement import ResultColumn, Statement
from ninefold.plan.writes import Delete, ReadBack, Remove, Untouched
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Row


def delete(operation: stated.Delete, admission: Admission, perspective: Perspective) -> Delete:
    """A response may show the row as it was: its own fields, which DELETE returns, and what was computed of it."""
    resource = acted_on(operation, perspective)
    operation = as_deleted(operation, resource)
    required = requirements_of_row(operation, admission, resource, perspective)
    required += of_conditions(operation, resource, perspective)
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
        key=resource.primary_key,
        precondition=precondition(operation, admission, resource, perspective),
        upholds=upheld(Change("removes", resource, found=found), operation, perspective),
        follows=in_order(caused_by_deletion(resource, which, perspective)),
        was=before_deletion(operation, resource, found, perspective),
    )


def remove(operation: stated.Remove, admission: Admission, perspective: Perspective) -> Remove:
    """The response shows the row's own fields as they were (where there was none, as far as the request names them),
    and all else as it is afterwards."""
    resource = acted_on(operation, perspective)
    name = identifier(resource.name)
    rows = {resource.name: resource.name}
    # What says which row is meant: the path, `row` and `where`, and what the contract makes of the caller.
    found = says_which(operation, rows, perspective)
    found += [perspective.holds(equals(field, made), rows) for field, made in _made(operation, resource).values()]
    on_the_way = parents(operation, perspective)
    seen = perspective.visible(resource.name, resource.name)
    of_the_row = [
        *still_there(operation, resource, perspective),
        *permission(admission, resource, perspective),
        unchanged(resource, operation.place, perspective),
        *(guard(each, resource, perspective) for each in operation.guards),
        *not_referred_to(resource, perspective),
    ]
    which = [*found, *(each.holds for each in on_the_way)]
    which += [] if seen is None else ["(" + seen + ")"]
    which += [each.holds for each in of_the_row]

    fields = _told(resource)
    results = tuple(ResultColumn(field.name, field.type) for field in fields)
    delete = (
        f"DELETE FROM {name} WHERE "
        + all_of(which)
        + " RETURNING "
        + join(", ", [column(resource.name, field.name) for field in fields])
    )
    as_named, null = _as_named(operation, resource, perspective), perspective.dialect.null
    absent = (
        "SELECT "
        + join(", ", [as_named.get(field.name) or null(perspective.stored(field.type)) for field in fields])
        + " WHERE "
        + all_of([*(each.holds for each in on_the_way), *_none(resource, found, seen, perspective)])
    )

    columns = row_columns(resource, perspective)
    shown = as_deleted(operation, resource)
    removed = answer(shown, columns, perspective)
    absent_ = answer(operation, columns, perspective, operation.outcomes["absent"])
    read = "SELECT " + join(", ", columns.fragments or [Fragment("1")]) + " FROM " + as_removed(resource)
    required = [*on_the_way, *_of_the_row(resource, seen, of_the_row, perspective)]
    source = f"{perspective.dialect.nothing} LEFT JOIN {name} AS {name} ON " + all_of(found)
    return Remove(
        resource=resource.name,
        response=removed,
        statement=Statement(pieces(delete), results),
        untouched=Untouched(Statement(pieces(absent), results), absent_),
        judge=judge(source, required, operation, resource, perspective),
        key=tuple(field.name for field in fields),
        precondition=precondition(operation, admission, resource, perspective),
        upholds=upheld(Change("removes", resource, found=found), operation, perspective),
        follows=in_order(
            caused_by_deletion(resource, which, perspective),
            ReadBack(Statement(pieces(read), tuple(columns.results))),
        ),
        was=before_deletion(shown, resource, found, perspective),
    )


def _told(resource: Resource) -> list[Field]:
    """What is told of a row that was removed."""
    return [field for field in resource.fields.values() if field.stored and field.secret is None]


def as_removed(resource: Resource) -> Fragment:
    """A source with the row as it was, from `$row`."""
    as_it_was = [
        bind(inputs.row_key(field.name, field.type)) + f" AS {identifier(field.name)}" for field in _told(resource)
    ]
    return "(SELECT " + join(", ", as_it_was) + f") AS {identifier(resource.name)}"


def _made(operation: Mutation, resource: Resource) -> dict[str, tuple[Typed, Typed]]:
    """The fields that say which row is meant and that the path does not name, with what gives them on create."""
    named = {(*name.through, name.field)[0] for name in operation.names}
    row = Variable(resource.name, Row(resource=resource.name))
    found: dict[str, tuple[Typed, Typed]] = {}
    for name in operation.known_by:
        field = resource.fields[name]
        if name not in named and field.on_create is not None:
            found[name] = (Select(row, name, field.type, "field"), field.on_create)
    return found


def _as_named(operation: Mutation, resource: Resource, perspective: Perspective) -> dict[str, Fragment]:
    """The values of a row that is not there, as far as the request names them."""
    values = references_from_path(operation, perspective)
    for name in operation.names:
        if not name.through:
            values[name.field] = bind(inputs.path_value(name.text, name.type))
    return values | {name: perspective.value(made, {}) for name, (_, made) in _made(operation, resource).items()}


def _none(
    resource: Resource, found: Sequence[Fragment], seen: Fragment | None, perspective: Perspective
) -> list[Fragment]:
    """There is no such row, or none that this caller may know of; and no `If-Match` asks for one."""
    tests = list(found)
    if seen is not None and perspective.checked.unseen_rows == "not found":
        tests.append("(" + seen + ")")
    name = identifier(resource.name)
    none = f"NOT EXISTS (SELECT 1 FROM {name} AS {name} WHERE " + all_of(tests) + ")"
    return [none, bind(inputs.MUST_BE_THERE) + " IS NULL"]


def _of_the_row(
    resource: Resource,
    seen: Fragment | None,
    requirements: Sequence[Requirement],
    perspective: Perspective,
) -> list[Requirement]:
    """What is asked of the row, for the judge: where there is none, or none that this caller may know of, nothing is,
    but that no `If-Match` names one."""
    none = column(resource.name, resource.primary_key[0]) + " IS NULL"
    required = []
    if seen is not None and perspective.checked.unseen_rows == "forbidden":
        forbidden = Condition("forbidden", subject=resource.name)
        required.append(Requirement(forbidden, "(" + none + " OR (" + seen + "))", Scope.PRESENCE))
    elif seen is not None:
        none = "(" + none + " OR (" + seen + ") IS NOT TRUE)"
    for each in requirements:
        unasked = "(" + none + " OR " + each.holds + ")"
        if each.condition.condition == "precondition failed":
            unasked = (
                "CASE WHEN " + none + " THEN " + bind(inputs.MUST_BE_THERE) + " IS NULL ELSE " + each.holds + " END"
            )
        required.append(Requirement(each.condition, unasked, each.scope, each.fields))
    return required
