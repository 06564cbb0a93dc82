"""What a contract declares, by name: what everything else may refer to.

A collection is `None` where it is not known (nothing is written, or a gap, or it cannot be read): then nothing that
refers to it is judged. A gap is not an error, and one cause has one diagnostic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.conditions import CONDITIONS_OF_GRANTS, PLACES, Narrowing
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, Gap, Proposal, StatedNone, candidate_of
from ninefold.language.states import Machine
from ninefold.language.verbs import BUILT_IN
from ninefold.language.versioning import ENDPOINT, Version

T = TypeVar("T")

Names = Mapping[str, Span]
"""Names, each with the place where it is declared."""

NOWHERE: Final = Span(0, 0)

GRANTING: Final = dict.fromkeys(CONDITIONS_OF_GRANTS, NOWHERE)
"""The members of a request for a token."""


@dataclass(frozen=True, slots=True)
class Declared:
    """`fields[R]` are the fields of a resource, `inverse[R]` its back-references, `transitions[R]` and `states[R]`
    those of its machine; a resource that they lack has none that are known. The built-in resources are among the
    `reachable` resources, but for one whose name the contract gives to one of its own. `permitted`: the endpoints of
    any version, of which a line of part 5 may say who may call them. `parameters`: by the place in a request where they
    are; `granting`: the members of a request for a token, where an endpoint may grant one."""

    resources: Names | None
    reachable: Names | None
    fields: Mapping[str, Names]
    types: Names
    states: Mapping[str, Names]
    transitions: Mapping[str, Names]
    endpoints: Names | None
    permitted: Names | None
    schemes: Names | None
    kinds: Names | None
    codes: Names | None
    versions: Names | None
    rates: Names | None
    parameters: Mapping[str, Names]
    granting: Names
    functions: Names | None = None

    def narrowing(self, way: Narrowing, within: str) -> Names | None:
        """The names that a condition may be narrowed to, those of what is `within`, if the way to narrow is so."""
        names = getattr(self, way.among)
        found: Names | None = names.get(within) if way.within else names
        return found


def listed(fact: Fact[tuple[T, ...]] | None) -> tuple[T, ...] | None:
    """A list that is shown, proposed, or stated to be none; `None` where it is not known."""
    match fact:
        case StatedNone() | Proposal(StatedNone()):
            return ()
        case _:
            return candidate_of(fact)


def declared(contract: Contract) -> Declared:
    """Everything that the parts declare."""
    resources, machines = contract.resources, contract.states
    endpoints, authentication = contract.endpoints, contract.authentication
    events, errors, versioning = contract.events, contract.errors, contract.versioning
    own = listed(resources.resources)
    fields: dict[str, Names] = {
        resource.name: {field.name: field.span for field in own_fields}
        for resource in own or ()
        if (own_fields := listed(resource.fields)) is not None
    }
    named = None if own is None else {each.name: each.span for each in own}
    built_in: dict[str, Names] = {
        name: dict.fromkeys(names, NOWHERE) for name, names in BUILT_IN.items() if name not in (named or ())
    }
    of: dict[str, Machine | None] = {}
    for each in listed(machines.machines) or ():
        stated_none = isinstance(each.machine, StatedNone)
        machine = candidate_of(each.machine)
        if stated_none or machine is not None:
            of[each.resource.text] = machine
    if isinstance(machines.machines, StatedNone):
        of |= dict.fromkeys(named or (), None)
    states = {name: own_states for name, each in of.items() if (own_states := _states(each)) is not None}
    keys, schemes = listed(endpoints.endpoints), listed(authentication.schemes)
    kinds, codes, versions = listed(events.kinds), listed(errors.codes), listed(versioning.versions)
    rates = listed(contract.limits.rates)
    added = _added(versions or ())
    return Declared(
        resources=named,
        reachable=None if named is None else {**dict.fromkeys(BUILT_IN, NOWHERE), **named},
        fields={**built_in, **fields},
        types={each.name: each.span for each in resources.types},
        states=states,
        transitions={name: _transitions(each) for name, each in of.items()},
        endpoints=None if keys is None else {each.key: each.span for each in keys},
        permitted=None if keys is None or added is None else {**added, **{each.key: each.span for each in keys}},
        schemes=None if schemes is None else {each.name: each.span for each in schemes},
        kinds=None if kinds is None else {each.name: each.span for each in kinds},
        codes=None if codes is None else {each.name: each.span for each in codes},
        versions=None if versions is None else {each.name: each.span for each in versions},
        rates=None if rates is None else {each.name: each.span for each in rates},
        parameters={} if keys is None else _parameters(keys),
        granting=GRANTING
        if keys is None or any(not isinstance(each.grant, StatedNone | None) for each in keys)
        else {},
        functions=None
        if isinstance(endpoints.functions, Gap | Proposal)
        else {each.name: each.span for each in listed(endpoints.functions) or ()},
    )


def _added(versions: tuple[Version, ...]) -> Names | None:
    """The endpoints that older versions have besides; None: the way back to one of them is not known."""
    ways = [listed(each.changes) for each in versions[1:]]
    if None in ways:
        return None
    subjects = (each.add for way in ways for each in way or () if each.add is not None)
    return {each.text: each.span for each in subjects if ENDPOINT.fullmatch(each.text)}


def _states(machine: Machine | None) -> Names | None:
    found = None if machine is None else listed(machine.states)
    return None if found is None else {each.text: each.span for each in found}


def _transitions(machine: Machine | None) -> Names:
    """A machine without `transitions` has none: a key that names is no gap."""
    found = None if machine is None else listed(machine.transitions)
    return {each.name: each.span for each in found or ()}


def _parameters(endpoints: Iterable[Endpoint]) -> dict[str, Names]:
    """What endpoints declare, by the place in a request where it is."""
    found: dict[str, dict[str, Span]] = {place: {} for place in PLACES}
    for endpoint in endpoints:
        declared_ = (("query", endpoint.query), ("header", endpoint.request_headers), ("path", endpoint.path))
        for place, fact in declared_:
            found[place] |= {each.name: each.span for each in listed(fact) or ()}
    return dict(found)
