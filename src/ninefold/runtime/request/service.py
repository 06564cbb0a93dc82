"""A plan made ready to take requests. All that can be decided before a request is decided here (law 7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import SOURCES
from ninefold.expressions.rows import BEFORE
from ninefold.plan import environment
from ninefold.plan.environment import Environment
from ninefold.plan.operations import Stream
from ninefold.plan.routes import Blocked, Route
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.message import carries
from ninefold.runtime.messages.problems import Problems
from ninefold.runtime.operations.call import Function
from ninefold.runtime.operations.cursors import Cursors
from ninefold.runtime.operations.events import Form
from ninefold.runtime.operations.flow import Ask, Share
from ninefold.runtime.operations.read import Log
from ninefold.runtime.operations.signing import signing_key
from ninefold.runtime.operations.timers import Timer, Timers
from ninefold.runtime.request import endpoints, rates
from ninefold.runtime.request.cors import Cors
from ninefold.runtime.request.endpoints import NO_CHALLENGE, Challenges, Common, Endpoint
from ninefold.runtime.request.idempotency import Keys
from ninefold.runtime.request.rates import Asking, Key, Rate, Told
from ninefold.runtime.request.routes import Routes, Version, Versions
from ninefold.runtime.request.schemes import Scheme
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Counts

Counter: TypeAlias = Callable[[Sequence[tuple[Rate, Key]]], Awaitable[tuple[Told, ...]]]
"""Counts a request by rates, each by a key."""

LARGEST_BODY = 1024 * 1024
"""Bytes that are read of a body where the contract states no limit: what protects the machine is the operator's."""


@dataclass(frozen=True, slots=True)
class Service:
    """`env` holds the roots that are the same for every request, and the others empty. `body_bytes` is what is read
    of a body at most. `seconds` is how long a request may take; None: not limited. `websockets`: some endpoint streams
    over WebSocket."""

    versions: Versions
    schemes: tuple[Scheme, ...]
    cursors: Cursors
    sources: Sources
    env: Environment
    body_bytes: int
    seconds: float | None
    headers_of_rates: rates.Headers = rates.Headers()
    challenges: Challenges = NO_CHALLENGE
    keys: Keys | None = None
    log: Log | None = None
    timers: Timers | None = None
    cors: Cors | None = None
    websockets: bool = False
    rates: tuple[Rate, ...] = ()
    """Each once; those of an endpoint are among them."""
    together: bool = False
    """Several processes may serve the database: what one of them keeps in mind the others do not."""
    replicated: bool = False
    """A replica of the database may be read."""
    counter: Counter | None = None
    """What counts requests where this process does not."""

    @property
    def routes(self) -> Routes[Endpoint]:
        """Those of the newest version."""
        return self.versions.newest.routes

    @property
    def problems(self) -> Problems:
        """Those of the newest version."""
        return self.versions.newest.problems

    def counted(self, of: Sequence[Rate], asking: Asking) -> tuple[Told, ...] | Share | Ask:
        """Count a request by these rates: how they stand, or what gives that."""
        if self.counter is not None:
            return Ask(partial(self.counter, rates.keys_of(of, asking)))
        if self.together:
            names, work = rates.count_together(of, asking)
            return Share(lambda nodes: nodes.change(names, work))
        return rates.count(of, asking, self.sources.elapsed())


