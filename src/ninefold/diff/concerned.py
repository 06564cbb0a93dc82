"""Which endpoints are concerned by what is said of all of them: a rate of some, a code that some answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ninefold.diff.meaning import Felt, Piece
from ninefold.plan.limits import Limits
from ninefold.plan.problems import Problems, names
from ninefold.plan.routes import Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import Version
from ninefold.refusals.served import refusals

_OF_NO_ROUTE: Final = frozenset(("no such path", "method not allowed"))
"""What is refused before there is an endpoint."""


def concerned(old: ServicePlan, new: ServicePlan, felt: Felt) -> tuple[str, ...] | None:
    """None: all are, or nobody can say which."""
    found: dict[str, None] = {}
    for name, side in felt.rest.items():
        if side in ("runs", "moves"):
            continue
        match name.partition(" of "):
            case ("limits", _, _):
                some = _of_limits(old.limits, new.limits)
            case ("problems", _, version):
                some = _of_problems(old, new, version)
            case _:
                some = None
        if some is None:
            return None
        found |= dict.fromkeys(some)
    return tuple(found)


def _differ(one: Any, other: Any) -> bool:
    return not Piece(one).says_the_same(Piece(other))


def _besides(of: Any, *without: str) -> list[Any]:
    return [getattr(of, name) for name in of.__struct_fields__ if name not in (*without, "places", "trace")]


def _of_limits(old: Limits, new: Limits) -> list[str] | None:
    if _differ(_besides(old, "rates"), _besides(new, "rates")):
        return None
    was, now = {each.name: each for each in old.rates}, {each.name: each for each in new.rates}
    others = [(was.get(name), now.get(name)) for name in {*was, *now}]
    rates = [rate for pair in others if _differ(*pair) for rate in pair if rate is not None]
    return [key for rate in rates for key in rate.endpoints] if all(rate.endpoints for rate in rates) else None


def _of_problems(old: ServicePlan, new: ServicePlan, version: str) -> list[str] | None:
    """Those of the newest, where `version` is empty. One that is in one of the two alone is told by its routes."""
    stood, stands = _problems(old, version), _problems(new, version)
    if stood is None or stands is None:
        return []
    if _differ(_besides(stood, "codes", "conditions"), _besides(stands, "codes", "conditions")):
        return None
    was, now = ({each.name: each for each in problems.codes} for problems in (stood, stands))
    codes = {name for name in {*was, *now} if _differ(was.get(name), now.get(name))}
    before, after = stood.conditions, stands.conditions
    conditions = {each for each in {*before, *after} if before.get(each) != after.get(each)}
    conditions |= {each for of in (before, after) for each, code in of.items() if code in codes}
    if conditions & _OF_NO_ROUTE:
        return None
    return [key for plan in (old, new) for key in _answering(plan, version, codes, conditions)]


def _problems(plan: ServicePlan, version: str) -> Problems | None:
    return next((each.problems for each in _versions(plan) if each.name == version), None if version else plan.problems)


def _versions(plan: ServicePlan) -> tuple[Version, ...]:
    return () if plan.versions is None else plan.versions.versions


def _answering(plan: ServicePlan, version: str, codes: set[str], conditions: set[str]) -> Iterator[str]:
    of_version = (each.routes for each in _versions(plan) if each.name == version)
    for route in next(of_version, ()) if version else plan.routes:
        if not isinstance(route, Served):
            continue
        own = {*route.errors.values()} & codes
        for each in refusals(route, plan):
            told = own or each.code in codes or {*names(each.condition, each.subject)} & conditions
            if told:
                yield route.key
                break
