"""`create R`: a row from a body, the path and the contract's own values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.resources import Resource
from ninefold.expressions.rewrite import free_variables
from ninefold.expressions.tree import Constant, Typed
from ninefold.plan.environment import ENTERED_COLUMN, REVISION_COLUMN
from ninefold.plan.events import SUBSCRIPTION
from ninefold.plan.operations import Assign, Write
from ninefold.plan.statement import Statement
from ninefold.planner import inputs
from ninefold.planner.credentials import issue
from ninefold.planner.endpoints.rows import acted_on, answer, pieces, row_columns
from ninefold.planner.endpoints.writes import invariants, pointers, read_after, uniques
from ninefold.planner.events import caused
from ninefold.planner.perspective import Perspective
from ninefold.planner.requirements import (
    Requirement,
    Scope,
    all_of,
    equals,
    guard,
    judge,
    parents,
    permission,
    reference_there,
    referred_to,
)
from ninefold.planner.upheld import Change, upheld
from ninefold.sql.fragment import Fragment, bind, identifier, join
from ninefold.values import Text


def create(endpoint: Endpoint, admission: Admission, perspective: Perspective) -> Write:
    resource = acted_on(endpoint, perspective)
    given = pointers(endpoint)
    from_path = references_from_path(endpoint, resource, perspective)
    assigns = made(endpoint, resource, given, from_path)

    required = parents(endpoint, perspective)
    required += belonging(endpoint, resource, perspective, Scope.VALUES)
    required += references_there(resource, given, from_path, perspective)
    required += permission(admission, resource, perspective, Scope.VALUES)
    required += [guard(each, resource, perspective, Scope.VALUES) for each in endpoint.guards]
    required += uniques(endpoint, resource, perspective, on_update=False)

    values, targets = row_to_store(resource, from_path)
    name = identifier(resource.name)
    # A number that the database gives is none before: what reads it (a guard, say) is an error, and does not hold.
    numbers = [Fragment(f"NULL AS {identifier(field.name)}") for field in resource.fields.values() if field.serial]
    source = "(SELECT " + join(", ", [*values, *numbers]) + f") AS {name}"
    columns = row_columns(resource, perspective)
    response = answer(endpoint, columns, perspective)
    checks = invariants(resource, perspective)
    events = caused("create", resource, perspective)
    issues = issue(endpoint, resource, perspective.checked)
    subscribes = resource.name == SUBSCRIPTION
    held = upheld(Change("create", resource), endpoint, perspective)
    by_key = bool(events or issues or held) or subscribes
    returning, read, told = read_after(endpoint, resource, columns, checks, perspective, by_key)
    statement = (
        f"INSERT INTO {name} ({', '.join(targets)}) SELECT "
        + ", ".join(f"{name}.{target}" for target in targets)
        + " FROM "
        + source
        + " WHERE "
        + all_of([each.holds for each in required])
        + " ON CONFLICT DO NOTHING RETURNING "
        + returning
    )
    return Write(
        resource=resource.name,
        response=response,
        verb="create",
        statement=Statement(pieces(statement), tuple(columns.results)),
        judge=judge(source, required, endpoint, resource, perspective),
        assigns=assigns,
        key=resource.identifier,
        read=read,
        invariants=tuple(each.condition for each in checks),
        details=told,
        upholds=held,
        after=events,
        subscribes=subscribes,
        version=perspective.checked.version if subscribes else None,
        issues=issues,
    )


def references_from_path(endpoint: Endpoint, resource: Resource, perspective: Perspective) -> dict[str, Fragment]:
    """References that the path sets: `{project.id}` of a task sets `task.project`."""
    found = {}
    for name in endpoint.names:
        if len(name.through) == 1:
            found[name.through[0]] = referred_to(name, perspective)
    return found


def belonging(
    endpoint: Endpoint, resource: Resource, perspective: Perspective, scope: Scope
) -> Iterator[Requirement]:
    """The rows that the path names on its way belong together through the references of the new row."""
    rows = {resource.name: resource.name}
    on_the_way = parents(endpoint, perspective)
    for named in endpoint.names:
        if len(named.through) > 1:
            belongs = perspective.holds(equals(named.found, inputs.path_value(named.text, named.type)), rows)
            parent = next(each for each in on_the_way if each.condition.subject == named.resource)
            yield Requirement(parent.condition, belongs, scope)


def references_there(
    resource: Resource, given: Mapping[str, str], from_path: Collection[str], perspective: Perspective
) -> list[Requirement]:
    """What the new row refers to is there; those rows that the path names are required already."""
    return [
        reference_there(field, given.get(field.name), resource, perspective)
        for field in resource.fields.values()
        if field.stored and field.refers_to is not None and field.name not in from_path
    ]


def row_to_store(resource: Resource, from_path: Mapping[str, Fragment]) -> tuple[list[Fragment], list[str]]:
    """The values of a new row, each called as its column is; and the columns."""
    stored = [field for field in resource.fields.values() if field.stored and not field.serial]
    values = [
        (from_path.get(field.name) or bind(inputs.new_value(field.name, field.type))) + f" AS {identifier(field.name)}"
        for field in stored
    ]
    values.append(bind(inputs.REVISION) + f" AS {identifier(REVISION_COLUMN)}")
    targets = [identifier(field.name) for field in stored] + [identifier(REVISION_COLUMN)]
    if resource.machine is not None:
        values.append(bind(inputs.NOW) + f" AS {identifier(ENTERED_COLUMN)}")
        targets.append(identifier(ENTERED_COLUMN))
    return values, targets


def made(
    endpoint: Endpoint, resource: Resource, given: Collection[str], from_path: Collection[str]
) -> tuple[Assign, ...]:
    """What is given comes before what the contract makes of it (`slug(article.title)`). A field of the row itself that
    the path names has its value from there."""
    sets = dict(endpoint.sets)
    named = {each.field: inputs.path_value(each.text, each.type) for each in endpoint.names if not each.through}
    assigns = []
    for field in resource.fields.values():
        if not field.stored or field.serial or field.name in from_path:
            continue
        otherwise = named.get(field.name) or sets.get(field.name) or field.on_create or field.on_change
        if resource.machine is not None and resource.machine.field == field.name:
            otherwise = Constant(resource.machine.initial, Text())
        is_given = field.name in given and field.name not in named
        assigns.append(Assign(field.name, field.type, given=is_given, otherwise=otherwise, secret=field.secret))
    return tuple(sorted(assigns, key=lambda each: _reads_row(each.otherwise, resource)))


def _reads_row(typed: Typed | None, resource: Resource) -> bool:
    return typed is not None and resource.name in free_variables(typed)