def ready(
    plan: ServicePlan,
    cursor_key: bytes,
    operator: Mapping[str, object] | None = None,
    sources: Sources = Sources(),  # noqa: B008 - frozen
    largest_body: int = LARGEST_BODY,
    functions: Mapping[str, Function] = MappingProxyType({}),
    replicated: bool = False,
    counts: Counts | None = None,
) -> Service:
    """`cursor_key`: at least 32 secret bytes, the same at every start, from which the secrets of cursors and of
    idempotency keys are made. `operator`: what the operator gives, by name; an endpoint that needs a value that is not
    given answers 501. `functions`: those that endpoints call, by name, and the same of them. `replicated`: there is a
    replica. `counts`: where rates count, if not in the database. Raises `issuers.Unusable` where a value cannot be."""
    given = operator or {}
    without = {key for value in plan.operator if value.name not in given for key in value.blocks}
    without |= {key for name, (_, keys) in plan.calls().items() if name not in functions for key in keys}
    schemes = _schemes(plan, given)
    known = {scheme.parameter for scheme in schemes if scheme.where == "query"}
    if plan.versions is not None and plan.versions.by == "query":
        known.add(plan.versions.name)
    limits = plan.limits
    rates_by_name = rates.by_name(limits)

    def routes_of(common: Common, routes: tuple[Route, ...], counted: Counted) -> Routes[Endpoint]:
        return Routes(
            (
                route.method,
                (*plan.base, *route.segments),
                endpoints.blocked(route, common)
                if isinstance(route, Blocked) or route.key in without
                else endpoints.served(route, common, counted.get(route.key, ())),
            )
            for route in routes
        )

    common = Common(Problems(plan.problems), schemes, frozenset(known), functions)
    versions = _versions(plan, common, rates_by_name, routes_of)
    env = constants(sources, given, cursor_key)
    together = plan.dialect != "sqlite"
    return Service(
        versions=versions,
        schemes=schemes,
        cursors=Cursors(cursor_key),
        sources=sources,
        env=env,
        body_bytes=largest_body if limits.body_bytes is None else limits.body_bytes,
        seconds=None if limits.request_microseconds is None else limits.request_microseconds / 1_000_000,
        headers_of_rates=rates.headers(limits),
        challenges=endpoints.challenges(schemes),
        log=_log(plan, given),
        rates=tuple(rates_by_name.values()),
        together=together,
        replicated=replicated,
        counter=None if counts is None else lambda keys: counts.change(*rates.count_keys_together(keys)),
        timers=Timers(tuple(map(Timer, plan.timers)), env, sources, together) if plan.timers else None,
        cors=None if plan.cors is None else Cors(plan.cors),
        websockets=any(map(_over_websocket, plan.routes)),
        keys=None if limits.keys_kept_microseconds is None else Keys(cursor_key, limits.keys_kept_microseconds),
    )


def _schemes(plan: ServicePlan, given: Mapping[str, object]) -> tuple[Scheme, ...]:
    keys = {table.name: table.key for table in plan.schema.tables}
    sensitive = {each.resource: each.sensitive for each in plan.operator_operations}
    owners = tuple("" if each.of_row is None else each.of_row.resource for each in plan.schemes)
    return tuple(
        Scheme(each, keys.get(owner, ()), given, sensitive.get(owner, ()))
        for each, owner in zip(plan.schemes, owners, strict=True)
    )


def _over_websocket(route: Route) -> bool:
    """Whether an endpoint streams over WebSocket."""
    operations = () if isinstance(route, Blocked) else (each.operation for each in route.admissions)
    return any(isinstance(each, Stream) and each.websocket for each in operations)


Counted: TypeAlias = Mapping[str, tuple[Rate, ...]]
"""What counts the requests to each endpoint."""

RoutesOf: TypeAlias = Callable[[Common, tuple[Route, ...], Counted], Routes[Endpoint]]
"""The routes of one version."""


def _versions(plan: ServicePlan, common: Common, rates_by_name: Mapping[str, Rate], routes_of: RoutesOf) -> Versions:
    stated, problems = plan.versions, common.problems
    counted = rates.by_endpoint(plan.limits, rates_by_name)
    if stated is None:
        return Versions(plan.base, None, (Version(routes_of(common, plan.routes, counted), problems),))
    found: list[Version] = []
    for each in stated.versions:
        of_it = replace(common, version=each.name, carries=(stated.carries, each.carries))
        if each.problems is None:
            routes = found[0].routes if found else routes_of(of_it, plan.routes, counted)
        else:
            of_it = replace(of_it, problems=Problems(each.problems))
            counts = {key: tuple(rates_by_name[name] for name in names) for key, names in each.counted.items()}
            routes = routes_of(of_it, each.routes, counts)
        every = carries(*of_it.carries)
        found.append(Version(routes, of_it.problems, each.name, every, each.retired, served=each.served))
    return Versions(plan.base, stated, found)


def _log(plan: ServicePlan, operator: Mapping[str, object]) -> Log | None:
    if plan.delivery is None:
        return None
    return Log(Form(plan.delivery.envelope, operator), plan.delivery.kept_microseconds)


def constants(sources: Sources, operator: Mapping[str, object], key: bytes | None = None) -> Environment:
    """The environment that is the same for every call of an operation: see `ninefold.plan.environment`. `key`: the
    service's secret, from which the signing secrets of subscriptions are made; without it none can be."""
    return {
        "operator": operator,
        SOURCES: sources.of_expressions(),
        environment.SIGNING: {} if key is None else {"key": signing_key(key)},
        environment.PATH: {},
        environment.BODY: {},
        environment.NEW: {},
        environment.GIVEN: {},
        environment.ANEW: {},
        environment.FILTER: {},
        environment.LIST: {},
        environment.IF: {},
        environment.WRITE: {},
        environment.CREDENTIAL: {},
        environment.ISSUED: {},
        environment.VERIFIED: {},
        environment.ROW: {},
        environment.JUDGE: {},
        environment.RESULT: {},
        environment.LOG: {},
        BEFORE: {},
    }
