"""`update R`, `replace R` and transitions: a row that is there, changed under everything that guards it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.resources import Field, Guard, Resource
from ninefold.compile import inputs
from ninefold.compile.before import as_it_was
from ninefold.compile.credentials import endings, issue
from ninefold.compile.endpoints.assignments import is_made
from ninefold.compile.endpoints.changes import Changes, changes, values_computed, written_further
from ninefold.compile.endpoints.held import can_be_made, made_columns, making
from ninefold.compile.endpoints.read import requirements_of_row
from ninefold.compile.endpoints.representation import is_of_more, precondition
from ninefold.compile.endpoints.rows import acted_on, answer, outer_join, row_columns
from ninefold.compile.endpoints.writes import (
    guards_of,
    invariants,
    pointers,
    told_after,
    uniques,
    with_checks,
)
from ninefold.compile.events import caused
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import (
    Requirement,
    distinct_as_they_become,
    guard,
    has_value,
    in_body,
    in_state,
    of_conditions,
    reference_seen,
    reference_there,
)
from ninefold.compile.upheld import Change, upheld
from ninefold.compile.which_rows import WANTED, is_wanted, says_which
from ninefold.expressions.tree import Constant, Select, Variable
from ninefold.plan.environment import ENTERED_COLUMN, REVISION_COLUMN
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import Assign, Replace, Transition, Update
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Anything, Object, Row, Text


def with_its_identifier(operation: stated.Update, perspective: Perspective) -> stated.Update:
    """The same of a body that leaves a primary key alone which does not change: what it gives for that is what the row
    has, and is held to it where the body is read (`ninefold.plan.routes`)."""
    resource = acted_on(operation, perspective)
    if operation.takes.body is None:
        return operation
    fixed = {name for name in resource.primary_key if resource.is_fixed(name)}
    body = tuple(leaf for leaf in operation.takes.body if leaf.field not in fixed)
    return dataclasses.replace(operation, takes=dataclasses.replace(operation.takes, body=body))


def update(operation: stated.Update, admission: Admission, perspective: Perspective) -> Update:
    resource, guards = with_checks(acted_on(operation, perspective), operation)
    rows = {resource.name: resource.name}
    transition = operation.transition
    of_row = [] if operation.follows else requirements_of_row(operation, admission, resource, perspective)
    required = [*of_row, *_conditions(operation, guards, resource, perspective)]
    changed = changes(operation, resource, perspective)
    assigns = changed.assigns
    computed = values_computed(changed, operation, resource, perspective)
    values = {field_name: value for field_name, (value, _) in computed.items()}
    required += _of_values(changed, computed, operation, resource, perspective)
    made = making(operation, resource, perspective)
    held_values, held_to = made.as_made(changed.by_statement, computed, sure=changed.sure)
    pieces = _sets(assigns, values, operation, resource)
    columns = row_columns(resource, perspective)
    response = answer(operation, columns, perspective)
    checks = invariants(resource, perspective)
    passwords = tuple(each.field for each in assigns if each.secret == "password")
    steps = (
        caused(operation.verb if transition is None else transition.name, resource, operation, perspective),
        *endings(operation, resource, perspective.checked, passwords),
        *issue(operation, resource, perspective),
    )
    condition = precondition(operation, admission, resource, perspective)
    found = says_which(operation, rows, perspective)
    written = {*values, *(assign.field for assign in assigns)} | written_further(operation, resource, perspective)
    was = None if operation.follows else as_it_was(operation, resource, found, perspective)
    held = upheld(Change("changes", resource, frozenset(written), found, operation.several), operation, perspective)
    by_key = bool(held) or is_of_more(condition)
    told = told_after(operation, resource, columns, checks, perspective, *steps, by_key=by_key)
    if operation.several:
        pieces.append(_piece(Fragment(f" FROM {WANTED}")))
        found = is_wanted(resource)
    asked = [*(each.holds for each in required), *can_be_made(held_values)]
    pieces.append(_piece(" WHERE " + all_of([*found, *asked])))
    current = _current(resource, operation, assigns, [*found, *(each.holds for each in of_row)], perspective)
    if current is not None:
        as_read = " AND " + column(resource.name, REVISION_COLUMN) + " = " + bind(inputs.REVISION_AS_READ)
        pieces.append(_piece(as_read, "as it was"))
    pieces.append(_piece(" RETURNING " + told.returning))
    source = outer_join(resource, operation, perspective)
    judged = judge(source, distinct_as_they_become(required, operation), operation, resource, perspective, held_values)
    return _kind(operation)(
        resource=resource.name,
        response=response,
        statement=Statement(tuple(pieces), tuple(columns.results)),
        judge=judged,
        assigns=assigns,
        held=made_columns(held_values, held_to, judged),
        key=resource.primary_key,
        current=current,
        invariants=tuple(each.condition for each in checks),
        checks=len(guards_of(operation)[1]) if operation.goes_on else 0,
        details=told.details,
        precondition=condition,
        upholds=held,
        was=was,
        follows=told.follows,
    )


def _kind(operation: stated.Update) -> Callable[..., Update]:
    if operation.transition is not None:
        return partial(Transition, said=dict(operation.transition.said))
    return Replace if operation.kind.is_whole else Update


def _conditions(
    operation: stated.Update, guards: Sequence[Guard], resource: Resource, perspective: Perspective
) -> Iterator[Requirement]:
    """What is asked of the row as it is, but for what says which it is and who may change it."""
    yield from of_conditions(operation, resource, perspective)
    transition, machine = operation.transition, resource.machine
    is_from_some = transition is not None and machine is not None and {*transition.origins} < {*machine.states}
    if transition is not None and machine is not None and is_from_some and operation.follows != "in its state":
        origins = [Constant(state, Text()) for state in transition.origins]
        yield in_state(resource, origins, machine.field, transition)
    for each in (*guards, *(() if transition is None else transition.guards)):
        yield guard(each, resource, perspective)


def _of_values(
    changed: Changes,
    computed: Mapping[str, tuple[Fragment, Fragment]],
    operation: stated.Update,
    resource: Resource,
    perspective: Perspective,
) -> Iterator[Requirement]:
    """What is asked of the values that the row is to have."""
    given = pointers(operation)
    values = {name: value for name, (value, _) in computed.items()}
    yield from _references(changed.assigns, values, given, resource, perspective)
    yield from uniques(operation, resource, perspective, on_update=True, in_statement=values)
    for name, (value, fails) in computed.items():
        if changed.by_statement[name].type.nullable and not resource.fields[name].type.nullable:
            pointer = given.get(name) if name in changed.made else None
            yield has_value(resource.fields[name], value, fails, resource, pointer)


def _sets(
    assigns: Sequence[Assign], values: Mapping[str, Fragment], operation: stated.Update, resource: Resource
) -> list[Piece]:
    """What the statement sets: `values` are computed by it, the others are made beforehand."""
    pieces = [
        _piece(f"UPDATE {identifier(resource.name)} SET {identifier(REVISION_COLUMN)} = " + bind(inputs.REVISION))
    ]
    if operation.transition is not None and resource.machine is not None:
        pieces.append(_piece(f", {identifier(ENTERED_COLUMN)} = " + bind(inputs.NOW)))
    pieces += [_piece(f", {identifier(name)} = " + value) for name, value in values.items()]
    for assign in assigns:
        if not assign.in_statement:
            value = bind(inputs.new_value(assign.field, assign.type))
            pieces.append(_piece(f", {identifier(assign.field)} = " + value, f"new {assign.field}"))
    return pieces


def _references(
    assigns: Sequence[Assign],
    computed: Mapping[str, Fragment],
    given: Mapping[str, str],
    resource: Resource,
    perspective: Perspective,
) -> Iterator[Requirement]:
    """What the row is to refer to is there. `computed`: values that the statement makes."""
    by_name = {each.field: each for each in assigns}
    for field in resource.fields.values():
        assign, value = by_name.get(field.name), computed.get(field.name)
        if field.references is None or (assign is None and value is None):
            continue
        in_request = bind(inputs.new_value(field.name, field.type))
        is_given = assign is not None and assign.given
        or_made = value is not None or (assign is not None and is_made(assign))
        if is_given:
            yield reference_seen(field, in_request, in_body(given[field.name]), or_made, resource, perspective)
        if or_made:
            yield reference_there(field, in_request if value is None else value, is_given, resource, perspective)


def _piece(fragment: Fragment, when: str | None = None) -> Piece:
    return Piece(fragment.text, fragment.binds, when)


def _current(
    resource: Resource,
    operation: stated.Update,
    assigns: Sequence[Assign],
    found: Sequence[Fragment],
    perspective: Perspective,
) -> Statement | None:
    """The row as it is, for whoever may change it; to a client of an older version, also as it was then."""
    wanted = dict.fromkeys(name for assign in assigns for name in assign.reads)
    older: list[Field] = []
    if operation.kind.patches:
        named = [resource.as_given(leaf.field) for leaf in operation.takes.body or ()]
        edits = operation.patch == "json-patch"
        edited = [field for field in named if edits or isinstance(field.type, Anything | Object)]
        older = [field for field in edited if not field.stored]
        wanted |= dict.fromkeys(field.name for field in edited)
    fields = [resource.fields[name] for name in wanted if name in resource.fields]
    fields = [field for field in fields if (field.stored or field in older) and field.secret is None]
    if not fields and operation.patch != "json-patch":
        return None
    columns = [column(resource.name, REVISION_COLUMN), *(_as_it_is(field, resource, perspective) for field in fields)]
    name = identifier(resource.name)
    text = "SELECT " + join(", ", columns) + f" FROM {name} AS {name} WHERE " + all_of(found)
    results = (ResultColumn(REVISION_COLUMN, Text()), *(ResultColumn(field.name, field.type) for field in fields))
    return Statement((_piece(text),), results)


def _as_it_is(field: Field, resource: Resource, perspective: Perspective) -> Fragment:
    if field.stored:
        return column(resource.name, field.name)
    row = Variable(resource.name, Row(resource=resource.name))
    return perspective.value(Select(row, field.name, field.type, "computed"), {resource.name: resource.name})
