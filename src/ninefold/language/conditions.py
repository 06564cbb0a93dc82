"""The conditions that may refuse a request: a closed list, one row each, in the order in which they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final, Literal, TypedDict, Unpack, cast

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


CONDITIONS_OF_GRANTS = ("grant_type", "scope")
"""The parameters of a request for a token of which `invalid` may be narrowed: `invalid scope`."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A way to narrow conditions, in words. `written`: a name (`SCHEME`), one of a resource (`RESOURCE.FIELD`), or one
    of a place of the request, which is called as it is (`query.NAME`). `among`: which of all `Declared` names these
    are. `only`: those that it may be at all, where the language knows them."""

    words: str
    written: str
    among: str
    only: tuple[str, ...] = ()

    @property
    def within(self) -> str:
        """Of what it is a name; nothing: of nothing."""
        return parted(self.written)[0]

    def fits(self, subject: str) -> bool:
        """Whether a subject may be so written. No resource is called as a place is."""
        within, name = parted(subject)
        is_within = within == self.within if {within, self.within} & {*PLACES} else bool(within) == bool(self.within)
        return is_within and (not self.only or name in self.only)


def parted(subject: str) -> tuple[str, str]:
    """What a condition is narrowed to, as a name of what: `order.pay`; of nothing: `order`."""
    within, dot, name = subject.partition(".")
    return (within, name) if dot else ("", subject)


FIELD = "field"
RESOURCE = "resource"
SCHEME = "scheme"
MEMBER = "member"
QUERY, HEADER, PATH = PLACES = ("query", "header", "path")
"""The places of a request that hold its parameters: `invalid query.dogs`."""
NARROWINGS: Final = {
    MEMBER: Narrowing("a member of what asks for a token", "MEMBER", "granting", CONDITIONS_OF_GRANTS),
    RESOURCE: Narrowing("a resource", "RESOURCE", "reachable"),
    FIELD: Narrowing("a field", "RESOURCE.FIELD", "fields"),
    SCHEME: Narrowing("a scheme", "SCHEME", "schemes"),
    **{place: Narrowing(f"a parameter of `{place}`", f"{place}.NAME", "parameters") for place in PLACES},
}
"""What conditions may be narrowed to; of two ways that fit a subject the first one counts."""


class About(TypedDict, total=False):
    """What a refusal may be about, each called as the way to narrow that it gives a name. Whoever finds it tells all
    of these that it knows, and the row of the condition, how far a code may be narrowed to them."""

    resource: str | None
    field: str | None
    transition: str | None
    scheme: str | None
    member: str | None
    query: str | None
    header: str | None
    path: str | None
    rate: str | None
    version: str | None


VERSION = "the version"
CHECK = "check"
"""The condition that no code is for: each check names its own."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`status`: its bare status, where no code gives one (meaning "bare statuses"). `steps`: those that may find it.
    `narrowed`: which of the NARROWINGS it has (`not found article`, `conflict user.email`), the narrower behind the
    wider. `of_row`: there is a row that it is about. `alone`: it is the answer wherever it is found, whatever else was.
    `words`: what is so, for who reads a log. `called`: what others call it.

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


# fmt: off

