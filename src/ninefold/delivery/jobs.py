"""Everything that a service does by itself with its events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ninefold.database.protocol import Database
from ninefold.delivery.addresses import Network
from ninefold.delivery.broker import Broker, address_of
from ninefold.delivery.cleaning import Cleaning
from ninefold.delivery.webhooks import Webhooks
from ninefold.plan.events import Delivery
from ninefold.plan.service import ServicePlan
from ninefold.server.app import Job
from ninefold.server.service import Service


def jobs(plan: ServicePlan, service: Service, database: Database, allowed: Sequence[Network] = ()) -> tuple[Job, ...]:
    """What runs beside the service as long as it does. `allowed`: networks that are not of the public internet and that
    webhooks may go to."""
    delivery, log = plan.delivery, service.log
    if delivery is None or log is None:
        return ()
    kept = _kept(delivery)
    found: list[Job] = [] if kept is None else [Cleaning(service, plan.schema, kept, database).run]
    if not log.form.complete:
        return tuple(found)
    if delivery.webhooks is not None and plan.schema.subscriptions:
        webhooks = Webhooks(delivery.webhooks, service, log.form, database, allowed, delivery.unversioned)
        found.insert(0, webhooks.run)
    address = address_of(delivery.broker, service.env["operator"])
    if delivery.broker is not None and address is not None:
        found.insert(0, Broker(delivery.broker, address, log.form, database).run)
    return tuple(found)


def _kept(delivery: Delivery) -> timedelta | None:
    """How long events are kept for those who come back to them; None: without an end."""
    streamed = delivery.kept_microseconds or 0
    if delivery.log is None:
        return timedelta(microseconds=streamed)
    lasts = delivery.log.lasts_microseconds
    return None if lasts is None else timedelta(microseconds=max(streamed, lasts))
