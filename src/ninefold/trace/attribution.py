"""Every part of a response with what caused it: a plan and an identifier in, an `Attribution` out.

Pure data, made of the plan alone: the response itself is not at hand, nor the request. What the plan cannot account for
has no cause, and that is to be seen: nothing is made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.diagnostics.place import Place
from ninefold.plan.chosen import given
from ninefold.plan.events import Event
from ninefold.plan.operations import List, Operation, Read, Stream
from ninefold.plan.problems import ErrorCode, names
from ninefold.plan.responses import Response
from ninefold.plan.routes import Admission, Route, Served, in_case
from ninefold.plan.service import ServicePlan
from ninefold.plan.versioning import places_of
from ninefold.plan.writes import Write
from ninefold.trace import identifier
from ninefold.trace.causes import (
    Attribution,
    Cause,
    Fixed,
    Given,
    Header,
    Http,
    Made,
    Member,
    Refusal,
    Requested,
    Stored,
)
from ninefold.trace.identifier import NotATrace, Trace
from ninefold.trace.members import Told, arisen, once, read_by, shown_by, stated
from ninefold.trace.nodes import (
    OF_HTTP,
    OF_OTHER_ORIGINS,
    OF_STATUSES,
    OF_UPGRADES,
    Edition,
    editions,
    ends,
    header_names,
)
from ninefold.trace.refused import NO_NODE, refusal

WITHOUT_CONTENT = frozenset({204, 304})
"""Statuses whose responses have no content, and say no length of one (RFC 9110, section 8.6)."""


def attribution(plan: ServicePlan, text: str) -> Attribution:
    """What caused the response that carries the identifier `text`. Raises NotATrace, with a reason for whoever asks."""
    return of_trace(plan, identifier.read(text, identifier.digest(plan)))


def of_trace(plan: ServicePlan, trace: Trace) -> Attribution:
    """The same of an identifier that has been read. Raises NotATrace where it names what is not in the plan."""
    every = editions(plan)
    if not 0 <= trace.version < len(every):
        raise NotATrace(NO_NODE)
    edition = every[trace.version]
    route = _route(edition, trace)
    admission = _admission(route, trace)
    served = route if isinstance(route, Served) else None
    refusals = tuple(refusal(edition, served, trace.admission, each) for each in trace.refusals)
    of = _Of(edition, trace, route, admission, refusals)
    return Attribution(
        endpoint=None if route is None else route.key,
        version=None if edition.version is None else edition.version.name,
        caller=None if admission is None else admission.who,
        status=trace.status,
        causes=of.status(),
        headers=tuple(of.headers()),
        members=() if trace.head else tuple(of.members()),
        events=tuple(map(arisen, of.events())),
        refusals=refusals,
        more=trace.more,
    )


def _route(edition: Edition, trace: Trace) -> Route | None:
    if trace.route < 0:
        return None
    if trace.route >= len(edition.routes):
        raise NotATrace(NO_NODE)
    return edition.routes[trace.route]


def _admission(route: Route | None, trace: Trace) -> Admission | None:
    if trace.admission < 0:
        return None
    if not isinstance(route, Served) or trace.admission >= len(route.admissions):
        raise NotATrace(NO_NODE)
    return route.admissions[trace.admission]


def _case(route: Route | None, admission: Admission | None) -> tuple[Cause, ...]:
    """By what the case was chosen that the response is of."""
    if not isinstance(route, Served) or route.cases is None or admission is None or not admission.case:
        return ()
    return stated((*route.cases.trace, *route.cases.cases[admission.case - 1].trace))


def _in_case(route: Route | None, admission: Admission | None) -> Served | None:
    """The endpoint in the case that was chosen."""
    return in_case(route, 0 if admission is None else admission.case) if isinstance(route, Served) else None


class _Of:
    """One response, asked for its parts."""

    def __init__(
        self,
        edition: Edition,
        trace: Trace,
        route: Route | None,
        admission: Admission | None,
        refusals: tuple[Refusal, ...],
    ) -> None:
        self.edition, self.plan, self.problems = edition, edition.plan, edition.problems
        self.trace = trace
        self.route = route
        self.operation: Operation | None = None if admission is None else admission.operation
        self.refusals = refusals
        served = _in_case(route, admission)
        self.places: Mapping[str, Place] = {} if served is None else served.places
        self.carries = edition.carries(served)
        self.case = _case(route, admission)
        self.code = self._code()
        self.response = self._response()

    def _code(self) -> ErrorCode | None:
        """The code with which the request was refused; None: it was not, or the condition has none."""
        if self.trace.ended != "refused" or not self.trace.refusals or self.trace.refusals[0].code < 0:
            return None
        return self.problems.codes[self.trace.refusals[0].code]

    def _response(self) -> Response | None:
        """The good end, of which 304 is one."""
        if self.trace.ended not in ("answered", "not modified"):
            return None
        if self.operation is None or not 0 <= self.trace.end < len(ends(self.operation)):
            raise NotATrace(NO_NODE)
        return ends(self.operation)[self.trace.end]

    # ── The status ────────────────────────────────────────────────────────────────────────────────────────────

    def status(self) -> tuple[Cause, ...]:
        of_route = () if self.route is None else (*stated(self.route.trace), *self.case)
        version = self.edition.version
        match self.trace.ended:
            case "answered":
                again = (*self._stated("idempotency key"), Fixed("idempotency keys")) if self.trace.repeated else ()
                older = () if version is None or version.problems is None else stated(version.trace)
                return () if self.response is None else once(*stated(self.response.trace), *of_route, *older, *again)
            case "not modified":
                section = Http("RFC 9110, section 15.4.5")
                return once(*self._stated("etag"), Fixed("entity tags"), section, Requested("the header If-None-Match"))
            case "refused":
                return self._refused()
            case "not in force":
                return once(*of_route, *self._missing(), Fixed("precedence"), Fixed("bare statuses"))
            case "methods":
                return once(Http("RFC 9110, section 9.3.7"), Requested("the method"), *of_route)
            case "stalled":
                return once(Http("RFC 9110, section 15.5.9"), Fixed("too much"), Requested("a body that did not come"))
            case "not upgraded":
                return once(*of_route, Fixed("events over WebSocket"), Requested("the header Upgrade"))
            case _:
                return ()

    def _refused(self) -> tuple[Cause, ...]:
        first = self.refusals[0] if self.refusals else None
        if first is None:
            return ()
        if self.code is None:
            return once(Fixed("bare statuses"), *first.causes)
        said = [place for key, place in self.code.places.items() if key == "status"] or list(self.code.trace)
        return once(*stated(said), *self._named(first), *first.causes)

    def _named(self, first: Refusal) -> tuple[Cause, ...]:
        """Where the contract gives the condition its code; a guard names its own."""
        code = None if self.code is None else self.code.name
        for name in names(first.condition, first.subject):
            if name in self.places:
                return self._stated(name)
            place = self.problems.places.get(f"for {name}")
            if place is not None and self.problems.conditions.get(name) == code:
                return stated([place])
        return ()

    def _missing(self) -> tuple[Cause, ...]:
        """What the operator does not give, and the versions that are not in force."""
        key = None if self.route is None else self.route.key
        found = [
            cause
            for value in self.plan.operator
            if key in value.blocks and isinstance(self.route, Served)
            for cause in (*stated(value.places), Given(f"operator.{value.name}, which is not given"))
        ]
        return once(*found, *stated(places_of(self.plan.versions)))

    def _stated(self, *keys: str) -> tuple[Cause, ...]:
        return stated([self.places[key] for key in keys if key in self.places])

    # ── Headers ───────────────────────────────────────────────────────────────────────────────────────────────

    def headers(self) -> Iterator[Header]:
        """Those that the response had, in the order of their names, then those of HTTP itself."""
        sent = [name for bit, name in enumerate(header_names(self.plan)) if self.trace.headers >> bit & 1]
        for name in sent:
            if name not in OF_HTTP:
                yield self._header(name)
        for name in self.trace.others:
            yield Header(name, (), ())
        of_http = {"date", *(name for name in sent if name in OF_HTTP)}
        flows = isinstance(self.operation, Stream) and self.trace.ended == "answered" and not self.trace.head
        if self.trace.status not in WITHOUT_CONTENT:
            of_http.add("transfer-encoding" if flows else "content-length")
        for name in sorted(of_http):
            yield Header(name, (Http(OF_HTTP[name]),), (Http(OF_HTTP[name]),))

    def _header(self, name: str) -> Header:
        found = next((Header(name, causes, value) for causes, value in self._accounts(name) if causes), None)
        return found or Header(name, (), ())

    def _accounts(self, name: str) -> Iterator[tuple[tuple[Cause, ...], tuple[Cause, ...]]]:
        """What could have sent a header: why, and what its value is."""
        if self.response is not None:
            yield from self._of_response(name, self.response)
        if self.code is not None and name == "content-type":
            own = [place for key, place in self.places.items() if key == "shape media type"]
            causes = stated(own or [place for key, place in self.problems.places.items() if key == "media type"])
            yield causes, causes
        if self.code is not None:
            yield from self._of_code(name, self.code)
        if name in OF_STATUSES:
            yield self._of_status(name)
        if name in OF_UPGRADES and self.trace.ended == "not upgraded":
            causes = Http(OF_UPGRADES[name]), Fixed("events over WebSocket")
            yield causes, causes
        yield from self._of_rates(name)
        for each in self.carries:
            if each.name.lower() == name:
                causes = stated(each.trace)
                yield causes, once(*causes, Http(each.defined))
        if name in OF_OTHER_ORIGINS and self.plan.cors is not None:
            causes = once(*stated(self.plan.cors.trace), Fixed("other origins"))
            yield causes, once(*causes, Requested("the header Origin"))

    def _of_response(self, name: str, response: Response) -> Iterator[tuple[tuple[Cause, ...], tuple[Cause, ...]]]:
        for own, value in response.headers:
            if own.lower() == name:
                [member] = shown_by(self.operation, self.trace.end).members(value)
                yield member.causes, once(*member.causes, *member.value)
        causes = stated(response.places.get(name, ()))
        if name == "etag":
            chosen = self._choices()
            shown = (Stored("what GET shows"),) if response.digested or chosen else ()
            yield (
                once(*causes, Fixed("entity tags")),
                (Stored("the revision of the row"), *shown, Fixed("entity tags"), *chosen),
            )
        elif name == "cache-control" and isinstance(self.operation, Stream):
            yield (Fixed("streams"),), (Fixed("streams"),)
        else:
            yield causes, causes

    def _of_code(self, name: str, code: ErrorCode) -> Iterator[tuple[tuple[Cause, ...], tuple[Cause, ...]]]:
        for own, said in code.headers.items():
            if own.lower() == name:
                causes = stated([code.places[f"headers {own}"]])
                yield causes, once(*causes, *((Stored("the row"),) if said is None else read_by(said)))

    def _choices(self) -> tuple[Cause, ...]:
        """By what the request may have chosen what it was shown."""
        named = given(self.operation.choices) if isinstance(self.operation, Read | List) else ()
        asked = (Requested(f"the query parameter {each.parameter}") for each in named)
        return (*asked, Fixed("choices")) if named else ()

    def _of_status(self, name: str) -> tuple[tuple[Cause, ...], tuple[Cause, ...]]:
        section = Http(OF_STATUSES[name])
        if name == "www-authenticate":
            schemes = self.route.schemes if isinstance(self.route, Served) else ()
            admitted = [each for each in self.plan.schemes if each.scheme in schemes] or self.plan.schemes
            value = stated([place for each in admitted for place in each.trace])
            asked = self.route.admissions if isinstance(self.route, Served) else ()
            scopes = (Fixed("scopes"),) if any(each.scopes for each in asked) else ()
            return once(section, *self._status_only(), *value, Fixed("challenges")), once(
                *value, section, Fixed("challenges"), *scopes
            )
        routes = self.edition.routes if self.route is None else self._same_path(self.route)
        return once(section, *self._status_only()), once(*stated([p for each in routes for p in each.trace]), section)

    def _status_only(self) -> tuple[Cause, ...]:
        return self._refused() if self.trace.ended == "refused" else ()

    def _same_path(self, route: Route) -> tuple[Route, ...]:
        """The routes of one path: names in braces are one, however they are called."""

        def shape(each: Route) -> list[str | None]:
            return [segment if isinstance(segment, str) else None for segment in each.segments]

        return tuple(each for each in self.edition.routes if shape(each) == shape(route))

    def _of_rates(self, name: str) -> Iterator[tuple[tuple[Cause, ...], tuple[Cause, ...]]]:
        key = None if self.route is None else self.route.key
        rates = stated([place for rate in self.edition.rates(key) for place in rate.trace])
        for header in self.plan.limits.headers:
            if header.name.lower() == name:
                counted = () if header.carries == "policies" else (Made("how many requests there have been"),)
                if header.carries == "retry after":
                    counted = (Made("the time until it may be tried again"),)
                causes = stated(header.trace)
                yield (
                    once(*causes, *rates, Fixed("rate headers")),
                    once(*rates, *counted, Fixed("rate headers"), Fixed("how rates count")),
                )

    # ── The body, and what arose ──────────────────────────────────────────────────────────────────────────────

    def members(self) -> Iterator[Member]:
        response, operation = self.response, self.operation
        if self.trace.ended == "answered" and response is not None and isinstance(operation, Stream):
            narrowed = (*operation.seen, *(place for each in operation.filters for place in each.trace))
            causes = stated((*response.places.get("content-type", response.trace), *narrowed))
            yield Member(
                (),
                causes,
                (Stored("the events that the caller may see"), Fixed("streams"), Fixed("who is told of events")),
                whole=True,
            )
        if self.trace.ended == "answered" and response is not None and response.content is not None:
            yield from shown_by(operation, self.trace.end).members(response.content)
        own = self.route.error_shape if isinstance(self.route, Served) else None
        content = self.problems.content if own is None else own.content
        if self.code is not None and content is not None:
            yield from Told(self.code, self.problems, self.refusals).members(content)

    def events(self) -> Iterator[Event]:
        """What arose with the response: the events of the operation, where it did something."""
        if self.trace.ended == "answered" and not self.trace.repeated and isinstance(self.operation, Write):
            done = self.operation.of_end(self.trace.end)
            yield from () if done is None else done.events
