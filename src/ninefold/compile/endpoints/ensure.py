"""`put R`: a row that is created, or that is there already as it is wanted, or that is changed.

Three texts are made of the same requirements. The insert asks them of the row as it would be; where the row is there,
a select asks them of the row as it is; and where neither gives a row, the judge asks them of the one or the other and
says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Final

from msgspec import structs

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Mutation
from ninefold.checked.resources import Field, Guard, Resource
from ninefold.compile import inputs
from ninefold.compile.endpoints.assignments import failing, givers
from ninefold.compile.endpoints.changes import made_of_the_row
from ninefold.compile.endpoints.create import (
    belonging,
    of_the_row,
    references,
    references_from_path,
    row_to_store,
    values_made,
    values_there,
)
from ninefold.compile.endpoints.held import can_be_made, left_out, made_columns, making
from ninefold.compile.endpoints.representation import is_of_more, precondition
from ninefold.compile.endpoints.rows import acted_on, answer, pieces, row_columns
from ninefold.compile.endpoints.update import update, with_its_identifier
from ninefold.compile.endpoints.writes import (
    guards_of,
    in_order,
    invariants,
    pointers,
    told_after,
    uniques,
    with_checks,
    without_set,
)
from ninefold.compile.events import caused
from ninefold.compile.judge import judge
from ninefold.compile.perspective import Perspective
from ninefold.compile.requirements import (
    THERE,
    Requirement,
    Scope,
    guard,
    has_value,
    parents,
    permission,
    presence,
    still_there,
    unchanged,
)
from ninefold.compile.subscribers import subscription
from ninefold.compile.upheld import Change, upheld
from ninefold.compile.which_rows import by_identifier, path_conditions
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.reads import is_new_each_time
from ninefold.expressions.rows import unwritten
from ninefold.expressions.tree import Typed, free_variables
from ninefold.language.verbs import VERBS
from ninefold.plan.environment import ENTERED_COLUMN, REVISION_COLUMN
from ninefold.plan.problems import Condition
from ninefold.plan.responses import Response
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import Assign, Ensure, Instead, Put, Replace, Untouched
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Anything, Array, Object, optional


class _Row(Enum):
    """Which row goes by the resource's name in a text."""

    AS_IT_WOULD_BE = "as it would be"
    AS_IT_IS = "as it is"
    EITHER = "either"


def ensure(operation: stated.Ensure, admission: Admission, perspective: Perspective) -> Ensure:
    operation = without_set(operation)
    resource, _ = with_checks(acted_on(operation, perspective), operation)
    first = len(guards_of(operation)[1]) if operation.goes_on else 0
    from_path = references_from_path(operation, perspective)
    assigns, made = values_made(operation, resource, from_path, perspective)
    assigns = tuple(_asked_of_new_row(each, operation, resource) for each in assigns)
    new_row, targets = row_to_store(operation, resource, from_path, made, perspective)
    name = identifier(resource.name)
    wanted = {each: "(SELECT " + column(resource.name, each) + " FROM (" + new_row + f") AS {name})" for each in made}
    of_row = {each: of_the_row(each, resource) for each in made}
    not_there = "NOT " + column(resource.name, THERE)
    held_values, held_to = making(operation, resource, perspective).as_made(made, of_row, not_there)
    columns = row_columns(resource, perspective)
    created = answer(operation, columns, perspective)
    same = operation.outcomes.get("unchanged")
    unchanged_ = None if same is None else answer(operation, columns, perspective, same)
    checks = invariants(resource, perspective)
    happened = caused(operation.verb, resource, operation, perspective)
    steps = (subscription(resource, perspective.checked), happened)
    held = upheld(Change("makes", resource), operation, perspective)
    condition = precondition(operation, admission, resource, perspective)
    by_key = bool(held) or is_of_more(condition)
    told = told_after(operation, resource, columns, checks, perspective, *steps, by_key=by_key)
    requirements = partial(_requirements, operation, admission, resource, assigns, wanted, made, perspective)
    there = _the_one(operation, resource, from_path, wanted, perspective)
    holding = [*(each.holds for each in requirements(_Row.AS_IT_WOULD_BE)), *can_be_made(held_values)]
    if operation.where is not None:  # which row it is no key says, by which an insert would see that it is there
        holding.append(_none(there))
    insert = _inserted(name, targets, new_row, holding, told.returning)
    the_one = _is_the_one(resource.name, operation, resource, from_path, wanted, perspective)
    which = [the_one, *(each.holds for each in requirements(_Row.AS_IT_IS))]
    found = "SELECT " + told.returning + f" FROM {name} AS {name} WHERE " + all_of(which)
    results = tuple(columns.results)
    either = _either(resource, wanted, new_row, there)
    judged = judge(either, requirements(_Row.EITHER), operation, resource, perspective, held_values)
    instead, kind = None, Ensure
    if not operation.kind.compares:
        instead, kind = _instead(operation, admission, resource, [the_one], perspective, created), Put
    return kind(
        resource=resource.name,
        response=created,
        statement=Statement(pieces(insert), results),
        makes="created" in operation.outcomes,
        there=_there(the_one, operation, resource, assigns),
        untouched=None if unchanged_ is None else Untouched(Statement(pieces(found), results), unchanged_),
        judge=judged,
        assigns=assigns,
        held=made_columns(held_values, held_to, judged),
        key=resource.primary_key,
        invariants=tuple(each.condition for each in checks),
        checks=first,
        details=told.details,
        precondition=condition,
        upholds=held,
        follows=in_order(*told.follows, instead),
    )


