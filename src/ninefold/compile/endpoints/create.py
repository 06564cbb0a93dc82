"""`create R`: a row from a body, the path and the contract's own values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Mutation, Operation
from ninefold.checked.resources import Resource
from ninefold.compile import inputs
from ninefold.compile.credentials import issue
from ninefold.compile.endpoints.assignments import failing, is_made, with_made
from ninefold.compile.endpoints.held import can_be_made, left_out, made_columns, making
from ninefold.compile.endpoints.plainly import plainly, values_to_store
from ninefold.compile.endpoints.rows import acted_on, answer, pieces, row_columns
from ninefold.compile.endpoints.writes import invariants, pointers, told_after, uniques, without_set
from ninefold.compile.events import caused
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import (
    Requirement,
    Scope,
    guard,
    has_value,
    in_body,
    in_path,
    parents,
    permission,
    permission_by_way,
    reference_seen,
    reference_there,
)
from ninefold.compile.subscribers import subscription
from ninefold.compile.upheld import Change, upheld
from ninefold.compile.which_rows import WANTED, equals, named_first, referred_to
from ninefold.expressions.reads import in_statement
from ninefold.expressions.tree import Constant, Select, Typed, Variable, free_variables, rewrite
from ninefold.plan.statement import Statement
from ninefold.plan.writes import Assign, Create
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Integer, Text


def create(operation: stated.Create, admission: Admission, perspective: Perspective) -> Create:
    operation = without_set(operation) if operation.host is None else operation
    resource = acted_on(operation, perspective)
    given = pointers(operation)
    from_path = references_from_path(operation, perspective)
    assigns, made = values_made(operation, resource, from_path, perspective)

    required = parents(operation, perspective)
    required += belonging(operation, resource, perspective, Scope.VALUES)
    required += references(operation, assigns, resource, perspective)
    required += values_there(resource, made, given)
    by_path = permission_by_way(admission, operation, resource, perspective)
    required += by_path or permission(admission, resource, perspective, Scope.VALUES)
    required += [guard(each, resource, perspective, Scope.VALUES) for each in operation.guards]
    required += (distinct := uniques(operation, resource, perspective, on_update=False))

    of_row = {name: of_the_row(name, resource) for name in made}
    held_values, held_to = making(operation, resource, perspective).as_made(made, of_row)
    row, targets = row_to_store(operation, resource, from_path, made, perspective)
    if operation.several:
        row, among_themselves = distinct_among_themselves(row, distinct, resource, perspective.dialect)
        required += among_themselves
    name = identifier(resource.name)
    source = "(" + row + f") AS {name}"
    columns = row_columns(resource, perspective)
    response = answer(operation, columns, perspective)
    checks = invariants(resource, perspective)
    steps = (
        subscription(resource, perspective.checked),
        caused("create", resource, operation, perspective),
        *issue(operation, resource, perspective),
    )
    held = upheld(Change("makes", resource, several=operation.several), operation, perspective)
    told = told_after(operation, resource, columns, checks, perspective, *steps, by_key=bool(held))
    statement = (
        f"INSERT INTO {name} ({', '.join(targets)}) SELECT "
        + ", ".join(f"{name}.{target}" for target in targets)
        + " FROM "
        + source
        + " WHERE "
        + all_of([*(each.holds for each in required), *can_be_made(held_values)])
        + (f' ORDER BY {name}."$n"' if operation.several else "")
        + " ON CONFLICT DO NOTHING RETURNING "
        + told.returning
    )
    judged = judge(source, required, operation, resource, perspective, held_values)
    return Create(
        resource=resource.name,
        response=response,
        statement=Statement(pieces(statement), tuple(columns.results)),
        judge=judged,
        assigns=assigns,
        held=made_columns(held_values, held_to, judged),
        key=resource.primary_key,
        invariants=tuple(each.condition for each in checks),
        details=told.details,
        upholds=held,
        follows=told.follows,
        plainly=None if from_path or made or operation.several else plainly(required, told, columns, resource),
    )


def distinct_among_themselves(
    row: Fragment, distinct: Sequence[Requirement], resource: Resource, dialect: Dialect
) -> tuple[Fragment, list[Requirement]]:
    """Of several new rows: the second one with the same values in fields that are unique is refused, as if the first
    were there already. Nulls are distinct."""
    found = []
    for index, each in enumerate(distinct):
        first = identifier(f"$first {index}")
        fields = ", ".join(map(identifier, each.fields))
        row = f'SELECT *, MIN("$n") OVER (PARTITION BY {fields}) AS {first} FROM (' + row + f"){dialect.nameless}"
        name = identifier(resource.name)
        lacks = [column(resource.name, field) + " IS NULL" for field in each.fields]
        is_first = join(" OR ", [*lacks, Fragment(f'{name}."$n" = {name}.{first}')])
        found.append(Requirement(each.condition, "(" + is_first + ")", Scope.VALUES, anew=each.anew))
    return row, found


def references_from_path(operation: Operation, perspective: Perspective) -> dict[str, Fragment]:
    """References that the path sets: `{project.id}` of a task sets `task.project`."""
    found = {}
    for name in operation.names:
        if len(name.through) == 1:
            found[name.through[0]] = referred_to(name, operation, perspective)
    return found


def belonging(
    operation: Operation, resource: Resource, perspective: Perspective, scope: Scope
) -> Iterator[Requirement]:
    """The rows that the path names on its way belong together through the references of the new row."""
    rows = {resource.name: resource.name}
    on_the_way = parents(operation, perspective)
    for named in operation.names:
        if len(named_first(named, operation, perspective.checked.resources).through) > 1:
            belongs = perspective.holds(equals(named.found, inputs.path_value(named.text, named.type)), rows)
            parent = next(each for each in on_the_way if each.condition.subject == named.resource)
            yield Requirement(parent.condition, belongs, scope)


def references(
    operation: Mutation, assigns: Sequence[Assign], resource: Resource, perspective: Perspective
) -> Iterator[Requirement]:
    """What the new row refers to is there, and seen where the request gives it. Rows that the path leads through are
    required already. The row as it would be has what the statement makes, and each of several rows has its own."""
    given, by_name = pointers(operation), {each.field: each for each in assigns}
    named = {each.field: each.text for each in operation.names if not each.through}
    for name, field in resource.fields.items():
        assign = by_name.get(name)
        if field.references is None or assign is None:
            continue
        in_row = assign.in_statement or operation.several
        value = column(resource.name, name) if in_row else bind(inputs.new_value(name, field.type))
        or_made = is_made(assign) and not (assign.given and operation.several)
        if assign.given:
            yield reference_seen(field, value, in_body(given[name]), or_made, resource, perspective)
        if name in named:
            yield reference_seen(field, value, in_path(named[name]), False, resource, perspective)
        elif or_made:
            yield reference_there(field, value, assign.given, resource, perspective)


def of_the_row(name: str, resource: Resource) -> tuple[Fragment, Fragment]:
    """What the statement makes of a field, in the row as it would be, and whether that failed."""
    return column(resource.name, name), column(resource.name, failing(name))


def values_there(resource: Resource, made: Mapping[str, Typed], given: Mapping[str, str]) -> list[Requirement]:
    """What the statement makes is there, where the row is not to be without it. What cannot be made is told as that."""
    return [
        has_value(resource.fields[name], *of_the_row(name, resource), resource, given.get(name))
        for name, typed in made.items()
        if typed.type.nullable and not resource.fields[name].type.nullable
    ]


def row_to_store(
    operation: Mutation,
    resource: Resource,
    from_path: Mapping[str, Fragment],
    made: Mapping[str, Typed],
    perspective: Perspective,
) -> tuple[Fragment, list[str]]:
    """A select of the new row, each value called as its column is; and the columns that are stored of it."""
    given = values_to_store(resource)
    values = [(from_path.get(name) or bind(value)) + f" AS {identifier(name)}" for name, value in given.items()]
    columns = list(given)
    # A number that the database gives is none before: what reads it (a guard, say) is an error, and does not hold.
    numbers = [field.name for field in resource.fields.values() if field.serial]
    values += [perspective.dialect.null(Integer()) + f" AS {identifier(each)}" for each in numbers]
    if operation.several:
        values.append(Fragment(f'{WANTED}."$n" AS "$n"'))
        numbers.append("$n")
    row = "SELECT " + join(", ", values) + (f" FROM {WANTED}" if operation.several else "")
    row = with_made(row, [*columns, *numbers], made, pointers(operation), resource, perspective)
    return row, [identifier(each) for each in columns]


def values_made(
    operation: Mutation, resource: Resource, from_path: Collection[str], perspective: Perspective
) -> tuple[tuple[Assign, ...], dict[str, Typed]]:
    """How each field of a new row has its value: what is given comes before what the contract makes of it
    (`slug(article.title)`), and a field of the row itself that the path names has its value from there. Beside what is
    known before the statement, what the statement makes."""
    given = pointers(operation)
    sets = dict(operation.sets)
    named: dict[str, Typed] = {
        each.field: inputs.path_value(each.text, each.type) for each in operation.names if not each.through
    }
    fields = [
        field for field in resource.fields.values() if field.stored and not field.serial and field.name not in from_path
    ]
    otherwise: dict[str, Typed] = {}
    for field in fields:
        made = named.get(field.name) or sets.get(field.name) or field.on_create or field.on_change
        if resource.machine is not None and resource.machine.field == field.name:
            made = Constant(resource.machine.initial, Text())
        if made is not None:
            otherwise[field.name] = made
    otherwise = {name: left_out(typed) for name, typed in otherwise.items()}
    asked = [name.through[0] for name in operation.names if name.asks_row(perspective.checked.resources)]
    by_statement = in_statement(otherwise, resource.name, perspective.checked.model, asked)
    hold = making(operation, resource, perspective).held
    assigns = [
        Assign(
            field.name,
            field.type,
            given=field.name in given and field.name not in named,
            otherwise=None
            if field.name in by_statement or field.name not in otherwise
            else _with_references(otherwise[field.name], operation, resource),
            in_statement=field.name in by_statement,
            secret=field.secret,
            held=hold(field, otherwise[field.name])
            if field.name in otherwise and field.name not in by_statement
            else None,
        )
        for field in fields
    ]
    return tuple(sorted(assigns, key=lambda each: _reads_row(each.otherwise, resource))), by_statement


def _with_references(made: Typed, operation: Mutation, resource: Resource) -> Typed:
    """What is made before the statement, with the values of the path for references of the row that the path sets."""
    texts = {name.through[0]: name.text for name in operation.names if len(name.through) == 1}

    def change(node: Typed) -> Typed | None:
        match node:
            case Select(operand=Variable(name=row), name=field) if row == resource.name and field in texts:
                return replace(inputs.path_value(texts[field], node.type), through=node.through)
            case _:
                return None

    return rewrite(made, change) if texts else made


def _reads_row(typed: Typed | None, resource: Resource) -> bool:
    return typed is not None and resource.name in free_variables(typed)
