"""Part 2: tables, their columns and their indexes."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked
from ninefold.expressions.rewrite import walk
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.plan.environment import ENTERED_COLUMN
from ninefold.plan.events import SUBSCRIPTION
from ninefold.plan.schema import Column, Index, Machine, Reference, Schema, Table
from ninefold.planner.credentials import issued_to, scoped
from ninefold.planner.subscribers import subscribers
from ninefold.values import Row


def schema(checked: Checked) -> Schema:
    to = subscribers(checked)
    return Schema(
        tuple(_table(resource, checked) for resource in checked.resources.values() if not resource.log),
        idempotency=any(endpoint.idempotency_key is not None for endpoint in checked.in_all_versions),
        events=bool(checked.events.kinds) or SUBSCRIPTION in checked.resources or _is_read(checked),
        subscriptions=SUBSCRIPTION in checked.resources or to is not None,
        credentials=issued_to(checked),
        versions=bool(checked.events.kinds) and checked.versions is not None,
        broker=None if not checked.events.kinds or checked.events.broker is None else checked.events.broker.operator,
        subscribers=None if to is None else (to.resource, *checked.resources[to.resource].identifier),
        log=_is_read(checked),
        scoped=scoped(checked),
    )


def _is_read(checked: Checked) -> bool:
    """Whether the log of events is read as a resource."""
    return any(each.log for each in checked.resources.values())


def _table(resource: Resource, checked: Checked) -> Table:
    stored = [field for field in resource.fields.values() if field.stored]
    references = tuple(
        Reference(
            field.name,
            field.refers_to,
            checked.resources[field.refers_to].identifier[0],
            field.on_delete,
        )
        for field in stored
        if field.refers_to is not None
    )
    return Table(
        name=resource.name,
        columns=tuple(
            Column(field.name, field.type, required=not field.type.nullable, serial=field.serial) for field in stored
        ),
        key=resource.identifier,
        references=references,
        indexes=tuple(_indexes(resource, checked)),
        states=resource.machine is not None,
        machine=None if resource.machine is None else Machine(resource.machine.field, resource.machine.states),
    )


def _indexes(resource: Resource, checked: Checked) -> Iterator[Index]:
    """Unique values; secrets, by which callers are found; states, where a timer looks for what is due; references, in
    both directions; and each order of each list, behind the field by which a row rule narrows it."""
    unique = [(field.name,) for field in resource.fields.values() if field.unique] + list(resource.unique)
    for columns in dict.fromkeys(unique):
        if columns != resource.identifier:
            yield Index(_title(resource, columns), columns, unique=True)
    wanted: list[tuple[str, ...]] = []
    for field in resource.fields.values():
        if field.secret == "token":
            wanted.append((field.name,))
    machine = resource.machine
    if machine is not None and any(each.after is not None for each in machine.transitions.values()):
        wanted.append((machine.field, ENTERED_COLUMN))
        named = (_field_alone(each.after, resource) for each in machine.transitions.values())
        wanted += [(machine.field, name) for name in named if name is not None]
    if resource.expiry is not None and (expires := _field_alone(resource.expiry.at, resource)) is not None:
        wanted.append((expires,))
    for endpoint in checked.endpoints:
        if endpoint.verb == "list" and endpoint.resource == resource.name:
            wanted += _orders(endpoint, resource, checked)
    for field in resource.fields.values():
        if field.refers_to is not None and field.stored:
            wanted.append((field.name,))
    seen: list[tuple[str, ...]] = [resource.identifier, *unique]
    for columns in dict.fromkeys(wanted):
        # An index that another one begins with is not needed.
        longer = (other for other in (*seen, *wanted) if other != columns)
        if columns not in seen and not any(other[: len(columns)] == columns for other in longer):
            yield Index(_title(resource, columns), columns)


def _field_alone(typed: int | Typed | None, resource: Resource) -> str | None:
    """The stored field that an expression is, if it is nothing else."""
    match typed:
        case Select(operand=Variable(name=name), name=field) if name == resource.name and _stored(
            resource.fields.get(field)
        ):
            return field
        case _:
            return None


def _title(resource: Resource, columns: tuple[str, ...]) -> str:
    return " ".join((resource.name, "by", *columns))


def _orders(endpoint: Endpoint, resource: Resource, checked: Checked) -> Iterator[tuple[str, ...]]:
    if endpoint.sorts is None:
        return
    narrowed = list(dict.fromkeys(_narrowed_by(endpoint, resource, checked)))
    for keys in dict.fromkeys((endpoint.sorts.default, *endpoint.sorts.offered)):
        if not keys or not all(resource.fields[name].stored for name, _ in keys):
            continue
        named = [name for name, _ in keys]
        order = [f"-{name}" if descending else name for name, descending in keys]
        order += [name for name in resource.identifier if name not in named]
        for prefix in narrowed:
            yield (*prefix, *order)


def _narrowed_by(endpoint: Endpoint, resource: Resource, checked: Checked) -> Iterator[tuple[str, ...]]:
    """The fields that a row rule or the path compares with one value: what stands before the order in an index."""
    through = tuple(name.through[0] for name in endpoint.names if len(name.through) == 1)
    rules = checked.row_rules.get(resource.name, {})
    for admission in endpoint.admissions:
        rule = rules.get(admission.who)
        yield (*_compared(rule, resource), *through)[:1]


def _compared(rule: Typed | None, resource: Resource) -> tuple[str, ...]:
    """`order.customer` in `order.customer == caller.customer`."""
    if rule is None:
        return ()
    for node in walk(rule):
        match node:
            case Select(operand=Variable(name=name, type=Row()), name=field) if name == resource.name and _stored(
                resource.fields.get(field)
            ):
                return (field,)
            case _:
                pass
    return ()


def _stored(field: Field | None) -> bool:
    return field is not None and field.stored
