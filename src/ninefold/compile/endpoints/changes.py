"""How a write changes a row that is there: which values are made beforehand, which by the statement; in what order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from ninefold.checked.operations import Ensure, Mutation
from ninefold.checked.resources import Anew, Field, Resource
from ninefold.compile import inputs
from ninefold.compile.endpoints.assignments import failing, if_any, with_made
from ninefold.compile.endpoints.held import left_out, making
from ninefold.compile.endpoints.writes import (
    as_it_becomes,
    pointers,
)
from ninefold.compile.perspective import Perspective
from ninefold.compile.which_rows import taking
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import in_statement, is_new_each_time, needs_database
from ninefold.expressions.tree import Constant, Select, Typed, Variable, walk
from ninefold.plan.writes import Assign
from ninefold.sql.fragment import Fragment, bind, column, identifier, join
from ninefold.values import Text


@dataclass(frozen=True)
class Changes:
    """How an update changes a row. `assigns` is made beforehand. `sets` is computed by the statement from the row as it
    was, and `made` from the row as it becomes, of which `again` only where one of its fields changes; of these, what
    the body is `sure` to give then."""

    assigns: tuple[Assign, ...]
    sets: tuple[tuple[str, Typed], ...]
    made: Mapping[str, Typed]
    again: Mapping[str, tuple[str, ...]]
    sure: Mapping[str, str | None]

    @property
    def by_statement(self) -> dict[str, Typed]:
        """What the statement computes, by field."""
        return {**dict(self.sets), **self.made}


def changes(operation: Mutation, resource: Resource, perspective: Perspective) -> Changes:
    given = pointers(operation)
    sets = {name: left_out(typed) for name, typed in operation.sets}
    if operation.transition is not None:
        sets |= {name: left_out(typed) for name, typed in operation.transition.sets}
        if resource.machine is not None:
            sets[resource.machine.field] = Constant(operation.transition.to, Text())
    in_database = {name: typed for name, typed in sets.items() if needs_database(typed, (resource.name,))}
    anew = _made_anew(operation, resource, {*given, *sets})
    assigns, watched = list[Assign](), dict[str, tuple[str, ...]]()
    named = _named(operation)
    for field in resource.fields.values():
        if not field.stored or field.serial or field.name in in_database or field.name in named:
            continue
        otherwise = sets.get(field.name) or field.on_change
        is_given = field.name in given and field.name not in sets
        replaced = operation.kind.is_whole and is_given
        again = anew.get(field.name, ())
        if is_given or otherwise is not None or again:
            kept = replaced and otherwise is None and _is_made_once(field)
            made_of = otherwise or (field.on_create if replaced and not kept else None)
            if again:
                made_of = resource.made_anew(again, resource.own(field.name) if operation.several else None)
            watched[field.name] = tuple(dict.fromkeys(name for each in again for name in each.fields))
            assigns.append(
                Assign(
                    field.name,
                    field.type,
                    given=is_given,
                    otherwise=None if made_of is None else left_out(made_of),
                    again=() if operation.several else watched[field.name],
                    secret=field.secret,
                    kept=kept,
                )
            )
    otherwise_made = {each.field: each.otherwise for each in assigns if each.otherwise is not None}
    watching = {
        each.field: resource.made_anew([Anew(each.again, each.otherwise)], resource.own(each.field))
        for each in assigns
        if each.again and each.otherwise is not None
    }
    by_statement = in_statement(otherwise_made | watching, resource.name, perspective.checked.model, in_database)
    made = {name: otherwise_made[name] for name in by_statement}
    again_made = {each.field: each.again for each in assigns if each.field in made and each.again}
    sure = {each.field: _sure(watched[each.field], assigns) for each in assigns if each.field in again_made}
    assigns = [
        replace(each, otherwise=None, again=(), in_statement=True) if each.field in made else each for each in assigns
    ]
    hold = making(operation, resource, perspective).held
    assigns = [
        each
        if each.otherwise is None
        else replace(
            each,
            reads=tuple(_reads(each, resource)),
            held=hold(resource.fields[each.field], each.otherwise, _sure(watched[each.field], assigns)),
        )
        for each in assigns
    ]
    return Changes(tuple(_in_order(assigns)), tuple(in_database.items()), made, again_made, sure)


def _is_made_once(field: Field) -> bool:
    """Whether what `on create` gives is new each time: a request that leaves it out asks for no other."""
    return field.on_create is not None and is_new_each_time(field.on_create)


def _named(operation: Mutation) -> set[str]:
    """The fields of a row that is put where the path names it, and where one is made if there is none: it has them
    from there, unless the body repeats them."""
    if not (operation.kind.is_whole and isinstance(operation.host, Ensure)):
        return set()
    named = {each.field for each in operation.host.names if not each.through}
    return named - pointers(operation).keys()


def _made_anew(operation: Mutation, resource: Resource, given: set[str]) -> dict[str, tuple[Anew, ...]]:
    """By field, what gives it its value because others change, as far as this write may change them. `given`: the
    fields that the body or the contract gives."""
    whole = (set(given) if operation.kind.is_whole else {name for name, _ in operation.sets}) | _named(operation)
    if operation.transition is not None:
        whole |= {name for name, _ in operation.transition.sets}
    return resource.made_on_change(given, whole)


def _sure(watched: Sequence[str], assigns: Sequence[Assign]) -> str | None:
    """The field that the body is sure to give where a value is made on a change of these."""
    only = next((each for each in assigns if watched == (each.field,)), None)
    return only.field if only is not None and only.given and only.otherwise is None else None


def _reads(assign: Assign, resource: Resource) -> list[str]:
    """The fields of the row that are read for a value: those that it is made of, and those whose change it is made
    on."""
    found = [] if assign.otherwise is None else list(_fields_in(assign.otherwise, resource))
    return found + [name for name in assign.again if name not in found and resource.fields[name].secret is None]


def _in_order(assigns: Sequence[Assign]) -> Iterator[Assign]:
    """Each after those of which it is made, as far as that goes."""
    waiting = sorted(assigns, key=lambda each: bool(each.reads))
    while waiting:
        made_later = {each.field for each in waiting if each.otherwise is not None}
        ready = next((each for each in waiting if not (each.again and made_later & {*each.reads} - {each.field})), None)
        chosen = ready or waiting[0]
        waiting.remove(chosen)
        yield chosen


def made_of_the_row(
    typed: Typed, operation: Mutation, resource: Resource, perspective: Perspective
) -> tuple[Fragment, Fragment]:
    """What `sets` makes of a row that is there, and when it cannot."""
    becomes, rows = as_it_becomes(typed, operation, resource), {resource.name: resource.name}
    value = perspective.value(becomes, rows)
    return value, perspective.failing(becomes, rows) or "((" + value + ") IS NULL)"


def values_computed(
    changed: Changes, operation: Mutation, resource: Resource, perspective: Perspective
) -> dict[str, tuple[Fragment, Fragment]]:
    """What the statement computes, over the row that it writes, each with when it cannot be. What is made of the row as
    it becomes is made of a row beside that one."""
    found = {name: made_of_the_row(typed, operation, resource, perspective) for name, typed in changed.sets}
    if not changed.made:
        return found
    given = [each.field for each in changed.assigns if each.given]
    assigns = {each.field: each for each in changed.assigns}
    fields = [field for field in resource.fields.values() if field.stored]
    cells = []
    for field in fields:
        cell, assign = column(resource.name, field.name), assigns.get(field.name)
        if field.name in found:
            cell, _ = found[field.name]
        elif assign is not None and field.secret is None:
            new = bind(inputs.new_value(field.name, field.type))
            always = (operation.kind.is_whole and not assign.kept) or (
                assign.otherwise is not None and not assign.again
            )
            if always and not assign.in_statement:
                cell = new
            elif assign.given or assign.again:
                is_new = [inputs.is_given(field.name)] if assign.given else []
                is_new += [inputs.is_made_anew(field.name)] if assign.again else []
                cell = if_any(is_new, new, cell)
        cells.append(cell + f" AS {identifier(field.name)}")
    row = "SELECT " + join(", ", cells)
    columns = [field.name for field in fields]
    row = with_made(row, columns, changed.made, given, resource, perspective, changed.again)
    source = " FROM (" + row + f") AS {identifier(resource.name)})"
    return found | {
        name: (
            "(SELECT " + column(resource.name, name) + source,
            "(SELECT " + column(resource.name, failing(name)) + source,
        )
        for name in changed.made
    }


def written_further(operation: Mutation, resource: Resource, perspective: Perspective) -> set[str]:
    """The fields that what follows with the same row gives values to."""
    found = set[str]()
    for transition in operation.further:
        changed = changes(taking(transition, resource, perspective.checked), resource, perspective)
        found |= {name for name, _ in changed.sets} | {each.field for each in changed.assigns}
    return found


def _fields_in(typed: Typed, resource: Resource) -> Iterator[str]:
    """The fields of the row itself that an expression reads."""
    for node in walk(typed):
        match node:
            case Select(operand=Variable(name=name), name=field) if name == resource.name:
                yield field
            case _:
                pass
