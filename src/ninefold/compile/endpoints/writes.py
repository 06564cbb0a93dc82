"""What writes share: what the body gives, what has to be unique, what holds afterwards, and what is read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from msgspec import structs

from ninefold.checked.operations import Mutation, Operation
from ninefold.checked.resources import Field, Guard, Resource
from ninefold.compile import inputs
from ninefold.compile.contents import Columns
from ninefold.compile.judge import details
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import Requirement, Scope, unique
from ninefold.compile.which_rows import was_written
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.expressions.functions import AT_RANDOM, NEVER_TWICE
from ninefold.expressions.reads import reads_beyond
from ninefold.expressions.rows import BEFORE
from ninefold.expressions.tree import Call, Select, Typed, Variable, free_variables, rewrite, walk
from ninefold.plan.problems import Condition, said_by
from ninefold.plan.statement import Piece, Statement
from ninefold.plan.writes import STEPS, Instead, ReadBack, Step, Write
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Boolean
from ninefold.values.pointers import pointer

W = TypeVar("W", bound=Write)
M = TypeVar("M", bound=Mutation)


def pointers(operation: Mutation) -> dict[str, str]:
    """Where in the body each field is given."""
    return {leaf.field: pointer(leaf.pointer) for leaf in operation.takes.body or ()}


def without_set(operation: M) -> M:
    """The same of a body without the fields that `sets` gives: what a body may name besides is not stored."""
    if operation.takes.body is None:
        return operation
    stated = dict(operation.sets)
    body = tuple(leaf for leaf in operation.takes.body if leaf.field not in stated)
    return replace(operation, takes=replace(operation.takes, body=body))


def uniques(
    operation: Mutation,
    resource: Resource,
    perspective: Perspective,
    on_update: bool,
    in_statement: Mapping[str, Fragment] | None = None,
) -> list[Requirement]:
    """The keys and unique fields that this endpoint may bring to collide. What is never the same twice is not among
    them, nor is what `put` knows its row by. `in_statement`: what an update makes as it writes."""
    written = pointers(operation)
    whole = operation.host if operation.kind.changes and operation.kind.is_whole else None
    sought = (operation if whole is None else whole).known_by
    groups = [
        resource.primary_key,
        *((field.name,) for field in resource.fields.values() if field.unique),
        *resource.unique,
    ]
    found = []
    for group in dict.fromkeys(groups):
        if group == sought:
            continue
        fields = [resource.fields[name] for name in group]
        made = {
            each.name: _made(each, operation, on_update)
            for each in fields
            if each.name not in written or _is_set(each.name, operation)
        }
        touched = not on_update or any(name in written or made[name] is not None for name in group)
        if touched and not any(_is_never_taken(resource.fields[name], typed) for name, typed in made.items()):
            computed = {}
            if on_update and len(group) > 1:
                computed = {
                    each.name: _cleared_or_kept(each, operation, resource)
                    for each in fields
                    if each.name in written and each.type.nullable and each.name not in made
                }
            computed |= {name: value for name, value in (in_statement or {}).items() if name in group}
            at_random = (each.name for each in fields if _at_random(_made(each, operation, on_update)))
            own = unique(fields, written, resource, perspective, on_update, computed)
            found.append(replace(own, anew=tuple(at_random)))
    return found


def as_it_becomes(typed: Typed, operation: Mutation, resource: Resource) -> Typed:
    """What a write gives, over the row as it becomes: a field that the body gives is what the body gives."""
    given = {leaf.field for leaf in operation.takes.body or ()}

    def change(node: Typed) -> Typed | None:
        match node:
            case Select(operand=Variable(name=name), name=field, type=type_) if (
                name == resource.name and field in given
            ):
                was_given = Call("has", [inputs.is_given(field)], Boolean())
                return Call("?:", [was_given, inputs.body_value(field, type_), node], type_)
            case _:
                return None

    return rewrite(typed, change)


def _cleared_or_kept(field: Field, operation: Operation, resource: Resource) -> Fragment:
    """The value that a field will have which the body may give: null is a value too."""
    given = bind(inputs.new_value(field.name, field.type))
    if operation.kind.is_whole:
        return given
    kept = column(resource.name, field.name)
    return "CASE WHEN " + bind(inputs.is_given(field.name)) + " THEN " + given + " ELSE " + kept + " END"


def _sets(operation: Mutation) -> dict[str, Typed]:
    return dict(operation.sets) | dict(() if operation.transition is None else operation.transition.sets)


def _is_set(name: str, operation: Mutation) -> bool:
    return name in _sets(operation)


def _made(field: Field, operation: Mutation, on_update: bool) -> Typed | None:
    """What gives the field its value in this write, where the body does not."""
    if on_update:
        return _sets(operation).get(field.name) or field.on_change or next((each.value for each in field.anew), None)
    return _sets(operation).get(field.name) or field.on_create or field.on_change


def _is_never_taken(field: Field, made: Typed | None) -> bool:
    """Whether a value is another each time: a number of the database's, or enough random bits."""
    return field.serial or (isinstance(made, Call) and made.function in NEVER_TWICE)


