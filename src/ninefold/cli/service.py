"""What `serve` serves: a contract with what the operator gives it, over a database; and the next one in its place."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, Literal

from ninefold.cli import announcement, try_it
from ninefold.cli.compiling import Compiled, compiled, kept
from ninefold.cli.files import read_bytes
from ninefold.cli.leading_on import usable
from ninefold.cli.operator_values import functions_of, issuers_usable, operator_values
from ninefold.cli.terminal import Unusable, is_coloured, say, show
from ninefold.development import reload
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.render import visible
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.audit import Audit, Counted, Kept
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.sources import Clock, Sources
from ninefold.runtime.store.opening import kind_of, open_counts, open_database
from ninefold.runtime.store.protocol import Counts, Opened, Refused, Store

if TYPE_CHECKING:
    from ninefold.development.identity import Identity


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
    pem: tuple[Path | None, Path | None, Path | None]
    development_issuer: bool
    watch: reload.Watch | None
    readers: int
    replica: str | None
    rates: str | None
    pooled: bool

    def compiled(self, path: str) -> Compiled:
        """The contract, as its document is now; what is wrong with it is shown. `path`: of the database, or its URL.
        Raises Unusable where the document cannot be read."""
        found = compiled(self.file, read_bytes(self.file), self.accept_proposals, kind_of(path))
        show(found.diagnostics, found.source, sys.stderr)
        return found

    def offer(self, found: Compiled) -> Offer:
        """Raises Unusable where the operator gives what cannot be used."""
        plan = found.plan
        assert plan is not None
        if self.broker is not None:
            from ninefold.runtime.background.brokers import to_broker

            sent = to_broker(plan, found.kinds, self.broker)
            if isinstance(sent, str):
                raise Unusable(f"--broker: {sent}")
            plan = sent
        values = operator_values([value.name for value in plan.operator], self.settings, self.secrets, os.environ)
        issuers_usable(plan, values)
        return Offer(plan, kept(found, self.accept_proposals), values, functions_of(plan, self.functions))

    def opened(self, path: str, offer: Offer, waits: bool = True) -> tuple[Opened, Counted]:
        """`waits`: as of `open_database`. Raises Unusable."""
        plan, sources = offer.plan, self.sources
        audit = Audit(plan.stored, contract=offer.contract, issuing=plan.issuing, sources=sources)
        begin = stated_rows(offer.plan, Caller(offer.values, self.sources))
        elsewhere = self.rates is not None
        opening = open_database(path, offer.plan, begin, audit, self.replica, elsewhere, self.pooled, waits)
        return usable(opening, self.file, path), audit.counted

    def counts(self, database: Store) -> Counts | None:
        """Raises Unusable."""
        found = None if self.rates is None else open_counts(self.rates, database)
        if isinstance(found, Refused):
            raise Unusable(found.message, *found.help)
        return found

    def announce(
        self,
        offer: Offer,
        opening: Opened,
        misfits: Counted,
        addresses: tuple[str, str],
        counts: Counts | None,
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
        if opening.database.replica is not None:
            say(f"replica   {opening.database.replica.name}")
        if counts is not None:
            say(f"rates     {counts.name}")
        say(f"service   {service}")
        say(f"operator  {operator}/health/live  /health/ready  /metrics{'  /clock' if time else ''}")
        if self.readers:
            more = "one more process takes" if self.readers == 1 else f"{self.readers} more processes take"
            say(f"readers   {more} requests, and answer{'s' * (self.readers == 1)} what only reads")
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
        for paragraph in announcement.remarks(plan, values, self.document, self.pem[2] is not None, functions):
            say(f"\n{paragraph}")


def say_rows(opening: Opened, misfits: Counted) -> None:
    for words in opening.additions:
        say(f"          {visible(words)}")
    for words in opening.began:
        say(f"          as the contract states: {visible(words)}")
    if opening.hidden:
        named = ", ".join(f"`{each}`" for each in opening.hidden)
        say(f"          set aside before, and hidden: {visible(named)} (`ninefold upgrade --drop` ends it)")
    for words in misfits.words():
        say(f"          {visible(words)}")
