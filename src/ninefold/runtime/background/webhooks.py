"""Webhooks: every event reaches every subscription that wants its kind, at least once.

What is to be delivered was written with the event, in the transaction of its cause. Here it is read, sent, and only
when that is known to have come to its end forgotten: whatever happens to the process, what was not forgotten is sent
again. `webhook-id` is the same each time, by which a receiver knows what it has seen.

Of the events of one row in one subscription only the first is ever due, where the contract wants them in order.
"""

from __future__ import annotations

import asyncio
import logging
import time
from asyncio import Future, Task
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, assert_never

from ninefold.plan import environment
from ninefold.plan import events as plan
from ninefold.runtime.background.sender import (
    CONNECTIONS,
    Delivered,
    Failed,
    Gone,
    Network,
    OfRows,
    OfSubscriptions,
    Outcome,
    Receiver,
    Receivers,
    Sender,
    rows,
)
from ninefold.runtime.cache import Cache
from ninefold.runtime.messages.message import stated_value
from ninefold.runtime.operations import signing
from ninefold.runtime.operations.events import Form, Logged, happened, lane
from ninefold.runtime.request.service import Service
from ninefold.runtime.sources import moved
from ninefold.runtime.store.bell import Bell
from ninefold.runtime.store.protocol import Database, Row, Session, Unavailable
from ninefold.runtime.store.statements import Prepared
from ninefold.sql import events as sql

log = logging.getLogger("ninefold.delivery")

PER_SUBSCRIPTION = 16
"""Attempts under way for one subscription: one that stalls leaves room for the others."""

LONGEST_WAIT = 0.5
"""Seconds after which what is due is looked at again: a clock may have been set, another program have written."""

TOGETHER = 0.002
"""Seconds for which attempts that come to an end are waited for, to look at once for what they make room for."""

ENDING = 2.0
"""Seconds that attempts under way have when the service stops."""

FAILING = 1024
"""Receivers of which it is remembered whether the log says that they fail. Of others it says so again."""

LONGEST_NAME = 256
"""Characters of a receiver's primary key that a line of the log has: somebody else may have chosen it."""

AFTER_FAILURE = 1.0
"""Seconds after which what the database refused is tried again."""


