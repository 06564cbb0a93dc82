"""The event log, as the operator looks at it and has its events delivered again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ninefold.plan.service import ServicePlan
from ninefold.runtime.operations import signing
from ninefold.runtime.operations.events import Logged, Position, Tell
from ninefold.runtime.store.protocol import Session
from ninefold.sql import events as sql


def logged(session: Session, after: int, most: int) -> list[dict[str, Any]]:
    """The last events behind a position, the newest first."""
    rows = session.run(sql.LIST, [after, most])
    names = ("position", "time", "kind", "resource", "row", "id")
    return [_decoded(dict(zip(names, row, strict=True))) for row in rows]


def dead(session: Session, plan: ServicePlan, most: int) -> list[dict[str, Any]]:
    """The deliveries that were given up, and why."""
    of_rows = plan.schema.subscribers is not None
    rows = session.run(sql.LIST_DEAD_OF_ROWS if of_rows else sql.LIST_DEAD, [most])
    address = () if of_rows else ("url",)
    names = ("position", "time", "kind", "resource", "row", "subscription", *address, "attempts", "why")
    return [_decoded(dict(zip(names, row, strict=True))) for row in rows]


def counts(session: Session) -> tuple[int, int]:
    """How many deliveries are still to be made, and how many were given up."""
    [(waiting, given_up)] = session.run(sql.COUNTS, ())
    return int(str(waiting)), int(str(given_up))


def replay(session: Session, plan: ServicePlan, now: str, positions: Sequence[int], subscription: str | None) -> int:
    """Have what was given up delivered again, or, where positions are named, these events, whatever became of them: how
    many deliveries that makes. A subscription that is named gets them although its receiver was gone."""
    if subscription is not None:
        session.run(sql.ENABLE, [subscription])
    unversioned = None if plan.delivery is None else plan.delivery.unversioned
    to = plan.delivery.webhooks.to if plan.delivery is not None and plan.delivery.webhooks is not None else None
    if positions and to is not None:
        made = sum(
            _told_again(session, Tell(to.tell), now, position, subscription, unversioned) for position in positions
        )
    elif positions and unversioned is not None:
        again = [session.run(sql.DELIVER_AGAIN_VERSIONS, [each, subscription, unversioned]) for each in positions]
        made = sum(map(len, again))
    elif positions:
        made = sum(len(session.run(sql.DELIVER_AGAIN, [position, subscription])) for position in positions)
    else:
        made = len(session.run(sql.REVIVE, [subscription]))
    if plan.delivery is not None and plan.delivery.in_order:
        session.run(sql.STEP_BACK, ())
        session.run(sql.STEP_FORWARD, [now])
    else:
        session.run(sql.ALL_FORWARD, [now])
    return made


def _told_again(
    session: Session, tell: Tell, now: str, position: int, subscription: str | None, unversioned: str | None
) -> int:
    """Deliver one event again to rows of the contract's own that it goes to: how many those are."""
    found = session.run(sql.EVENT, [position])
    if not found:
        return 0
    id, kind, resource, row, time, payload = map(str, found[0])
    if unversioned is None:
        event = Logged(id, kind, row, time, payload)
        return tell.write(session, {"now": now}, Position(position, resource, "", now), event, subscription)
    others = {str(version): (kind, own) for version, kind, own in session.run(sql.EVENT_IN_VERSIONS, [position])}
    made = 0
    for version in {str(each) for (each,) in session.run(sql.SUBSCRIBED_VERSIONS, [unversioned])}:
        called, shown = others.get(version, (kind, payload))
        if called is not None:
            event = Logged(id, str(called), row, time, str(shown))
            made += tell.write(session, {"now": now}, Position(position, resource, version, now), event, subscription)
    return made


def rotate(session: Session, key: bytes, subscription: str, overlap: str) -> str | None:
    """Give a subscription another secret; until `overlap` deliveries are signed with both. None: there is no such
    subscription. `key`: the service's secret."""
    rows = session.run(sql.ROTATE, [overlap, subscription])
    if not rows:
        return None
    return signing.written(signing.secret(signing.signing_key(key), subscription, int(str(rows[0][0]))))


def _decoded(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "row": "/".join(map(str, msgspec.json.decode(row["row"])))}