def _there(
    the_one: Fragment, operation: stated.Ensure, resource: Resource, assigns: Sequence[Assign]
) -> Statement | None:
    made = (each.otherwise for each in assigns if each.otherwise is not None and not each.compared)
    may_fail = any(free_variables(each) - {"now"} for each in made)
    if not (operation.kind.compares and "created" in operation.outcomes and may_fail):
        return None
    text = "SELECT 1" + Fragment(f" FROM {identifier(resource.name)} AS {identifier(resource.name)} WHERE ") + the_one
    return Statement((Piece(text.text, text.binds),))


def _inserted(name: str, targets: list[str], row: Fragment, holding: list[Fragment], returning: Fragment) -> Fragment:
    """The row as it is wanted, where all of that holds and none is there already."""
    values = ", ".join(f"{name}.{target}" for target in targets)
    source = f"INSERT INTO {name} ({', '.join(targets)}) SELECT {values} FROM (" + row + f") AS {name} WHERE "
    return source + all_of(holding) + " ON CONFLICT DO NOTHING RETURNING " + returning


_IN_WHOLE: Final = replace(VERBS["update"], is_whole=True)
"""What `put` does with a row that is there, whose events are those of an update."""


def _instead(
    operation: stated.Ensure,
    admission: Admission,
    resource: Resource,
    which: list[Fragment],
    perspective: Perspective,
    created: Response,
) -> Instead:
    """The change of the row that is there, by its primary key; its entity tags are those of the path."""
    change = stated.Update(
        key=operation.key,
        place=operation.place,
        kind=_IN_WHOLE,
        resource=resource.name,
        response=operation.outcomes["replaced"],
        segments=by_identifier(resource, perspective.checked),
        validator=operation.validator,
        errors=operation.errors,
        takes=operation.takes,
        also=operation.also,
        host=operation,
        guards=guards_of(operation)[1],
        sets=operation.sets,
    )
    write = update(with_its_identifier(change, perspective), admission, perspective)
    assert isinstance(write, Replace)
    keys = [column(resource.name, key) for key in resource.primary_key]
    name = identifier(resource.name)
    found = "SELECT " + join(", ", keys) + f" FROM {name} AS {name} WHERE " + all_of(which)
    results = tuple(ResultColumn(key, resource.fields[key].type) for key in resource.primary_key)
    write = structs.replace(
        write,
        response=structs.replace(write.response, tag_prefix=created.tag_prefix),
        precondition=precondition(operation, admission, resource, perspective),
        places=givers(change, resource, perspective),
    )
    return Instead(write, Statement(pieces(found), results))


