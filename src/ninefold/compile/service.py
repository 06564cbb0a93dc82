"""The whole plan. It takes only what is checked, and it cannot fail: if it could, a check is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.checked.service import Checked
from ninefold.compile.authentication import scheme
from ninefold.compile.binds import with_bound
from ninefold.compile.cases import by_endpoint
from ninefold.compile.errors import problems
from ninefold.compile.events import delivery
from ninefold.compile.given import operator_values
from ninefold.compile.limits import limits
from ninefold.compile.operator import operator_operations, records
from ninefold.compile.places import traced
from ninefold.compile.resources import schema, stored
from ninefold.compile.routes import blocked, cors, served
from ninefold.compile.timers import timers
from ninefold.compile.versioning import versions
from ninefold.plan.places import Place
from ninefold.plan.service import NotInForce, Proposal, ServicePlan
from ninefold.sql.dialect import Dialect
from ninefold.sql.postgresql import POSTGRESQL
from ninefold.sql.sqlite import SQLITE

_DIALECTS: Final[Mapping[str, Dialect]] = {each.name: each for each in (SQLITE, POSTGRESQL)}


def plan_for(checked: Checked, database: str) -> ServicePlan:
    """The plan for a database by its name: `sqlite`, `postgresql`."""
    return plan(checked, _DIALECTS[database])


def plan(checked: Checked, dialect: Dialect = SQLITE) -> ServicePlan:
    made = _plan(checked, dialect)
    return with_bound(made, dialect.bound, checked.model) if dialect.asks_types else made


def _plan(checked: Checked, dialect: Dialect) -> ServicePlan:
    routes = tuple(served(cases, checked, dialect) for cases in by_endpoint(checked.endpoints))
    bounds, older = limits(checked), versions(checked, dialect)
    return ServicePlan(
        name=checked.name,
        title=checked.title,
        base=tuple(segment for segment in checked.base.split("/") if segment),
        schema=schema(checked),
        routes=(*routes, *(blocked(each) for each in checked.stopped)),
        problems=problems(checked),
        schemes=tuple(scheme(each, checked, dialect) for each in checked.schemes),
        limits=bounds,
        delivery=delivery(checked, dialect),
        versions=older,
        cors=None if checked.cors is None else cors(checked.cors),
        operator=operator_values(checked, routes, older, bounds),
        not_in_force=tuple(
            NotInForce(each.what, each.consequence, Place(each.place.line, each.place.column))
            for each in checked.not_in_force
        ),
        gaps=checked.left_out,
        proposals=tuple(Proposal(each.path, *traced(each.place)) for each in checked.proposals),
        records=records(checked, dialect),
        timers=tuple(timers(checked, dialect)),
        operator_operations=tuple(operator_operations(checked, dialect)),
        stored=tuple(stored(checked, dialect)),
        dialect=dialect.name,
    )
