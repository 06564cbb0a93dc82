"""`ninefold serve FILE`"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from socket import socket
from ssl import SSLContext
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, TypeAlias

from ninefold.cli import announcement, try_it
from ninefold.cli.commands import (
    AcceptProposals,
    Database,
    File,
    Flag,
    Functions,
    Listen,
    Networks,
    OperatorNames,
    Parameter,
    Secrets,
    Settings,
)
from ninefold.cli.document import database_of, load
from ninefold.cli.operator_values import functions_of, issuers_usable, operator_values
from ninefold.cli.sockets import bound, guard_of, tls_context, url
from ninefold.cli.terminal import Unusable, complain, is_coloured, say, show
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import visible
from ninefold.diagnostics.source import Source
from ninefold.operator.audit import Audit, Counted
from ninefold.operator.port import Guard, Metrics, application
from ninefold.operator.rows import Caller, stated_rows
from ninefold.operator.trouble import Causes
from ninefold.plan.service import ServicePlan
from ninefold.runtime.background.jobs import jobs
from ninefold.runtime.http import access_log, run
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import client_address
from ninefold.runtime.request.service import Service, ready
from ninefold.runtime.request.tracing import Tracer
from ninefold.runtime.sources import Clock, Sources
from ninefold.runtime.store.sqlite import Opened, Refused, SQLite, open_sqlite
from ninefold.tools.gaps import to_text
from ninefold.values import Invalid, timestamp

if TYPE_CHECKING:
    from ninefold.development.identity import Identity


Pem: TypeAlias = Annotated[Path | None, Parameter(show_default=False)]


def serve(
    file: File,
    /,
    *,
    listen: Listen = "127.0.0.1:8080",
    operator: str = "127.0.0.1:8081",
    operator_names: OperatorNames = (),
    database: Database = None,
    settings: Settings = (),
    secrets: Secrets = None,
    functions: Functions = None,
    log: Literal["text", "json"] = "text",
    trusted_proxy: Networks = (),
    allow_private: Networks = (),
    clock: str | None = None,
    trace: Flag = False,
    certificate: Pem = None,
    key: Pem = None,
    client_ca: Pem = None,
    development_issuer: Flag = False,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Serve a contract.

    Says which endpoints are served and what blocks the others, what is stated and not in force, and where it
    listens; then writes a line for each request. SIGTERM or Ctrl-C ends it when what is in flight is done.

    Exit status: 0 after a signal, 1 if the contract has errors or leaves nothing to serve, 2 if an address, the
    database or an operator value cannot be used.

        ninefold serve orders.md
        ninefold serve orders.md --listen 0.0.0.0:80 --database sqlite:////var/lib/orders.db
        ninefold serve orders.md --set staff_issuer=https://id.example --secrets orders.secrets

    Parameters
    ----------
    operator
        HOST:PORT of health and metrics: `/health/live`, `/health/ready`, `/metrics`.
    log
        How the line for each request is written.
    trusted_proxy
        A network (CIDR) whose X-Forwarded-For or Forwarded header is believed; may be repeated.
    allow_private
        A network (CIDR) that webhooks may be delivered to although it is not of the public internet; may be repeated.
    clock
        For tests and sandboxes: the time (RFC 3339) at which the service begins. It runs on from there, and
        `PUT /clock` on the operator's port sets it again.
    trace
        Each response carries `Ninefold-Trace`, by which `ninefold explain FILE --response` shows the lines of the
        contract that caused it. It tells how the service is made to whoever knows the contract.
    certificate
        The service's own certificate, with those between it and its authority (PEM): its port then speaks HTTPS.
    key
        The key of that certificate (PEM, without a password).
    client_ca
        Authorities (PEM) whose clients' certificates are taken, for schemes of the type mutualTLS.
    development_issuer
        For tests and sandboxes: the issuer of each openIdConnect scheme that is given none is the service itself. On
        the operator's port, with a key of this run, it signs a token for whoever asks and whatever is asked for, so
        the port has to be one that no other machine reaches.
    """
    tls = tls_context(certificate, key, client_ca)
    loaded = load(file, accept_proposals)
    told = (found for found in loaded.diagnostics if found.code.severity is not Severity.NOTE)
    show(told, loaded.source, sys.stderr)
    if (plan := loaded.plan) is None:
        return 1
    if not plan.routes:
        say(to_text(loaded.contract, loaded.open_questions))
        complain("there is nothing to serve")
        return 1
    values = operator_values([value.name for value in plan.operator], settings, secrets, os.environ)
    issuers_usable(plan, values)
    serving = _Serving(
        plan,
        loaded.source,
        visible(file),
        values,
        functions_of(plan, functions),
        Sources() if clock is None else Sources(clock=_clock(clock)),
        tls,
        [_network(network, "--trusted-proxy") for network in trusted_proxy],
        [_network(network, "--allow-private") for network in allow_private],
        log,
        trace,
        client_ca is not None,
        development_issuer,
    )
    path = database_of(plan, file, database)
    with bound(listen, "--listen") as service_socket, bound(operator, "--operator") as operator_socket:
        serving.over(path, service_socket, operator_socket, guard_of(operator_socket, operator_names))
    return 0


