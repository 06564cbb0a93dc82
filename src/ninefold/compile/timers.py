"""Part 3: the transitions that the service takes by itself: the operation of an endpoint, without the endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.contents import Response
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Delete
from ninefold.checked.resources import Expiry, Machine, Resource, Transition
from ninefold.checked.service import Checked
from ninefold.compile import inputs
from ninefold.compile.effects import with_effects
from ninefold.compile.endpoints.delete import delete
from ninefold.compile.endpoints.rows import pieces
from ninefold.compile.endpoints.update import update
from ninefold.compile.perspective import OPERATOR, Perspective
from ninefold.compile.which_rows import by_identifier, taking
from ninefold.diagnostics.place import Place
from ninefold.expressions.reads import computed_of
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Constant, Select, Typed, free_variables, walk
from ninefold.language.verbs import VERBS
from ninefold.plan import writes
from ninefold.plan.environment import ENTERED_COLUMN
from ninefold.plan.jobs import Timer
from ninefold.plan.statement import ResultColumn, Statement
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Boolean, Duration, Text, Timestamp


def timers(checked: Checked, dialect: Dialect) -> Iterator[Timer]:
    """The timers of all resources: one for each state that a transition with `after` leaves, and one for rows that
    delete themselves."""
    perspective = Perspective(checked, OPERATOR, dialect)
    for resource in checked.resources.values():
        if resource.expiry is not None:
            yield _expiry(resource, resource.expiry, perspective)
        machine = resource.machine
        if machine is None:
            continue
        for transition in machine.transitions.values():
            for origin in transition.origins if transition.after is not None else ():
                yield _timer(resource, machine, transition, origin, perspective)


def _timer(
    resource: Resource, machine: Machine, transition: Transition, origin: str, perspective: Perspective
) -> Timer:
    if not isinstance(transition.after, int):
        return _timer_of_row(resource, machine, transition, origin, perspective)
    by_the_clock = _reads_now(resource, transition, perspective.checked.model)
    in_state = column(resource.name, machine.field) + " = " + bind(Constant(origin, Text()))
    entered = column(resource.name, ENTERED_COLUMN)
    until = entered + " <= " + bind(inputs.DUE_UNTIL)
    due = [in_state, until, entered + " > " + bind(inputs.DUE_BEYOND)]
    if not by_the_clock:
        for guard in transition.guards:
            due.append("(" + perspective.holds(guard.that, {resource.name: resource.name}) + ")")
    name = identifier(resource.name)
    source = f" FROM {name} AS {name} WHERE "
    keys = [column(resource.name, each) for each in resource.primary_key]
    since = (ResultColumn("entered", Timestamp()),)
    wanted = (*(ResultColumn(each, resource.fields[each].type) for each in resource.primary_key), *since)
    order = join(", ", [entered, *keys])
    select = "SELECT " + join(", ", [*keys, entered]) + source + all_of(due) + " ORDER BY " + order
    after = "SELECT " + entered + source + in_state + " AND " + entered + " > " + bind(inputs.DUE_UNTIL)
    return Timer(
        resource=resource.name,
        transition=transition.name,
        origin=origin,
        after_microseconds=transition.after,
        due=_statement(select + " LIMIT " + bind(inputs.DUE_MOST) + " OFFSET " + bind(inputs.DUE_SKIP), *wanted),
        waits=_statement("SELECT 1" + source + in_state + " AND " + until + " LIMIT 1", ResultColumn("one", Boolean())),
        next=_statement(after + " ORDER BY " + entered + " LIMIT 1", *since),
        take=_take(resource, transition, perspective),
        by_the_clock=by_the_clock,
        said=dict(transition.said),
        trace=(transition.place,),
    )


def _timer_of_row(
    resource: Resource, machine: Machine, transition: Transition, origin: str, perspective: Perspective
) -> Timer:
    """One whose time the row itself says: it is due then, and not before the row entered its state."""
    assert transition.after is not None and not isinstance(transition.after, int)
    by_the_clock = _reads_now(resource, transition, perspective.checked.model)
    entered = column(resource.name, ENTERED_COLUMN)
    at = perspective.value(transition.after, {resource.name: resource.name})
    if isinstance(transition.after.type, Duration):
        later = perspective.dialect.function("add_timestamp_duration", (entered, at))
        assert later is not None
        at = later
    where = [column(resource.name, machine.field) + " = " + bind(Constant(origin, Text()))]
    asked = list(where)
    if not by_the_clock:
        for guard in transition.guards:
            asked.append("(" + perspective.holds(guard.that, {resource.name: resource.name}) + ")")
    statements = _due(resource, at, entered, where, asked, perspective.dialect)
    return Timer(
        resource=resource.name,
        transition=transition.name,
        origin=origin,
        after_microseconds=0,
        due=statements[0],
        waits=statements[1],
        next=statements[2],
        take=_take(resource, transition, perspective),
        by_the_clock=by_the_clock,
        said=dict(transition.said),
        trace=(transition.place,),
    )


def _take(resource: Resource, transition: Transition, perspective: Perspective) -> writes.Transition:
    operation = taking(transition, resource, perspective.checked)
    write = update(operation, _everybody(transition.place), perspective)
    assert isinstance(write, writes.Transition)
    return with_effects(write, operation, perspective)


def _expiry(resource: Resource, expiry: Expiry, perspective: Perspective) -> Timer:
    """Deletes rows at the time that they say."""
    at = perspective.value(expiry.at, {resource.name: resource.name})
    due, waits, next = _due(resource, at, None, [], [], perspective.dialect)
    operation = Delete(
        key=f"expiry of {resource.name}",
        segments=by_identifier(resource, perspective.checked),
        place=expiry.place,
        kind=VERBS["delete"],
        resource=resource.name,
        response=Response(204, None, (), expiry.place),
    )
    return Timer(
        resource=resource.name,
        transition=None,
        origin=None,
        after_microseconds=0,
        due=due,
        waits=waits,
        next=next,
        take=delete(operation, _everybody(expiry.place), perspective),
        trace=(expiry.place,),
    )


def _due(
    resource: Resource,
    at: Fragment,
    entered: Fragment | None,
    where: list[Fragment],
    asked: list[Fragment],
    dialect: Dialect,
) -> tuple[Statement, Statement, Statement]:
    """What is due, whether anything is, and what is due next, where rows say themselves `at` which time, but not
    before they `entered` their state. `asked`: what has to hold besides of what is due; of the others only `where`.

    The conditions name the row's own time first: an index over it serves them."""
    time = at if entered is None else dialect.later(at, entered)
    until, beyond = bind(inputs.DUE_UNTIL), bind(inputs.DUE_BEYOND)
    by_now = [at + " <= " + until, *([] if entered is None else [entered + " <= " + until])]
    fresh = join(" OR ", [each + " > " + beyond for each in (at, entered) if each is not None])
    name = identifier(resource.name)
    source = f" FROM {name} AS {name} WHERE "
    keys = [column(resource.name, each) for each in resource.primary_key]
    types = [ResultColumn(each, resource.fields[each].type) for each in resource.primary_key]
    when = ResultColumn("due", Timestamp())
    order = " ORDER BY " + join(", ", [time, *keys])
    select = "SELECT " + join(", ", [*keys, time]) + source + all_of([*asked, *by_now, "(" + fresh + ")"]) + order
    later = "SELECT " + time + source + all_of([*where, at + " > " + until]) + " ORDER BY " + time + " LIMIT 1"
    return (
        _statement(select + " LIMIT " + bind(inputs.DUE_MOST) + " OFFSET " + bind(inputs.DUE_SKIP), *types, when),
        _statement("SELECT 1" + source + all_of([*where, *by_now]) + " LIMIT 1", ResultColumn("one", Boolean())),
        _statement(later, when),
    )


def _statement(text: Fragment, *columns: ResultColumn) -> Statement:
    return Statement(pieces(text), columns)


def _everybody(place: Place) -> Admission:
    return Admission(OPERATOR, None, False, place)


def _reads_now(resource: Resource, transition: Transition, model: Model) -> bool:
    """Whether what the transition asks of the row changes with the time alone."""
    asked = [guard.that for guard in transition.guards]
    return any(_now_is_in(each, model) for each in (*asked, *(invariant.that for invariant in resource.invariants)))


def _now_is_in(typed: Typed, model: Model) -> bool:
    computed = (
        found[1]
        for node in walk(typed)
        if isinstance(node, Select) and node.through == "computed" and (found := computed_of(node, model)) is not None
    )
    return "now" in free_variables(typed) or any(_now_is_in(each, model) for each in computed)
