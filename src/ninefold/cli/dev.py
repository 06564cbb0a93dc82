"""`ninefold dev FILE`"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from ipaddress import ip_network
from pathlib import Path
from socket import socket
from typing import Any

from msgspec.structs import replace

from ninefold.cli import announcement
from ninefold.cli.behind import written_behind
from ninefold.cli.commands import (
    AcceptProposals,
    File,
    Flag,
    Functions,
    Listen,
    OperatorNames,
    Secrets,
    Settings,
)
from ninefold.cli.document import load
from ninefold.cli.failures import at, rule_in_words
from ninefold.cli.logs import WITHOUT_TIME, log_to_stderr
from ninefold.cli.operator_values import functions_of, issuers_usable, operator_values
from ninefold.cli.sockets import bound, guard_of, url
from ninefold.cli.terminal import Unusable, complain, is_coloured, reason, say, show
from ninefold.cli.try_it import caller_lines
from ninefold.development.bodies import Bodies, lines
from ninefold.development.callers import Known, callers
from ninefold.development.database import Prepared, file_of, forget, prepared
from ninefold.development.identity import Identity
from ninefold.development.reload import SECONDS, Watch
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.render import visible
from ninefold.pipeline import Loaded
from ninefold.plan.service import ServicePlan
from ninefold.runtime.background.jobs import jobs
from ninefold.runtime.http import run
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.switch import Switch
from ninefold.runtime.messages.message import Response
from ninefold.runtime.operator.audit import counted
from ninefold.runtime.operator.metrics import Metrics
from ninefold.runtime.operator.port import Guard, application
from ninefold.runtime.operator.rows import Caller
from ninefold.runtime.operator.trouble import Cause, Causes
from ninefold.runtime.request.exchange import Exchange
from ninefold.runtime.request.service import ready
from ninefold.runtime.request.tracing import Tracer
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Refused
from ninefold.runtime.store.sqlite import SQLite


def dev(
    file: File,
    /,
    *,
    listen: Listen = "127.0.0.1:8080",
    operator: str = "127.0.0.1:8081",
    operator_names: OperatorNames = (),
    settings: Settings = (),
    secrets: Secrets = None,
    functions: Functions = None,
    bodies: Flag = False,
    fresh: Flag = False,
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
    operator
        HOST:PORT of health and metrics, and of the identity provider.
    functions
        MODULE or FILE.py, which has the functions that the contract calls; read again with each save.
    bodies
        Print what goes into each request and what comes out; what the contract calls `secret` or `sensitive` is
        masked.
    fresh
        Begin without the rows of the last time.
    """
    path = _watched(file)
    wanted = Wanted(file, tuple(settings), secrets, accept_proposals, bodies, functions)
    with bound(listen, "--listen") as service_socket, bound(operator, "--operator") as operator_socket:
        database = _database(path, fresh)
        stop = run.Stop()
        for number in run.ending_signals():
            signal.signal(number, lambda *_: stop.request())
        door = guard_of(operator_socket, operator_names)
        identity = Identity(url(operator_socket), Sources().clock)
        developing = Developing(wanted, database, url(service_socket), identity, stop, door)
        say(f"dev follows {visible(file)}")
        say(f"service   {url(service_socket)}")
        say(f"operator  {url(operator_socket)}/health/live  /health/ready  /metrics")
        say(f"database  {database} (dev's own)")
        with written_behind():
            run.run(lambda: developing.run((service_socket, operator_socket)))
    return 0


def _watched(file: str) -> Path:
    if file == "-":
        raise Unusable("standard input cannot be watched", "dev follows a file")
    path = Path(file)
    if not path.is_file():
        help = f"ninefold new {visible(file)} writes a blank contract"
        raise Unusable(f"{file} is no file that can be watched", help)
    return path


def _database(document: Path, fresh: bool) -> Path:
    """The file of dev's own database, which is removed where it is to be `fresh`."""
    database = file_of(document, os.environ)
    try:
        if fresh:
            forget(database)
    except OSError as error:
        raise Unusable(f"{database} cannot be removed: {reason(error)}") from None
    return database


MOST_FIELDS = 3
"""Values of one request that are named in its line."""

COUNTING_SECONDS = 0.5
"""How long rows that no longer fit are looked for at each save."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `dev` was called with."""

    file: str
    settings: tuple[str, ...]
    secrets: Path | None
    accept_proposals: bool
    bodies: bool
    functions: str | None = None


