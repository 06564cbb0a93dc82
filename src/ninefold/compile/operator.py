"""Looking at rows and adding them: what the operator does, planned like any endpoint, with every row in sight;
and part 2: rows that the contract itself states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from ninefold.checked.bodies import BodyLeaf
from ninefold.checked.contents import Content, Leaf, Object, Response, Rows
from ninefold.checked.endpoints import Admission
from ninefold.checked.lists import Asked
from ninefold.checked.operations import Create, Filter, List, Order, Pages, Sorts, Takes, Update
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked
from ninefold.compile.bodies import body_of
from ninefold.compile.endpoints.create import create
from ninefold.compile.endpoints.list import listing
from ninefold.compile.endpoints.update import update
from ninefold.compile.perspective import OPERATOR, Perspective
from ninefold.compile.which_rows import by_identifier, equals
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.tree import Select, Typed, Variable, free_variables
from ninefold.language.verbs import VERBS
from ninefold.plan.operator import Adding, OperatorOperations, Record, Records
from ninefold.plan.writes import Update as Change
from ninefold.sql.dialect import Dialect
from ninefold.values import Anything, Array, Digest, Integer, Null, Row, Text
from ninefold.values import Object as ObjectType

MEDIA_TYPE = "application/json"
"""What the operator gives and is given is JSON, whatever the contract's endpoints speak."""

_OF_REQUESTS = frozenset({"caller", "request"})


def operator_operations(checked: Checked, dialect: Dialect) -> Iterator[OperatorOperations]:
    own = _own(checked, {name: _without_caller(resource) for name, resource in checked.resources.items()})
    perspective = Perspective(own, OPERATOR, dialect)
    for resource in own.resources.values():
        if resource.log:  # the operator has other means to look at it
            continue
        admission = Admission(OPERATOR, None, False, resource.place)
        adding = None if resource.creation_stopped else _adding(resource, checked.resources[resource.name], perspective)
        yield OperatorOperations(
            resource=resource.name,
            list=listing(Asked(_listing(resource, own.resources)), admission, perspective),
            secrets=tuple(field.name for field in resource.fields.values() if field.secret is not None),
            sensitive=tuple(field.name for field in resource.fields.values() if field.sensitive),
            adding=adding,
            blocked=resource.creation_stopped,
        )


def adding_with_numbers(resource: Resource, checked: Checked, dialect: Dialect) -> Adding | None:
    """`create R` where the numbers that the service gives otherwise are stated; None: rows of it cannot be made."""
    if resource.creation_stopped:
        return None
    numbered = {name: replace(field, serial=False) for name, field in resource.fields.items()}
    resources = {name: _without_caller(each) for name, each in checked.resources.items()}
    resources[resource.name] = _without_caller(replace(resource, fields=numbered))
    return _adding(resources[resource.name], resource, Perspective(_own(checked, resources), OPERATOR, dialect))


def _adding(resource: Resource, stated: Resource, perspective: Perspective) -> Adding:
    """`stated` is the resource as the contract has it, and `resource` as the operator has it."""
    operation = _creating(resource)
    given = body_of(operation, perspective.checked.requests, perspective.checked)
    assert given is not None
    given = structs.replace(given, schema=_naming_what_callers_give(given.schema, stated))
    return Adding(given, create(operation, Admission(OPERATOR, None, False, resource.place), perspective))


def _naming_what_callers_give(schema: Mapping[str, Any], stated: Resource) -> dict[str, Any]:
    """What the contract takes from a caller has to be said, even where it is not required of a row: there is no caller
    here, and a row would lack it in silence. That there is none is said by null."""
    properties, needed = dict(schema.get("properties", {})), dict.fromkeys(schema.get("required", ()))
    for name, field in stated.fields.items():
        made = [each for each in (field.on_create, field.on_change) if each is not None]
        if name in properties and made and not any(map(_of_the_contract, made)):
            if name not in needed and not field.null_shown:
                properties[name] = {"anyOf": [properties[name], {"type": "null"}]}
            needed[name] = None
    return {**schema, "properties": properties, "required": list(needed)} if needed else dict(schema)


def _own(checked: Checked, resources: Mapping[str, Resource]) -> Checked:
    """The operator speaks JSON, and is told of members that mean nothing."""
    return replace(
        checked,
        resources=resources,
        requests=replace(checked.requests, media_types=(MEDIA_TYPE,), unknown_members="refused"),
        produces=MEDIA_TYPE,
    )


