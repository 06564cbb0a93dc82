"""What explain tells of a record follows from its declaration, so that a key that is new is told too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from tests.contracts import EXAMPLES, compiled

from ninefold.language.authentication import Scheme
from ninefold.language.declaration import members
from ninefold.language.endpoints import Endpoints
from ninefold.language.fact import Gap, Shown, value_of
from ninefold.language.limits import Limits
from ninefold.language.parameters import Parameter
from ninefold.language.resources import Field, Resource
from ninefold.language.states import Machine, ResourceStates, Transition
from ninefold.tools.explain import authentication, requests, resources, service, states
from ninefold.tools.explain.explanation import Item, every
from ninefold.tools.explain.grounds import Grounds

ORDERS = compiled(next(path for path in EXAMPLES if path.stem == "orders"))
CONTRACT, GROUNDS = ORDERS.contract, Grounds(ORDERS)
MACHINE: Any = next(each for each in value_of(CONTRACT.states.machines) or () if value_of(each.machine))
SCHEMES: Any = value_of(CONTRACT.authentication.schemes)
OF_ALL: Any = value_of(CONTRACT.resources.resources)
PARAMETER = next(each for of in value_of(CONTRACT.endpoints.endpoints) or () for each in of.parameters)


def _of_part(name: str, own: Any) -> Iterable[Item]:
    contract = replace(CONTRACT, **{name: own})
    return service.PARTS[name](Grounds(replace(ORDERS, contract=contract)))


def _machine(own: Machine) -> Item:
    stated: ResourceStates = replace(MACHINE, machine=Shown(own, MACHINE.machine.span))
    return states.machine(GROUNDS, stated)


RECORDS: dict[type, tuple[Any, Callable[[Any], Iterable[Item]]]] = {
    Scheme: (SCHEMES[0], lambda own: [authentication.scheme(GROUNDS, own)]),
    Machine: (MACHINE.machine.value, lambda own: [_machine(own)]),
    Transition: (MACHINE.machine.value.transitions.value[0], lambda own: [states.transition(GROUNDS, own)]),
    Parameter: (PARAMETER, lambda own: requests._parameters(GROUNDS, "query parameter", Shown((own,), own.span))),
    Field: (OF_ALL[0].fields.value[0], lambda own: [resources.field(GROUNDS, OF_ALL[0], own)]),
    Resource: (OF_ALL[0], lambda own: [resources.resource(GROUNDS, own)]),
    Endpoints: (CONTRACT.endpoints, lambda own: _of_part("endpoints", own)),
    Limits: (CONTRACT.limits, lambda own: _of_part("limits", own)),
}
KEYS = [(record, each.attribute) for record in RECORDS for each in members(record)]


@pytest.mark.parametrize(("record", "attribute"), KEYS, ids=lambda of: of if isinstance(of, str) else of.__name__)
def test_each_key_is_told(record: type, attribute: str) -> None:
    """A fact that is open is told as open, whatever it is: so each of them is asked for."""
    own, tell = RECORDS[record]
    place = CONTRACT.document.title_span
    told = every(tuple(tell(replace(own, **{attribute: Gap(place)}))))
    assert any(item.standing == "gap" and item.place == GROUNDS.place(place) for item in told)
