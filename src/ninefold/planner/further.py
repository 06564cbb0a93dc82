"""Part 4: several operations on one row (`does: [update order, place order]`). The first finds or makes the row; each
after it is a transition of that row, as an operation without an endpoint."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.service import Checked
from ninefold.plan import operations as plan
from ninefold.planner.effects import with_effects
from ninefold.planner.endpoints.update import update
from ninefold.planner.identified import taking
from ninefold.planner.perspective import CONTRACT, Perspective


def with_further(operation: plan.Write, endpoint: Endpoint, perspective: Perspective) -> plan.Write:
    """An operation with what is done with its row after that. Who may call and which rows are seen has been asked then:
    what follows is the contract's own."""
    if not endpoint.further or endpoint.resource is None:
        return operation
    own = Perspective(perspective.checked, CONTRACT, perspective.dialect, perspective.told or perspective.who)
    last = len(endpoint.further) - 1
    resource = own.checked.resources[endpoint.resource]
    is_known = endpoint.transition is not None or endpoint.kind.makes
    following = []
    for number, transition in enumerate(endpoint.further):
        each = replace(
            taking(transition, resource, own.checked),
            key=endpoint.key,
            errors=endpoint.errors,
            then=endpoint.then if number == last else (),
            host=endpoint,
            follows="in its state" if is_known or number else "in any state",
        )
        following.append(_write(each, own))
    return structs.replace(operation, further=tuple(following))


def _write(endpoint: Endpoint, perspective: Perspective) -> plan.Write:
    """Invariants see the row as all of it has left it: the first operation asks them, last of all."""
    admission = Admission(CONTRACT, None, False, endpoint.place)
    before = replace(perspective, checked=_without_invariants(perspective.checked))
    return with_effects(update(endpoint, admission, before), endpoint, perspective)


def _without_invariants(checked: Checked) -> Checked:
    resources = {name: replace(each, invariants=()) for name, each in checked.resources.items()}
    return replace(checked, resources=resources)
