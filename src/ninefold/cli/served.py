"""A service while it runs: its processes, its two ports, and the next contract in its place."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from math import inf
from socket import socket
from typing import TYPE_CHECKING, Final

from ninefold.cli.behind import written_behind
from ninefold.cli.leading_on import leads_on
from ninefold.cli.logs import log_to_stderr
from ninefold.cli.readers import Readers
from ninefold.cli.service import Offer, Serving, say_rows
from ninefold.cli.sockets import url
from ninefold.cli.terminal import Unusable, complain, say
from ninefold.development import reload
from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.pickled import dumps
from ninefold.runtime.background.jobs import jobs
from ninefold.runtime.http import access_log, run
from ninefold.runtime.http.access_log import Lines
from ninefold.runtime.http.app import Application
from ninefold.runtime.http.capacity import client_address
from ninefold.runtime.http.switch import PATIENCE, Switch
from ninefold.runtime.operator.audit import Counted
from ninefold.runtime.operator.metrics import Metrics
from ninefold.runtime.operator.port import Guard, application
from ninefold.runtime.operator.trouble import Causes
from ninefold.runtime.request.service import Service, ready
from ninefold.runtime.sources import Clock, Sources
from ninefold.runtime.store import page
from ninefold.runtime.store.opening import kind_of
from ninefold.runtime.store.protocol import Counts, Opened, Store

if TYPE_CHECKING:
    from ninefold.development.identity import Identity
    from ninefold.plan.schema import Schema
    from ninefold.plan.service import ServicePlan
    from ninefold.runtime.http.asking import Trace


PUT_OFF_SECONDS: Final = 5.0
LONGEST_PUT_OFF: Final = 60.0
"""After how long an exchange that was put off is tried again: at first, and at most; each time twice as long."""


class PutOff(Unusable):
    """Requests that are on their way take too long for an exchange: it is tried again."""


class Taken(Unusable):
    """Somebody has taken the database during an exchange: there is nothing that could go on."""


@written_behind()
def over(serving: Serving, offer: Offer, path: str, sockets: tuple[socket, socket], door: Guard) -> None:
    """Serve over a database until a signal ends it. `sockets`: of the service and of the operator's port. Raises
    Unusable where the database cannot be used."""
    opening, misfits = serving.opened(path, offer)
    stop = run.Stop()
    for number in run.ending_signals():
        # From here on until the database is closed: whoever reads that it serves may tell it to end.
        signal.signal(number, lambda number, _: stop.heard(number))
    service, operator = sockets
    addresses = url(service, "http" if serving.tls is None else "https"), url(operator)
    identity = _identity(addresses[1], serving.sources) if serving.development_issuer else None
    if identity is not None:
        offer = replace(offer, values=identity.take_over(offer.plan, offer.values))
    lines = Lines(sys.stdout, access_log.lines(serving.log, serving.document))
    served = Served(serving, path, offer, opening.database, misfits, stop, lines, identity)
    served.hear_hangups()
    gc.disable()  # what is made until it serves is there as long as it does
    try:
        served.counts = serving.counts(opening.database)
        serving.announce(offer, opening, misfits, addresses, served.counts, identity)
        log_to_stderr()
        run.run(lambda: served.run((service,), door, (operator,)))
        lines.flush()
        if served.taken is not None:
            raise served.taken
    finally:
        gc.enable()
        served.database.close()


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
    counts: Counts | None = None
    taken: Taken | None = None

    async def run(self, sockets: Sequence[socket], door: Guard, operator_sockets: Sequence[socket]) -> None:
        """Serve until the stop is asked for. The sockets are bound already."""
        self.metrics = Metrics(self.database, self.misfits)
        self.lines.count, self.metrics.gather = self.metrics.requests.count, self.lines.flush
        self.page = page.new(self.serving.readers > 0)
        self.readers = Readers(
            self.serving.readers,
            sockets,
            self.page,
            self._offer,
            lambda: self.application,
            self.service,
            self.metrics,
            self.lines,
        )
        self.application = self._application()
        self.application.begin()
        following = asyncio.create_task(self._follow())
        self.readers.begin()
        try:
            before, tls = door.before(self.operator), self.serving.tls
            accepted = max(1, run.ACCEPTED // (1 + self.serving.readers))
            gc.freeze()
            gc.enable()
            await run.serve(self.service, sockets, before, operator_sockets, self.stop, tls, accepted=accepted)
        finally:
            await self.readers.ended()
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
            await self.application.ended()
            self.application.close()
            if self.counts is not None:
                await self.counts.close()

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
            if self.stop.requested:
                self.readers.end()
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
                except Taken as error:
                    self.taken = error
                    self.stop.request()
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
        compiled = await asyncio.to_thread(self.serving.compiled, self.path)
        if compiled.plan is None:
            raise Unusable("the contract has errors")
        if not compiled.plan.routes:
            raise Unusable("there is nothing to serve")
        offer = self.serving.offer(compiled)
        if self.identity is not None:
            offer = replace(offer, values=self.identity.take_over(offer.plan, offer.values))
        if kind_of(self.path) == "sqlite":  # of another database its opening says it
            await asyncio.to_thread(self._look_at_rows, offer.plan.schema)
        await self._exchange(offer)

    def _look_at_rows(self, schema: Schema) -> None:
        """Raises Unusable where a decision over rows stands in the way of a schema."""
        # Loaded here, beside the event loop: most services have no other contract as long as they run.
        from ninefold.runtime.store.changing import SEE_WHAT_BECOMES, NotUpgraded
        from ninefold.runtime.store.upgrade import in_the_way

        try:
            why = in_the_way(self.path, schema)
        except NotUpgraded as error:
            raise Unusable(str(error), *error.help) from None
        if why:
            help = leads_on((SEE_WHAT_BECOMES,), self.serving.file, self.path)
            raise Unusable("what becomes of rows that are there is left to `upgrade`", *help, details=why)

    async def _exchange(self, offer: Offer) -> None:
        """Raises Unusable where rows, or requests that take long, stand in the way."""
        before = self.application
        # What would never end is ended, so that its clients come again and find the other.
        await before.ended()
        async with self.readers.paused() as others, self.service.exchanging() as own:
            why: Unusable | None = None
            all_answered = others and own
            if all_answered:
                opening, why = await asyncio.to_thread(self._opened_anew, offer)
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

    def _opened_anew(self, wanted: Offer) -> tuple[Opened, Unusable | None]:
        """The database for what is served from now on, and why that is not what is wanted. Other nodes may have gone
        over by the time at which this one gives up: what was served is refused then, and what is wanted is not."""
        why: Unusable | None = None
        self.database.close()
        for offer in (wanted, self.offer, wanted):
            try:
                opening, self.misfits = self.serving.opened(self.path, offer, waits=False)
            except Unusable as error:
                why = error
            else:
                self.offer = offer
                return opening, None if offer is wanted else why
        assert why is not None
        raise Taken(str(why), *why.help, details=why.details)

    def _offer(self) -> bytes:
        """What processes that only read serve now."""
        from ninefold.cli import reader

        serving, offer = self.serving, self.offer
        return dumps(
            reader.Offer(
                offer.plan,
                offer.values,
                tuple(offer.functions),
                self.path,
                self.database.key("cursors"),
                isinstance(serving.sources.clock, Clock),
                serving.networks,
                serving.log,
                serving.document,
                serving.trace,
                serving.pem,
                1 + serving.readers,
            )
        )

    def _application(self) -> Application:
        """The service itself, which counts its requests and writes a line for each."""
        plan, values, serving = self.offer.plan, self.offer.values, self.serving
        database = self.database
        service = ready(
            plan,
            database.key("cursors"),
            values,
            serving.sources.following(database.clock),
            functions=self.offer.functions,
            replicated=database.replica is not None,
            counts=self.counts,
        )

        if service.timers is not None:
            service.timers.told = self.page.is_due
            self.page.is_due(service.timers.due)
        second = application(database, self.metrics, lambda: self.stop.requested, _set_clock(service, self.page))
        self.operator.application = second if self.identity is None else self.identity.beside(second)
        self.service.application = Application(
            service,
            database,
            self.lines.write,
            client_address(serving.networks),
            jobs=jobs(plan, service, database, serving.allowed, serving.broker),
            trace=_trace(plan) if serving.trace else None,
            reasons=Causes(plan, values).reasons,
        )
        return self.service.application


def _trace(plan: ServicePlan) -> Trace:
    from ninefold.runtime.request.tracing import Tracer  # few services tell how they are made

    return Tracer(plan).traced


def _has_terminal() -> bool:
    """Whether this process has a controlling terminal that is there."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _set_clock(service: Service, shared: page.Page) -> Clock | None:
    """The clock that can be set, of which timers are told."""
    clock = service.sources.clock if isinstance(service.sources.clock, Clock) else None
    if clock is not None and service.timers is not None:
        clock.set_again.append(service.timers.wake)
    if clock is not None:
        # Whoever reads the new time knows that something may be due.
        clock.set_again.append(lambda: shared.set_ahead(clock.ahead))
        shared.set_ahead(clock.ahead)
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
