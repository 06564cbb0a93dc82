"""What else changes: rows of which `also` speaks (meaning "effects"), and the checks of what has become."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.reference import (
    bodies,
    events,
    lists,
    writes,
)
from tests.reference.asking import Asking
from tests.reference.expressions import Fails, Reading, as_it_was, at_hand
from tests.reference.failures import Failure
from tests.reference.rows import Row, Rows

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import TRANSITION, Create, Delete, Update
from ninefold.checked.resources import Effect, Guard, Resource
from ninefold.expressions.tree import Select, Typed, Variable, walk
from ninefold.language.verbs import KINDS


def caused(
    asking: Asking, endpoint: Endpoint, this: Row, was: Row | None, last: bool = True, verb: str | None = None
) -> list[Failure]:
    """Tell of what an operation has done, and do what else it does, one after another (meaning "effects"); what refuses
    it. What the endpoint states comes after the `last` of its operations. `verb`: what it is, if that is not the
    operation's own."""
    return caused_by_each(asking, [(endpoint, this, was)], last, verb)


def caused_by_each(
    asking: Asking,
    rows: Sequence[tuple[Endpoint, Row, Row | None]],
    last: bool = True,
    verb: str | None = None,
    found: Rows | None = None,
) -> list[Failure]:
    """The same of rows that are written together: their events come before those of what follows from them. `found`:
    the rows that the write found; None: those that the request found."""
    happened = [
        events.Happened(asking, verb or events.action(endpoint), this, was, found) for endpoint, this, was in rows
    ]
    for endpoint, this, was in rows:
        operation = endpoint.mutation
        assert operation is not None
        own = operation.effects if last or operation.transition is None else operation.transition.also
        acting = replace(this, fields={**this.fields})
        for effect in own:
            if failed := _effect(asking, effect, endpoint, acting, was, found or asking.of.rows):
                return failed
    for each in reversed(happened):  # each at its place, before those that are told already
        each.tell(asking.all())
    return []


def _effect(
    asking: Asking, effect: Effect, endpoint: Endpoint, this: Row, was: Row | None, found: Rows
) -> list[Failure]:
    given = _given(asking, endpoint, was is None)
    # Of a row that is gone, what was computed of it was computed of what there was.
    acted_on = replace(at_hand(this), among=found) if endpoint.verb == "delete" else at_hand(this)
    reading = asking.all().also(this=acted_on, before=as_it_was(was, found))
    try:
        items = [{}] if effect.each is None else [{"each": each} for each in writes.alone(effect.each, reading) or ()]
    except Fails:
        assert effect.each is not None and asking.endpoint is not None
        places = tuple(dict.fromkeys(writes.of_request(effect.each, given)))
        return [writes.unmade(places, asking.endpoint, effect.resource, "stored")]
    works = [*_works(asking, effect, endpoint.mutation, this, given, [reading.also(**item) for item in items])]
    keys = [work.row.key for work in works if work.row is not None]
    if len({*keys}) < len(keys):  # two items of one row
        return [Failure("conflict", effect.resource)]
    works = [work for work in works if not _is_as_wanted(effect, work)]
    assert asking.endpoint is not None
    admission = replace(asking.endpoint.admissions[0], condition=None, of_request=False)
    for work in works:
        failed = work.refusals(admission, bodies.Given(), replace(asking.request, headers={}))
        if failed:
            tells_of(asking, work.told_of if work.row is None else work.row)
            return failed
    # They change together, by one write; then comes what follows from each, and then what holds of them.
    found, together = asking.rows.copied(), asking.rows.number()
    changed = [
        (work.row, work, writes.Change(work, bodies.Given()))
        for work in works
        if work.row is None or asking.rows.find(effect.resource, work.row.key) is not None  # none fell with another
    ]
    if effect.verb == "delete":
        for row in (work.row for work in works if work.row is not None):
            events.Happened(asking, "delete", row, row, found).tell(asking.all())
        return broken_of_cleared(asking)
    done = [(was, work, change.done(together)) for was, work, change in changed]
    if works and (again := works[0].have_the_same([row for _, _, row in done], bodies.Given())) is not None:
        if any(row is again[0] and was is None for was, _, row in done):
            tells_of(asking, again[0])
        return again[1]
    done.sort(key=lambda each: each[2].key)
    if failed := caused_by_each(asking, [(work.endpoint, row, old) for old, work, row in done], found=found):
        return failed
    for row in (asking.rows.as_it_is(row) for _, _, row in done):
        if failed := [Failure("check", effect.resource, each.code) for each in broken_checks(asking, row)]:
            tells_of(asking, row)
            return failed
    return []


