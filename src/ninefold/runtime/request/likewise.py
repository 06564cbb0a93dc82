"""What is left of the steps of a request that is like an earlier one, as one function.

What follows from its head and its query the precedent says (`precedents.py`). What depends on its path, the time, rows
and counts is left, and for each endpoint and kind of caller that is put together once, before the first request: the
objects that the steps would ask, in the order of the steps, without what is there for waiting and for refusing.

So the function cannot refuse, and makes no answer of its own. Where a step would refuse, or wait, or raise, there is no
answer (None), nothing has been done, and the request takes the steps, which alone say what it is told. Rates come last,
since to count is to do something: a request that they refuse is not counted (`rates.count`).

A write comes as far as its transaction, and is then as the steps leave it that wait for one: they go on with what it
gives, or raises. So does a read where what reads is waited for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from ninefold.plan import environment
from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import HEAD_BYTES, Request
from ninefold.runtime.messages.notes import Notes
from ninefold.runtime.messages.parameters import Query, parse_query
from ninefold.runtime.operations.write import Write
from ninefold.runtime.request.callers import Recalled, found_last, presented, who_calls
from ninefold.runtime.request.endpoints import Admission, Endpoint
from ninefold.runtime.request.handed import First, Handed, asked_first, first_of
from ninefold.runtime.request.left import Asks, AtOnce, Given, Waits
from ninefold.runtime.request.left_of_reads import Named, named, reading
from ninefold.runtime.request.left_of_writes import written
from ninefold.runtime.request.precedents import LONGEST_QUERY, Precedent, Precedents, find, of_one
from ninefold.runtime.request.routes import Found, Version
from ninefold.runtime.request.schemes import NOBODY, Caller
from ninefold.runtime.request.service import Service
from ninefold.runtime.request.sought import Sought, behind

Left: TypeAlias = Callable[[Request, bytes, Version, Sequence[str]], Given | Waits | None]
"""What is left of the steps. Takes the body, and the texts of the path's names; raises where a step would."""


class Likewise:
    """The functions of a service: for each endpoint and kind of caller that has one
    (`ninefold.plan.likewise.takes_steps`) what makes one of a precedent."""

    def __init__(self, service: Service, at_once: AtOnce, most: int) -> None:
        """`most`: bytes of a body or of a response beyond which the steps are taken."""
        self._versions = service.versions
        self._stated = service.versions.stated
        self._newest = service.versions.newest
        self._behind = service.versions.under + 1
        self._plain: dict[str, re.Pattern[str] | None] = {}
        self._service, self._at_once, self._most = service, at_once, most
        self._credentials = frozenset(each.header for each in service.schemes if each.header is not None)
        self._asking = {
            (endpoint.scope, who): _asking(service, endpoint, admission, at_once, most)
            for endpoint in service.versions.endpoints()
            for who, admission in endpoint.admissions.items()
            # What is read elsewhere may be answered from there.
            if not admission.takes_steps and not (service.together and service.replicated)
        }

    def begun(self, request: Request, content: bytes) -> Given | Waits | None:
        """The answer, or what is waited for; None: nothing has been done, and the steps are to be taken. `content`: the
        body, for which there is room."""
        notes, path = request.notes, request.path
        if notes is None or request.certificate is not None:
            return None
        among = request.method, request.query, path.count(b"/"), path[: path.find(b"/", self._behind)]
        place: Place | None = notes.places.get(among)
        found = None if place is None or place.of is not self else place.texts(path.decode("latin-1"))
        try:
            if place is None or found is None:
                return self._among(request, content, notes, among)
            return place.left(request, content, place.version, found.groups())
        except Exception as given_up:
            given_up.__traceback__ = None  # who raised it refers to it: a circle
            return None  # the steps come to the same, and say what is to be said of it

    def _among(self, request: Request, content: bytes, notes: Notes, among: Hashable) -> Given | Waits | None:
        """The same of a request of which it has to be found what it asks for. `among`: what those say as well of whom
        that can be told by their path alone."""
        version = self._newest
        # Of a long query nothing is noted, and to read it twice takes its time.
        if request.method == "HEAD" or len(request.query) > LONGEST_QUERY:
            return None
        if self._stated:
            query = parse_query(request.query)
            if self._versions.depends(request, query):
                return None
            version, found = self._versions.find(request, query)
        else:
            found = version.routes.find(request.method, request.path)
        if not (isinstance(found, Found) and version.known and version.served):
            return None
        endpoint = found.endpoint
        comes_again = notes.holds(endpoint.scope, request.query)
        alike = find(request, endpoint)
        if alike is None or (endpoint.head_at_once < HEAD_BYTES and endpoint.is_long(request)):
            return None
        if not alike.of_one and notes.own.isdisjoint(self._credentials):
            alike = of_one(request, alike)
        left = alike.left
        if left is None:
            left = alike.left = self._left(alike, request)
        texts = self._texts(version, endpoint) if comes_again else None
        if texts is not None and (alike.path is None or not found.values):
            notes.put(among, Place(self, left, version, texts))
        return left(request, content, version, found.values)

    def _left(self, alike: Precedents, of: Request) -> Left:
        """What is left of the steps of requests that are like this one."""
        service, endpoint = self._service, alike.endpoint
        asking = {who: self._asking.get((endpoint.scope, who)) for who in endpoint.admissions}
        if not any(asking.values()):
            return _takes_steps
        found_by, known = _found_by(service, endpoint, self._at_once, of if alike.of_one else None)

        def kind(caller: Caller) -> _Kind | None:
            precedent, of_kind = alike.by_kind.get(caller.who), asking[caller.who]
            if precedent is None or of_kind is None:
                return None
            admits, begins = precedent.admission.admits, _begins(service.env, precedent.env, caller)
            by_name = None
            if admits is None and known is not None:
                by_name = named(service, endpoint, precedent, self._at_once, self._most)
            return _Kind(admits, precedent.env, of_kind(precedent), caller, begins, by_name)

        return _left_of(service, endpoint, found_by, known, kind)

    def _texts(self, version: Version, endpoint: Endpoint) -> Callable[[str], re.Match[str] | None] | None:
        """Who tells of a path whether it is an endpoint's, and needs nothing more for it. None: nobody does."""
        if self._versions.in_path or endpoint.head_at_once < HEAD_BYTES:
            return None
        if endpoint.scope not in self._plain:
            self._plain[endpoint.scope] = version.routes.plain(endpoint)
        found = self._plain[endpoint.scope]
        return None if found is None else found.fullmatch


