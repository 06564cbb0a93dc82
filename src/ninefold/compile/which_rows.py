"""Which rows an operation is about: those that the path and `where` say, and, of a write of several, those that
are wanted and those that were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ninefold.checked.contents import Response
from ninefold.checked.lists import plainly, ways
from ninefold.checked.operations import List, Mutation, Operation, PathName, Stream, Update
from ninefold.checked.resources import Resource, Transition
from ninefold.checked.service import Checked
from ninefold.compile import inputs
from ninefold.compile.perspective import Perspective
from ninefold.expressions.tree import Call, Select, Typed, Variable, free_variables, substitute
from ninefold.language.verbs import TRANSITION
from ninefold.plan.operations import FilterParameter
from ninefold.plan.statement import Piece
from ninefold.sql.expressions import Item
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Boolean, Row, Type, required

Narrowed: TypeAlias = List | Stream | Mutation
"""What parameters may narrow."""


def equals(found: Typed, value: Typed) -> Typed:
    return Call("==", [found, value], Boolean())


def _chain(resources: dict[str, Resource], resource: str, fields: Sequence[str]) -> Typed:
    """`resource.f.g.h` as a typed expression."""
    typed: Typed = Variable(resource, Row(resource=resource))
    for name in fields:
        field = resources[resource].fields[name]
        typed = Select(typed, name, field.type, "computed" if field.computed is not None else "field")
        resource = field.references or resource
    return typed


def path_conditions(operation: Operation, rows: Mapping[str, str | Item], perspective: Perspective) -> list[Fragment]:
    """What says which row is acted on, or which rows a list is of: the path and `where`. A row of which it
    does not hold is not there."""
    found = [
        perspective.holds(equals(name.found, inputs.path_value(name.text, name.type)), rows) for name in operation.names
    ]
    return [*found, *_further(operation, rows, perspective)]


def _further(operation: Operation, rows: Mapping[str, str | Item], perspective: Perspective) -> list[Fragment]:
    """`where` says to a caller which rows there are: of others it reads those that this one sees."""
    where = operation.where
    if where is None:
        return []
    if operation.resource is not None:
        where = plainly(where, perspective.checked.resources[operation.resource])
    return [perspective.shown(where, rows, condition=True)]


WANTED = '"$wanted"'
WRITTEN = '"$written"'
"""Of a write of several rows: what is known of each beforehand, and those that were written. `$n` is the position of
one, `key F` a field of its primary key, `new F` a value that is stored."""


def keys_of(table: str, resource: Resource) -> list[Fragment]:
    """The primary keys of the rows of one of these."""
    return [Fragment(f"{table}." + identifier(f"key {key}")) for key in resource.primary_key]


def among(table: str, resource: Resource) -> Fragment:
    """That a row is one of these."""
    own = join(", ", [column(resource.name, key) for key in resource.primary_key])
    return "(" + own + ") IN (SELECT " + join(", ", keys_of(table, resource)) + f" FROM {table})"


def is_wanted(resource: Resource) -> list[Fragment]:
    """That a row is the one which a row of `$wanted` beside it is about."""
    wanted = keys_of(WANTED, resource)
    return [column(resource.name, key) + " = " + each for key, each in zip(resource.primary_key, wanted, strict=True)]


def was_written(operation: Operation, resource: Resource) -> list[Fragment]:
    """That a row is one that the write has written."""
    if operation.several:
        return [among(WRITTEN, resource)]
    return [
        column(resource.name, key) + " = " + bind(inputs.row_key(key, resource.fields[key].type))
        for key in resource.primary_key
    ]


def says_which(operation: Operation, rows: Mapping[str, str | Item], perspective: Perspective) -> list[Fragment]:
    """The same as SQL, of the row that goes by the resource's name. A name that leads through a reference is looked up
    once, and not for each row that refers to anything: that is how an index on the reference is of use."""
    if operation.several and operation.resource is not None:
        return [among(WANTED, perspective.checked.resources[operation.resource])]
    resources = perspective.checked.resources
    found, by_several = list[Fragment](), set[tuple[str, ...]]()
    for name in operation.names:
        own = named_first(name, operation, resources)
        if len(own.through) != 1 or operation.resource is None:
            found.append(perspective.holds(equals(name.found, inputs.path_value(name.text, name.type)), rows))
        elif own.through not in by_several:
            reference = column(operation.resource, own.through[0])
            found.append("(" + reference + " = " + referred_to(own, operation, perspective) + ")")
            by_several |= set() if is_alone(own, resources) else {own.through}
    return [*found, *_further(operation, rows, perspective)]


def is_alone(name: PathName, resources: Mapping[str, Resource]) -> bool:
    """Whether a name in the path says by itself which row it is of, and not with others."""
    return resources[name.resource].is_known_by(name.field)


def named_first(name: PathName, operation: Operation, resources: Mapping[str, Resource]) -> PathName:
    """The name in the path that stands for the row which one is a part of naming, with others: `{repo.name}` of
    `{repo.owner.login}`. It itself, where it is none."""
    behind = (each for each in operation.names if len(each.through) == 1 and each.through == name.through[:1])
    return next((each for each in behind if not is_alone(each, resources)), name)


def is_said_by_another(operation: Operation, index: int) -> bool:
    """Whether one behind a name in the path is of the same row, and stands for both."""
    return any(each.through == operation.names[index].through for each in operation.names[index + 1 :])


def referred_to(name: PathName, operation: Operation, perspective: Perspective) -> Fragment:
    """The primary key of the row that a name in the path stands for, alone or with others."""
    resources = perspective.checked.resources
    target = resources[name.resource]
    value = bind(inputs.path_value(name.text, name.type))
    if target.primary_key == (name.field,):
        return value
    key, table = identifier(target.primary_key[0]), identifier(target.name)
    tests = {name.field: value}
    depth = len(name.through)
    for each in () if is_alone(name, resources) else operation.names:
        if each.through == name.through:
            tests[each.field] = bind(inputs.path_value(each.text, each.type))
        elif each.through[:depth] == name.through and len(each.through) == depth + 1:
            tests[each.through[depth]] = referred_to(each, operation, perspective)
    which = all_of([f"{identifier(field)} = " + wanted for field, wanted in tests.items()])
    return f"(SELECT {key} FROM {table} WHERE " + which + ")"


def named_on_the_way(operation: Operation, index: int, perspective: Perspective) -> tuple[str, list[Fragment]]:
    """Of a name in the path that leads through references: how its row is called, and what says which one it is."""
    name, alias, resources = operation.names[index], f"parent {index + 1}", dict(perspective.checked.resources)
    target = Variable(name.resource, Row(resource=name.resource))
    field = resources[name.resource].fields[name.field]
    wanted = [equals(Select(target, name.field, field.type, "field"), inputs.path_value(name.text, name.type))]
    depth, alone = len(name.through), is_alone(name, resources)
    for number, other in enumerate(operation.names):
        is_needed = number < index or not alone or other.through == name.through
        if number != index and is_needed and other.through[:depth] == name.through:
            rest = (*other.through[depth:], other.field)
            wanted.append(equals(_chain(resources, name.resource, rest), inputs.path_value(other.text, other.type)))
    return alias, [perspective.holds(each, {name.resource: alias}) for each in wanted]


def on_the_way(
    typed: Sequence[Typed], operation: Operation, perspective: Perspective, seen: bool = False
) -> tuple[dict[str, str], Fragment]:
    """The rows of the path that some expressions read (`ninefold.checked.lists`), each by its root, and one row of
    them all to select from. `seen`: as far as the caller sees them."""
    known = ways(operation.segments, perspective.checked.resources)
    read = {name for each in typed for name in free_variables(each)}
    rows, source = dict[str, str](), Fragment(perspective.dialect.nothing)
    for way in known:
        root = way.row(operation.resource or "").name
        if root in read:
            alias, tests = named_on_the_way(operation, way.number, perspective)
            present = perspective.present(way.resource, alias) if seen else None
            tests += [] if present is None else ["(" + present + ")"]
            rows[root] = alias
            source = source + f" LEFT JOIN {identifier(way.resource)} AS {identifier(alias)} ON " + all_of(tests)
    return rows, source


def by_identifier(resource: Resource, checked: Checked) -> tuple[PathName, ...]:
    """The path whose names are the primary key's fields."""
    row = Variable(resource.name, Row(resource=resource.name))
    return tuple(
        PathName(
            text=name,
            type=_type_of_key(resource.fields[name].type, checked.resources),
            resource=resource.name,
            field=name,
            through=(),
            found=Select(row, name, resource.fields[name].type, "field"),
        )
        for name in resource.primary_key
    )