@dataclass(frozen=True, slots=True)
class _Serving:
    """What is served, as `serve` was called."""

    plan: ServicePlan
    source: Source
    document: str
    values: Mapping[str, str]
    functions: Mapping[str, Callable[..., Any]]
    sources: Sources
    tls: SSLContext | None
    networks: Sequence[IPv4Network | IPv6Network]
    allowed: Sequence[IPv4Network | IPv6Network]
    log: Literal["text", "json"]
    trace: bool
    takes_certificates: bool
    development_issuer: bool

    def over(self, path: str, service_socket: socket, operator_socket: socket, door: Guard) -> None:
        """Serve over a database until a signal ends it. Raises Unusable where the database cannot be used."""
        plan = self.plan
        audit = Audit(plan.stored, contract=self.source)
        opening = open_sqlite(path, plan.schema, stated_rows(plan, Caller(self.values, self.sources)), audit)
        if isinstance(opening, Refused):
            raise Unusable(opening.message, *opening.help, details=opening.details)
        stop = run.Stop()
        for number in run.ending_signals():
            # From here on until the database is closed: whoever reads that it serves may tell it to end.
            signal.signal(number, lambda *_: stop.request())
        try:
            operator = url(operator_socket)
            identity = _identity(operator, self.sources) if self.development_issuer else None
            values = self.values if identity is None else identity.take_over(plan, self.values)
            key = opening.database.key("cursors")
            service = ready(plan, key, values, self.sources, functions=self.functions)
            addresses = url(service_socket, "http" if self.tls is None else "https"), operator
            self.announce(opening, audit.counted, addresses, values, identity)
            metrics = Metrics(opening.database, audit.counted)
            lines = Lines(sys.stdout, access_log.lines(self.log, self.document))
            main = self.main(service, opening.database, metrics, values, lines)
            second = application(opening.database, metrics, lambda: stop.requested, _set_clock(service))
            if identity is not None:
                second = identity.beside(second)
            before = door.before(second)
            run.run(lambda: run.serve(main, (service_socket,), before, (operator_socket,), stop, self.tls))
            lines.flush()
        finally:
            opening.database.close()

    def announce(
        self,
        opening: Opened,
        misfits: Counted,
        addresses: tuple[str, str],
        values: Mapping[str, str],
        identity: Identity | None,
    ) -> None:
        """`addresses`: the URLs of the service and of the operator's port, without a slash at their end."""
        plan, (service, operator) = self.plan, addresses
        time = self.sources.now() if isinstance(self.sources.clock, Clock) else None
        say(f"{visible(plan.title)} ({self.document})")
        say()
        say(announcement.endpoints(plan, values, is_coloured(sys.stdout), self.functions))
        for paragraph in announcement.remarks(plan, values, self.document, self.takes_certificates, self.functions):
            say(f"\n{paragraph}")
        say(f"\ndatabase  {opening.path}{' (new)' if opening.created else ''}")
        for words in opening.additions:
            say(f"          {visible(words)}")
        for words in opening.began:
            say(f"          as the contract states: {visible(words)}")
        for words in misfits.words():
            say(f"          {visible(words)}")
        say(f"service   {service}")
        say(f"operator  {operator}/health/live  /health/ready  /metrics{'  /clock' if time else ''}")
        if time is not None:
            say(f"clock     {time}, set by --clock")
        issuers = {} if identity is None else {name: identity.issuer(name) for name in identity.audiences}
        for name, issuer in issuers.items():
            say(f"issuer    {issuer} of {name}: signs whatever it is asked to, for tests and sandboxes")
        where = try_it.Where(service, self.document, str(opening.path), issuers)
        if lines := list(try_it.lines(plan, where, values, self.functions)):
            say("\n" + "\n".join(["Try:", *("  " + visible(line) for line in lines)]))
        say()
        sys.stdout.flush()

    def main(
        self, service: Service, database: SQLite, metrics: Metrics, values: Mapping[str, str], lines: Lines
    ) -> Application:
        """The service itself, which counts its requests and writes a line for each."""
        logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")

        def observe(record: Record) -> None:
            metrics.observe(record)
            lines.write(record)

        return Application(
            service,
            database,
            observe,
            client_address(self.networks),
            jobs=jobs(self.plan, service, database, self.allowed),
            trace=Tracer(self.plan).traced if self.trace else None,
            reasons=Causes(self.plan, values).reasons,
        )


def _set_clock(service: Service) -> Clock | None:
    """The clock that can be set, of which timers are told."""
    clock = service.sources.clock if isinstance(service.sources.clock, Clock) else None
    if clock is not None and service.timers is not None:
        clock.set_again.append(service.timers.wake)
    return clock


def _identity(operator: str, sources: Sources) -> Identity:
    from ninefold.development.identity import Identity

    identity = Identity(operator, sources.clock)
    if not identity.is_private:
        raise Unusable(
            f"--development-issuer: other machines may reach {operator}, and whoever does could be anybody",
            "--operator 127.0.0.1:8081 listens for this machine alone",
        )
    return identity


def _clock(text: str) -> Clock:
    try:
        return Clock(datetime.fromisoformat(timestamp(text)))
    except (Invalid, OverflowError) as error:
        raise Unusable(f"--clock {text} cannot be: {error}", "for example 2026-01-01T00:00:00Z") from None


def _network(text: str, option: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise Unusable(f"{option} {text} is no network: {error}", "for example 10.0.0.0/8") from None


SECONDS = 0.05
"""How long a line waits for others."""


class Lines:
    """Records, written together. To be used on the event loop's thread. When the reader has gone away, what is written
    is dropped: a service does not end because nobody reads its log."""

    def __init__(self, stream: TextIO, line: Callable[[Record], str]) -> None:
        self._stream = stream
        self._line = line
        self._waiting: list[Record] = []

    def write(self, record: Record) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_later(SECONDS, self.flush)
        self._waiting.append(record)

    def flush(self) -> None:
        text = "".join([self._line(each) + "\n" for each in self._waiting])
        self._waiting.clear()
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            pass