def _at_random(made: Typed | None) -> bool:
    nodes = () if made is None else walk(made)
    return any(isinstance(each, Call) and each.function in AT_RANDOM for each in nodes)


def guards_of(operation: Mutation) -> tuple[tuple[Guard, ...], tuple[Guard, ...]]:
    """What is asked before the write, and what of the row as it has become: the checks of `put` that read it."""
    if not operation.kind.is_of_what_becomes:
        return operation.guards, ()
    rows = {operation.resource, BEFORE}
    later = tuple(each for each in operation.guards if not rows.isdisjoint(free_variables(each.that)))
    return tuple(each for each in operation.guards if each not in later), later


def with_checks(resource: Resource, operation: Mutation) -> tuple[Resource, tuple[Guard, ...]]:
    """The resource, whose rows are held first to what this operation asks of them once they are written; and what it
    asks before."""
    guards, later = guards_of(operation)
    return replace(resource, invariants=(*later, *resource.invariants)), guards


def invariants(resource: Resource, perspective: Perspective) -> list[Requirement]:
    """What holds of the row as it has become; told by the statement that reads it back."""
    found = []
    for each in resource.invariants:
        holds = perspective.holds(each.that, {resource.name: resource.name})
        condition = Condition("check", resource.name, code=each.code, trace=(each.place,))
        found.append(Requirement(condition, holds, Scope.ROW))
    return found


@dataclass(frozen=True)
class Told:
    """How a write tells of its row: what it returns, the codes whose details stand behind the columns, and what follows
    it, of which a read is where more than the row itself is shown or done."""

    returning: Fragment
    details: tuple[str, ...]
    follows: tuple[Step, ...]


def told_after(
    operation: Mutation,
    resource: Resource,
    columns: Columns,
    checks: list[Requirement],
    perspective: Perspective,
    *steps: Step | None,
    by_key: bool = False,
) -> Told:
    """`steps`: what follows the write; then it has to say which row it is, as it has to `by_key`. Sub-selects in
    RETURNING see the tables before or after the write, as the database likes: where something else is shown, too, the
    write returns the primary key, by which a select finds the row."""
    model = perspective.checked.model
    told = details(checks, operation, resource, perspective)
    codes = tuple(name for name, _ in told)
    fails = ["((" + each.holds + ") IS NOT TRUE)" for each in checks]
    returned = [*columns.fragments, *(detail for _, detail in told), *fails] or [Fragment("1")]
    read = [*columns.expressions, *(each.that for each in resource.invariants)]
    of_all = perspective.checked.errors.codes
    read += [said for code in of_all for name, said in code.computed.items() if said_by(code.name, name) in codes]
    by_key = by_key or any(steps) or operation.goes_on or operation.several
    if not by_key and not any(reads_beyond(typed, (resource.name,), model) for typed in read):
        return Told(join(", ", returned), codes, ())
    keys = join(", ", [column(resource.name, key) for key in resource.primary_key] or [Fragment("1")])
    name = identifier(resource.name)
    same = was_written(operation, resource)
    text = "SELECT " + join(", ", returned) + f" FROM {name} AS {name} WHERE " + all_of(same)
    read_back = ReadBack(Statement((Piece(text.text, text.binds),), tuple(columns.results)))
    return Told(keys, codes, in_order(*steps, read_back))


def and_then(write: W, *steps: Step) -> W:
    """The same write, with more that follows it, or what is done instead."""
    own = (
        structs.replace(each, write=and_then(each.write, *steps)) if isinstance(each, Instead) else each
        for each in write.follows
    )
    return structs.replace(write, follows=in_order(*own, *steps))


def in_order(*steps: Step | None) -> tuple[Step, ...]:
    """What follows a write, in the order in which it does."""
    return tuple(sorted((each for each in steps if each is not None), key=lambda each: STEPS.index(type(each))))
