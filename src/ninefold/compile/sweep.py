"""Part 4: operations on all rows (`delete all todo`): found as a list finds them, then changed as effects change them.

The rows that the path, `where`, the given filters and the row rules leave are found by one statement. What an endpoint
for one row would ask of it is asked of each: a guard, a state or a reference that does not hold refuses the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from ninefold.checked.contents import Array, Choice, Content, Object, Response, Rows
from ninefold.checked.endpoints import Admission
from ninefold.checked.lists import beside_rows
from ninefold.checked.operations import Delete, Mutation, Operation, Update
from ninefold.checked.resources import Resource
from ninefold.compile.contents import Columns
from ninefold.compile.effects import with_effects
from ninefold.compile.endpoints.assignments import givers, which_rows
from ninefold.compile.endpoints.delete import delete
from ninefold.compile.endpoints.rows import acted_on, answer, pieces, row_columns
from ninefold.compile.endpoints.update import update
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import Requirement, parents, permission_by_way
from ninefold.compile.several import by_its_rows, of_several, read_of_each
from ninefold.compile.which_rows import WANTED, WRITTEN, among, filter_parameters, filter_pieces, on_the_way, says_which
from ninefold.diagnostics.frozen import replace
from ninefold.plan import operations as plan
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import Bulk, Effect
from ninefold.sql.fragment import Fragment, all_of, column, identifier, join


def sweep(operation: Update | Delete, admission: Admission, perspective: Perspective) -> plan.Sweep:
    resource = acted_on(operation, perspective)
    rows = row_columns(resource, perspective)
    beside, source = on_the_way([*beside_rows(operation.response)], operation, perspective, seen=True)
    head = Columns(perspective, beside, of_rows=rows)
    response = answer(operation, head, perspective)
    required = parents(operation, perspective)
    required += permission_by_way(admission, operation, resource, perspective)
    write = _of_each(operation, admission, perspective)
    find = _found(operation, resource, required, write, rows, perspective)
    shown = None
    if operation.response.content is not None and _shows_rows(operation.response.content):
        shown = by_its_rows(_shown(operation, resource, rows), write, perspective)
    return plan.Sweep(
        resource=resource.name,
        response=response,
        seen=which_rows(operation, resource, perspective),
        change=Effect(of_several(write, replace(operation, several=True), perspective), find),
        filters=filter_parameters(operation),
        items=shown,
        head=Statement(head.select(" FROM " + source), tuple(head.results)) if head.results else None,
        judge=judge(Fragment(perspective.dialect.nothing), required, operation, None, perspective)
        if required
        else None,
    )


def _of_each(operation: Update | Delete, admission: Admission, perspective: Perspective) -> Bulk:
    """What is done to each row. Which rows these are has been said."""
    none = Response(204, None, (), operation.response.place)
    each = replace(operation, segments=(), where=None, of_all=None, response=none, several=True)
    write: Bulk = (
        delete(each, admission, perspective) if isinstance(each, Delete) else update(each, admission, perspective)
    )
    places = givers(each, acted_on(operation, perspective), perspective)
    return with_effects(structs.replace(write, places=places), each, perspective)


def _found(
    operation: Mutation,
    resource: Resource,
    required: Sequence[Requirement],
    write: Bulk,
    rows: Columns,
    perspective: Perspective,
) -> Statement:
    """The primary key of each row, with what its values are made of. Those that are gone are not among them, but for
    states from which the transition brings them back."""
    which = says_which(operation, rows.rows, perspective) + [each.holds for each in required]
    taken = operation.transition
    there = perspective.there(resource.name, resource.name, () if taken is None else taken.origins)
    seen = perspective.visible(resource.name, resource.name)
    which += ["(" + each + ")" for each in (there, seen) if each is not None]
    read = read_of_each(write)
    keys = [resource.fields[key] for key in resource.primary_key]
    fields = [*keys, *(resource.fields[each.name] for each in read if each.name in resource.fields)]
    cells = [column(resource.name, field.name) for field in fields]
    name = identifier(resource.name)
    source = " FROM " + perspective.source(resource.name) + f" AS {name} WHERE " + all_of(which)
    order = " ORDER BY " + join(", ", cells[: len(keys)])
    return Statement(
        (
            *pieces("SELECT " + join(", ", cells) + source),
            *filter_pieces(operation, rows.rows, perspective),
            Piece(order.text, order.binds),
        ),
        tuple(ResultColumn(field.name, field.type) for field in fields),
    )


def _shown(operation: Operation, resource: Resource, rows: Columns) -> Statement:
    """The rows as they have become; those that are to be deleted, as they are."""
    which = among(WANTED if operation.kind.removes else WRITTEN, resource)
    order = join(", ", [column(resource.name, key) for key in resource.primary_key])
    source = " FROM " + rows.perspective.source(resource.name) + f" AS {identifier(resource.name)} WHERE "
    return Statement(pieces("SELECT " + rows.listed + source + which + " ORDER BY " + order), tuple(rows.results))


def _shows_rows(content: Content) -> bool:
    match content:
        case Rows():
            return True
        case Object(members=members):
            return any(_shows_rows(value) for _, value in members)
        case Array(items=items):
            return any(map(_shows_rows, items))
        case Choice(yes=yes, no=no):
            return _shows_rows(yes) or _shows_rows(no)
        case _:
            return False
