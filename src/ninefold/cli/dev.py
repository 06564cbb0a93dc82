"""`ninefold dev FILE`"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from ninefold.cli.addresses import bound, guard_of, url
from ninefold.cli.developing import Developing, Wanted
from ninefold.cli.parameter import AcceptProposals, File, Parameter
from ninefold.cli.terminal import Unusable, say
from ninefold.development.database import file_of, forget
from ninefold.development.identity import Identity
from ninefold.diagnostics.render import visible
from ninefold.runtime.http import run
from ninefold.runtime.sources import Sources


def dev(
    file: File,
    /,
    *,
    listen: str = "127.0.0.1:8080",
    operator: str = "127.0.0.1:8081",
    operator_name: Annotated[Sequence[str], Parameter(negative=(), show_default=False)] = (),
    settings: Annotated[Sequence[str], Parameter(name="--set", negative=(), show_default=False)] = (),
    secrets: Path | None = None,
    functions: Annotated[str | None, Parameter(show_default=False)] = None,
    bodies: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    fresh: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    accept_proposals: AcceptProposals = False,
) -> int:
    """Serve a contract while it is written.

    Each time the file is saved, the service follows it, and connections stay. A save with errors shows them, and the
    last good service goes on. Rows are carried over where they still fit. It is said which do not; they are kept for an
    hour, and are back with a save that can hold them. For every
    request that is refused, blocked or fails there is a line: the condition, the field, and the line of the contract.

    The database is dev's own, a file in your cache that is named at the start; no service and no other command uses it.
    One row is added to it for each kind of caller, so that the lines that are printed work as they stand. For each
    openIdConnect scheme whose issuer is not given, dev is the issuer itself: on the operator's port, with a key of this
    run, it signs a token for whatever it is asked to. Ctrl-C ends it.

    Exit status: 0 after a signal, 2 if an address, the file or an operator value cannot be used.

        ninefold dev orders.md
        ninefold dev orders.md --bodies --listen 127.0.0.1:9000

    Parameters
    ----------
    listen
        HOST:PORT of the service. Port 0 is one that is free; which, is printed.
    operator
        HOST:PORT of health and metrics, and of the identity provider.
    operator_name
        NAME or NAME:PORT by which the operator's port is asked besides its address; may be repeated.
    settings
        NAME=VALUE: what the contract calls `operator.NAME`; may be repeated.
    secrets
        A file of lines NAME=VALUE, refused if others may read it.
    functions
        MODULE or FILE.py, which has the functions that the contract calls; read again with each save.
    bodies
        Print what goes into each request and what comes out; what the contract calls `secret` or `sensitive` is
        masked.
    fresh
        Begin without the rows of the last time.
    """
    if file == "-":
        raise Unusable("standard input cannot be watched", "dev follows a file")
    path = Path(file)
    if not path.is_file():
        raise Unusable(
            f"{file} is no file that can be watched", f"ninefold new {visible(file)} writes a blank contract"
        )
    wanted = Wanted(file, tuple(settings), secrets, accept_proposals, bodies, functions)
    with bound(listen, "--listen") as service_socket, bound(operator, "--operator") as operator_socket:
        database = file_of(path, os.environ)
        if fresh:
            _remove(database)
        stop = run.Stop()
        for number in run.ending_signals():
            signal.signal(number, lambda *_: stop.request())
        door = guard_of(operator_socket, operator_name)
        identity = Identity(url(operator_socket), Sources().clock)
        developing = Developing(wanted, database, url(service_socket), identity, stop, door)
        say(f"dev follows {visible(file)}")
        say(f"service   {url(service_socket)}")
        say(f"operator  {url(operator_socket)}/health/live  /health/ready  /metrics")
        say(f"database  {database} (dev's own)")
        run.run(lambda: developing.run((service_socket, operator_socket)))
    return 0


def _remove(database: Path) -> None:
    try:
        forget(database)
    except OSError as error:
        raise Unusable(f"{database} cannot be removed: {(error.strerror or str(error)).lower()}") from None
