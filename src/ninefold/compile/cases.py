"""Part 4: endpoints with cases, each of them an endpoint of its own until here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Compute, Delete, Ensure, Operation, PathValue, Remove, Segment, Update
from ninefold.checked.service import Checked
from ninefold.compile.bodies import body
from ninefold.diagnostics.frozen import replace
from ninefold.language.verbs import VERBS
from ninefold.plan.routes import Body, Case, Cases
from ninefold.values import Text


def by_endpoint(endpoints: Sequence[Endpoint]) -> list[tuple[Endpoint, ...]]:
    """The cases of each endpoint, which stand one after another; one of one that has none."""
    return [tuple(cases) for _, cases in groupby(endpoints, key=lambda each: each.key)]


def common(cases: Sequence[Endpoint]) -> Endpoint:
    """What is of every case: by it a request is judged of which nobody can say of which it is. Where the cases do not
    all do the same with the same rows, nothing is asked of any."""
    first = cases[0]
    if first.case is None:
        return first
    said = {key: plain for key, plain in first.said.items() if all(each.said.get(key) == plain for each in cases)}
    first = replace(first, said=said)
    own = first.operation
    if any(_what(each.operation) != _what(own) for each in cases):
        return _of_no_row(first, cases)
    guards = tuple(each for each in own.guards if all(each in case.operation.guards for case in cases))
    return replace(first, operation=replace(own, guards=guards))


def _what(operation: Operation) -> tuple[object, ...]:
    """What is done, and with which rows."""
    known_by = operation.known_by if isinstance(operation, Ensure | Remove) else ()
    all_rows = isinstance(operation, Update | Delete) and operation.of_all is not None
    transition = operation.transition if isinstance(operation, Update) else None
    rows = (operation.where, operation.segments, known_by, all_rows)
    return (operation.kind, operation.resource, transition, operation.validator, operation.errors, *rows)


def _of_no_row(first: Endpoint, cases: Sequence[Endpoint]) -> Endpoint:
    """What is known of the request alone."""
    own = first.operation
    errors = {name: code for name, code in own.errors.items() if all(_has(each, name, code) for each in cases)}
    operation = Compute(
        key=own.key,
        place=own.place,
        kind=VERBS["compute"],
        resource=None,
        response=replace(own.response, content=None, headers=()),
        segments=tuple(map(_segment, zip(*(each.segments for each in cases), strict=True))),
        errors=errors,
        takes=own.takes,
    )
    admissions = tuple(
        each if each.of_request else replace(each, condition=None, of_request=True) for each in first.admissions
    )
    return replace(first, operation=operation, admissions=admissions, call=None)


def _has(endpoint: Endpoint, condition: str, code: str) -> bool:
    return endpoint.operation.errors.get(condition) == code


def _segment(every: tuple[Segment, ...]) -> Segment:
    """What stands at one place of the path, in each case: a text until it is known of what."""
    first = every[0]
    if isinstance(first, str) or all(each == first for each in every):
        return first
    return PathValue(first.text, Text(), None, first.after)


def read_first(cases: Sequence[Endpoint], checked: Checked) -> Body | None:
    """How a body is read before it is known of which case it is: as some object, or, where no case needs one, not at
    all. None: no case takes one."""
    bodies = [found for case in cases if (found := body(case, checked)) is not None]
    if not bodies:
        return None
    optional = all(each.optional for each in bodies)
    return Body(bodies[0].media_types, {"type": "object"}, unknown="ignored", optional=optional)


def chosen(stated: Sequence[Endpoint], cases: Sequence[Case], checked: Checked) -> Cases:
    """What chooses among them."""
    case = stated[0].case
    assert case is not None
    return Cases(
        cases=tuple(cases),
        member=case.member,
        by=None if case.member is not None else case.by,
        trace=checked.places.at("endpoints", stated[0].key, "cases", "by"),
    )
