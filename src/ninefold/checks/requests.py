"""What expressions may read of a request: the parameters and headers that endpoints declare, and nothing else of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ninefold.checked.operations import BodyMember
from ninefold.contract.endpoints import Endpoint, Parameter
from ninefold.language.fact import Fact, is_open, value_of
from ninefold.values import Anything, Object, Type, from_schema, optional


def request_type(endpoint: Endpoint, members: Collection[BodyMember] | None = ()) -> Object | None:
    """The root `request` of an endpoint: its own parameters and headers, and the members of its body that are no
    fields, where the body has been read (`members` None: which there are is a gap). None: there is nothing that could
    be read."""
    declared = {group: _one(group, fact) for group, fact in _declared(endpoint)}
    if members is None:
        return _of(declared | {"body": None})
    own: dict[str, Type] = {each.name: each.type if each.required else optional(each.type) for each in members}
    return _of(declared | ({"body": own} if own else {}))


def request_of_any(endpoints: Collection[Endpoint]) -> Object | None:
    """The root `request` where it may be that of any of these: what one of them declares has no value in a request to
    another. None: none declares anything."""
    groups: dict[str, dict[str, Type] | None] = {}
    for endpoint in endpoints:
        for name, fact in _declared(endpoint):
            known, own = groups.get(name, {}), _one(name, fact)
            groups[name] = None if known is None or own is None else _either(known, own)
    return _of(groups)


def _declared(endpoint: Endpoint) -> Iterator[tuple[str, Fact[tuple[Parameter, ...]] | None]]:
    yield "path", endpoint.path
    yield "query", endpoint.query
    yield "headers", endpoint.request_headers


def _one(group: str, fact: Fact[tuple[Parameter, ...]] | None) -> dict[str, Type] | None:
    """By name; None: which there are is a gap."""
    if fact is not None and is_open(fact):
        return None
    return {each.name: _as_given(each, group) for each in value_of(fact) or ()}


def _as_given(parameter: Parameter, group: str) -> Type:
    """A request may leave out all but what stands in its path."""
    type_ = from_schema(parameter.schema.json)
    return type_ if parameter.required or group == "path" else optional(type_)


def _either(known: dict[str, Type], own: dict[str, Type]) -> dict[str, Type]:
    either = {name: optional(type_) for name, type_ in known.items()}
    for name, type_ in own.items():
        same = either.get(name, optional(type_)) == optional(type_)
        either[name] = optional(type_) if same else Anything(nullable=True)
    return either


def _of(groups: dict[str, dict[str, Type] | None]) -> Object | None:
    """An object that is known to have no member has none that could be read, and is left out: one without members
    would admit any."""
    found: dict[str, Type] = {name: Object(members=own or {}) for name, own in groups.items() if own is None or own}
    return Object(members=found) if found else None
