"""The conditions that may refuse a request: a closed list, one row each, in the order in which they count."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, Literal

from ninefold.diagnostics.frozen import dataclass


class Step(IntEnum):
    """The steps of a request, in their order (`ninefold.runtime.request.steps`). JUDGED: what rows hold already, and
    what is to be stored; DONE: what is found as the operation is done, once nothing else refuses it; ANY: at whatever
    step it is."""

    ROUTE = 0
    PATH = 1
    ACCEPT = 2
    CALLER = 3
    RATES = 4
    PARAMETERS = 5
    BODY = 6
    JUDGED = 7
    DONE = 8
    ANY = 9


FIELD = "field"
RESOURCE = "resource"
SCHEME = "scheme"
MEMBER = "member"
QUERY, HEADER, PATH = PLACES = ("query", "header", "path")
"""The places of a request that hold its parameters: `invalid query.dogs`."""
NARROWINGS: Final = {
    RESOURCE: ("a resource", "RESOURCE"),
    FIELD: ("a field", "RESOURCE.FIELD"),
    SCHEME: ("a scheme", "SCHEME"),
    MEMBER: ("a member of what asks for a token", "MEMBER"),
    **{place: (f"a parameter of `{place}`", f"{place}.NAME") for place in PLACES},
}
"""What a condition may be narrowed to, in words, and how that is written behind it."""

VERSION = "the version"
CHECK = "check"
"""The condition that no code is for: each check names its own."""

CONDITIONS_OF_GRANTS = ("grant_type", "scope")
"""The parameters of a request for a token of which `invalid` may be narrowed: `invalid scope`."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`status`: its bare status, where no code gives one (meaning "bare statuses"). `steps`: those that may find it.
    `narrowed`: which of the NARROWINGS it has (`not found article`, `conflict user.email`). `of_row`: there is a row
    that it is about. `alone`: it is the answer wherever it is found, whatever else was. `words`: what is so, for who
    reads a log. `called`: what others call it.

    What a response with it has to do with beside the contract: `meanings`, by their numbers; `requested` of the
    request; the section of `http`; what the `machine` is like. `facts`: the keys of an endpoint's facts that ask for
    what it refuses; `limit`: the key of part 8 that does.

    `of`: all that it takes for it to arise, at the first of its steps; None: it takes more, and is derived by hand, in
    `contract/refusals/` and `trace/refusals.py`."""

    name: str
    status: int
    steps: tuple[Step, ...]
    words: str
    narrowed: tuple[str, ...] = ()
    of_row: bool = False
    alone: bool = False
    called: tuple[str, ...] = ()
    meanings: tuple[str, ...] = ()
    requested: str | None = None
    http: str | None = None
    machine: str | None = None
    facts: tuple[str, ...] = ()
    limit: str = ""
    of: Literal["any request", "a body"] | None = None


CONDITIONS: Final[tuple[Condition, ...]] = (
    Condition(
        name="no such path",
        status=404,
        steps=(Step.ROUTE,),
        words="no endpoint of the contract has this path",
        meanings=("precedence",),
        requested="the path",
        http="RFC 9110, section 15.5.5",
    ),
    Condition(
        name="method not allowed",
        status=405,
        steps=(Step.ROUTE,),
        words="the path has no such method",
        meanings=("precedence",),
        requested="the method",
        http="RFC 9110, section 15.5.6",
    ),
    Condition(
        name="unknown version",
        status=400,
        steps=(Step.ROUTE,),
        words="there is no such version",
        requested=VERSION,
    ),
    Condition(
        name="retired version",
        status=410,
        steps=(Step.ROUTE,),
        words="the version has ended",
        requested=VERSION,
    ),
    Condition(
        name="too many requests",
        status=429,
        steps=(Step.RATES,),
        words="there are more requests than a rate allows",
        called=("rate limit", "throttled"),
        meanings=("what rates count", "how rates count"),
    ),
    Condition(
        name="unauthenticated",
        status=401,
        steps=(Step.CALLER, Step.JUDGED),
        narrowed=(SCHEME,),
        words="the request has no credential, or one that is not known",
        called=("unauthorized", "unauthorised", "not authenticated"),
        meanings=("credentials",),
        requested="the credential",
    ),
    Condition(
        name="sign in refused",
        status=401,
        steps=(Step.JUDGED,),
        narrowed=(RESOURCE,),
        of_row=True,
        words="there is no such row, or its secret is another",
    ),
    Condition(
        name="forbidden",
        status=403,
        steps=(Step.CALLER, Step.PARAMETERS, Step.JUDGED),
        narrowed=(RESOURCE,),
        of_row=True,
        words="the caller is not permitted",
        called=("not allowed", "permission denied", "access denied"),
        meanings=("credentials",),
    ),
    Condition(
        name="too large",
        status=413,
        steps=(Step.BODY, Step.ANY),
        words="the body is too large, or an expression would look at too much",
        called=("payload too large", "content too large"),
        requested="the body",
        limit="body size",
        of="a body",
    ),
    Condition(
        name="unsupported media type",
        status=415,
        steps=(Step.BODY,),
        words="the body's Content-Type is not the one that is read here",
        meanings=("bodies",),
        requested="the header Content-Type",
        facts=("requests media type", "patch", "body"),
    ),
    Condition(
        name="not acceptable",
        status=406,
        steps=(Step.ACCEPT,),
        words="the request's Accept admits nothing that is written here",
        requested="the header Accept",
        http="RFC 9110, section 12.5.1",
        facts=("produces",),
    ),
    Condition(
        name="malformed",
        status=400,
        steps=(Step.BODY,),
        words="the body is not JSON",
        meanings=("bodies",),
        requested="the body",
        facts=("body", "requests media type"),
        of="a body",
    ),
    Condition(
        name="invalid",
        status=422,
        steps=(Step.PATH, Step.PARAMETERS, Step.BODY, Step.JUDGED),
        narrowed=(RESOURCE, FIELD, MEMBER, QUERY, HEADER),
        of_row=True,
        words="a value is not as its rules say",
        called=("validation", "validation failed", "unprocessable", "bad request"),
    ),
    Condition(
        name="idempotency mismatch",
        status=422,
        steps=(Step.JUDGED,),
        of_row=True,
        words="the key came before, with another request",
        meanings=("idempotency keys",),
        requested="the header Idempotency-Key",
        facts=("idempotency key",),
    ),
    Condition(
        name="idempotency in progress",
        status=409,
        steps=(Step.JUDGED,),
        of_row=True,
        words="the first request with the key is not answered yet",
        meanings=("idempotency keys",),
        requested="the header Idempotency-Key",
        facts=("idempotency key",),
    ),
    Condition(
        name="not found",
        status=404,
        steps=(Step.PATH, Step.PARAMETERS, Step.JUDGED),
        narrowed=(RESOURCE, PATH),
        of_row=True,
        words="there is no such row, or this caller may not see it",
        meanings=("paths",),
    ),
    Condition(
        name="gone",
        status=410,
        steps=(Step.JUDGED,),
        narrowed=(RESOURCE,),
        of_row=True,
        words="the row is in a state of those that are gone",
        meanings=("gone rows",),
    ),
    Condition(
        name="precondition required",
        status=428,
        steps=(),
        of_row=True,
        words="no contract asks for one yet",
    ),
    Condition(
        name="precondition failed",
        status=412,
        steps=(Step.JUDGED,),
        narrowed=(RESOURCE,),
        of_row=True,
        words="what is there is not as If-Match or If-None-Match says",
        meanings=("entity tags",),
        requested="the headers If-Match and If-None-Match",
        facts=("etag",),
    ),
    Condition(
        name="illegal transition",
        status=409,
        steps=(Step.JUDGED,),
        narrowed=(RESOURCE,),
        of_row=True,
        words="the row is in another state",
    ),
    Condition(
        name=CHECK,
        status=409,
        steps=(Step.JUDGED, Step.DONE),
        narrowed=(RESOURCE,),
        of_row=True,
        words="what has to hold does not, or a value cannot be made",
        meanings=("before and after",),
    ),
    Condition(
        name="different",
        status=409,
        steps=(Step.BODY, Step.JUDGED),
        narrowed=(RESOURCE,),
        of_row=True,
        words="the row is there, with other values",
    ),
    Condition(
        name="conflict",
        status=409,
        steps=(Step.BODY, Step.JUDGED),
        narrowed=(RESOURCE, FIELD),
        of_row=True,
        words="another row stands in the way",
        called=("unique", "duplicate", "already exists", "exists", "taken"),
    ),
    Condition(
        name="unavailable",
        status=503,
        steps=(Step.ANY,),
        alone=True,
        words="the database cannot take it now, or the issuer of its token cannot be reached",
        meanings=("too much",),
        machine="a database or another service that is not to be had, or too many requests",
        of="any request",
    ),
    Condition(
        name="timed out",
        status=503,
        steps=(Step.ANY,),
        alone=True,
        words="it took longer than it may",
        machine="how long the work took",
        limit="timeout",
    ),
    Condition(
        name="internal",
        status=500,
        steps=(Step.ANY,),
        alone=True,
        words="this is a fault of ninefold: the log says more",
        called=("internal error", "server error", "internal server error"),
        machine="a fault of the service, which is in its log",
        of="any request",
    ),
)

BY_NAME: Final = {each.name: each for each in CONDITIONS}

STATUSES: Final = {each.name: each.status for each in CONDITIONS}
"""The bare status of each condition, in the order of the list."""

NO_ENDPOINT: Final = frozenset({"no such path", "method not allowed"})
"""The conditions that leave no endpoint (meaning "precedence")."""


def split(written: str) -> tuple[str, str | None] | None:
    """A condition as it is written (`not found`, or narrowed, `not found article`): its name, and its subject. None:
    it is no condition."""
    if written in BY_NAME:
        return written, None
    name, _, subject = written.rpartition(" ")
    return (name, subject) if subject and name in BY_NAME else None


def ways_to_narrow(condition: str) -> tuple[str, ...]:
    """What a condition may be narrowed to: of each way its words, and what may be written."""
    ways = map(NARROWINGS.__getitem__, BY_NAME[condition].narrowed)
    return tuple(f"{words} (`{condition} {written}`)" for words, written in ways)


def of_parameter(condition: str, place: str, name: str) -> str | None:
    """What a condition is narrowed to that is about a parameter: `query.dogs`; None: it is not narrowed so."""
    return f"{place}.{name}" if place in BY_NAME[condition].narrowed else None


def narrowing_of(condition: str, subject: str | None) -> str | None:
    """Which of the NARROWINGS it is that a condition is narrowed to; None: to none. No resource is called as a place
    is. Whether a resource, field, scheme or parameter of that name is declared is not looked at."""
    if subject is None:
        return None
    narrowed = BY_NAME[condition].narrowed
    place, dot, _ = subject.partition(".")
    if dot:
        return place if place in PLACES else FIELD
    if SCHEME in narrowed:
        return SCHEME
    return MEMBER if MEMBER in narrowed and subject in CONDITIONS_OF_GRANTS else RESOURCE


def precedence(stated: Sequence[str]) -> tuple[str, ...]:
    """The whole order of conditions (meaning "precedence"): the closed list, in which a narrowed condition that is
    stated stands before its wider one, changed no more than what is stated demands. `gone` goes with `not found`,
    unless it is stated."""
    wider = {name: found[0] for name in stated if (found := split(name)) is not None}
    due = list(wider)
    followers = () if "gone" in due else ("gone",)
    left = [
        name
        for condition in BY_NAME
        if condition not in followers
        for name in (*(each for each in due if each != condition and wider[each] == condition), condition)
    ]
    order: list[str] = []
    while left:
        taken = next(name for name in left if name not in due or name == due[0])
        left.remove(taken)
        if taken in due:
            due.remove(taken)
        order.append(taken)
        order += followers if taken == "not found" else ()
    return tuple(order)