def _requirements(
    operation: stated.Ensure,
    admission: Admission,
    resource: Resource,
    assigns: Sequence[Assign],
    made: Mapping[str, Fragment],
    by_statement: Mapping[str, Typed],
    perspective: Perspective,
    row: _Row,
) -> list[Requirement]:
    given = pointers(operation)
    required = parents(operation, perspective)
    required += belonging(operation, resource, perspective, Scope.EITHER)
    of_the_row = [*presence(operation, resource, perspective), *still_there(operation, resource, perspective)]
    required += _where(row, _Row.AS_IT_IS, of_the_row, resource)
    if "created" not in operation.outcomes:
        missing = Condition("not found", subject=resource.name, trace=(operation.place,))
        # Where the path says which row it is, that there is none is known whatever the body gives.
        named = {each.field for each in operation.names if not each.through}
        is_known = operation.where is not None or named.issuperset(operation.known_by)
        known = Scope.PRESENCE if is_known else Scope.EITHER
        never = Requirement(missing, Fragment("FALSE"), known)
        required += _where(row, _Row.AS_IT_WOULD_BE, [never], resource)
    if {*operation.outcomes} == {"created"}:
        taken = Condition("conflict", subject=resource.name, trace=(operation.place,))
        required += _where(row, _Row.AS_IT_IS, [Requirement(taken, Fragment("FALSE"), Scope.EITHER)], resource)
    for each in references(operation, assigns, resource, perspective):
        at = each.condition.location
        if at is not None and at.place == "body":  # the row that is there is given it as well
            required.append(each)
        elif at is None or "created" in operation.outcomes:
            required += _where(row, _Row.AS_IT_WOULD_BE, [each], resource)
    required += _where(row, _Row.AS_IT_WOULD_BE, values_there(resource, by_statement, given), resource)
    required += _where(row, _Row.AS_IT_WOULD_BE, _given_by_contract(assigns, resource), resource)
    required += permission(admission, resource, perspective, Scope.EITHER)
    stale = unchanged(resource, operation.place, perspective)
    no_condition = Requirement(stale.condition, bind(inputs.MUST_BE_THERE) + " IS NULL", Scope.EITHER)
    required += _where(row, _Row.AS_IT_WOULD_BE, [no_condition], resource)
    required += _where(row, _Row.AS_IT_IS, [stale], resource)
    guards, later = guards_of(operation)
    required += [guard(each, resource, perspective, Scope.EITHER) for each in guards]
    required += _where(row, _Row.AS_IT_WOULD_BE, uniques(operation, resource, perspective, on_update=False), resource)
    if row is _Row.EITHER and not operation.kind.compares:
        changed = uniques(operation, resource, perspective, on_update=True)
        required += _where(row, _Row.AS_IT_IS, changed, resource)
    elif "unchanged" in operation.outcomes:
        required += _where(row, _Row.AS_IT_IS, list(_same(operation, resource, made, perspective)), resource)
    if "unchanged" in operation.outcomes:
        same = all_of([each.holds for each in _same(operation, resource, made, perspective)])
        stays = [_of_what_stays(each, same, resource, perspective) for each in later]
        required += _where(row, _Row.AS_IT_IS, stays, resource)
    return required


def _asked_of_new_row(assign: Assign, operation: stated.Ensure, resource: Resource) -> Assign:
    """A value that the contract alone gives is of the row that is made: one that is there, and is only compared, lacks
    nothing without it. What `sets` gives is compared, as far as it is the same for both."""
    made, is_known_by = assign.otherwise, assign.field in operation.known_by
    is_other = not operation.kind.compares or "created" not in operation.outcomes
    set_ = dict(operation.sets).get(assign.field)
    if not is_other and set_ is not None and not _reads_row(set_, resource):
        assign = structs.replace(assign, compared=True)
    if is_other or is_known_by or assign.given or not (made is None or made.type.nullable):
        return assign
    return structs.replace(assign, type=optional(assign.type))


def _reads_row(typed: Typed, resource: Resource) -> bool:
    return resource.name in free_variables(typed)


def _given_by_contract(assigns: Sequence[Assign], resource: Resource) -> Iterator[Requirement]:
    for assign in assigns:
        field = resource.fields[assign.field]
        if assign.type.nullable and not (field.type.nullable or assign.in_statement):
            yield has_value(field, column(resource.name, field.name), Fragment("FALSE"), resource)


def _of_what_stays(check: Guard, same: Fragment, resource: Resource, perspective: Perspective) -> Requirement:
    """A check of the row as it becomes, where that is as it is: one that is another is asked once it is written."""
    asked = guard(replace(check, that=unwritten(check.that)), resource, perspective, Scope.VALUES)
    return replace(asked, holds="((" + same + ") IS NOT TRUE OR " + asked.holds + ")")


def _where(row: _Row, about: _Row, requirements: Iterable[Requirement], resource: Resource) -> Iterator[Requirement]:
    """Requirements that are about one of the rows alone."""
    for each in requirements:
        if row is about:
            yield each
        elif row is _Row.EITHER:
            there = column(resource.name, THERE)
            other = "NOT " + there if about is _Row.AS_IT_IS else there
            yield replace(each, holds="(" + other + " OR " + each.holds + ")")