def taking(transition: Transition, resource: Resource, checked: Checked) -> Update:
    """A transition of the row that its primary key names."""
    return Update(
        key=f"{transition.name} {resource.name}",
        segments=by_identifier(resource, checked),
        place=transition.place,
        kind=TRANSITION,
        resource=resource.name,
        response=Response(204, None, (), transition.place),
        transition=transition,
    )


def _type_of_key(type_: Type, resources: Mapping[str, Resource]) -> Type:
    """A reference is compared by its target's primary key."""
    while isinstance(type_, Row):
        type_ = resources[type_.resource].key.type
    return required(type_)


def filter_parameters(operation: Narrowed) -> tuple[FilterParameter, ...]:
    return tuple(FilterParameter(each.name, each.type, (each.place,)) for each in operation.filters)


def filter_pieces(operation: Narrowed, rows: Mapping[str, str | Item], perspective: Perspective) -> tuple[Piece, ...]:
    """What narrows the rows, or the events that are told, each under its switch."""
    resource = perspective.checked.resources.get(operation.resource or "")
    pieces = []
    for each in operation.filters:
        condition = each.condition if resource is None else plainly(each.condition, resource)
        condition = substitute(condition, "value", inputs.filter_value(each.name, each.type))
        holds = " AND (" + perspective.shown(condition, rows) + ")"
        pieces.append(Piece(holds.text, holds.binds, f"filter {each.name}"))
    return tuple(pieces)
