"""A request on its way: what is known of each, what is known of one whose endpoint is asked, and the answers that need
no step."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import msgspec

from ninefold.language.conditions import subject_of
from ninefold.plan import environment
from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import HeaderFields, Request, Response, header_value
from ninefold.runtime.messages.parameters import Query, not_kept, parse_query
from ninefold.runtime.messages.patches import Edit, blamed, in_body
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.messages.violations import broken
from ninefold.runtime.operations.flow import Follow
from ninefold.runtime.operations.read import Call
from ninefold.runtime.request.behind import Behind
from ninefold.runtime.request.callers import Presented, presented
from ninefold.runtime.request.endpoints import Admission, Endpoint
from ninefold.runtime.request.idempotency import Held
from ninefold.runtime.request.precedents import Precedents
from ninefold.runtime.request.rates import TRY_AGAIN, Told
from ninefold.runtime.request.routes import Found, Version
from ninefold.runtime.request.schemes import NOBODY, Caller, after_scheme
from ninefold.runtime.request.service import Service
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.values import Invalid

log = logging.getLogger("ninefold.server")

_NO_ENDPOINT = Endpoint("", blocked=True)

NO_DOCUMENT = object()
"""In the place of a body where there is none: `null` is one."""

TOO_LARGE = Failure("too large")


class Content(msgspec.Struct, frozen=True, eq=False):
    """A body as far as it was read. `raw`: as it came; None: it was to be read, and was not. `form`: it is a form.
    `document`: as JSON; `becomes`: what it gives, once that is merged or edited; `edits`: what a JSON Patch did, where
    it could be done."""

    raw: bytes | None
    form: bool = False
    document: Any = NO_DOCUMENT
    becomes: Any = NO_DOCUMENT
    edits: tuple[Edit, ...] | None = None


NOT_TAKEN = Content(b"")
"""The endpoint takes no body."""

NOT_READ = Content(None)


class Asked(msgspec.Struct, eq=False):
    """What a request asks of its endpoint. `key`: the idempotency key that came, and `held` the request under it;
    `holds`: the key is in progress by this request, and `let_go` tells other nodes that it is no more; `repeated`: the
    answer is that of an earlier one with the key. `called`: the function that comes before the operation has been
    called. `attempts`: how often a row was looked at that others changed meanwhile; `yields`: how often it was undone
    for the sake of others."""

    call: Call
    key: str | None
    content: Content = NOT_TAKEN
    held: Held | None = None
    holds: bool = False
    let_go: Callable[[], None] | None = None
    repeated: bool = False
    called: bool = False
    attempts: int = 0
    yields: int = 0

    def repeats(self) -> None:
        self.repeated = True


class Exchange(msgspec.Struct, eq=False):
    """A request on its way. `version` and `endpoint`: of which the answer is; until that is known, the newest, and one
    that has nothing of its own. `values`: the texts of its path's names; `addressable`: they can be of rows. `allow`:
    what the path may be asked for, where that is the answer. `caller`: who is admitted, or nobody; `admission`: as what
    kind of caller; None: nobody is. `stranger`: whose credential was good, and not of a kind that the endpoint admits.
    `precedents`: None: there are none that are like it. `told`: how the rates stand that counted the request;
    `limited`: the answer refuses it for one of them. `rank`: the lowest of the failures; `details`: what else their
    codes tell. `asked`: None: it has not come so far that its parameters were read. `foreseen`: what was read before it
    was asked for (`foresight.py`). `behind`: None: it is not read from a replica. `came`: the credentials; None: nobody
    has asked for them."""

    service: Service
    request: Request
    query: Query
    env: Environment
    version: Version
    endpoint: Endpoint = _NO_ENDPOINT
    values: tuple[str, ...] = ()
    addressable: bool = True
    allow: HeaderFields = ()
    caller: Caller = NOBODY
    admission: Admission | None = None
    stranger: Caller | None = None
    precedents: Precedents | None = None
    told: tuple[Told, ...] = ()
    limited: bool = False
    failures: list[Failure] = []
    details: dict[str, Any] = {}
    rank: int = 0
    asked: Asked | None = None
    foreseen: dict[tuple[str, tuple[Stored, ...]], list[Row]] = {}
    behind: Behind | None = None
    came: tuple[Presented, ...] | None = None

    def credentials(self) -> tuple[Presented, ...]:
        """Those that came, each read once."""
        if self.came is None:
            self.came = presented(self.service, self.request, self.query)
        return self.came

    def rank_of(self, failure: Failure) -> int:
        return self.version.problems.rank(failure, self.endpoint.errors)

    def refuse(self, *failures: Failure) -> None:
        for failure in failures:
            rank = self.rank_of(failure)
            self.rank = min(rank, self.rank) if self.failures else rank
            self.failures.append(failure)

    def in_case(self, endpoint: Endpoint) -> None:
        """It is known of which case of its endpoint the request is."""
        before, self.endpoint = self.endpoint, endpoint
        if endpoint.errors != before.errors and self.failures:
            self.rank = min(map(self.rank_of, self.failures))
        if endpoint.names != before.names:
            self.read_path()
        if self.admission is not None:
            self.admission = endpoint.admissions[self.admission.who]

    def read_path(self) -> None:
        """Read the values of its path that can be of rows."""
        if not self.endpoint.names:
            return
        values: dict[str, Any] = {}
        own = self.endpoint.path
        declared = {each.name for each in own.parameters} if own is not None else ()
        for text, name in zip(self.values, self.endpoint.names, strict=True):
            if name.name in declared:
                continue
            try:
                values[name.name] = name.read(text)
            except Invalid:
                self.refuse(Failure("not found", name.resource))
                self.addressable = False
        self.env[environment.PATH] = values
        held = [(each.name, each.held) for each in self.endpoint.names if each.held is not None]
        if held and self.addressable:
            wrong = [found for name, held_to in held for found in not_kept("path", name, broken(held_to, values[name]))]
            self.refuse(*wrong)
            # A row as it would be with such a value is asked nothing.
            self.refuses(path=bool(wrong))

    def refuses(self, **parts: Unpack[environment.Refused]) -> None:
        """Note of parts of the request whether something in them is refused."""
        self.env[environment.REFUSED] = {**self.env.get(environment.REFUSED, {}), **parts}

    def settled(self, lowest: int) -> bool:
        """Whether something has failed that nothing of this rank comes before, and all that is told of it is known."""
        return bool(self.failures) and self.rank < lowest and not self.tells_of_row()

    def tells_of_row(self) -> bool:
        """Whether the code of what has failed says something of the row acted on, for whoever is, or may be, admitted
        to it."""
        if not self.addressable:
            return False
        admissions = self.endpoint.admissions.values() if self.admission is None else (self.admission,)
        judges = [each.operation.judge for each in admissions if each.operation.judge is not None]
        if not any(each.tells for each in judges):
            return False
        code = self.version.problems.code(min(self.failures, key=self.rank_of), self.endpoint.errors)
        return any(code in each.tells for each in judges)

    def answer(self) -> Response:
        """The answer to what has failed, with the headers that its status or its condition has (RFC 9110 15.5)."""
        content = NOT_TAKEN if self.asked is None else self.asked.content
        if self.endpoint.body is not None:
            self.failures = self.endpoint.body.in_order([blamed(each, content.becomes) for each in self.failures])
        of_rates = [each for each in self.failures if each.condition == "too many requests"]
        self.limited = self.rank in map(self.rank_of, of_rates)
        response = self.version.problems.answer(
            self.failures,
            self.endpoint.errors,
            self.env,
            self.details,
            self.endpoint.shape,
            partial(in_body, document=content.document, edits=content.edits),
        )
        match response.status:
            case 401:
                more = self._challenges()
            case 403:
                more = self._insufficient()
            case _:
                more = ()
        if self.allow and min(self.failures, key=self.rank_of).condition == "method not allowed":
            more += self.allow
        return Response(response.status, response.headers + more, response.body) if more else response

    def _challenges(self) -> HeaderFields:
        """How the caller may be known. That its token is not good is said where that is why."""
        challenges = self.endpoint.challenges if self.endpoint.challenges.stated else self.service.challenges
        sent = self.request.headers.get("authorization", "")
        bad = any(each.condition == "unauthenticated" for each in self.failures) and after_scheme(sent, "bearer")
        return challenges.to_bad_token if bad else challenges.stated

    def _insufficient(self) -> HeaderFields:
        """The challenge to a good token that lacks a scope (RFC 6750 3.1), where that is what is answered."""
        needed = () if self.admission is None else self.admission.scopes
        counts = min(self.failures, key=self.rank_of)
        if counts.condition != "forbidden" or set(needed) <= set(self.caller.values.get("scopes", ())):
            return ()
        challenge = f'Bearer error="insufficient_scope", scope="{" ".join(needed)}"'
        return ((b"www-authenticate", header_value(challenge)),)

    def release(self) -> None:
        """The request is answered, or nobody waits for it any more: its key is no longer in progress."""
        asked = self.asked
        if asked is not None and asked.holds and asked.held is not None:
            asked.holds = False
            asked.held.end()
            if asked.let_go is not None:
                asked.let_go()

    @property
    def route(self) -> str | None:
        """The endpoint as the contract writes it; None: there is none. For logs and metrics."""
        return self.endpoint.key or None


def arrived(service: Service, request: Request) -> Exchange:
    env: Environment = {**service.env, "now": service.sources.now(), "caller": NOBODY.values, "request": {}}
    x = Exchange(service, request, parse_query(request.query), env, service.versions.newest)
    if service.replicated:
        x.behind = Behind()
    return x


def call_of(service: Service, request: Request, env: Environment, endpoint: Endpoint, caller: Caller) -> Call:
    """What a request calls its operation with."""
    who, identity, log = caller.who, caller.identity, service.log
    return Call(request, env, service.sources, service.cursors, endpoint.scope, who, identity, log=log)


def refused_for(told: Sequence[Told]) -> tuple[Failure, ...]:
    """What the rates that counted a request refuse it for; nothing: none of them does."""
    return tuple({of_rate(each): None for each in told if each.refused})


def of_rate(told: Told) -> Failure:
    return Failure("too many requests", subject_of("too many requests", rate=told.rate.name))


def unavailable(x: Exchange) -> Response:
    """There is too much to do, or the database cannot do it."""
    response = only(x, "unavailable")
    if not x.service.headers_of_rates.retries:
        return response
    return Response(response.status, response.headers + TRY_AGAIN, response.body)


def overloaded(x: Exchange) -> Response:
    """More requests are on their way than the service takes. Of this one only that is looked at which decides how the
    answer is put: an endpoint may have a code of its own."""
    x.version, found = x.service.versions.find(x.request, x.query)
    if isinstance(found, Found):
        x.endpoint = found.endpoint
    return unavailable(x)


def finished(x: Exchange, response: Response | Follow) -> Response | Follow:
    """The response as it is sent, with what it tells beside its own."""
    more = headers_told(x.service, x.version, x.endpoint, x.values, x.told, x.limited)
    if not more:
        return response
    if isinstance(response, Follow):
        head = Response(response.head.status, response.head.headers + more)
        return replace(response, head=head)
    return Response(response.status, response.headers + more, response.body)


def headers_told(
    service: Service, version: Version, endpoint: Endpoint, values: Sequence[str], told: Sequence[Told], limited: bool
) -> HeaderFields:
    """What a response tells beside its own: of the rates that counted its request, and what its version and its
    endpoint say of each."""
    more = service.headers_of_rates.told(told, limited) if told else ()
    each = version.carried_at(endpoint)
    if each is None:
        return more
    return more + (each.told(values, service.sources.clock()) if each.others else each.fields)


def tells_nothing(service: Service, endpoint: Endpoint) -> bool:
    """Whether nothing is told beside what a response at an endpoint of a version that is served tells itself, nor said
    to scripts of other origins."""
    return service.cors is None and not endpoint.rates and endpoint.carries is None


def open_to_origins(x: Exchange, response: Response | Follow) -> Response | Follow:
    """The response as scripts of other origins may have it: also an error, which they could not read otherwise."""
    stated = x.service.cors
    if stated is None:
        return response
    if isinstance(response, Follow):
        head = response.head
        return replace(response, head=Response(head.status, head.headers + stated.headers(x.request)))
    if x.request.method == "OPTIONS" and x.allow and response.status < 300:
        more = stated.preflight(x.request, x.allow[0][1]) or stated.headers(x.request)
        return Response(stated.status, response.headers + more, response.body)
    return Response(response.status, response.headers + stated.headers(x.request), response.body)


def timed_out(x: Exchange) -> Response:
    return only(x, "timed out")


def only(x: Exchange, condition: str) -> Response:
    """The answer to one condition, whatever else was found."""
    x.failures, x.details = [Failure(condition)], {}
    try:
        return x.answer()
    except Exception as error:
        log.error("the answer to %s could not be made", condition, exc_info=error)
        return Response(500)
