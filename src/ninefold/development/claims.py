"""What a token has to claim so that its bearer may do what not every bearer may: read from the conditions themselves.

Of `caller.role == 'billing'`, where the scheme says `caller: {role: claims.role}`, the answer is `role: billing`. What
cannot be told so is left to whoever mints a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import EvaluationError, compile, holds
from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable
from ninefold.plan.authentication import Scheme
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan

MOST = 16
"""Ways in which one condition can hold that are looked at."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of bearer. `endpoints`: those that not every bearer may call, as the contract writes them."""

    claims: Mapping[str, Any]
    endpoints: tuple[str, ...]

    @property
    def words(self) -> str:
        return " ".join(f"{name}={_written(value)}" for name, value in self.claims.items()) or "any token"


def kinds(plan: ServicePlan, scheme: Scheme) -> tuple[Kind, ...]:
    """The kinds of bearers that the endpoints tell apart, in the contract's order; one that claims nothing more where
    there is no other."""
    found: dict[bytes, tuple[dict[str, Any], list[str]]] = {}
    named = {name: claim for name, value in scheme.adds if (claim := _member(value, "claims")) is not None}
    for route in sorted(plan.routes, key=lambda route: route.trace[:1]):
        if not isinstance(route, Served):
            continue
        for admission in route.admissions:
            if admission.who != scheme.scheme or admission.condition is None:
                continue
            for wanted in _ways(admission.condition):
                if not wanted.keys() <= named.keys():
                    continue
                claims = {named[name]: value for name, value in wanted.items()}
                if _admits(scheme, admission.condition, claims):
                    key = msgspec.json.encode(claims, order="sorted")
                    found.setdefault(key, (claims, []))[1].append(route.key)
    return tuple(Kind(claims, tuple(dict.fromkeys(keys))) for claims, keys in found.values()) or (Kind({}, ()),)


def _ways(condition: Typed) -> list[dict[str, Any]]:
    """What `caller` has to have, by name, in each way in which the condition may hold."""
    match condition:
        case Call(function="&&", arguments=[left, right]):
            both = [{**a, **b} for a in _ways(left) for b in _ways(right)]
            return both[:MOST]
        case Call(function="||", arguments=[left, right]):
            return [*_ways(left), *_ways(right)][:MOST]
        case Call(function="==", arguments=[left, right]):
            return [{name: value} for name, value in (*_equal(left, right), *_equal(right, left))] or [{}]
        case Call(function="in", arguments=[left, right]):
            return [{name: value} for name, value in _within(left, right)][:MOST] or [{}]
        case _:
            name = _member(condition, "caller")
            return [{}] if name is None else [{name: True}]


def _equal(side: Typed, other: Typed) -> Iterator[tuple[str, Any]]:
    name = _member(side, "caller")
    if name is not None and isinstance(other, Constant):
        yield name, other.value


def _within(left: Typed, right: Typed) -> Iterator[tuple[str, Any]]:
    """`'admin' in caller.roles`, or `caller.role in ['billing', 'audit']`."""
    name = _member(right, "caller")
    if name is not None and isinstance(left, Constant):
        yield name, [left.value]
    name = _member(left, "caller")
    if name is not None and isinstance(right, Constant) and isinstance(right.value, list):
        yield from ((name, value) for value in right.value)


def _member(typed: Typed, root: str) -> str | None:
    """NAME of `root.NAME`."""
    match typed:
        case Call(function="narrow", arguments=[value]):
            return _member(value, root)
        case Select(operand=Variable(name=name), name=member) if name == root:
            return member
        case _:
            return None


def _admits(scheme: Scheme, condition: Typed, claims: Mapping[str, Any]) -> bool:
    caller: dict[str, Any] = {}
    for name, value in scheme.adds:
        try:
            caller[name] = compile(value)({"claims": claims, "caller": caller})
        except EvaluationError:
            continue
    return holds(condition)({"caller": caller, "claims": claims, "request": {"path": {}, "query": {}, "headers": {}}})


def _written(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
