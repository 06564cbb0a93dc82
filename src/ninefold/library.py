"""ninefold inside another program: a contract as a value, and its service as an ASGI application to mount.

    import ninefold

    orders = ninefold.application("orders.md", database="sqlite:///orders.db")
    app = Starlette(routes=[Mount("/shop", orders)], lifespan=orders.lifespan)

A contract is read and checked at once, so one that is wrong is told where it is named. The database is opened when
the service starts, not when a module is imported: one process at a time has one that is a file.
"""

from __future__ import annotations

import atexit
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

from ninefold import pipeline
from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.render import render
from ninefold.plan.responses import REFERENCES
from ninefold.plan.routes import Blocked, Served
from ninefold.plan.service import ServicePlan
from ninefold.runtime.background.brokers import to_broker
from ninefold.runtime.background.jobs import jobs
from ninefold.runtime.http import app
from ninefold.runtime.http.access_log import Observe
from ninefold.runtime.http.cycle import Message, Receive, Send
from ninefold.runtime.operations.call import Refused, unfit
from ninefold.runtime.operator.audit import Audit, Kept
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.request.issuers import unusable
from ninefold.runtime.request.service import ready
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.opening import kind_of, open_counts, open_database
from ninefold.runtime.store.protocol import Counts, Store
from ninefold.runtime.store.protocol import Refused as DatabaseRefusal
from ninefold.tools.decisions.contract import ways_of
from ninefold.tools.openapi import document
from ninefold.tools.openapi import service as described

__all__ = ["Application", "ContractError", "DatabaseRefused", "Refused", "Service", "application", "load"]


class ContractError(Exception):
    """A contract has errors, and nothing is served. Its text is what `ninefold check` prints; `diagnostics` are the
    errors one by one."""

    def __init__(self, loaded: pipeline.Loaded) -> None:
        self.diagnostics = _of(loaded, Severity.ERROR)
        super().__init__("\n" + render(self.diagnostics, loaded.source).rstrip("\n"))


class DatabaseRefused(Exception):
    """The database cannot be used as it is, and was not changed. `details` are the single points, `help` advises."""

    def __init__(self, refused: DatabaseRefusal) -> None:
        then = (f"{each.to}: ninefold {each.verb} CONTRACT --database URL" for each in refused.then)
        self.details, self.help = refused.details, (*then, *refused.help)
        lines = [f"  - {each}" for each in self.details] + [f"  = help: {each}" for each in self.help]
        super().__init__("\n".join([refused.message, *lines]))


