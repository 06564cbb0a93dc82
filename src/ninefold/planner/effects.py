"""Parts 3 and 4: other rows that change with the one acted on, each by an operation without an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from ninefold.checked.endpoints import Admission, Endpoint, Response
from ninefold.checked.resources import Effect, Resource
from ninefold.expressions.given import fields_read
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.plan import operations as plan
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.planner import inputs
from ninefold.planner.endpoints.create import create
from ninefold.planner.endpoints.delete import delete
from ninefold.planner.endpoints.update import update
from ninefold.planner.identified import by_identifier
from ninefold.planner.perspective import CONTRACT, Perspective
from ninefold.planner.requirements import all_of, column, says_which
from ninefold.sql.fragment import Fragment, bind, identifier, join
from ninefold.values import Row


def with_effects(operation: plan.Write, endpoint: Endpoint, perspective: Perspective) -> plan.Write:
    """An operation with what else it does."""
    stated = endpoint.effects
    if not stated or endpoint.resource is None:
        return operation
    resource = perspective.checked.resources[endpoint.resource]
    own = Perspective(perspective.checked, CONTRACT, perspective.dialect, perspective.told or perspective.who)
    found = None
    if endpoint.verb == "delete":
        found = says_which(endpoint, {resource.name: resource.name}, perspective)
    then = plan.Effects(
        resource=resource.name,
        acted_on=_acted_on(stated, resource, own, found),
        effects=tuple(_effect(each, endpoint, own) for each in stated),
    )
    return structs.replace(operation, then=then)


def _acted_on(
    stated: Sequence[Effect], resource: Resource, perspective: Perspective, found: Sequence[Fragment] | None
) -> Statement:
    """What the effects read of the row acted on, and its identifier."""
    model, read = perspective.checked.model, set(resource.identifier)
    for each in stated:
        for typed in (*(() if each.row is None else (each.row,)), *(value for _, value in each.sets)):
            read |= fields_read(typed, resource.name, model)
    if found is None:
        found = [
            column(resource.name, key) + " = " + bind(inputs.row_key(key, resource.fields[key].type))
            for key in resource.identifier
        ]
    fields = [field for field in resource.fields.values() if field.name in read and field.secret is None]
    row = Variable(resource.name, Row(resource=resource.name))
    cells = []
    for field in fields:
        cell = column(resource.name, field.name)
        if field.computed is not None:
            computed: Typed = Select(row, field.name, field.type, "computed")
            cell = perspective.value(computed, {resource.name: resource.name})
        cells.append(cell)
    name = identifier(resource.name)
    text = "SELECT " + join(", ", cells or [Fragment("1")]) + f" FROM {name} AS {name} WHERE " + all_of(found)
    return Statement((Piece(text.text, text.binds),), tuple(ResultColumn(field.name, field.type) for field in fields))


def _effect(effect: Effect, host: Endpoint, perspective: Perspective) -> plan.Effect:
    checked = perspective.checked
    resource = checked.resources[effect.resource]
    inserts = effect.verb == "create"
    transition = None if resource.machine is None else resource.machine.transitions.get(effect.verb)
    endpoint = Endpoint(
        key=host.key,
        method="",
        segments=() if inserts else by_identifier(resource, checked),
        place=effect.place,
        verb="transition" if transition is not None else effect.verb,  # type: ignore[arg-type]
        resource=resource.name,
        response=Response(204, None, (), effect.place),
        admissions=(),
        transition=transition,
        body=(),
        errors=host.errors,
    )
    if effect.verb != "delete":
        endpoint = replace(endpoint, sets=effect.sets)
    admission = Admission(CONTRACT, None, False, effect.place)
    plan_of = create if inserts else delete if effect.verb == "delete" else update
    write = plan_of(endpoint, admission, perspective)
    return plan.Effect(with_effects(write, endpoint, perspective), _find(effect, resource, perspective))


def _find(effect: Effect, resource: Resource, perspective: Perspective) -> Statement | None:
    if effect.row is None:
        return None
    key = resource.key
    name = identifier(resource.name)
    wanted = perspective.value(effect.row, {})
    same = column(resource.name, key.name) + " = " + wanted
    text = "SELECT " + column(resource.name, key.name) + f" FROM {name} AS {name} WHERE " + same
    return Statement((Piece(text.text, text.binds),), (ResultColumn(key.name, key.type),))