class Place(msgspec.Struct, frozen=True):
    """Where requests are found that say the same but for the names in their path: what is `left` of the steps of those
    whose path has `texts`, in a `version`. `of`: whose that is."""

    of: Likewise
    left: Left
    version: Version
    texts: Callable[[str], re.Match[str] | None]


def _takes_steps(request: Request, content: bytes, version: Version, values: Sequence[str]) -> None:
    """Nothing is left out."""


class _Kind(msgspec.Struct, eq=False):
    """What is left of the steps of callers of one kind. `admits`: None: all are permitted. `noted`: what their
    parameters gave; `asked`: what is left of those that are permitted. `before`: who of them called last, and
    `beginning`: what his requests begin with, whichever row they are of, and whenever they come. `named`: what makes of
    these what is left where a name of the path is all that differs, and `row`: that, where he is known to be who calls
    again; None: more differs."""

    admits: Callable[[Environment], bool] | None
    noted: Mapping[str, Any]
    asked: Asks
    before: Caller
    beginning: Environment
    named: Callable[[Caller, Environment], Named] | None
    row: Named | None = None


def _left_of(
    service: Service,
    endpoint: Endpoint,
    found_by: _FindsCaller,
    known: _Knows | None,
    kind_of: Callable[[Caller], _Kind | None],
) -> Left:
    """Each line is what is left of one step, in the order of `steps.py`."""
    now_of, timers, constant, together = service.sources.telling, service.timers, service.env, service.together
    names = tuple((each.name, each.read) for each in endpoint.names)
    alone = names[0] if len(names) == 1 else None
    shared = timers if timers is not None and timers.together else None
    kinds: dict[str, _Kind] = {}
    kind: _Kind | None = None

    def left(request: Request, content: bytes, version: Version, values: Sequence[str]) -> Given | Waits | None:
        nonlocal kind
        now = now_of()
        # The version is served (`_placed`), which is known of it (`Likewise`), and not retired.
        if version.retired is not None and version.is_retired(service.sources.clock()):
            return None
        # All has happened that is due (`_as_due`).
        if timers is not None and shared is None and not timers.is_settled(now):
            return None
        # The caller is known, and of a kind of which something is noted (`authenticate`, `admit`).
        recalled: Recalled = ()
        if kind is None or known is None or not known.holds():
            found = found_by(request, now)
            if found is None:
                return None
            caller, recalled = found
            kind = kinds.get(caller.who)
            if kind is None:
                kind = kind_of(caller)
                if kind is None:
                    return None
                kinds[caller.who] = kind
            elif caller is not kind.before:
                kind.before, kind.beginning = caller, _begins(constant, kind.noted, caller)
            if known is not None:
                known.found(caller)
                kind.row = None if kind.named is None else kind.named(caller, kind.beginning)
        if alone is not None and kind.row is not None and not content:
            return kind.row(request, version, values, alone[1](values[0]), now)
        env = kind.beginning.copy()
        env["now"] = now
        # What the path says can be said of rows (`read_path`).
        if alone is not None:
            env[environment.PATH] = {alone[0]: alone[1](values[0])}
        elif names:
            env[environment.PATH] = {name: read(text) for (name, read), text in zip(names, values, strict=True)}
        # It is permitted (`_permitted`).
        if kind.admits is not None and not kind.admits(env):
            return None
        asked = kind.asked(request, content, version, values, kind.before, env)
        if not (together and (recalled or shared or (isinstance(asked, Handed) and asked.counts))):
            return asked
        return _once_known(asked, first_of(_known_of_anyone(constant, env), kind.before, recalled, shared))

    return left