@dataclass(frozen=True)
class Service:
    """A contract without errors. What is served of it may be little: `blocked` says why, endpoint by endpoint."""

    loaded: pipeline.Loaded
    plan: ServicePlan

    @property
    def title(self) -> str:
        return self.plan.title

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The endpoints that are served, as the contract writes them: `POST /orders`."""
        return tuple(route.key for route in self.plan.routes if isinstance(route, Served))

    @property
    def blocked(self) -> dict[str, tuple[str, ...]]:
        """The endpoints that answer 501, and the reasons, each in one line."""
        return {route.key: route.reasons for route in self.plan.routes if isinstance(route, Blocked)}

    @property
    def gaps(self) -> tuple[str, ...]:
        """The open questions in words."""
        return tuple(question.text for question in self.loaded.open_questions)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return _of(self.loaded, Severity.WARNING)

    @property
    def operator(self) -> tuple[str, ...]:
        """The names of the values that the contract leaves to the operator."""
        return tuple(value.name for value in self.plan.operator)

    def openapi(self, version: str | None = None) -> dict[str, Any]:
        """The OpenAPI 3.1 document of what is served, as JSON values: of the newest version, or of the one that is
        named. Raises LookupError where there is none of that name that is served."""
        loaded = self.loaded.of(version)
        if loaded is None or loaded.checked is None or loaded.plan is None:
            raise LookupError(f"the contract serves no version {version}")
        return document.openapi(described.Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))

    def application(
        self,
        *,
        database: str,
        operator: Mapping[str, str] | None = None,
        observe: Observe | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        broker: str | None = None,
        replica: str | None = None,
        rates: str | None = None,
        pooled: bool = False,
    ) -> Application:
        """The service as an ASGI application. `database`: `sqlite:///PATH`, a path, or
        `postgresql://USER:PASSWORD@HOST:PORT/NAME`. `operator`: what the contract calls `operator.NAME`, by name; an
        endpoint whose value is not given answers 501. `observe` is called once a request. `functions`: what the
        contract's `functions` declare, by name; an endpoint whose function is not given answers 501. `broker`: the
        address of a NATS server, or of a topic of Kafka, that all events are sent to. `replica`: the URL of a standby
        of the database, which is read where nobody needs the newest. `rates`: the URL of a Valkey in which all that
        serve the database count them. `pooled`: a pooler that gives each transaction another connection stands before
        the database. Raises ValueError for a name that the contract does not have, for a function that cannot be called
        as it says, for an issuer of tokens that cannot be used, and for a broker that cannot take the events."""
        given = dict(operator or {})
        unknown = sorted(given.keys() - set(self.operator))
        if unknown:
            names = ", ".join(self.operator) or "none"
            raise ValueError(f"the contract has no operator.{unknown[0]}; the operator values that it names: {names}")
        for scheme in self.plan.schemes:
            if reason := unusable(scheme, given):
                raise ValueError(reason)
        called = dict(functions or {})
        unknown = sorted(called.keys() - self.plan.calls().keys())
        if unknown:
            names = ", ".join(self.plan.calls()) or "none"
            raise ValueError(f"the contract calls no function {unknown[0]}; the functions that it calls: {names}")
        if reason := unfit(self.plan, called):
            raise ValueError(reason)
        plan, checked = self.loaded.plan_for(kind_of(database)), self.loaded.checked
        assert plan is not None and checked is not None
        kinds = [kind.name for kind in checked.events.kinds]
        sent = plan if broker is None else to_broker(plan, kinds, broker)
        if isinstance(sent, str):
            raise ValueError(sent)
        contract = Kept(self.loaded.source, ways_of(self.loaded).others)
        return Application(sent, database, given, observe, called, contract, broker, replica, rates, pooled)


def load(path: str | PathLike[str], *, accept_proposals: bool = False) -> Service:
    """Read and check a contract. Raises OSError where it cannot be read, and ContractError where it has errors."""
    loaded = pipeline.load(fspath(path), accept_proposals)
    if loaded.checked is None or loaded.plan is None:
        raise ContractError(loaded)
    return Service(loaded, loaded.plan)


def application(
    contract: str | PathLike[str],
    *,
    database: str,
    operator: Mapping[str, str] | None = None,
    accept_proposals: bool = False,
    observe: Observe | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    broker: str | None = None,
    replica: str | None = None,
    rates: str | None = None,
    pooled: bool = False,
) -> Application:
    """The service of a contract as an ASGI application: `load` and `Service.application` in one."""
    return load(contract, accept_proposals=accept_proposals).application(
        database=database,
        operator=operator,
        observe=observe,
        functions=functions,
        broker=broker,
        replica=replica,
        rates=rates,
        pooled=pooled,
    )


def _of(loaded: pipeline.Loaded, severity: Severity) -> tuple[Diagnostic, ...]:
    return tuple(each for each in loaded.diagnostics if each.code.severity is severity)


class Application:
    """An ASGI application that opens its database when it starts, and closes it when it stops.

    It starts with `lifespan`, with the lifespan events of a server that runs it alone, or, where neither comes, with
    the first request. It belongs to one event loop at a time, and may be started again after it was stopped.
    """

    def __init__(
        self,
        plan: ServicePlan,
        database: str,
        operator: Mapping[str, str],
        observe: Observe | None = None,
        functions: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
        contract: Kept | None = None,
        broker: str | None = None,
        replica: str | None = None,
        rates: str | None = None,
        pooled: bool = False,
    ) -> None:
        self._broker = broker
        self._replica = replica
        self._rates = rates
        self._pooled = pooled
        self._counts: Counts | None = None
        self._plan = plan
        self._contract = contract
        self._url = database
        self._operator = operator
        self._observe = observe
        self._functions = functions
        self._running: tuple[app.Application, Store] | None = None

    @asynccontextmanager
    async def lifespan(self, of: object = None) -> AsyncIterator[None]:
        """Open the database, and close it at the end. The lifespan of a Starlette or FastAPI application, or a part
        of one: `async with orders.lifespan(): yield`. Raises DatabaseRefused."""
        self._opened().begin()
        try:
            yield
        finally:
            await self._ended()

    async def _ended(self) -> None:
        """What is under way beside requests may come to its end."""
        if self._running is not None:
            await self._running[0].ended()
        self.close()
        if self._counts is not None:
            await self._counts.close()
            self._counts = None

    def open(self) -> None:
        """Open the database, if it is not open. Raises DatabaseRefused."""
        self._opened()

    def close(self) -> None:
        """Finish what was accepted, and close the database, if it is open. No request may be in flight."""
        if self._running is not None:
            (serving, database), self._running = self._running, None
            serving.close()
            database.close()
            atexit.unregister(self.close)

    def _opened(self) -> app.Application:
        if self._running is None:
            audit = Audit(self._plan.stored, contract=self._contract, issuing=self._plan.issuing)
            begin = stated_rows(self._plan, Caller(self._operator))
            elsewhere = self._rates is not None
            opening = open_database(self._url, self._plan, begin, audit, self._replica, elsewhere, self._pooled)
            if isinstance(opening, DatabaseRefusal):
                raise DatabaseRefused(opening)
            counts = None if self._rates is None else open_counts(self._rates, opening.database)
            if isinstance(counts, DatabaseRefusal):
                opening.database.close()
                raise DatabaseRefused(counts)
            self._counts = counts
            service = ready(
                self._plan,
                opening.database.key("cursors"),
                self._operator,
                Sources().following(opening.database.clock),
                functions=self._functions,
                replicated=self._replica is not None,
                counts=counts,
            )
            beside = jobs(self._plan, service, opening.database, broker=self._broker)
            self._running = app.Application(service, opening.database, self._observe, jobs=beside), opening.database
            # Where no lifespan tells the end, the end of the program does.
            atexit.register(self.close)
        return self._running[0]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http" | "websocket":
                inside, root = _inside(scope)
                await self._opened()(inside, receive, _from(root, send) if root else send)
            case "lifespan":
                await self._live(receive, send)
            case other:
                raise ValueError(f"the service speaks HTTP, not {other}")

    async def _live(self, receive: Receive, send: Send) -> None:
        """The lifespan protocol of ASGI: startup, then shutdown."""
        await receive()
        try:
            self._opened().begin()
        except DatabaseRefused as refused:
            await send({"type": "lifespan.startup.failed", "message": str(refused)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._ended()
        await send({"type": "lifespan.shutdown.complete"})


def _inside(scope: Message) -> tuple[Message, bytes]:
    """The scope as the service sees it, and the path (percent-encoded) under which it is mounted. `path` and
    `raw_path` hold that of the mount as well (ASGI, HTTP connection scope)."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode("ascii")
    root = str(scope.get("root_path") or "").rstrip("/")
    above, segments = root.split("/"), raw.split(b"/")
    if root and [unquote(segment.decode("latin-1")) for segment in segments[: len(above)]] == above:
        raw = b"/" + b"/".join(segments[len(above) :])
    return {**scope, "raw_path": raw, "root_path": ""}, quote(root).encode("ascii")


def _from(root: bytes, send: Send) -> Send:
    """The `send` of a mounted service. A contract writes `Location` from the root of its service, and a client reads
    it from the root of the host (RFC 3986 4.2): what stands between is put before it, as a reverse proxy would."""

    async def rooted(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = [
                (name, root + value)
                if name.decode() in REFERENCES and value.startswith(b"/") and not value.startswith(b"//")
                else (name, value)
                for name, value in message["headers"]
            ]
            message = {**message, "headers": headers}
        await send(message)

    return rooted
