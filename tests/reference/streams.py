"""Streams (meanings "streams" and "who is told of events"): where one begins, and what it tells until there is nothing
more to tell."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from tests.reference import answers, lists
from tests.reference.asking import LOG, Asking
from tests.reference.expressions import at_hand
from tests.reference.failures import Failure, invalid
from tests.reference.lists import Page
from tests.reference.messages import Response

from ninefold.checked.endpoints import Endpoint

HEADER, PARAMETER = "Last-Event-ID", "last-event-id"
MEDIA_TYPE = "text/event-stream"


def told(asking: Asking, endpoint: Endpoint, page: Page) -> Response:
    """The stream as it begins; its content is a list of its events. Raises KeyError where the log is no resource too,
    of which nothing is kept here."""
    assert asking.checked.resources[LOG].log
    position = _position(asking, endpoint)
    if isinstance(position, Failure):
        return answers.refused(asking, position)
    response = answers.respond(asking, endpoint, asking.seen())
    response = Response(response.status, {**response.headers, "content-type": MEDIA_TYPE, "cache-control": "no-store"})
    answered = answers.on_condition(asking, endpoint, response)
    if answered.status != response.status:
        return answered
    log = [each for each in asking.rows.all(LOG) if each.fields["position"] > position]
    where, seen = endpoint.operation.where, asking.seen()
    log = [each for each in log if asking.is_seen(each)]
    log = [each for each in log if where is None or seen.also(**{LOG: at_hand(each)}).holds(where)]
    shown = [
        {
            "id": _id(asking, endpoint, each.fields["position"]),
            "event": each.fields["kind"],
            "data": each.fields["payload"],
        }
        for each in lists.filtered(log, endpoint, page, seen)
    ]
    return Response(response.status, response.headers, shown)


def _position(asking: Asking, endpoint: Endpoint) -> int | Failure:
    """That of the last event that was seen; without one, of the last that there is."""
    last, kept = asking.rows.serials.get(LOG, 0), asking.rows.of.get(LOG, [])
    place, name, text = "header", HEADER, asking.request.headers.get(HEADER.lower())
    if text is None and PARAMETER in asking.query:
        place, name, text = "query", PARAMETER, ",".join(asking.query[PARAMETER])
    if text is None:
        return last
    known = {_id(asking, endpoint, each): each for each in range(1, last + 1)} | {"0": 0}
    if text.strip(" \t") not in known:
        return invalid(place, name, "format")
    position = known[text.strip(" \t")]
    first = min((each.fields["position"] for each in kept), default=last + 1)
    return invalid(place, name, "minimum") if position < first - 1 else position


def _id(asking: Asking, endpoint: Endpoint, position: int) -> str:
    """The place of an event, sealed for this caller here."""
    row: Any = None if asking.caller.row is None else (asking.caller.row.resource.name, asking.caller.row.key)
    sealed = repr((asking.of.version, endpoint.key, asking.caller.who, row, position))
    return "stream-" + sha256(sealed.encode()).hexdigest()[:12]
