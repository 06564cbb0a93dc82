"""A request from its arrival to its answer, one step after another.

The steps stand in the order in which they are cheap: route, version, path values, Accept (here), credential
(`authenticate.py`), parameters (`admit.py`), body (`decode.py`), operation (`perform.py`). Which failure is answered is
another matter, and data: each step adds what it finds to the request's failures, and the one with the lowest rank
counts. So a step is left out only if nothing that it, or any step after it, could find would count before what has
failed already (`Lowest`). That is why a request without a credential does not have its body read where
`unauthenticated` comes first, and does where `malformed` comes first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ninefold.expressions.evaluate import TooMuch
from ninefold.language.conditions import subject_of
from ninefold.runtime.messages import media_types
from ninefold.runtime.messages.message import Response
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations.constraints import NothingFound, Refusal
from ninefold.runtime.operations.flow import Next
from ninefold.runtime.operations.stream import Stream
from ninefold.runtime.request.authenticate import Recognition, authenticate
from ninefold.runtime.request.decode import look
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.runtime.request.exchange import Exchange, only, unavailable
from ninefold.runtime.request.foresight import foresee
from ninefold.runtime.request.perform import ended, perform
from ninefold.runtime.request.precedents import find
from ninefold.runtime.request.routes import Found, Match, NotAllowed, Version
from ninefold.runtime.request.schemes import NOBODY, Caller
from ninefold.runtime.store.protocol import TooLong, Unavailable, Yielded

log = logging.getLogger("ninefold.server")

MOST_YIELDS = 20
"""How often a request is undone for the sake of others, before it is given up."""

MOST_LOOKS = 1_000
"""How often a request looks at a row that others change all the while, before it is given up."""

NOT_IN_FORCE = Response(501)
"""Blocked by a gap, or stated and not in force (meaning "bare statuses")."""


def start(x: Exchange) -> Next:
    """Find the endpoint, and what the request may not ask for at all."""
    service, request = x.service, x.request
    if request.method == "OPTIONS" and request.path == b"*":
        return Response(204, ((b"allow", service.routes.allow),))
    if service.versions.depends(request, x.query):
        allowed = service.versions.allowed(request) if request.method == "OPTIONS" else None
        if allowed is not None:
            x.allow = ((b"allow", allowed),)
            return Response(204, x.allow)
        # Who calls is the same in all versions: every scheme is tried, whichever the endpoint admits.
        known = Recognition(lambda known, caller: _pinned(x, known, caller))
        if service.versions.for_anyone(request, x.query):
            return _as_due(x, lambda: _pinned(x, known, NOBODY))
        return _as_due(x, lambda: authenticate(x, known))
    return _placed(x, *service.versions.find(request, x.query), Recognition())


def _as_due(x: Exchange, step: Callable[[], Next]) -> Next:
    """Go on once all has happened that is due."""
    timers = x.service.timers
    return step() if timers is None else timers.settled(x.env["now"], step)


def _pinned(x: Exchange, known: Recognition, caller: Caller) -> Next:
    """Find the endpoint in the version that is this caller's."""
    known.pin = None
    version = x.service.versions.pinned(x.request, {**x.env, "caller": caller.root})
    return _placed(x, *x.service.versions.find(x.request, x.query, version), known)


def _placed(x: Exchange, version: Version, match: Match[Endpoint], known: Recognition) -> Next:
    """The version is known that the request asks for, and what its method and path are there."""
    x.version, request = version, x.request
    if not isinstance(match, Found):
        if isinstance(match, NotAllowed):
            x.allow = ((b"allow", match.allow),)
            if request.method == "OPTIONS":
                return Response(204, x.allow)
        x.refuse(Failure("method not allowed" if isinstance(match, NotAllowed) else "no such path"))
        _of_version(x)
        return x.answer()
    x.endpoint, x.values = match.endpoint, match.values
    if x.endpoint.blocked or not version.served:
        return NOT_IN_FORCE
    _of_version(x)
    x.read_path()
    x.precedents = None if x.failures or known.callers else find(x.request, x.endpoint)
    if not _accepts(x):
        x.refuse(Failure("not acceptable"))
    return foresee(x, lambda: _as_due(x, lambda: authenticate(x, known)))


def _accepts(x: Exchange) -> bool:
    """Whether the client takes the media type of what is written. Over WebSocket there is none."""
    offers, stream = x.endpoint.offers, x.endpoint.any_operation
    if offers is None or (x.request.websocket and isinstance(stream, Stream) and stream.websocket):
        return True
    return media_types.accepts(x.request.headers.get("accept", ""), offers)


def _of_version(x: Exchange) -> None:
    """What is wrong with the version that is asked for."""
    if not x.version.known:
        x.refuse(Failure("unknown version"))
    elif x.version.retired is not None and x.version.is_retired(x.service.sources.clock()):
        x.refuse(Failure("retired version", subject_of("retired version", version=x.version.name)))


# ── What a step raises ────────────────────────────────────────────────────────────────────────────────────────


def taken(x: Exchange, take: Callable[[], Next]) -> Next:
    """The next step, or, where a step raises, what the request is answered for it."""
    try:
        return take()
    except Exception as error:
        return recovered(x, error)


def recovered(x: Exchange, error: Exception) -> Next:
    """What a request is answered for which an error was raised."""
    try:
        return _failed(x, error)
    except Exception as again:
        # What is raised while a refusal is answered or a write is tried again is our own fault.
        return _failed(x, again)


def _failed(x: Exchange, error: Exception) -> Next:
    """The step that takes an exception: of a refusal, of work that could not be done, or of our own fault."""
    asked = x.asked
    if isinstance(error, Refusal | Unavailable | TooMuch | TooLong):
        # Nobody is shown where it was raised. Who raised it refers to it, so that both would stay as a circle does.
        error.__traceback__ = None
    match error:
        case Refusal() if x.behind is not None and x.behind.reads and asked is not None:
            x.behind = None
            return perform(x, asked)
        case Refusal():
            return ended(x, error)
        case NothingFound() if asked is not None and asked.attempts < (MOST_LOOKS if asked.call.on_current else 1):
            # Of those that look and then write, one succeeds each time: the others look again.
            asked.attempts += 1
            return look(x, asked) if asked.call.on_current else perform(x, asked)
        case Yielded() if asked is not None and asked.yields < MOST_YIELDS:
            asked.yields += 1
            return perform(x, asked)
        case Unavailable():
            return unavailable(x)
        case TooMuch() | TooLong():
            return only(x, "too large")
        case _:
            # The traceback is for the operator's log alone. Its text may hold values, so it is not in the answer.
            log.error("%s failed", x.route or "a request", exc_info=error)
            return only(x, "internal")
