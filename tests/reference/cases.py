"""Which case of an endpoint a request is of (meaning "cases"), and what is of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.reference.expressions import Fails, Reading
from tests.reference.failures import Broken, Failure

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Compute, Ensure, Mutation, Operation, PathValue, Remove, Segment
from ninefold.language.verbs import VERBS
from ninefold.values import Text


def whole(cases: Sequence[Endpoint]) -> Endpoint:
    """What is of every case; where they do not all do the same with the same rows, nothing is asked of any."""
    first = cases[0]
    if first.case is None:
        return first
    own = first.operation
    if all(_what(each.operation) == _what(own) for each in cases):
        guards = tuple(each for each in own.guards if all(each in case.operation.guards for case in cases))
        return replace(first, operation=replace(own, guards=guards))
    errors = {name: code for name, code in own.errors.items() if all(e.errors.get(name) == code for e in cases)}
    segments = tuple(_segment(each) for each in zip(*(case.segments for case in cases), strict=True))
    of = {case.operation.resource for case in cases}
    nothing = Compute(
        own.key,
        own.place,
        VERBS["compute"],
        own.resource if len(of) == 1 else None,
        own.response,
        segments,
        errors=errors,
        takes=own.takes,
    )
    admissions = tuple(a if a.of_request else replace(a, condition=None, of_request=True) for a in first.admissions)
    return replace(first, operation=nothing, admissions=admissions)


def _what(operation: Operation) -> tuple[Any, ...]:
    known_by = operation.known_by if isinstance(operation, Ensure | Remove) else ()
    done = (operation.transition, operation.of_all is not None) if isinstance(operation, Mutation) else ()
    same = (operation.kind, operation.resource, operation.where, operation.segments, operation.validator)
    return (*same, operation.errors, known_by, *done)


def _segment(every: tuple[Segment, ...]) -> Segment:
    first = every[0]
    if isinstance(first, str) or all(each == first for each in every):
        return first
    return PathValue(first.text, Text(), None, first.after)


def by_request(cases: Sequence[Endpoint], reading: Reading) -> Endpoint | None:
    """None: it is of no case."""
    case = cases[0].case
    assert case is not None
    try:
        name = reading.value(case.by)
    except Fails:
        name = None
    return _called(cases, name)


def by_body(cases: Sequence[Endpoint], document: Any) -> Endpoint | Failure:
    """By a member of the body; what is wrong with that where it is of no case."""
    case = cases[0].case
    assert case is not None and case.member is not None
    if not isinstance(document, dict):
        return _unfit((), "type")
    name = document.get(case.member)
    found = _called(cases, name)
    if found is not None:
        return found
    rule = "required" if case.member not in document else "enum" if isinstance(name, str) else "type"
    return _unfit((case.member,), rule)


def _called(cases: Sequence[Endpoint], name: Any) -> Endpoint | None:
    named = {each.case.name: each for each in cases if each.case is not None}
    return (named.get(name) if isinstance(name, str) else None) or named.get(None)


def _unfit(path: tuple[str, ...], rule: str) -> Failure:
    return Failure("invalid", fields=(Broken("body", path, rule),))
