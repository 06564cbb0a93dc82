"""What OpenAPI has no words for: states with their transitions, and the kinds of event, which leave the service
elsewhere than in its responses."""

from __future__ import annotations

from ninefold.language import states as stated
from ninefold.language.fact import Fact, Name, value_of
from ninefold.tools.openapi.service import Endpoint, Json, Service
from ninefold.values import duration_text


def states(service: Service) -> Json:
    """The machine of each resource that has one."""
    machines: Json = {}
    for each in value_of(service.contract.states.machines) or ():
        machine = value_of(each.machine)
        if machine is not None:
            machines[each.resource.text] = _machine(machine, service)
    return {"states": machines} if machines else {}


def _machine(machine: stated.Machine, service: Service) -> Json:
    field, initial = value_of(machine.field), value_of(machine.initial)
    return _given(
        field=None if field is None else field.text,
        initial=None if initial is None else initial.text,
        states=_names(machine.states),
        final=_names(machine.final),
        gone=_names(machine.gone),
        transitions={each.name: _transition(each, service) for each in value_of(machine.transitions) or ()},
    ) | {"line": service.line(machine.span)}


def _transition(stated_: stated.Transition, service: Service) -> Json:
    to, when, otherwise = value_of(stated_.to), value_of(stated_.when), value_of(stated_.otherwise)
    after = value_of(stated_.after)
    return {
        "from": _names(stated_.origin) or [],
        **_given(
            to=None if to is None else to.text,
            when=None if when is None else when.text,
            otherwise=None if otherwise is None else otherwise.text,
            sets={each.name: each.value.text for each in value_of(stated_.sets) or ()} or None,
            after=duration_text(after) if isinstance(after, int) else None if after is None else after.text,
        ),
        "line": service.line(stated_.span),
    }


def taken(name: str, endpoint: Endpoint, service: Service) -> Json:
    """A transition that an endpoint takes."""
    resource = endpoint.checked.resource
    machines = value_of(service.contract.states.machines) or ()
    machine = next(value_of(each.machine) for each in machines if each.resource.text == resource)
    transitions = () if machine is None else value_of(machine.transitions) or ()
    return next(_transition(each, service) for each in transitions if each.name == name)


def _names(fact: Fact[tuple[Name, ...]] | None) -> list[str] | None:
    names = value_of(fact)
    return None if names is None else [each.text for each in names]


def _given(**members: object) -> Json:
    return {name: value for name, value in members.items() if value is not None}


def events(service: Service) -> Json:
    kinds = [
        {
            "kind": kind.name,
            "upon": [f"{action.verb} {action.subject or ''}".strip() for action in value_of(kind.upon) or ()],
            "line": service.line(kind.span),
        }
        for kind in value_of(service.contract.events.kinds) or ()
    ]
    return {"events": kinds} if kinds else {}
