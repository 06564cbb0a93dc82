"""The whole plan. It takes only what is checked, and it cannot fail: if it could, a check is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import NoneType
from typing import Any, Final, get_args

import msgspec

from ninefold.checked.service import Checked
from ninefold.compile.authentication import scheme
from ninefold.compile.cases import by_endpoint
from ninefold.compile.errors import problems
from ninefold.compile.events import delivery
from ninefold.compile.limits import limits
from ninefold.compile.operator import operator_operations, records
from ninefold.compile.resources import schema, stored
from ninefold.compile.routes import blocked, cors, served
from ninefold.compile.timers import timers
from ninefold.compile.versioning import versions
from ninefold.diagnostics.place import Place
from ninefold.expressions.scope import Model, stored_as
from ninefold.expressions.tree import Select, Variable
from ninefold.plan.limits import Limits
from ninefold.plan.routes import Route, Served
from ninefold.plan.service import OperatorValue, Proposal, ServicePlan
from ninefold.plan.statement import Piece, Statement
from ninefold.plan.versioning import Versions
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import PLACEHOLDER
from ninefold.sql.postgresql import POSTGRESQL
from ninefold.sql.sqlite import SQLITE
from ninefold.values import Type

DIALECTS: Final[Mapping[str, Dialect]] = {each.name: each for each in (SQLITE, POSTGRESQL)}


def plan_for(checked: Checked, database: str) -> ServicePlan:
    """The plan for a database by its name: `sqlite`, `postgresql`."""
    return plan(checked, DIALECTS[database])


def plan(checked: Checked, dialect: Dialect = SQLITE) -> ServicePlan:
    made = _plan(checked, dialect)
    return with_bound(made, dialect.bound, checked.model) if dialect.asks_types else made


def _plan(checked: Checked, dialect: Dialect) -> ServicePlan:
    routes: tuple[Route, ...] = (
        *(served(cases, checked, dialect) for cases in by_endpoint(checked.endpoints)),
        *map(blocked, checked.stopped),
    )
    bounds, older = limits(checked), versions(checked, routes, dialect)
    return ServicePlan(
        name=checked.name,
        title=checked.title,
        said=dict(checked.said),
        base=tuple(segment for segment in checked.base.split("/") if segment),
        schema=schema(checked),
        routes=routes,
        problems=problems(checked),
        schemes=tuple(scheme(each, checked, dialect) for each in checked.schemes),
        limits=bounds,
        delivery=delivery(checked, dialect),
        versions=older,
        cors=None if checked.cors is None else cors(checked.cors),
        operator=operator_values(checked, routes, older, bounds),
        not_in_force=tuple(checked.not_in_force),
        gaps=checked.left_out,
        proposals=tuple(Proposal(each.path, each.place) for each in checked.proposals),
        records=records(checked, dialect),
        timers=tuple(timers(checked, dialect)),
        operator_operations=tuple(operator_operations(checked, dialect)),
        stored=tuple(stored(checked, dialect)),
        dialect=dialect.name,
    )


# What stands around each bind of a plan, for a database that does not ask a value for its type.


def with_bound(plan: ServicePlan, bound: Callable[[Type], str], model: Model) -> ServicePlan:
    """The plan with each `?` of its statements as `bound` says it, by the type that is bound there."""

    def said(piece: Piece) -> Piece:
        texts = piece.text.split(PLACEHOLDER)
        places = (bound(stored_as(each.type, model)) for each in piece.binds)
        text = texts[0] + "".join(place + rest for place, rest in zip(places, texts[1:], strict=True))
        return msgspec.structs.replace(piece, text=text)

    made: ServicePlan = _within(plan, said)
    return made


def _within(part: Any, said: Callable[[Piece], Piece]) -> Any:
    match part:
        case Statement():
            return msgspec.structs.replace(part, pieces=tuple(map(said, part.pieces)))
        case msgspec.Struct():
            found = {name: getattr(part, name) for name in part.__struct_fields__}
            changed = {name: made for name, each in found.items() if (made := _within(each, said)) is not each}
            return msgspec.structs.replace(part, **changed) if changed else part
        case tuple():
            inside = tuple(_within(each, said) for each in part)
            return part if all(new is old for new, old in zip(inside, part, strict=True)) else inside
        case dict():
            members = {name: _within(each, said) for name, each in part.items()}
            return part if all(new is part[name] for name, new in members.items()) else members
        case _:
            return part


# What the operator gives, and the endpoints that cannot be served without it: those by whose plan it is read, in any
# version, and those whose requests a rate counts by it.


def operator_values(
    checked: Checked, routes: tuple[Route, ...], versions: Versions | None, limits: Limits
) -> tuple[OperatorValue, ...]:
    """Of a contract that names none, nothing is looked through."""
    if not checked.operator:
        return ()
    older = () if versions is None else versions.versions
    needed: dict[str, dict[str, None]] = {each.name: dict.fromkeys(each.blocks) for each in checked.operator}
    for route in (*routes, *(route for version in older for route in version.routes)):
        if isinstance(route, Served):
            for name in _read_by(route):
                needed[name][route.key] = None
    for rate in limits.rates:
        for name in _read_by(rate.of):
            needed[name] |= dict.fromkeys(rate.endpoints)
    return tuple(OperatorValue(each.name, each.places, tuple(needed[each.name])) for each in checked.operator)


def _read_by(part: Any) -> Iterator[str]:
    """The names after `operator.` in all expressions of a part of a plan, its statements' among them."""
    left = [part]
    while left:
        each = left.pop()
        kind = type(each)
        if kind in _HOLD_NOTHING:
            continue  # nearly all that there is
        if kind is Select and isinstance(each.operand, Variable) and each.operand.name == "operator":
            yield each.name
        elif issubclass(kind, msgspec.Struct):
            left += [getattr(each, name) for name in _may_hold(kind)]
        elif kind is dict:
            left += each.values()
        elif issubclass(kind, tuple | list):
            left += each


@cache
def _may_hold(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a part that may hold an expression, by how they are declared: most are texts and numbers."""
    declared = {name: said for each in kind.__mro__ for name, said in vars(each).get("__annotations__", {}).items()}
    return tuple(name for name in kind.__struct_fields__ if declared[name] not in _PLAIN)


_PLAIN: Final = {"str", "str | None", "int", "int | None", "bool", "Type", "Type | None", "tuple[str, ...]"}

_HOLD_NOTHING: Final = {str, int, bool, NoneType, Place, *get_args(Type)}
