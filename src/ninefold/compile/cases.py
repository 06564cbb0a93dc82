"""Part 4: endpoints with cases, each of them an endpoint of its own until here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.service import Checked
from ninefold.compile.bodies import body
from ninefold.compile.places import stated, traced
from ninefold.plan.routes import Body, Case, Cases


def by_endpoint(endpoints: Sequence[Endpoint]) -> list[tuple[Endpoint, ...]]:
    """The cases of each endpoint, which stand one after another; one of one that has none."""
    return [tuple(cases) for _, cases in groupby(endpoints, key=lambda each: each.key)]


def common(cases: Sequence[Endpoint]) -> Endpoint:
    """What is of every case: by it a request is judged of which nobody can say of which it is."""
    first = cases[0]
    if first.case is None:
        return first
    own = first.operation
    guards = tuple(each for each in own.guards if all(each in case.operation.guards for case in cases))
    return replace(first, operation=replace(own, guards=guards))


def read_first(cases: Sequence[Endpoint], checked: Checked) -> Body | None:
    """How a body is read before it is known of which case it is: as some object. None: no case takes one."""
    first = next((found for case in cases if (found := body(case, checked)) is not None), None)
    return None if first is None else Body(first.media_types, {"type": "object"}, unknown="ignored")


def chosen(cases: Sequence[Endpoint], checked: Checked) -> Cases:
    case = cases[0].case
    assert case is not None
    return Cases(
        cases=tuple(
            Case(
                name=None if each.case is None else each.case.name,
                body=body(each, checked),
                trace=() if each.case is None else traced(each.case.place),
            )
            for each in cases
        ),
        member=case.member,
        by=None if case.member is not None else case.by,
        trace=stated(checked.places, "endpoints", cases[0].key, "cases", "by"),
    )