def _given(asking: Asking, endpoint: Endpoint, is_new: bool) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Where the request gives fields of the row that an effect follows from; of a new row also what it leaves out."""
    try:
        document = json.loads(asking.request.body or b"null") if asking.edited is None else asking.edited.value
    except ValueError:
        document = None  # a form
    given = {
        leaf.field: ("body", leaf.pointer)
        for leaf in endpoint.takes.body or ()
        if is_new or bodies.at(document, leaf.pointer) is not bodies.ABSENT
    }
    operation = endpoint.mutation
    for name, made in () if operation is None else operation.sets:
        places = list(dict.fromkeys(writes.of_request(made, given)))
        given |= {name: places[0] if len(places) == 1 else ("body", ())} if places else {}
    return given


def _is_as_wanted(effect: Effect, work: writes.Work) -> bool:
    """Whether `put` of an item finds its row as the item says."""
    if effect.unless is None or work.row is None:
        return False
    return work.reading.also(**{effect.resource: at_hand(work.row)}).holds(effect.unless)


def tells_of(asking: Asking, row: Row | None) -> None:
    asking.told_of = row if row is not None and asking.is_seen(row) and not row.is_gone else None


def _works(
    asking: Asking, effect: Effect, cause: Any, this: Row, given: Mapping[str, Any], readings: Sequence[Reading]
) -> Iterator[writes.Work]:
    """What an effect does, row by row, by an endpoint that everybody may call."""
    assert asking.endpoint is not None
    resource = asking.checked.resources[effect.resource]
    kind = KINDS.get(effect.verb, TRANSITION)
    stated: dict[str, Any] = {"key": cause.key, "place": cause.place, "kind": kind, "resource": resource.name}
    stated |= {"response": cause.response, "errors": cause.errors, "takes": replace(cause.takes, body=())}
    if kind.makes:
        own = replace(asking.endpoint, operation=Create(**stated, each=effect.each, sets=effect.sets))
        for of_item in readings:
            if effect.where is None or of_item.holds(effect.where):
                yield writes.Work(of_item, own, asking.checked, {}, lambda row: True, acting=given)
        return
    machine = resource.machine
    transition = None if effect.verb in KINDS or machine is None else machine.transitions[effect.verb]
    if effect.verb == "delete":
        operation: Any = Delete(**stated)
    else:
        operation = Update(**stated, transition=transition, sets=effect.sets)
    own = replace(asking.endpoint, operation=operation)
    there = [
        row
        for row in asking.rows.all(resource.name)
        if not (resource.name == this.resource.name and row.key == this.key)
        and (effect.of_one or not row.is_gone or (transition is not None and _state(row) in transition.origins))
    ]
    for row in lists.sorted_rows(there, lists.whole_order((), resource.primary_key), asking.all()):
        for of_item in readings:
            if effect.where is None or of_item.also(**{resource.name: at_hand(row)}).holds(effect.where):
                yield writes.Work(of_item, own, asking.checked, {}, lambda row: True, row=row, acting=given)


def broken(asking: Asking, checks: Sequence[Guard], row: Row, was: Row | None) -> list[Failure]:
    """What fails of the row as it has become, beside the row as it was."""
    name = row.resource.name
    reading = asking.all().also(**{name: at_hand(row), "before": as_it_was(was, asking.of.rows)})
    return [Failure("check", name, each.code) for each in checks if not reading.holds(each.that)]


def broken_checks(asking: Asking, row: Row) -> list[Any]:
    reading = asking.all().also(**{row.resource.name: at_hand(row)})
    return [each for each in row.resource.invariants if not reading.holds(each.that)]


def broken_of_cleared(asking: Asking) -> list[Failure]:
    """What fails of the rows that deletions have left without a reference, and that are still there: of the checks
    that read it."""
    there = [each for each in asking.rows.cleared if asking.rows.find(each[0].resource.name, each[0].key) is each[0]]
    there.sort(key=lambda each: ([*asking.checked.resources].index(each[0].resource.name), each[0].key))
    for row, name in there:
        broken = [each for each in broken_checks(asking, row) if _reads(row.resource, each.that, name)]
        if failed := [Failure("check", row.resource.name, each.code) for each in broken]:
            tells_of(asking, row)
            return failed
    return []


def _reads(resource: Resource, typed: Typed, name: str) -> bool:
    """Whether an expression of a row of a resource reads a field of that row, by itself or by what it computes."""
    read = {
        each.name
        for each in walk(typed)
        if isinstance(each, Select) and isinstance(each.operand, Variable) and each.operand.name == resource.name
    }
    made = [field.computed for field in resource.fields.values() if field.name in read and field.computed is not None]
    return name in read or any(_reads(resource, each, name) for each in made)


def _state(row: Row) -> Any:
    return None if row.resource.machine is None else row.fields[row.resource.machine.field]
