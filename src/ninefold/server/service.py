"""A plan made ready to take requests. All that can be decided before a request is decided here (law 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ninefold.expressions.evaluate import SOURCES
from ninefold.plan import environment
from ninefold.plan.routes import Blocked
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import Versions
from ninefold.server import endpoints, rates
from ninefold.server.admit import Asked, paths
from ninefold.server.authenticate import Scheme
from ninefold.server.cross_origin import CrossOrigin
from ninefold.server.cursor import Cursors
from ninefold.server.endpoints import NO_CHALLENGE, Challenges, Endpoint
from ninefold.server.events import Form
from ninefold.server.execute import Log
from ninefold.server.idempotency import Keys
from ninefold.server.match import Routes
from ninefold.server.problems import Problems
from ninefold.server.signing import signing_key
from ninefold.server.sources import Sources
from ninefold.server.timers import Timer, Timers

_ROOTS = (
    environment.PATH,
    environment.BODY,
    environment.NEW,
    environment.GIVEN,
    environment.FILTER,
    environment.LIST,
    environment.IF,
    environment.WRITE,
    environment.CREDENTIAL,
    environment.ISSUED,
    environment.VERIFIED,
    environment.ROW,
    environment.JUDGE,
    environment.LOG,
)

LARGEST_BODY = 16 * 1024 * 1024
"""Bytes that are read of a body where the contract states no limit: what protects the machine is the operator's."""


@dataclass(frozen=True, slots=True)
class Service:
    """`env` holds the roots that are the same for every request, and the others empty. `body_bytes` is what is read
    of a body at most. `seconds` is how long a request may take; None: not limited."""

    routes: Routes[tuple[Endpoint, Asked]]
    problems: Problems
    schemes: tuple[Scheme, ...]
    versions: Versions | None
    cursors: Cursors
    sources: Sources
    env: Mapping[str, Any]
    body_bytes: int
    seconds: float | None
    headers_of_rates: rates.Headers = rates.Headers()  # noqa: RUF009 - frozen
    challenges: Challenges = NO_CHALLENGE
    keys: Keys | None = None
    log: Log | None = None
    timers: Timers | None = None
    cross_origin: CrossOrigin | None = None
    rates: tuple[rates.Rate, ...] = ()
    """Each once; those of an endpoint are among them."""


def ready(
    plan: ServicePlan,
    cursor_key: bytes,
    operator: Mapping[str, object] | None = None,
    sources: Sources = Sources(),  # noqa: B008 - frozen
    largest_body: int = LARGEST_BODY,
) -> Service:
    """`cursor_key`: at least 32 secret bytes, the same at every start, from which the secrets of cursors and of
    idempotency keys are made. `operator`: what the operator gives, by
    name; an endpoint that needs a value that is not given answers 501. Raises `ninefold.server.issuers.Unusable` for
    one that cannot be used."""
    given = operator or {}
    without = {key for value in plan.operator if value.name not in given for key in value.blocks}
    problems = Problems(plan.problems)
    keys = {table.name: table.key for table in plan.schema.tables}
    sensitive = {each.resource: each.sensitive for each in plan.operator_operations}
    owners = tuple("" if each.of_row is None else each.of_row.resource for each in plan.schemes)
    schemes = tuple(
        Scheme(each, keys.get(owner, ()), given, sensitive.get(owner, ()))
        for each, owner in zip(plan.schemes, owners, strict=True)
    )
    known = {scheme.parameter for scheme in schemes if scheme.where == "query"}
    if plan.versions is not None and plan.versions.by == "query":
        known.add(plan.versions.name)
    rates_of = rates.by_endpoint(plan.limits)
    routes = (
        (
            route.method,
            route.segments,
            endpoints.blocked(route)
            if isinstance(route, Blocked) or route.key in without
            else endpoints.served(route, problems, schemes, frozenset(known), rates_of.get(route.key, ())),
        )
        for route in plan.routes
    )
    limits = plan.limits
    env = constants(sources, given, cursor_key)
    return Service(
        routes=Routes(paths(plan.base, plan.versions, routes)),
        problems=problems,
        schemes=schemes,
        versions=plan.versions,
        cursors=Cursors(cursor_key),
        sources=sources,
        env=env,
        body_bytes=largest_body if limits.body_bytes is None else limits.body_bytes,
        seconds=None if limits.request_microseconds is None else limits.request_microseconds / 1_000_000,
        headers_of_rates=rates.headers(limits),
        challenges=endpoints.challenges(schemes),
        log=_log(plan, given),
        rates=tuple(dict.fromkeys(rate for each in rates_of.values() for rate in each)),
        timers=Timers(tuple(map(Timer, plan.timers)), env, sources) if plan.timers else None,
        cross_origin=None if plan.cross_origin is None else CrossOrigin(plan.cross_origin),
        keys=None if limits.keys_kept_microseconds is None else Keys(cursor_key, limits.keys_kept_microseconds),
    )


def _log(plan: ServicePlan, operator: Mapping[str, object]) -> Log | None:
    if plan.delivery is None:
        return None
    kept = timedelta(microseconds=plan.delivery.kept_microseconds or 0)
    return Log(Form(plan.delivery.envelope, operator), kept)


def constants(sources: Sources, operator: Mapping[str, object], key: bytes | None = None) -> dict[str, Any]:
    """The environment that is the same for every call of an operation: see `ninefold.plan.environment`. `key`: the
    service's secret, from which the signing secrets of subscriptions are made; without it none can be."""
    return {root: {} for root in _ROOTS} | {
        "operator": operator,
        SOURCES: sources.of_expressions(),
        environment.SIGNING: {} if key is None else {"key": signing_key(key)},
    }
