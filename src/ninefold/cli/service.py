"""What `serve` serves: a contract with what the operator gives it, over a database; and the next one in its place."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from math import inf
from pathlib import Path
from socket import socket
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

from ninefold.cli import announcement, try_it
from ninefold.cli.document import load
from ninefold.cli.operator_values import functions_of, issuers_usable, operator_values
from ninefold.cli.sockets import url
from ninefold.cli.terminal import Unusable, complain, is_coloured, say, show
from ninefold.development import reload
from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.render import visible
from ninefold.operator.audit import Audit, Counted, Kept
from ninefold.operator.port import Guard, Metrics, application
from ninefold.operator.rows import Caller, stated_rows
from ninefold.operator.trouble import Causes
from ninefold.pipeline import Loaded
from ninefold.plan.service import ServicePlan
from ninefold.runtime.background.jobs import jobs, to_broker
from ninefold.runtime.http import access_log, run
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import client_address
from ninefold.runtime.http.switch import PATIENCE, Switch
from ninefold.runtime.request.service import Service, ready
from ninefold.runtime.request.tracing import Tracer
from ninefold.runtime.sources import Clock, Sources
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.opening import kind_of, open_database
from ninefold.runtime.store.protocol import Opened, Refused, Store
from ninefold.runtime.store.upgrade import in_the_way
from ninefold.tools.decisions.contract import ways_of

if TYPE_CHECKING:
    from ninefold.development.identity import Identity


PUT_OFF_SECONDS: Final = 5.0
LONGEST_PUT_OFF: Final = 60.0
"""After how long an exchange that was put off is tried again: at first, and at most; each time twice as long."""


class PutOff(Unusable):
    """Requests that are on their way take too long for an exchange: it is tried again."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A contract, with what the operator gives it."""

    plan: ServicePlan
    contract: Kept
    values: Mapping[str, str]
    functions: Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Serving:
    """How `serve` was called."""

    file: str
    document: str
    settings: Sequence[str]
    secrets: Path | None
    functions: str | None
    broker: str | None
    accept_proposals: bool
    sources: Sources
    tls: SSLContext | None
    networks: Sequence[IPv4Network | IPv6Network]
    allowed: Sequence[IPv4Network | IPv6Network]
    log: Literal["text", "json"]
    trace: bool
    takes_certificates: bool
    development_issuer: bool
    watch: reload.Watch | None

    def offer(self, loaded: Loaded, path: str) -> Offer:
        """`path`: of the database, or its URL. Raises Unusable where the operator gives what cannot be used."""
        plan = loaded.plan_for(kind_of(path))
        assert plan is not None and loaded.checked is not None
        if self.broker is not None:
            sent = to_broker(plan, [kind.name for kind in loaded.checked.events.kinds], self.broker)
            if isinstance(sent, str):
                raise Unusable(f"--broker: {sent}")
            plan = sent
        values = operator_values([value.name for value in plan.operator], self.settings, self.secrets, os.environ)
        issuers_usable(plan, values)
        return Offer(plan, Kept(loaded.source, ways_of(loaded).others), values, functions_of(plan, self.functions))

    def opened(self, path: str, offer: Offer) -> tuple[Opened, Counted]:
        """Raises Unusable."""
        audit = Audit(offer.plan.stored, contract=offer.contract)
        begin = stated_rows(offer.plan, Caller(offer.values, self.sources))
        opening = open_database(path, offer.plan, begin, audit)
        if isinstance(opening, Refused):
            raise Unusable(opening.message, *opening.help, details=opening.details)
        return opening, audit.counted

    def over(self, offer: Offer, path: str, sockets: tuple[socket, socket], door: Guard) -> None:
        """Serve over a database until a signal ends it. `sockets`: of the service and of the operator's port. Raises
        Unusable where the database cannot be used."""
        opening, misfits = self.opened(path, offer)
        stop = run.Stop()
        for number in run.ending_signals():
            # From here on until the database is closed: whoever reads that it serves may tell it to end.
            signal.signal(number, lambda number, _: stop.heard(number))
        service, operator = sockets
        addresses = url(service, "http" if self.tls is None else "https"), url(operator)
        identity = _identity(addresses[1], self.sources) if self.development_issuer else None
        if identity is not None:
            offer = replace(offer, values=identity.take_over(offer.plan, offer.values))
        lines = Lines(sys.stdout, access_log.lines(self.log, self.document))
        served = Served(self, path, offer, opening.database, misfits, stop, lines, identity)
        served.hear_hangups()
        try:
            self.announce(offer, opening, misfits, addresses, identity)
            logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
            run.run(lambda: served.run((service,), door, (operator,)))
            lines.flush()
        finally:
            served.database.close()

    def announce(
        self,
        offer: Offer,
        opening: Opened,
        misfits: Counted,
        addresses: tuple[str, str],
        identity: Identity | None,
    ) -> None:
        """`addresses`: the URLs of the service and of the operator's port, without a slash at their end."""
        plan, (service, operator) = offer.plan, addresses
        time = self.sources.now() if isinstance(self.sources.clock, Clock) else None
        say(f"{visible(plan.title)} ({self.document})")
        say()
        self.say_endpoints(offer)
        say(f"\ndatabase  {opening.path}{' (new)' if opening.created else ''}")
        say_rows(opening, misfits)
        say(f"service   {service}")
        say(f"operator  {operator}/health/live  /health/ready  /metrics{'  /clock' if time else ''}")
        if time is not None:
            say(f"clock     {time}, set by --clock")
        issuers = {} if identity is None else {name: identity.issuer(name) for name in identity.audiences}
        for name, issuer in issuers.items():
            say(f"issuer    {issuer} of {name}: signs whatever it is asked to, for tests and sandboxes")
        where = try_it.Where(service, self.document, opening.path, issuers)
        if lines := list(try_it.lines(plan, where, offer.values, offer.functions)):
            say("\n" + "\n".join(["Try:", *("  " + visible(line) for line in lines)]))
        say()
        sys.stdout.flush()

    def say_endpoints(self, offer: Offer) -> None:
        plan, values, functions = offer.plan, offer.values, offer.functions
        say(announcement.endpoints(plan, values, is_coloured(sys.stdout), functions))
        for paragraph in announcement.remarks(plan, values, self.document, self.takes_certificates, functions):
            say(f"\n{paragraph}")


