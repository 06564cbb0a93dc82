"""`ninefold serve FILE`"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from socket import socket
from ssl import SSLContext
from typing import TYPE_CHECKING, Annotated, Literal

from ninefold.cli import announcement, try_it
from ninefold.cli.addresses import bound, guard_of, url
from ninefold.cli.contract_file import load
from ninefold.cli.database_file import database_of
from ninefold.cli.functions import functions_of
from ninefold.cli.lines import Lines
from ninefold.cli.operator_values import issuers_usable, operator_values
from ninefold.cli.parameter import AcceptProposals, File, Parameter
from ninefold.cli.terminal import Unusable, complain, is_coloured, say, show
from ninefold.cli.tls import tls_context
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import visible
from ninefold.operator.audit import Counted, counted
from ninefold.operator.port import Guard, Metrics, application
from ninefold.operator.rows import Caller, stated_rows
from ninefold.operator.trouble import Causes
from ninefold.plan.service import ServicePlan
from ninefold.runtime.background.jobs import jobs
from ninefold.runtime.http import run
from ninefold.runtime.http.access_log import Record, access_log
from ninefold.runtime.http.addresses import client_address
from ninefold.runtime.http.app import Application, Trace
from ninefold.runtime.request.service import Service, ready
from ninefold.runtime.request.tracing import Tracer
from ninefold.runtime.sources import Clock, Sources
from ninefold.runtime.store.bell import Job
from ninefold.runtime.store.sqlite import Opened, Refused, SQLite, open_sqlite
from ninefold.tools.gaps import to_text
from ninefold.values import Invalid, timestamp

if TYPE_CHECKING:
    from ninefold.development.identity import Identity


def serve(
    file: File,
    /,
    *,
    listen: str = "127.0.0.1:8080",
    operator: str = "127.0.0.1:8081",
    operator_name: Annotated[Sequence[str], Parameter(negative=(), show_default=False)] = (),
    database: str | None = None,
    settings: Annotated[Sequence[str], Parameter(name="--set", negative=(), show_default=False)] = (),
    secrets: Path | None = None,
    functions: Annotated[str | None, Parameter(show_default=False)] = None,
    log: Literal["text", "json"] = "text",
    trusted_proxy: Annotated[Sequence[str], Parameter(negative=(), show_default=False)] = (),
    allow_private: Annotated[Sequence[str], Parameter(negative=(), show_default=False)] = (),
    clock: str | None = None,
    trace: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    certificate: Annotated[Path | None, Parameter(show_default=False)] = None,
    key: Annotated[Path | None, Parameter(show_default=False)] = None,
    client_ca: Annotated[Path | None, Parameter(show_default=False)] = None,
    development_issuer: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
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
    listen
        HOST:PORT of the service. Port 0 is one that is free; which, is printed.
    operator
        HOST:PORT of health and metrics: `/health/live`, `/health/ready`, `/metrics`.
    operator_name
        NAME or NAME:PORT by which the operator's port is asked besides its address; may be repeated.
    database
        `sqlite:///PATH` (four slashes for an absolute path) or a path. By default a file in the working directory,
        called after the document: `orders.md` is kept in `orders.db`.
    settings
        NAME=VALUE: what the contract calls `operator.NAME`; may be repeated. It counts before the secrets file,
        and that before the environment, where NINEFOLD_SET_NAME is read. Other users may see a command line: what
        is secret belongs into the file.
    secrets
        A file of lines NAME=VALUE, refused if others may read it. Lines that begin with # say nothing.
    functions
        MODULE or FILE.py, which has the functions that the contract calls, by their names.
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
    plan = loaded.plan
    if plan is None:
        return 1
    if not plan.routes:
        say(to_text(loaded.contract, loaded.open_questions))
        complain("there is nothing to serve")
        return 1
    path = database_of(plan, file, database)
    values = operator_values([value.name for value in plan.operator], settings, secrets, os.environ)
    issuers_usable(plan, values)
    called = functions_of(plan, functions)
    networks = [_network(network, "--trusted-proxy") for network in trusted_proxy]
    allowed = [_network(network, "--allow-private") for network in allow_private]
    sources = Sources() if clock is None else Sources(clock=_clock(clock))
    with bound(listen, "--listen") as service_socket, bound(operator, "--operator") as operator_socket:
        opening = open_sqlite(path, plan.schema, stated_rows(plan, Caller(values, sources)))
        if isinstance(opening, Refused):
            raise Unusable(opening.message, *opening.help, details=opening.details)
        stop = run.Stop()
        for number in run.ending_signals():
            # From here on until the database is closed: whoever reads that it serves may tell it to end.
            signal.signal(number, lambda *_: stop.request())
        try:
            identity = _identity(url(operator_socket), sources) if development_issuer else None
            if identity is not None:
                values = identity.take_over(plan, values)
            service = ready(plan, opening.database.key("cursors"), values, sources, functions=called)
            addresses = Addresses(url(service_socket, "http" if tls is None else "https"), url(operator_socket))
            time = None if clock is None else sources.now()
            misfits = Counted() if opening.created else counted(plan.stored, opening.database.read)
            asks = client_ca is not None
            _announce(plan, values, called, visible(file), opening, misfits, addresses, time, asks, identity)
            beside = jobs(plan, service, opening.database, allowed)
            tracer = Tracer(plan).traced if trace else None
            metrics = Metrics(opening.database, misfits)
            sockets = service_socket, operator_socket
            door = guard_of(operator_socket, operator_name)
            _run(
                service,
                opening.database,
                metrics,
                log,
                networks,
                sockets,
                stop,
                beside,
                tls,
                tracer,
                identity,
                door,
                Causes(plan, values),
                visible(file),
            )
        finally:
            opening.database.close()
    return 0


@dataclass(frozen=True, slots=True)
class Addresses:
    """The URLs that are listened on, without a slash at their end."""

    service: str
    operator: str


def _announce(
    plan: ServicePlan,
    values: Mapping[str, str],
    functions: Collection[str],
    document: str,
    opening: Opened,
    misfits: Counted,
    addresses: Addresses,
    time: str | None,
    takes_certificates: bool,
    identity: Identity | None,
) -> None:
    say(f"{visible(plan.title)} ({document})")
    say()
    say(announcement.endpoints(plan, values, is_coloured(sys.stdout), functions))
    for paragraph in announcement.remarks(plan, values, document, takes_certificates, functions):
        say(f"\n{paragraph}")
    say(f"\ndatabase  {opening.path}{' (new)' if opening.created else ''}")
    for words in opening.additions:
        say(f"          added: {visible(words)}")
    for words in opening.began:
        say(f"          as the contract states: {visible(words)}")
    for words in misfits.words():
        say(f"          {visible(words)}")
    say(f"service   {addresses.service}")
    say(f"operator  {addresses.operator}/health/live  /health/ready  /metrics{'  /clock' if time else ''}")
    if time is not None:
        say(f"clock     {time}, set by --clock")
    issuers = {} if identity is None else {name: identity.issuer(name) for name in identity.audiences}
    for name, issuer in issuers.items():
        say(f"issuer    {issuer} of {name}: signs whatever it is asked to, for tests and sandboxes")
    where = try_it.Where(addresses.service, document, str(opening.path), issuers)
    if lines := list(try_it.lines(plan, where, values, functions)):
        say("\n" + "\n".join(["Try:", *("  " + visible(line) for line in lines)]))
    say()
    sys.stdout.flush()


def _run(
    service: Service,
    database: SQLite,
    metrics: Metrics,
    form: Literal["text", "json"],
    networks: Sequence[IPv4Network | IPv6Network],
    sockets: tuple[socket, socket],
    stop: run.Stop,
    beside: Sequence[Job],
    tls: SSLContext | None,
    trace: Trace | None,
    identity: Identity | None,
    door: Guard,
    causes: Causes,
    document: str,
) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    lines = Lines(sys.stdout)
    write = access_log(form, lines.write, document)

    def observe(record: Record) -> None:
        metrics.observe(record)
        write(record)

    main = Application(
        service, database, observe, client_address(networks), jobs=beside, trace=trace, reasons=causes.reasons
    )
    clock = service.sources.clock if isinstance(service.sources.clock, Clock) else None
    if clock is not None and service.timers is not None:
        clock.set_again.append(service.timers.wake)
    second = application(database, metrics, lambda: stop.requested, clock)
    if identity is not None:
        second = identity.beside(second)
    run.run(lambda: run.serve(main, sockets[:1], door.before(second), sockets[1:], stop, tls))
    lines.flush()


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
