"""Part 4: several operations on one row (`does: [update order, place order]`). The first finds or makes the row; each
after it is a transition of that row, as an operation without an endpoint."""

from __future__ import annotations

from dataclasses import replace

from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Mutation, Update
from ninefold.checked.service import Checked
from ninefold.compile.effects import with_effects
from ninefold.compile.endpoints.update import update
from ninefold.compile.endpoints.writes import W, and_then
from ninefold.compile.perspective import CONTRACT, Perspective
from ninefold.compile.which_rows import taking
from ninefold.plan.writes import Further, Transition


def with_further(write: W, operation: Mutation, perspective: Perspective) -> W:
    """An operation with what is done with its row after that. Who may call and which rows are seen has been asked then:
    what follows is the contract's own."""
    if not operation.further or operation.resource is None:
        return write
    own = Perspective(perspective.checked, CONTRACT, perspective.dialect, perspective.told or perspective.who)
    last = len(operation.further) - 1
    resource = own.checked.resources[operation.resource]
    is_known = operation.transition is not None or operation.kind.makes
    following = []
    for number, transition in enumerate(operation.further):
        each = replace(
            taking(transition, resource, own.checked),
            key=operation.key,
            errors=operation.errors,
            then=operation.then if number == last else (),
            host=operation,
            follows="in its state" if is_known or number else "in any state",
        )
        following.append(Further(_write(each, own)))
    return and_then(write, *following)


def _write(operation: Update, perspective: Perspective) -> Transition:
    """Invariants see the row as all of it has left it: the first operation asks them, last of all."""
    admission = Admission(CONTRACT, None, False, operation.place)
    before = replace(perspective, checked=_without_invariants(perspective.checked))
    taken = update(operation, admission, before)
    assert isinstance(taken, Transition)
    return with_effects(taken, operation, perspective)


def _without_invariants(checked: Checked) -> Checked:
    resources = {name: replace(each, invariants=()) for name, each in checked.resources.items()}
    return replace(checked, resources=resources)
