"""`ninefold serve FILE`"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from socket import socket
from typing import Annotated, Literal

from cyclopts import Parameter

from ninefold.cli import announcement, try_it
from ninefold.cli.addresses import bound, url
from ninefold.cli.contract_file import AcceptProposals, File, load
from ninefold.cli.database_file import database_of
from ninefold.cli.lines import Lines
from ninefold.cli.operator_values import operator_values
from ninefold.cli.terminal import Unusable, complain, is_coloured, say, show
from ninefold.database.sqlite import Opened, Refused, SQLite, open_sqlite
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import visible
from ninefold.gaps import to_text
from ninefold.operator.app import application
from ninefold.operator.metrics import Metrics
from ninefold.plan.service import ServicePlan
from ninefold.server import run
from ninefold.server.access_log import Record, access_log
from ninefold.server.addresses import client_address
from ninefold.server.app import Application
from ninefold.server.service import Service, ready


def serve(
    file: File,
    /,
    *,
    listen: str = "127.0.0.1:8080",
    operator: str = "127.0.0.1:8081",
    database: str | None = None,
    settings: Annotated[Sequence[str], Parameter(name="--set", negative=(), show_default=False)] = (),
    secrets: Path | None = None,
    log: Literal["text", "json"] = "text",
    trusted_proxy: Annotated[Sequence[str], Parameter(negative=(), show_default=False)] = (),
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
    database
        `sqlite:///PATH` (four slashes for an absolute path) or a path. By default a file in the working directory,
        called after the document: `orders.md` is kept in `orders.db`.
    settings
        NAME=VALUE: what the contract calls `operator.NAME`; may be repeated. It counts before the secrets file,
        and that before the environment, where NINEFOLD_SET_NAME is read. Other users may see a command line: what
        is secret belongs into the file.
    secrets
        A file of lines NAME=VALUE, refused if others may read it. Lines that begin with # say nothing.
    log
        How the line for each request is written.
    trusted_proxy
        A network (CIDR) whose X-Forwarded-For or Forwarded header is believed; may be repeated.
    """
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
    networks = [_network(network) for network in trusted_proxy]
    with bound(listen, "--listen") as service_socket, bound(operator, "--operator") as operator_socket:
        opening = open_sqlite(path, plan.schema)
        if isinstance(opening, Refused):
            raise Unusable(opening.message, *opening.help, details=opening.details)
        stop = run.Stop()
        for number in (signal.SIGINT, signal.SIGTERM):
            # From here on until the database is closed: whoever reads that it serves may tell it to end.
            signal.signal(number, lambda *_: stop.request())
        try:
            service = ready(plan, opening.database.key("cursors"), values)
            addresses = Addresses(url(service_socket), url(operator_socket))
            _announce(plan, values, visible(file), opening, addresses)
            _run(service, opening.database, log, networks, (service_socket, operator_socket), stop)
        finally:
            opening.database.close()
    return 0


@dataclass(frozen=True, slots=True)
class Addresses:
    """The URLs that are listened on, without a slash at their end."""

    service: str
    operator: str


def _announce(
    plan: ServicePlan, values: Mapping[str, str], document: str, opening: Opened, addresses: Addresses
) -> None:
    say(f"{visible(plan.title)} ({document})")
    say()
    say(announcement.endpoints(plan, values, is_coloured(sys.stdout)))
    for paragraph in announcement.remarks(plan, values, document):
        say(f"\n{paragraph}")
    say(f"\ndatabase  {opening.path}{' (new)' if opening.created else ''}")
    for words in opening.additions:
        say(f"          added: {visible(words)}")
    say(f"service   {addresses.service}")
    say(f"operator  {addresses.operator}/health/live  /health/ready  /metrics")
    if lines := list(try_it.lines(plan, addresses.service, values)):
        say("\n" + "\n".join(["Try:", *("  " + visible(line) for line in lines)]))
    say()
    sys.stdout.flush()


def _run(
    service: Service,
    database: SQLite,
    form: Literal["text", "json"],
    networks: Sequence[IPv4Network | IPv6Network],
    sockets: tuple[socket, socket],
    stop: run.Stop,
) -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    lines = Lines(sys.stdout)
    metrics = Metrics(database)
    write = access_log(form, lines.write)

    def observe(record: Record) -> None:
        metrics.observe(record)
        write(record)

    main = Application(service, database, observe, client_address(networks))
    beside = application(database, metrics, lambda: stop.requested)
    run.run(lambda: run.serve(main, sockets[:1], beside, sockets[1:], stop))
    lines.flush()


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise Unusable(f"--trusted-proxy {text} is no network: {error}", "for example 10.0.0.0/8") from None