def _without_caller(resource: Resource) -> Resource:
    """The operator is no caller, and makes no request: what the contract takes from one has to be given."""
    fields = {
        name: replace(field, on_create=_of_the_contract(field.on_create), on_change=_of_the_contract(field.on_change))
        for name, field in resource.fields.items()
    }
    # A column that is never null needs its value, whether or not `required` says so.
    return replace(
        resource,
        fields={
            name: replace(field, required=field.required or not field.type.nullable) for name, field in fields.items()
        },
    )


def _of_the_contract(made: Typed | None) -> Typed | None:
    return None if made is None or free_variables(made) & _OF_REQUESTS else made


def _creating(resource: Resource) -> Create:
    fields = [field for field in resource.fields.values() if _can_be_given(field, resource)]
    shown: list[tuple[str, Content]] = []
    for field in resource.fields.values():
        if field.secret is None:
            shown.append((field.name, _shown(resource, field)))
        elif field.secret == "token":
            issued = Select(Variable("issued", ObjectType()), field.name, Text(nullable=True))
            shown.append((field.name, Leaf(issued)))
    return Create(
        key=f"create {resource.name}",
        segments=(),
        place=resource.place,
        kind=VERBS["create"],
        resource=resource.name,
        response=Response(201, Object(tuple(shown)), (), resource.place),
        takes=Takes(body=tuple(BodyLeaf((field.name,), field.name) for field in fields)),
    )


def _can_be_given(field: Field, resource: Resource) -> bool:
    """A state moves by transitions alone, and a token that the service makes is not chosen by anybody."""
    if not field.stored or field.serial:
        return False
    if field.secret == "token" and field.on_create is not None:
        return False
    return resource.machine is None or resource.machine.field != field.name


def _listing(resource: Resource, resources: Mapping[str, Resource]) -> List:
    fields = list(resource.fields.values())
    columns = [(field.name, _shown(resource, field)) for field in fields if field.secret is None]
    total = Leaf(Select(Variable("page", ObjectType()), "total", Integer()))
    sortable = [field.name for field in fields if field.secret is None]
    return List(
        key=f"list {resource.name}",
        segments=(),
        place=resource.place,
        kind=VERBS["list"],
        resource=resource.name,
        response=Response(200, Object((("rows", Rows(Object(tuple(columns)))), ("total", total))), (), resource.place),
        filters=tuple(_filters(resource, resources)),
        sorts=Sorts("sort", (), tuple(Order(None, ((name, turns),)) for name in sortable for turns in (False, True))),
        pages=Pages("offset"),
        total=True,
    )


def _filters(resource: Resource, resources: Mapping[str, Resource]) -> Iterator[Filter]:
    """Equality, for each field that has one simple value; a reference is compared by its target's primary key."""
    for field in resource.fields.values():
        found: Typed = _field(resource, field)
        while isinstance(found.type, Row):
            key = resources[found.type.resource].key
            found = Select(found, key.name, key.type, "field")
        if not isinstance(found.type, Anything | Array | ObjectType | Digest | Null):
            value = Variable("value", found.type)
            yield Filter(field.name, found.type, equals(found, value), field.place)


def _field(resource: Resource, field: Field) -> Select:
    through = "field" if field.computed is None else "computed"
    return Select(Variable(resource.name, Row(resource=resource.name)), field.name, field.type, through)  # type: ignore[arg-type]


def _shown(resource: Resource, field: Field) -> Leaf:
    return Leaf(_field(resource, field), null_shown=True)


def records(checked: Checked, dialect: Dialect) -> Records | None:
    """None: the contract states none."""
    if not checked.records:
        return None
    stated: dict[str, dict[str, None]] = {}
    for each in checked.records:
        own = checked.resources[each.resource]
        stated.setdefault(own.name, {}).update(
            dict.fromkeys(name for name in each.values if name not in own.primary_key)
        )
    perspective = Perspective(checked, OPERATOR, dialect)
    return Records(
        rows=tuple(Record(each.resource, dict(each.values), (each.place,)) for each in checked.records),
        changes={
            name: _change(checked.resources[name], tuple(fields), perspective)
            for name, fields in stated.items()
            if fields
        },
        adding={
            name: adding
            for name in stated
            if any(checked.resources[name].fields[each].serial for each in checked.resources[name].primary_key)
            and (adding := adding_with_numbers(checked.resources[name], checked, dialect)) is not None
        },
    )


def _change(resource: Resource, fields: tuple[str, ...], perspective: Perspective) -> Change:
    operation = Update(
        key=f"update {resource.name}",
        segments=by_identifier(resource, perspective.checked),
        place=resource.place,
        kind=VERBS["update"],
        resource=resource.name,
        response=Response(204, None, (), resource.place),
        takes=Takes(body=tuple(BodyLeaf((name,), name) for name in fields)),
    )
    return update(operation, Admission(OPERATOR, None, False, resource.place), perspective)