@dataclass
class Developing:
    """One service from the start of `dev` to its end, however often its contract changes."""

    wanted: Wanted
    path: Path
    url: str
    identity: Identity
    stop: run.Stop
    door: Guard
    service: Switch = field(default_factory=Switch)
    operator: Switch = field(default_factory=Switch)
    database: SQLite | None = None
    plan: ServicePlan | None = None
    answering: Application | None = None
    states: dict[str, str] = field(default_factory=dict)
    remarks: str = ""
    tried: list[str] = field(default_factory=list)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    async def run(self, sockets: tuple[socket, socket]) -> None:
        """Serve until the stop is asked for. The sockets are bound already."""
        log_to_stderr(logging.ERROR, WITHOUT_TIME)
        watch = Watch(Path(self.wanted.file))
        await self.follow()
        watching = asyncio.create_task(self._watch(watch))
        try:
            await run.serve(self.service, sockets[:1], self.door.before(self.operator), sockets[1:], self.stop)
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
            if self.answering is not None:
                await self.answering.ended()
                self.answering.close()
            if self.database is not None:
                await asyncio.to_thread(self.database.close)

    async def _watch(self, watch: Watch) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            if watch.saved():
                try:
                    await self.follow()
                except Exception:
                    # A fault of the program. The next save may not meet it; silence would look like success.
                    logging.exception("this save could not be followed")

    async def follow(self) -> None:
        """Serve what the document says now; if it cannot be served, say why, and go on with what was served."""
        say(f"\n{datetime.now():%H:%M:%S}  {visible(self.wanted.file)}")
        try:
            loaded = await asyncio.to_thread(load, self.wanted.file, self.wanted.accept_proposals)
            self._show(loaded)
            if loaded.plan is not None:
                names = [value.name for value in loaded.plan.operator]
                given = operator_values(names, self.wanted.settings, self.wanted.secrets, os.environ)
                issuers_usable(loaded.plan, given)
                self.functions = functions_of(loaded.plan, self.wanted.functions)
                await self._exchange(loaded.plan, self.identity.take_over(loaded.plan, given))
            else:
                self._goes_on()
        except Unusable as error:
            sys.stdout.flush()
            complain(str(error), *error.help, details=error.details)
            self._goes_on()
        sys.stdout.flush()

    def _show(self, loaded: Loaded) -> None:
        told = [found for found in loaded.diagnostics if found.code.severity is not Severity.NOTE]
        if told:
            show(told, loaded.source, sys.stdout)
        sys.stdout.flush()

    def _goes_on(self) -> None:
        say("nothing is served yet" if self.plan is None else "the last good service goes on")

    async def _exchange(self, plan: ServicePlan, values: Mapping[str, str]) -> None:
        """Raises Unusable, and then nothing is served until the next save."""
        if self.answering is not None:
            await self.answering.ended()
        async with self.service.exchanging():
            made = await asyncio.to_thread(self._prepared, plan, values)
            if isinstance(made, Refused):
                self.service.application = None
                self.plan = None
                raise Unusable(made.message, *made.help, details=made.details)
            database = made.opened.database
            misfits = await asyncio.to_thread(counted, plan.stored, database.read, COUNTING_SECONDS)
            metrics = Metrics(database, misfits)
            before, self.answering = self.answering, self._application(plan, values, database, metrics)
            self.database = database
            self.service.application = self.answering
            operator = application(database, metrics, lambda: self.stop.requested)
            self.operator.application = self.identity.beside(operator)
            found = await callers(plan, database, values, self.identity)
        if before is not None:
            before.close()
        self._say_endpoints(plan, values)
        self.plan = plan
        self._say_rows(made)
        for words in misfits.words():
            say(visible(words))
        known = [each for each in found if isinstance(each, Known)]
        unknown = [each for each in found if not isinstance(each, Known)]
        tried = [*caller_lines(plan, self.url, values, known), *(f"# {each.scheme}: {each.why}" for each in unknown)]
        for name in self.identity.audiences:
            tried.append(f"curl -d NAME=VALUE {self.identity.issuer(name)}/token  # {name}: a token that claims more")
        if tried != self.tried:
            say("\nTry, as one caller of each kind (their rows were added by dev, to its own database):")
            for words in tried:
                say("  " + visible(words))
        self.tried = tried

    def _prepared(self, plan: ServicePlan, values: Mapping[str, str]) -> Prepared | Refused:
        if self.database is not None:
            self.database.close()
            self.database = None
        return prepared(self.path, plan, Caller(values))

    def _application(
        self, plan: ServicePlan, values: Mapping[str, str], database: SQLite, metrics: Metrics
    ) -> Application:
        causes, bodies = Causes(plan, values), Bodies(plan)

        def watch(x: Exchange, response: Response | None, sent: bytes) -> None:
            if response is None:
                return
            causing = causes.of(x, response)
            if causing or self.wanted.bodies:
                self._say_request(x, response, causing)
            if self.wanted.bodies:
                answered = bodies.answered(x.route, response.status, response.body, x.caller.who)
                for line in lines(bodies.sent(x.route, sent), answered):
                    say("  " + visible(line))
            sys.stdout.flush()

        service = ready(plan, database.key("cursors"), values, functions=self.functions)
        # What is tried out on a machine is delivered to it.
        beside = jobs(plan, service, database, [ip_network("127.0.0.0/8"), ip_network("::1/128")])
        return Application(service, database, metrics.observe, watch=watch, jobs=beside, trace=Tracer(plan).traced)

    # ── What is said ──────────────────────────────────────────────────────────────────────────────────────────

    def _say_endpoints(self, plan: ServicePlan, values: Mapping[str, str]) -> None:
        """The whole at first, and after a save what is new in it: that a line has moved is no news."""
        document = visible(self.wanted.file)
        states = {
            route.key: _unplaced(repr((announcement.blocked_by(plan, route, values, self.functions), route)))
            for route in plan.routes
        }
        blocked = any(announcement.blocked_by(plan, route, values, self.functions) for route in plan.routes)
        changed = [route for route in plan.routes if self.states.get(route.key) != states[route.key]]
        remarks = "\n\n".join(announcement.remarks(plan, values, document, functions=self.functions))
        if not plan.routes:
            say("\nthere is no endpoint yet: `ninefold gaps` says why")
        elif changed:
            shown = replace(plan, routes=tuple(changed))
            say("\n" + announcement.endpoints(shown, values, is_coloured(sys.stdout), self.functions))
        for key in self.states.keys() - states.keys():
            say(f"gone     {visible(key)}")
        if self.plan is None:
            say("\n" + remarks)
        else:
            known = set(map(_unplaced, self.remarks.splitlines()))
            new = [line for line in remarks.splitlines() if line.startswith("  ") and _unplaced(line) not in known]
            open_still = "what else is open is as it was" if remarks or blocked else "nothing is open"
            say("\n".join(new) if new else open_still)
        self.states, self.remarks = states, remarks

    def _say_rows(self, made: Prepared) -> None:
        if made.opened.created and made.anew:
            say(f"the rows that were there cannot be read: {visible(made.anew)}")
        for words in made.opened.additions:
            say(f"database: {visible(words)}")
        if made.carried is not None:
            count = made.carried.rows
            if not made.carried.needless:
                say(f"the database was made anew: {count:,} {'row' if count == 1 else 'rows'} carried over")
            elif made.carried.given_up:
                say("what earlier saves left behind:")
            for words in (*made.carried.left, *made.carried.back, *made.carried.given_up):
                say(f"  {visible(words)}")
            if made.carried.left:
                say("  they are kept for an hour, and are back with a save that can hold them")

    def _say_request(self, x: Exchange, response: Response, causes: tuple[Cause, ...]) -> None:
        path = x.request.path.decode("utf-8", "replace")
        line = f"{x.request.method} {path}  {response.status}"
        for number, cause in enumerate(causes[:MOST_FIELDS]):
            line += "  " if number == 0 else "; "
            line += cause.condition if number == 0 or cause.condition != causes[0].condition else ""
            if cause.rule:
                rule = rule_in_words(cause.rule, cause.pointer.partition(" ")[0])
                line += f"{': ' if number == 0 else ''}{cause.pointer} {rule}"
            line += f": {cause.words}" if cause.words else ""
            line += at(self.wanted.file, cause.places)
        if len(causes) > MOST_FIELDS:
            line += f"; and {len(causes) - MOST_FIELDS} more"
        say(visible(line))


def _unplaced(words: str) -> str:
    """A text without the places of the contract that it names."""
    return re.sub(r":\d+:\d+:|\(line \d+\)|Place\(line=\d+, column=\d+\)", "", words)
