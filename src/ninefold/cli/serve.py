"""`ninefold serve FILE`"""

from __future__ import annotations

import socket
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from ninefold.cli.commands import (
    AcceptProposals,
    Broker,
    Database,
    File,
    Flag,
    Functions,
    Listen,
    Networks,
    OperatorNames,
    Parameter,
    Pooled,
    Rates,
    Replica,
    Secrets,
    Settings,
    option,
)
from ninefold.cli.compiling import Compiled
from ninefold.cli.files import database_of, opened
from ninefold.cli.served import over
from ninefold.cli.service import Serving
from ninefold.cli.sockets import bound, guard_of, tls_context
from ninefold.cli.terminal import Unusable, complain, say
from ninefold.development.reload import Watch
from ninefold.diagnostics.render import visible
from ninefold.runtime.sources import Clock, Sources
from ninefold.runtime.store.opening import kind_of
from ninefold.values import Invalid, timestamp

Pem: TypeAlias = Annotated[Path | None, Parameter(show_default=False)]

Watched: TypeAlias = Annotated[
    bool,
    option(help="Take the contract anew whenever it is saved, as SIGHUP does."),
]

Log: TypeAlias = Annotated[Literal["text", "json"], Parameter(help="How the line for each request is written.")]

Trace: TypeAlias = Annotated[
    bool,
    option(
        help="Each response carries `Ninefold-Trace`, by which `ninefold explain FILE --response` shows the lines of "
        "the contract that caused it. It tells how the service is made to whoever knows the contract."
    ),
]

Processes: TypeAlias = Annotated[
    int,
    Parameter(
        help="So many processes more take requests on the same port, answer what only reads, and pass on all else to "
        "the first. For a SQLite file, where reads want more than one processor."
    ),
]


def serve(
    file: File,
    /,
    *,
    listen: Listen = "127.0.0.1:8080",
    operator: str = "127.0.0.1:8081",
    operator_names: OperatorNames = (),
    database: Database = None,
    pooled: Pooled = False,
    replica: Replica = None,
    settings: Settings = (),
    secrets: Secrets = None,
    functions: Functions = None,
    log: Log = "text",
    trusted_proxy: Networks = (),
    allow_private: Networks = (),
    broker: Broker = None,
    rates: Rates = None,
    clock: str | None = None,
    trace: Trace = False,
    certificate: Pem = None,
    key: Pem = None,
    client_ca: Pem = None,
    development_issuer: Flag = False,
    watch: Watched = False,
    readers: Processes = 0,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Serve a contract.

    Says which endpoints are served and what blocks the others, what is stated and not in force, and where it
    listens; then writes a line for each request. SIGTERM or Ctrl-C ends it when what is in flight is done; SIGHUP takes
    the contract anew, without dropping a connection, if it has no errors and needs no decision over rows.

    Exit status: 0 after a signal, 1 if the contract has errors or leaves nothing to serve, 2 if an address, the
    database or an operator value cannot be used.

        ninefold serve orders.md
        ninefold serve orders.md --listen 0.0.0.0:80 --database sqlite:////var/lib/orders.db
        ninefold serve orders.md --set staff_issuer=https://id.example --secrets orders.secrets

    Parameters
    ----------
    operator
        HOST:PORT of health and metrics: `/health/live`, `/health/ready`, `/metrics`.
    trusted_proxy
        A network (CIDR) whose X-Forwarded-For or Forwarded header is believed; may be repeated.
    allow_private
        A network (CIDR) that webhooks may be delivered to although it is not of the public internet; may be repeated.
    clock
        For tests and sandboxes: the time (RFC 3339) at which the service begins. It runs on from there, and
        `PUT /clock` on the operator's port sets it again.
    certificate
        The service's own certificate, with those between it and its authority (PEM): its port then speaks HTTPS.
    key
        The key of that certificate (PEM, without a password).
    client_ca
        Authorities (PEM) whose clients' certificates are taken, for schemes of the type mutualTLS.
    development_issuer
        For tests and sandboxes: the service is the issuer of each openIdConnect scheme that is given none. Its
        operator's port, which no other machine may reach, signs a token for whoever asks and whatever is asked for.
    """
    serving = Serving(
        file=file,
        document=visible(file),
        settings=tuple(settings),
        secrets=secrets,
        functions=functions,
        broker=_address(broker, "--broker"),
        accept_proposals=accept_proposals,
        sources=Sources() if clock is None else Sources(clock=_clock(clock)),
        tls=tls_context(certificate, key, client_ca),
        networks=[_network(network, "--trusted-proxy") for network in trusted_proxy],
        allowed=[_network(network, "--allow-private") for network in allow_private],
        log=log,
        trace=trace,
        pem=(certificate, key, client_ca),
        development_issuer=development_issuer,
        watch=Watch(Path(file)) if watch and file != "-" else None,
        readers=readers,
        replica=replica,
        rates=_address(rates, "--rates"),
        pooled=pooled,
    )
    path = _path(file, database, readers)
    compiled = serving.compiled(path)
    if not _can_be_served(compiled):
        return 1
    offer = serving.offer(compiled)
    with bound(listen, "--listen") as service_socket, bound(operator, "--operator") as operator_socket:
        over(serving, offer, path, (service_socket, operator_socket), guard_of(operator_socket, operator_names))
    return 0


MOST_READERS = 64


def _path(file: str, database: str | None, readers: int) -> str:
    """Of the database, or its URL. Raises Unusable, also where no process may read beside the one that writes."""
    path = database_of(file, database)
    if not 0 <= readers <= MOST_READERS:
        raise Unusable(f"--readers {readers} is no number of processes from 0 to {MOST_READERS}")
    if readers and kind_of(path) != "sqlite":
        raise Unusable(
            "--readers is for a SQLite file, which one process writes",
            "several processes may serve one PostgreSQL: start this one again, without --readers",
        )
    if readers and not hasattr(socket, "send_fds"):
        raise Unusable("--readers needs sockets that can be handed over, which this system does not have")
    return path


def _address(said: str | None, option: str) -> str | None:
    """What an option says, or the file that it names."""
    if said is None or not said.startswith("@"):
        return said
    try:
        with opened(said[1:]) as file:
            return file.read().decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{option} {said}: {error}") from None


def _can_be_served(compiled: Compiled) -> bool:
    """Whether anything of a contract can; else it is said why nothing can."""
    if compiled.plan is None or compiled.plan.routes:
        return compiled.plan is not None
    say(compiled.blocked)
    complain("there is nothing to serve")
    return False


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