class Webhooks:
    """The deliveries of one service. `unversioned`: the version of subscriptions that were made when there were none;
    None: there are none. `wall` gives the seconds since 1970 that signatures tell: a receiver compares them
    with its own clock, whatever the service's has been set to."""

    def __init__(
        self,
        webhooks: plan.Webhooks,
        service: Service,
        form: Form,
        database: Database,
        allowed: Sequence[Network] = (),
        unversioned: str | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._attempts = int(webhooks.said["attempts"])
        self._waits = webhooks.waits
        self._receivers: Receivers = (
            OfSubscriptions(webhooks, service, database)
            if webhooks.to is None
            else OfRows(webhooks.to, service, database, webhooks.signed)
        )
        self._headers = None if webhooks.headers is None else Prepared(webhooks.headers.select)
        self._names = () if webhooks.headers is None else webhooks.headers.names
        self._to = "subscription" if webhooks.to is None else webhooks.to.resource
        self._of_rows = webhooks.to is not None
        """A row may say another address the next time: nobody is done with it for good."""
        self._service = service
        self._form = form
        self._database = database
        self._sender = Sender(allowed)
        self._wall = wall
        self._unversioned = unversioned
        self._under_way: defaultdict[str, set[int]] = defaultdict(set)
        self._tasks: set[Task[None]] = set()
        self._failing = Cache[str, bool](FAILING)
        self._room = asyncio.Event()

    async def run(self, bell: Bell) -> None:
        """Deliver until cancelled."""
        try:
            async with self._sender:
                try:
                    while True:
                        await self._turn(bell)
                except asyncio.CancelledError:
                    # What is on its way may arrive, and be noted.
                    if self._tasks:
                        await asyncio.wait(self._tasks, timeout=ENDING)
                    raise
        finally:
            for task in tuple(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _turn(self, bell: Bell) -> None:
        self._room.clear()
        try:
            wait = await self._begin_what_is_due()
        except Unavailable as error:
            log.warning("what is to be delivered cannot be read: %s", error)
            wait = AFTER_FAILURE
        await self._woken(bell, wait)

    async def _woken(self, bell: Bell, seconds: float) -> None:
        """Wait until there may be something to do."""
        if bell.closed:
            # The service is stopping, and so will this: nothing rings any more.
            await asyncio.sleep(LONGEST_WAIT)
            return
        heard = bell.heard()
        room: Future[Any] = asyncio.ensure_future(self._room.wait())
        try:
            await asyncio.wait({heard, room}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(TOGETHER)
        finally:
            heard.cancel()
            room.cancel()

    async def _begin_what_is_due(self) -> float:
        """Begin as many attempts as there is room for. Gives the seconds until something more is due."""
        now = self._service.sources.now()
        wait = LONGEST_WAIT
        for subscription, due in await rows(self._database, sql.WAITING, [now]):
            if due is None:
                continue
            if str(due) > now:
                wait = min(wait, max(0.0, (_time(str(due)) - _time(now)).total_seconds()))
                continue
            under_way = self._under_way[str(subscription)]
            room = min(PER_SUBSCRIPTION - len(under_way), CONNECTIONS - len(self._tasks))
            if room > 0:
                # What comes to its end while it is read is among what was read all the same.
                before = frozenset(under_way)
                due_now = await self._due(str(subscription), now, len(before) + room)
                for row in [each for each in due_now if each[0] not in before][:room]:
                    self._begin(str(subscription), row)
        return wait

    async def _due(self, subscription: str, now: str, most: int) -> Sequence[Row]:
        """What is due, each event as the version has it in which the subscription was made."""
        if self._unversioned is None:
            return await rows(self._database, sql.DUE, [subscription, now, most])
        return await rows(self._database, sql.DUE_VERSIONS, [subscription, now, most, self._unversioned])

    def _begin(self, subscription: str, row: Row) -> None:
        position = int(str(row[0]))
        self._under_way[subscription].add(position)
        task = asyncio.create_task(self._deliver(subscription, row))
        self._tasks.add(task)

        def ended(task: Task[None]) -> None:
            self._tasks.discard(task)
            under_way = self._under_way[subscription]
            under_way.discard(position)
            if not under_way:
                del self._under_way[subscription]
            self._room.set()

        task.add_done_callback(ended)

    # ── One delivery ──────────────────────────────────────────────────────────────────────────────────────────

    async def _deliver(self, subscription: str, row: Row) -> None:
        try:
            position, attempts, id, kind, identifier, written, payload, resource = row
            receiver = await self._receivers.find(subscription, int(str(position)))
            outcome: Outcome
            match receiver:
                case Receiver(url, secrets):
                    event = Logged(str(id), str(kind), str(identifier), str(written), str(payload))
                    body = self._form.body(event)
                    headers = await self._said(subscription, int(str(position)), event, str(resource))
                    headers |= signing.headers(secrets, str(id), int(self._wall()), body)
                    outcome = await self._sender.send(url, {**headers, "content-type": self._form.media_type}, body)
                case Failed():
                    outcome = receiver
                case None:
                    outcome = Delivered()
            made = int(str(attempts)) + 1
            same = lane(str(resource), str(identifier))
            await self._database.transact(
                lambda session: self._settle(session, subscription, int(str(position)), same, made, outcome)
            )
            self._log(subscription, int(str(position)), made, outcome)
        except Unavailable as error:
            # What could not be noted is sent again: at least once is what is promised.
            log.warning("a delivery could not be noted: %s", error)
            await asyncio.sleep(AFTER_FAILURE)
        except Exception as error:
            log.error("a delivery failed", exc_info=error)
            await asyncio.sleep(AFTER_FAILURE)

    def _log(self, subscription: str, position: int, attempts: int, outcome: Outcome) -> None:
        """Tell whoever runs the service of what is given up, and of a receiver that begins to fail: once, until
        something arrives there. No address, no secret and nothing that was sent is told."""
        named = subscription if len(subscription) <= LONGEST_NAME else subscription[:LONGEST_NAME] + "…"
        match outcome:
            case Delivered():
                if subscription in self._failing:
                    self._failing.keep(subscription, False)
            case Gone():
                log.warning("all that waits for %s %s is given up: it is gone (410)", self._to, named)
            case Failed(why) if attempts >= self._attempts:
                tried = f"event {position} to {self._to} {named}"
                log.warning("the delivery of %s is given up after attempt %d: %s", tried, attempts, why)
            case Failed(why) if not self._failing.get(subscription):
                self._failing.keep(subscription, True)
                log.warning("deliveries to %s %s fail, and are tried again: %s", self._to, named, why)

    async def _said(self, subscription: str, position: int, event: Logged, resource: str) -> dict[str, str]:
        """The headers that the contract gives this delivery. Raises Unavailable."""
        if self._headers is None:
            return {}
        env = {
            **self._service.env,
            "now": self._service.sources.now(),
            "event": happened(event, resource),
            environment.LOG: {"position": position, "subscription": subscription},
        }
        found = await rows(self._database, *self._headers.bound(env))
        given: dict[str, str] = {}
        for name, value in zip(self._names, found[0], strict=True) if found else ():
            written = stated_value(name, "a delivery")(value) if isinstance(value, str) else None
            if written is not None:
                given[name.lower()] = written.decode()
        return given

    def _settle(
        self, session: Session, subscription: str, position: int, lane: str, attempts: int, outcome: Outcome
    ) -> None:
        """Note what came of an attempt."""
        now = self._service.sources.now()
        match outcome:
            case Delivered():
                session.run(sql.DELIVERED, [subscription, position])
                session.run(sql.NEXT_IN_LANE, [now, subscription, lane])
            case Gone():
                if not self._of_rows:
                    session.run(sql.DISABLE, [now, subscription])
                session.run(sql.ABANDON, ["the receiver is gone (410)", subscription])
            case Failed(why, slow, pause):
                wait = max(self._wait(attempts), pause or 0.0)
                if slow:
                    session.run(sql.PAUSE, [moved(now, round(wait * 1_000_000)), subscription])
                if attempts >= self._attempts:
                    session.run(sql.DEAD, [attempts, why, subscription, position])
                    session.run(sql.NEXT_IN_LANE, [now, subscription, lane])
                else:
                    session.run(sql.FAILED, [attempts, moved(now, round(wait * 1_000_000)), subscription, position])
            case _:
                assert_never(outcome)

    def _wait(self, attempts: int) -> float:
        """Seconds from the attempt of this number to the next."""
        return self._waits[min(attempts, len(self._waits)) - 1] / 1_000_000 if self._waits else 0.0


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