class _Knows(Protocol):
    """Tells whether who called last is who calls: nobody has to be asked for then."""

    def holds(self) -> bool: ...

    def found(self, made: object) -> None: ...


_FindsCaller: TypeAlias = Callable[[Request, str], tuple[Caller, Recalled] | None]
"""Finds the caller of a request at a time, and by what; None: not at once."""


class _Nobody:
    """Who calls without a credential is nobody, each time."""

    def holds(self) -> bool:
        return True

    def found(self, made: object) -> None:
        pass


def _found_by(
    service: Service, endpoint: Endpoint, at_once: AtOnce, of: Request | None
) -> tuple[_FindsCaller, _Knows | None]:
    """What finds the caller, and what tells whether it is who it was last: None: nothing does. `of`: a request with the
    credentials of all; None: each has its own."""
    constant, together = service.env, service.together
    caller_of = found_last if together else at_once.recalled_at_once
    query_of = parse_query if any(each.where == "query" for each in service.schemes) else _asks_nothing
    same = None if of is None else presented(service, of, query_of(of.query))

    def found(request: Request, now: str) -> tuple[Caller, Recalled] | None:
        query = query_of(request.query)
        came = presented(service, request, query) if same is None else same
        return who_calls(service, endpoint, request, query, came, {**constant, "now": now}, caller_of)

    if endpoint.for_anyone or not (same is None or same):
        return found, _Nobody()
    first = None if together or same is None else same[0].recall(service, constant)
    return found, None if first is None or first.kept is None else at_once.again(first)


def _asks_nothing(query: bytes) -> Query:
    """What a query says where no credential is in it."""
    return {}


def _known_of_anyone(constant: Environment, env: Environment) -> Environment:
    """What of an environment is known whoever calls."""
    begun: Environment = {**_begins(constant, {}, NOBODY), "now": env["now"]}
    if environment.PATH in env:
        begun[environment.PATH] = env[environment.PATH]
    return begun


def _once_known(found: Given | Waits | None, first: First) -> Waits | None:
    """The same once what it was worked out by is known to be so."""
    if isinstance(found, Sought):
        return behind(found, first)
    return asked_first(found, first) if isinstance(found, Handed) else None


def _begins(constant: Environment, noted: Mapping[str, Any], caller: Caller) -> Environment:
    env: Environment = {**constant, "caller": caller.root, "request": {}}
    env[environment.CREDENTIAL] = caller.proof
    env.update(noted)  # type: ignore[typeddict-item]  # its roots are those of an environment
    return env


def _asking(
    service: Service, endpoint: Endpoint, admission: Admission, at_once: AtOnce, most: int
) -> Callable[[Precedent], Asks]:
    """What makes of a precedent what is left of requests that are permitted."""
    if isinstance(admission.operation, Write):
        return written(service, endpoint, admission, most)
    return reading(service, endpoint, admission, at_once, most)
