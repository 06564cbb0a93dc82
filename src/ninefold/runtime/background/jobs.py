"""Everything that a service does by itself with its events: it delivers them, and ends those that need not be kept,
because nobody goes back to them and they have reached whom they were for.

Events are ended a little at a time, so that no write waits for it, and never in a hurry: what is kept too long is shown
to nobody, since those who go back ask for the time as well.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Future
from collections.abc import Mapping, Sequence
from functools import partial

from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.background.sender import Network
from ninefold.runtime.background.webhooks import Webhooks
from ninefold.runtime.request.service import Service
from ninefold.runtime.sources import moved
from ninefold.runtime.store.bell import Bell, Job
from ninefold.runtime.store.protocol import Database, Nodes, Session, Unavailable
from ninefold.sql.events import CLEAN, CLEAN_DEAD, CLEAN_DELIVERED, CLEAN_DELIVERED_AND_SENT, CLEAN_SENT, OLDEST

log = logging.getLogger("ninefold.delivery")

MOST = 500
"""Events that go in one transaction."""

FIRST = 3.0
"""Seconds before the first round."""

EVERY = 30.0
"""Seconds between two rounds."""

AFTER_FAILURE = 0.5
"""Seconds after which a node whose connection was lost tries again."""

DEAD_ARE_KEPT = 30 * 24 * 3600 * 1_000_000
"""Microseconds for which the operator can deliver again what was given up."""


class Cleaning:
    """`kept`: how many microseconds those who come back go back."""

    def __init__(self, service: Service, schema: Schema, kept: int, database: Database) -> None:
        self._service = service
        self._delivered = schema.subscriptions
        self._sent = () if schema.broker is None else (schema.broker,)
        self._kept = kept
        self._database = database

    async def run(self, bell: Bell) -> None:
        """Clean up until cancelled. A service that has just begun has more urgent things to write."""
        await asyncio.sleep(FIRST)
        while True:
            try:
                while await self._is_something_old() and await self._database.transact(self.clean):
                    await asyncio.sleep(0.1)
            except Unavailable as error:
                log.warning("events that need not be kept could not be removed: %s", error)
            await asyncio.sleep(EVERY)

    async def _is_something_old(self) -> bool:
        """Whether there is anything to remove: a service at rest writes nothing."""
        rows = self._database.select(OLDEST, ())
        rows = await rows if isinstance(rows, Future) else rows
        return bool(rows) and str(rows[0][0]) < moved(self._service.sources.now(), -self._kept)

    def clean(self, session: Session) -> bool:
        """Remove some of what need not be kept, in a transaction. Whether there may be more."""
        now = self._service.sources.now()
        removed = 0
        if self._delivered:
            removed = len(session.run(CLEAN_DEAD, [moved(now, -DEAD_ARE_KEPT), MOST]))
        if self._sent:
            statement = CLEAN_DELIVERED_AND_SENT if self._delivered else CLEAN_SENT
        else:
            statement = CLEAN_DELIVERED if self._delivered else CLEAN
        removed = max(removed, len(session.run(statement, [moved(now, -self._kept), *self._sent, MOST])))
        return removed >= MOST


def jobs(
    plan: ServicePlan, service: Service, database: Database, allowed: Sequence[Network] = (), broker: str | None = None
) -> tuple[Job, ...]:
    """What runs beside the service as long as it does. `allowed`: networks that are not of the public internet and that
    webhooks may go to. `broker`: where events are sent, of a plan that says so (`to_broker`)."""
    replica = database.replica
    own: tuple[Job, ...] = () if replica is None else (lambda bell: replica.follow(),)
    delivery, log = plan.delivery, service.log
    if delivery is None or log is None:
        return own
    kept = delivery.kept_microseconds
    found: dict[str, Job] = {}
    if broker is not None and log.form.complete:
        # What sends is loaded where there is a broker.
        from ninefold.runtime.background.broker import Broker
        from ninefold.runtime.background.brokers import BROKER, line_to

        newest = None if plan.versions is None else plan.versions.current
        found["broker"] = Broker(BROKER, newest, line_to(broker), log.form, database).run
    if delivery.webhooks is not None and plan.schema.subscriptions and log.form.complete:
        webhooks = Webhooks(delivery.webhooks, service, log.form, database, allowed, delivery.unversioned)
        found["webhooks"] = webhooks.run
    if kept is not None:
        found["cleaning"] = Cleaning(service, plan.schema, kept, database).run
    nodes = database.nodes
    return (*own, *found.values()) if nodes is None else (*own, partial(_shared, nodes, found))


async def _shared(nodes: Nodes, jobs: Mapping[str, Job], bell: Bell) -> None:
    """Each is done by one of the nodes."""
    while True:
        try:
            await nodes.share(bell.ring, {name: partial(job, bell) for name, job in jobs.items()})
        except Unavailable as error:
            log.warning("what one node does for all is begun again: %s", error)
            await asyncio.sleep(AFTER_FAILURE)
