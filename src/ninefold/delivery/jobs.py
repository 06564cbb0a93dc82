"""Everything that a service does by itself with its events."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ninefold.database.protocol import Database
from ninefold.delivery.addresses import Network
from ninefold.delivery.cleaning import Cleaning
from ninefold.delivery.webhooks import Webhooks
from ninefold.plan.service import ServicePlan
from ninefold.server.app import Job
from ninefold.server.service import Service


def jobs(plan: ServicePlan, service: Service, database: Database, allowed: Sequence[Network] = ()) -> tuple[Job, ...]:
    """What runs beside the service as long as it does. `allowed`: networks that are not of the public internet and that
    webhooks may go to."""
    delivery, log = plan.delivery, service.log
    if delivery is None or log is None:
        return ()
    kept = timedelta(microseconds=delivery.kept_microseconds or 0)
    cleaning = Cleaning(service, plan.schema, kept, database).run
    if delivery.webhooks is None or not plan.schema.subscriptions or not log.form.complete:
        return (cleaning,)
    return (Webhooks(delivery.webhooks, service, log.form, database, allowed, delivery.unversioned).run, cleaning)
