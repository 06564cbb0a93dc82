"""`update R`, `replace R` and transitions: a row that is there, changed under everything that guards it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Mutation
from ninefold.checked.resources import Anew, Field, Resource
from ninefold.compile import inputs
from ninefold.compile.before import as_it_was
from ninefold.compile.credentials import endings, issue
from ninefold.compile.endpoints.assignments import failing, if_any, is_made, with_made
from ninefold.compile.endpoints.held import can_be_made, left_out, made_columns, making
from ninefold.compile.endpoints.read import requirements_of_row
from ninefold.compile.endpoints.representation import is_of_more, precondition
from ninefold.compile.endpoints.rows import acted_on, answer, outer_join, row_columns
from ninefold.compile.endpoints.writes import (
    as_it_becomes,
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
    guard,
    has_value,
    in_state,
    of_conditions,
    reference_seen,
    reference_there,
)
from ninefold.compile.upheld import Change, upheld
from ninefold.compile.which_rows import WANTED, is_wanted, says_which, taking
from ninefold.expressions.reads import in_statement, is_new_each_time, needs_database
from ninefold.expressions.tree import Constant, Select, Typed, Variable, walk
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
    given = pointers(operation)
    transition = operation.transition

    required = [] if operation.follows else requirements_of_row(operation, admission, resource, perspective)
    to_read = [each.holds for each in required]
    required += of_conditions(operation, resource, perspective)
    if transition is not None and resource.machine is not None:
        if operation.follows != "in its state":
            origins = [Constant(state, Text()) for state in transition.origins]
            required.append(in_state(resource, origins, resource.machine.field, transition.place))
    judged_by = (*guards, *(() if transition is None else transition.guards))
    required += [guard(each, resource, perspective) for each in judged_by]
    changed = changes(operation, resource, perspective)
    assigns = changed.assigns
    computed = values_computed(changed, operation, resource, perspective)
    values = {field_name: value for field_name, (value, _) in computed.items()}
    required += _references(assigns, values, given, resource, perspective)
    by_statement = {**dict(changed.sets), **changed.made}
    held_values, held_to = making(operation, resource, perspective).as_made(by_statement, computed, sure=changed.sure)
    required += uniques(operation, resource, perspective, on_update=True, in_statement=values)
    for field_name, (value, fails) in computed.items():
        if by_statement[field_name].type.nullable and not resource.fields[field_name].type.nullable:
            pointer = given.get(field_name) if field_name in changed.made else None
            required.append(has_value(resource.fields[field_name], value, fails, resource, pointer))
    name = identifier(resource.name)
    pieces = [_piece(f"UPDATE {name} SET {identifier(REVISION_COLUMN)} = " + bind(inputs.REVISION))]
    if transition is not None and resource.machine is not None:
        pieces.append(_piece(f", {identifier(ENTERED_COLUMN)} = " + bind(inputs.NOW)))
    pieces += [_piece(f", {identifier(field_name)} = " + value) for field_name, value in values.items()]
    for assign in assigns:
        if assign.in_statement:
            continue
        value = bind(inputs.new_value(assign.field, assign.type))
        pieces.append(_piece(f", {identifier(assign.field)} = " + value, f"new {assign.field}"))

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
    held = upheld(Change("update", resource, frozenset(written), found, operation.several), operation, perspective)
    by_key = bool(held) or is_of_more(condition)
    told = told_after(operation, resource, columns, checks, perspective, *steps, by_key=by_key)
    if operation.several:
        pieces.append(_piece(Fragment(f" FROM {WANTED}")))
        found = is_wanted(resource)
    asked = [*(each.holds for each in required), *can_be_made(held_values)]
    pieces.append(_piece(" WHERE " + all_of([*found, *asked])))
    current = _current(resource, operation, assigns, [*found, *to_read], perspective)
    if current is not None:
        as_read = " AND " + column(resource.name, REVISION_COLUMN) + " = " + bind(inputs.REVISION_AS_READ)
        pieces.append(_piece(as_read, "as it was"))
    pieces.append(_piece(" RETURNING " + told.returning))
    source = outer_join(resource, operation, perspective)
    judged = judge(source, required, operation, resource, perspective, held_values)
    kind = Transition if transition is not None else Replace if operation.kind.is_whole else Update
    return kind(
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
            yield reference_seen(field, in_request, given[field.name], or_made, resource, perspective)
        if or_made:
            yield reference_there(field, in_request if value is None else value, is_given, resource, perspective)


def _piece(fragment: Fragment, when: str | None = None) -> Piece:
    return Piece(fragment.text, fragment.binds, when)


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


def changes(operation: Mutation, resource: Resource, perspective: Perspective) -> Changes:
    given = pointers(operation)
    sets = {name: left_out(typed) for name, typed in operation.sets}
    if operation.transition is not None:
        sets |= {name: left_out(typed) for name, typed in operation.transition.sets}
        if resource.machine is not None:
            sets[resource.machine.field] = Constant(operation.transition.to, Text())
    in_database = {name: typed for name, typed in sets.items() if needs_database(typed, (resource.name,))}
    anew = _made_anew(operation, resource, {*given, *sets})
    assigns: list[Assign] = []
    watched: dict[str, tuple[str, ...]] = {}
    for field in resource.fields.values():
        if not field.stored or field.serial or field.name in in_database:
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


def _made_anew(operation: Mutation, resource: Resource, given: set[str]) -> dict[str, tuple[Anew, ...]]:
    """By field, what gives it its value because others change, as far as this write may change them. `given`: the
    fields that the body or the contract gives."""
    whole = set(given) if operation.kind.is_whole else {name for name, _ in operation.sets}
    if operation.transition is not None:
        whole |= {name for name, _ in operation.transition.sets}
    changed = given | {field.name for field in resource.fields.values() if field.on_change is not None}
    found: dict[str, tuple[Anew, ...]] = {}
    waiting = [field for field in resource.fields.values() if field.anew and field.name not in whole]
    while more := [field for field in waiting if any(changed & {*each.fields} for each in field.anew)]:
        waiting = [field for field in waiting if field not in more]
        changed |= {field.name for field in more}
        found |= {field.name: field.anew for field in more}
    return found


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


def values_computed(
    changed: Changes, operation: Mutation, resource: Resource, perspective: Perspective
) -> dict[str, tuple[Fragment, Fragment]]:
    """What the statement computes, over the row that it writes, each with when it cannot be. What is made of the row as
    it becomes is made of a row beside that one."""
    rows = {resource.name: resource.name}
    becoming = {name: as_it_becomes(typed, operation, resource) for name, typed in changed.sets}
    sets = {name: perspective.value(typed, rows) for name, typed in becoming.items()}
    found = {
        name: (value, perspective.failing(becoming[name], rows) or "((" + value + ") IS NULL)")
        for name, value in sets.items()
    }
    if not changed.made:
        return found
    given = [each.field for each in changed.assigns if each.given]
    assigns = {each.field: each for each in changed.assigns}
    fields = [field for field in resource.fields.values() if field.stored]
    cells = []
    for field in fields:
        cell, assign = column(resource.name, field.name), assigns.get(field.name)
        if field.name in sets:
            cell = sets[field.name]
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
    if operation.verb == "update":
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