def _same(
    operation: Mutation, resource: Resource, made: Mapping[str, Fragment], perspective: Perspective
) -> Iterator[Requirement]:
    """The row is as it is wanted: what the request gives is what it has, and what `sets` gives. What `put` would change
    in whole is wanted as it would become; a secret that it is given is another one."""
    sets = dict(operation.sets)
    given = pointers(operation)
    named = {(*name.through, name.field)[0] for name in operation.names}
    tests, compared = [], []
    for field in resource.fields.values():
        if field.name in operation.known_by or field.name in named:
            continue
        compared.append(field.name)
        # What the body leaves out is no value, unless the contract makes one.
        maker = sets.get(field.name) or field.on_create or field.on_change
        if field.secret is not None:
            if field.name in given:
                tests.append("(" + bind(inputs.is_given(field.name)) + " IS NOT TRUE)")
                tests += [] if maker is not None else ["(" + column(resource.name, field.name) + " IS NULL)"]
            continue
        if field.name in sets and not (field.name in given or is_new_each_time(sets[field.name])):
            if _reads_row(sets[field.name], resource):
                value, fails = made_of_the_row(left_out(sets[field.name]), operation, resource, perspective)
                tests += ["((" + fails + ") IS NOT TRUE)", _is(field, resource, {field.name: value}, perspective)]
            else:
                tests.append(_is(field, resource, made, perspective))
        elif field.name in given:
            same = _is(field, resource, made, perspective)
            made_of_nothing = maker is not None and (operation.kind.compares or is_new_each_time(maker))
            where_given = "(" + bind(inputs.is_given(field.name)) + " IS NOT TRUE OR " + same + ")"
            tests.append(where_given if made_of_nothing else same)
    if tests:
        condition = Condition("different", subject=resource.name, trace=(operation.place,))
        yield Requirement(condition, "(" + all_of(tests) + ")", Scope.VALUES, tuple(compared))


def _is(field: Field, resource: Resource, made: Mapping[str, Fragment], perspective: Perspective) -> Fragment:
    found = column(resource.name, field.name)
    wanted = made.get(field.name) or bind(inputs.new_value(field.name, field.type))
    if isinstance(field.type, Array | Object | Anything):
        return perspective.dialect.same_json(found, wanted)
    return perspective.dialect.same(found, wanted)


def _is_the_one(
    alias: str,
    operation: Mutation,
    resource: Resource,
    from_path: dict[str, Fragment],
    made: Mapping[str, Fragment],
    perspective: Perspective,
) -> Fragment:
    """The row under `alias` is the one that is meant."""
    if operation.where is not None:
        return all_of(path_conditions(operation, {resource.name: alias}, perspective))
    named = {each.field: inputs.path_value(each.text, each.type) for each in operation.names if not each.through}
    values = (
        from_path.get(key) or made.get(key) or bind(named.get(key) or inputs.new_value(key, resource.fields[key].type))
        for key in operation.known_by
    )
    return all_of([column(alias, key) + " = " + value for key, value in zip(operation.known_by, values, strict=True)])


_ROW_THERE: Final = "the row there"


def _the_one(
    operation: Mutation,
    resource: Resource,
    from_path: dict[str, Fragment],
    made: Mapping[str, Fragment],
    perspective: Perspective,
) -> Fragment:
    """From which table the row that is meant is read, and by what."""
    which = _is_the_one(_ROW_THERE, operation, resource, from_path, made, perspective)
    return f" FROM {identifier(resource.name)} AS {identifier(_ROW_THERE)} WHERE " + which


def _none(there: Fragment) -> Fragment:
    return "NOT EXISTS (SELECT 1" + there + ")"


def _either(resource: Resource, made: Iterable[str], new_row: Fragment, there: Fragment) -> Fragment:
    """The row that is meant, where it is there; else the row as it would be."""
    name = identifier(resource.name)
    stored = [field for field in resource.fields.values() if field.stored and not field.serial]
    shown = [field.name for field in stored] + [REVISION_COLUMN]
    if resource.machine is not None:
        shown.append(ENTERED_COLUMN)
    shown += [field.name for field in resource.fields.values() if field.serial]
    failed = [failing(each) for each in made]
    cells = [column(resource.name, each) for each in (*shown, *failed)]
    would = "SELECT " + join(", ", cells) + f", FALSE AS {identifier(THERE)}"
    would = would + " FROM (" + new_row + f") AS {name} WHERE " + _none(there)
    cells = [*(column(_ROW_THERE, each) for each in shown), *(Fragment("FALSE") for _ in failed)]
    return "(" + would + " UNION ALL SELECT " + join(", ", cells) + ", TRUE" + there + f") AS {name}"