CONDITIONS: Final[tuple[Condition, ...]] = (
    Condition("no such path", 404, (Step.ROUTE,), "no endpoint of the contract has this path",
              meanings=("precedence",), requested="the path", http="RFC 9110, section 15.5.5"),
    Condition("method not allowed", 405, (Step.ROUTE,), "the path has no such method",
              meanings=("precedence",), requested="the method", http="RFC 9110, section 15.5.6"),
    Condition("unknown version", 400, (Step.ROUTE,), "there is no such version",
              requested=VERSION),
    Condition("retired version", 410, (Step.ROUTE,), "the version has ended",
              requested=VERSION),
    Condition("too many requests", 429, (Step.RATES,), "there are more requests than a rate allows",
              called=("rate limit", "throttled"), meanings=("what rates count", "how rates count")),
    Condition("unauthenticated", 401, (Step.CALLER, Step.JUDGED),
              "the request has no credential, or one that is not known",
              narrowed=(SCHEME,), called=("unauthorized", "unauthorised", "not authenticated"),
              meanings=("credentials",), requested="the credential"),
    Condition("sign in refused", 401, (Step.JUDGED,), "there is no such row, or its secret is another",
              narrowed=(RESOURCE,), of_row=True),
    Condition("forbidden", 403, (Step.CALLER, Step.PARAMETERS, Step.JUDGED), "the caller is not permitted",
              narrowed=(RESOURCE,), of_row=True, called=("not allowed", "permission denied", "access denied"),
              meanings=("credentials",)),
    Condition("too large", 413, (Step.BODY, Step.ANY),
              "the body is too large, or an expression would look at too much",
              called=("payload too large", "content too large"), requested="the body", limit="body size",
              of="a body"),
    Condition("unsupported media type", 415, (Step.BODY,),
              "the body's Content-Type is not the one that is read here",
              meanings=("bodies",), requested="the header Content-Type",
              facts=("requests media type", "patch", "body")),
    Condition("not acceptable", 406, (Step.ACCEPT,), "the request's Accept admits nothing that is written here",
              requested="the header Accept", http="RFC 9110, section 12.5.1", facts=("produces",)),
    Condition("malformed", 400, (Step.BODY,), "the body is not JSON",
              meanings=("bodies",), requested="the body", facts=("body", "requests media type"), of="a body"),
    Condition("invalid", 422, (Step.PATH, Step.PARAMETERS, Step.BODY, Step.JUDGED),
              "a value is not as its rules say",
              narrowed=(RESOURCE, FIELD, MEMBER, QUERY, HEADER), of_row=True,
              called=("validation", "validation failed", "unprocessable", "bad request")),
    Condition("idempotency mismatch", 422, (Step.JUDGED,), "the key came before, with another request",
              of_row=True, meanings=("idempotency keys",), requested="the header Idempotency-Key",
              facts=("idempotency key",)),
    Condition("idempotency in progress", 409, (Step.JUDGED,), "the first request with the key is not answered yet",
              of_row=True, meanings=("idempotency keys",), requested="the header Idempotency-Key",
              facts=("idempotency key",)),
    Condition("not found", 404, (Step.PATH, Step.PARAMETERS, Step.JUDGED),
              "there is no such row, or this caller may not see it",
              narrowed=(RESOURCE, PATH), of_row=True, meanings=("paths",)),
    Condition("gone", 410, (Step.JUDGED,), "the row is in a state of those that are gone",
              narrowed=(RESOURCE,), of_row=True, meanings=("gone rows",)),
    Condition("precondition required", 428, (), "no contract asks for one yet",
              of_row=True),
    Condition("precondition failed", 412, (Step.JUDGED,), "what is there is not as If-Match or If-None-Match says",
              narrowed=(RESOURCE,), of_row=True, meanings=("entity tags",),
              requested="the headers If-Match and If-None-Match", facts=("etag",)),
    Condition("illegal transition", 409, (Step.JUDGED,), "the row is in another state",
              narrowed=(RESOURCE,), of_row=True),
    Condition(CHECK, 409, (Step.JUDGED, Step.DONE), "what has to hold does not, or a value cannot be made",
              narrowed=(RESOURCE,), of_row=True, meanings=("before and after",)),
    Condition("different", 409, (Step.BODY, Step.JUDGED), "the row is there, with other values",
              narrowed=(RESOURCE,), of_row=True),
    Condition("conflict", 409, (Step.BODY, Step.JUDGED), "another row stands in the way",
              narrowed=(RESOURCE, FIELD), of_row=True,
              called=("unique", "duplicate", "already exists", "exists", "taken")),
    Condition("unavailable", 503, (Step.ANY,),
              "the database cannot take it now, or the issuer of its token cannot be reached",
              alone=True, meanings=("too much",),
              machine="a database or another service that is not to be had, or too many requests", of="any request"),
    Condition("timed out", 503, (Step.ANY,), "it took longer than it may",
              alone=True, machine="how long the work took", limit="timeout"),
    Condition("internal", 500, (Step.ANY,), "this is a fault of ninefold: the log says more",
              alone=True, called=("internal error", "server error", "internal server error"),
              machine="a fault of the service, which is in its log", of="any request"),
)

# fmt: on

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
    return tuple(f"{way.words} (`{condition} {way.written}`)" for way in ways)


def subject_of(condition: str, **about: Unpack[About]) -> str | None:
    """What a condition is narrowed to that is about these: the narrowest that it may be; None: to nothing."""
    names = cast("Mapping[str, str | None]", about)
    for way in reversed(BY_NAME[condition].narrowed):
        name, within = names.get(way), NARROWINGS[way].within
        if name is not None:
            return ".".join(filter(None, (within if within in PLACES else names.get(within.lower()), name)))
    return None


def of_parameter(condition: str, place: str, name: str) -> str | None:
    """What a condition is narrowed to that is about a parameter: `query.dogs`; None: it is not narrowed so."""
    return f"{place}.{name}" if place in BY_NAME[condition].narrowed else None


def narrowings(condition: str, subject: str) -> tuple[str, ...]:
    """The ways to narrow a condition that may be meant by what it is narrowed to."""
    narrowed = BY_NAME[condition].narrowed
    return tuple(way for way, each in NARROWINGS.items() if way in narrowed and each.fits(subject))


def narrowing_of(condition: str, subject: str | None) -> str | None:
    """The first of these. Whether a name is declared is not looked at."""
    return None if subject is None else next(iter(narrowings(condition, subject)), None)


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