def say_rows(opening: Opened, misfits: Counted) -> None:
    for words in opening.additions:
        say(f"          {visible(words)}")
    for words in opening.began:
        say(f"          as the contract states: {visible(words)}")
    for words in misfits.words():
        say(f"          {visible(words)}")


@dataclass
class Served:
    """What is served now. A signal, or the contract being saved, puts another in its place; where that has errors, or
    needs a decision over rows, it is said and this goes on."""

    serving: Serving
    path: str
    offer: Offer
    database: Store
    misfits: Counted
    stop: run.Stop
    lines: Lines
    identity: Identity | None
    service: Switch = field(default_factory=Switch)
    operator: Switch = field(default_factory=Switch)
    asked_anew: bool = False

    async def run(self, sockets: Sequence[socket], door: Guard, operator_sockets: Sequence[socket]) -> None:
        """Serve until the stop is asked for. The sockets are bound already."""
        self.metrics = Metrics(self.database, self.misfits)
        self.application = self._application()
        self.application.begin()
        following = asyncio.create_task(self._follow())
        try:
            before, tls = door.before(self.operator), self.serving.tls
            await run.serve(self.service, sockets, before, operator_sockets, self.stop, tls)
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
            await self.application.ended()
            self.application.close()

    def hear_hangups(self) -> None:
        """SIGHUP takes the contract anew; as it comes of the end of the terminal, it ends the service."""
        had_terminal = _has_terminal()

        def hangup() -> None:
            if had_terminal and not _has_terminal():
                self.stop.request()
            self.asked_anew = True

        if self.serving.file != "-":
            self.stop.hangup = hangup

    async def _follow(self) -> None:
        watch, wait, due = self.serving.watch, PUT_OFF_SECONDS, inf
        now = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(reload.SECONDS)
            saved = watch is not None and watch.saved()
            if (self.asked_anew or saved or now() >= due) and not self.stop.requested:
                wait = min(2 * wait, LONGEST_PUT_OFF) if now() >= due else PUT_OFF_SECONDS
                self.asked_anew, due = False, inf
                try:
                    await self._renew()
                    self.metrics.renewed("taken")
                except PutOff as error:
                    self.metrics.renewed("put off")
                    complain(str(error))
                    complain(f"what was served goes on; it is tried again in {wait:g} seconds")
                    due = now() + wait
                except Unusable as error:
                    self.metrics.renewed("refused")
                    complain(str(error), *error.help, details=error.details)
                    complain("what was served goes on")
                except Exception:
                    self.metrics.renewed("refused")
                    # A fault of the program. The next time may not meet it; silence would look like success.
                    logging.exception("the contract could not be taken anew")
                sys.stdout.flush()

    async def _renew(self) -> None:
        """Raises Unusable, and what is served goes on."""
        say(f"{datetime.now():%H:%M:%S}  {self.serving.document} is read anew")
        loaded = await asyncio.to_thread(load, self.serving.file, self.serving.accept_proposals)
        show(
            (each for each in loaded.diagnostics if each.code.severity is not Severity.NOTE), loaded.source, sys.stderr
        )
        if loaded.plan is None:
            raise Unusable("the contract has errors")
        if not loaded.plan.routes:
            raise Unusable("there is nothing to serve")
        offer = self.serving.offer(loaded, self.path)
        if self.identity is not None:
            offer = replace(offer, values=self.identity.take_over(offer.plan, offer.values))
        try:
            # Of another database its opening says it.
            is_file = kind_of(self.path) == "sqlite"
            why = await asyncio.to_thread(in_the_way, self.path, offer.plan.schema) if is_file else ()
        except NotUpgraded as error:
            raise Unusable(str(error), *error.help) from None
        if why:
            help = f"ninefold upgrade {self.serving.file} --database {self.path} shows what would become of them"
            raise Unusable("there are rows over which has to be decided", help, details=why)
        await self._exchange(offer)

    async def _exchange(self, offer: Offer) -> None:
        """Raises Unusable where rows, or requests that take long, stand in the way."""
        before = self.application
        # What would never end is ended, so that its clients come again and find the other.
        await before.ended()
        async with self.service.exchanging() as all_answered:
            why: Unusable | None = None
            if all_answered:
                try:
                    opening, self.misfits = await asyncio.to_thread(self._opened_anew, offer)
                    self.offer = offer
                except Unusable as error:
                    why, (opening, self.misfits) = error, await asyncio.to_thread(self._opened_anew, self.offer)
                self.database = opening.database
                self.metrics.follow(self.database, self.misfits)
            else:
                why = PutOff(f"requests are on their way that take longer than {PATIENCE:g} seconds")
            self.application = self._application()
            self.application.begin()
        before.close() if all_answered else asyncio.get_running_loop().call_later(run.STOPPING_SECONDS, before.close)
        if why is not None:
            raise why
        self.serving.say_endpoints(offer)
        say_rows(opening, self.misfits)
        say("served anew")

    def _opened_anew(self, offer: Offer) -> tuple[Opened, Counted]:
        self.database.close()
        try:
            return self.serving.opened(self.path, offer)
        except Unusable:
            if offer is self.offer:
                # Somebody has taken the database: there is nothing that could go on.
                self.stop.request()
            raise

    def _application(self) -> Application:
        """The service itself, which counts its requests and writes a line for each."""
        plan, values, serving = self.offer.plan, self.offer.values, self.serving
        database = self.database
        service = ready(plan, database.key("cursors"), values, serving.sources, functions=self.offer.functions)

        def observe(record: Record) -> None:
            self.metrics.observe(record)
            self.lines.write(record)

        second = application(database, self.metrics, lambda: self.stop.requested, _set_clock(service))
        self.operator.application = second if self.identity is None else self.identity.beside(second)
        self.service.application = Application(
            service,
            database,
            observe,
            client_address(serving.networks),
            jobs=jobs(plan, service, database, serving.allowed, serving.broker),
            trace=Tracer(plan).traced if serving.trace else None,
            reasons=Causes(plan, values).reasons,
        )
        return self.service.application


def _has_terminal() -> bool:
    """Whether this process has a controlling terminal that is there."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


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
