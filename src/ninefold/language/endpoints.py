"""Part 4: endpoints."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from ninefold.diagnostics.codes import BEFORE_ITS_CASE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.language import routes, shapes
from ninefold.language.actions import Action, apart, deeds, of_kind
from ninefold.language.cases import BY, CASE, Case, each_case, in_cases
from ninefold.language.check import CHECKS, Check
from ninefold.language.declaration import (
    Each,
    OfVerbs,
    One,
    When,
    adds,
    asked,
    if_asked,
    instead,
    key_of,
    members,
    members_within,
    named,
    names,
    restricts,
    rows,
)
from ninefold.language.effects import EFFECTS, NO_OTHER_ROW, OTHER_ROWS, Effect
from ninefold.language.errors import OWN_CODE, Shape, own_codes
from ninefold.language.expressions import Assignment, Expression, header_values
from ninefold.language.fact import Fact, Gap, Name, Shown, StatedNone, text_of, value_of
from ninefold.language.functions import FUNCTIONS, Function, read_functions
from ninefold.language.key import Key, Kind, falling_back
from ninefold.language.limits import PAGES, Limits, Pages
from ninefold.language.orders import KEY, SortKey, read_sort_keys
from ninefold.language.parameters import (
    PATH_VALUES,
    QUERY_PARAMETERS,
    REQUEST_HEADERS,
    Parameter,
    read_path_values,
    read_query,
    read_request_headers,
)
from ninefold.language.question import Question
from ninefold.language.reading import Level, Reading, Refused, collected, spoken
from ninefold.language.records import facts_of, keys_as_they_were, keys_of, part_of, read_members
from ninefold.language.requests import DOES, NOT_SERVED, ORDER, REQUEST_MEDIA_TYPE, Body, Requests, read_body
from ninefold.language.responses import MORE_HEADERS, RESPONSE_ROWS, RESPONSES, Cors, Response, read_responses
from ninefold.language.routes import Route, Segment, with_values
from ninefold.language.verbs import kind_of
from ninefold.syntax.nodes import Entry, Part

# fmt: off

ENDPOINTS = Question("endpoints", 4, "which endpoints there are", "blocks", "everything: there is nothing to serve")
BODY = Question(
    "body", 4, "the body of {}, or none", "blocks", "E", "E",
    "where it takes values: create, update, put, sign in, call, a transition, or compute, "
    "by a method other than GET and DELETE")
PATCH = Question("patch", 4, "how a patch is read by {}", "blocks", "E", "E", "of each update with a body")
ENDED = Question("ended", 4, "which credentials {} ends", "blocks", "E", "E", "of each sign out")
PRODUCES = Question("produces", 4, "the media type of responses", "blocks",
                    "the endpoints whose responses have content", asked="if a response has content")


Ends: TypeAlias = Literal["presented", "others", "all"]
"""Which credentials of its row an endpoint ends."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`key` is as written: `POST /orders/{id}/place`. With cases there is one endpoint for each `case`, all with its
    key: what a case states stands in the place of what the endpoint states. `call`: the function that comes first."""

    key: str
    method: str
    segments: tuple[Segment, ...]
    span: Span
    call: Action | None = None
    does: Fact[tuple[Action, ...]] | None = asked(
        "does", shapes.OneOf((shapes.Text("an action such as `create order`"), shapes.ListOf(shapes.Text("actions")))),
        "What it does: a verb or a transition, or several. Of a list each after the first is a transition; a `call` "
        "comes before all of it.", DOES, NOT_SERVED, side="moves", order="steps",
        whole=lambda level: level.fact("does", deeds(level.called, level.known), main=True))
    body: Fact[Body] | None = asked(
        "body", shapes.OneOf((shapes.Names("a field"), shapes.Template(shapes.Sight.NONE), shapes.Members())),
        "What the body gives: a list of fields, a template read backwards, or `$ref`, a schema.", BODY,
        f"{NOT_SERVED}. Else a body is not read", when=When("E takes values"), says_none=True, order="steps",
        does=OfVerbs(lambda verb: verb.takes_values, "gives values",
                  (lambda verb: verb.lists, "what narrows a list is a parameter of its `query`, with `where`")),
        read=read_body, below=(named(
            "$ref", Kind.NAMES,
            "The body is as that schema says; its members that are no fields are `request.body.NAME`.",
            "The body has no other description.", shapes.SHARED_TYPE),))
    path: Fact[tuple[Parameter, ...]] | None = names(
        "path", shapes.MappingOf("names in braces to schemas"),
        "Names in the path that are no fields, readable as `request.path.NAME`.",
        "Each name in braces is a field, or a path through references to one.", read=read_path_values,
        below=PATH_VALUES)
    query: Fact[tuple[Parameter, ...]] | None = adds(
        "query", shapes.MappingOf("parameters to schemas and predicates"),
        "Query parameters, readable as `request.query.NAME`, and what each does.",
        "There are no such parameters.", read=read_query, order="steps", below=QUERY_PARAMETERS)
    request_headers: Fact[tuple[Parameter, ...]] | None = adds(
        "request headers", shapes.MappingOf("headers to schemas"),
        "Request headers, readable as `request.headers.NAME`.", "No such header is read.",
        read=read_request_headers, order="steps", below=REQUEST_HEADERS)
    where: Fact[Expression] | None = restricts(
        "where", shapes.Expression(shapes.Sight.CALLERS),
        "Which rows are listed or acted on, or which events told. `R == E` names one row, and so do a primary key or "
        "unique fields that are held equal to something (a reference as `slot.room.id == E` too); no value names none.",
        "All rows that may be seen; a gap for what acts on one row, where the path names nothing either.",
        told="only where", meanings=("truth",), side="guards", does=OfVerbs(
            lambda verb: verb.is_of_found or verb.may_make or verb.streams,
            "says which rows are listed or acted on, or which events are told",
            (lambda verb: verb.row == "new", "what has to hold of the new row is said by `check`")))
    sort: Fact[tuple[SortKey, ...]] | None = asked(
        "sort", shapes.Names(KEY),
        "The order of a list where a request chooses none.", ORDER,
        "the list is not served", when=When("E lists"), says_none=True, read=read_sort_keys, side="gives",
        order="sequence", does=OfVerbs(lambda verb: verb.lists, "orders a list"))
    pages: Fact[Pages] | None = instead(
        "pages", One(Pages), key_of(Limits, "pages").meaning, 8, "pages", question=PAGES, says_none=True,
        side="gives", does=OfVerbs(lambda verb: verb.lists, "bounds a list"))
    sets: Fact[tuple[Assignment, ...]] | None = adds(
        "sets", shapes.MappingOf("fields to expressions"), "Values that it gives.", "It gives the body's values.",
        below=(named("FIELD", Kind.ADDS, "The value that it gives the field.", "It gives no value of its own.",
                     shapes.Expression()),), side="moves",
        does=OfVerbs(lambda verb: verb.sets, "gives values to a row"))
    check: Fact[tuple[Check, ...]] | None = restricts(
        "check", CHECKS, "What has to hold of the row, as it was; of one that is made, as it would be.",
        "Every row is admitted.", does=OfVerbs(lambda verb: not verb.streams, "judges what is done"))
    patch: Fact[Name] | None = asked(
        "patch", shapes.Word(("merge", "json-patch")),
        "How an update is read: RFC 7396 (`merge`) or RFC 6902 (`json-patch`).", PATCH, NOT_SERVED,
        when=When("E updates and its body gives a field"),
        does=OfVerbs(lambda verb: verb.patches, "says how an update is read"))
    etag: Fact[bool] | None = adds(
        "etag", shapes.Boolean(only_true=True), "Responses carry an entity tag, and preconditions on it are honoured.",
        "There is no entity tag that a precondition could name.", side="gives", promise=MORE_HEADERS,
        does=OfVerbs(lambda verb: verb.etag, "tells whether what is shown has changed"))
    idempotency_key: Fact[Name] | None = adds(
        "idempotency key", shapes.Word(("required", "optional")),
        "A request with the header Idempotency-Key is done once, and its response is given again.",
        "The header means nothing.",
        sentence="the header `Idempotency-Key` is {}", order="words", promise="relax a restriction", planned=True,
        does=OfVerbs(lambda verb: verb.writes, "makes that a request is done once"))
    grant: Fact[Name] | None = adds(
        "grant", shapes.Word(("client_credentials",)), "By which grant of OAuth 2.0 (RFC 6749) a client signs in.",
        "Who signs in knows a password.", side="moves",
        does=OfVerbs(lambda verb: verb.grants, "says by which grant a client signs in"))
    issues: Fact[Name] | None = adds(
        "issues", shapes.Name("a scheme"),
        "A credential of that scheme is made for the row, and is `caller.credential`.", "No credential is made.",
        side="gives")
    ends: Fact[Name] | None = asked(
        "ends", shapes.Word(get_args(Ends)),
        "Which credentials of the row it ends: the one that the request presents, all others, or all.",
        ENDED, f"{NOT_SERVED}. Else it ends none, but for what a new password ends", when=When("E signs out"),
        says_none=True, side="moves",
        does=OfVerbs(lambda verb: verb.ends is not None, "ends credentials that were issued to a row",
                  (lambda verb: verb.removes, "credentials end with their row")))
    requests: Fact[Requests] | None = instead(
        "requests", One(Requests), "How the requests of this endpoint alone are read.", 4, "requests")
    error_shape: Fact[Shape] | None = instead(
        "error shape", One(Shape), "What the body of an error of this endpoint is.", 7, "error shape", says_none=True,
        side="gives")
    errors: Fact[tuple[tuple[Name, Name], ...]] | None = instead(
        "errors", shapes.MappingOf("conditions to error codes"), "Codes of conditions on this endpoint alone.", 7,
        "codes.CODE.for", read=own_codes, below=(OWN_CODE,), side="gives")
    responses: Fact[tuple[Response, ...]] | None = asked(
        "responses", shapes.MappingOf("statuses to what is shown"),
        "The good responses by status, 200 to 399: a view, a template, `none` or `stream`; or by outcome, then by "
        "status.", RESPONSES, NOT_SERVED, read=read_responses, below=RESPONSE_ROWS, side="gives",
        when=When("no `check` is the constant `false`", lambda endpoint: not endpoint.is_refused))
    headers: Fact[tuple[Assignment, ...]] | None = adds(
        "headers", shapes.MappingOf("headers to expressions"), "Headers of the good responses.",
        "There are no such headers.", read=header_values, below=(
            named("HEADER", Kind.ADDS, "The header's value.", "There is no such header.",
                  shapes.Expression(shapes.Sight.CALLERS), promise=MORE_HEADERS),), side="gives", promise=MORE_HEADERS)
    called_with: Fact[tuple[Assignment, ...]] | None = asked(
        "with", shapes.MappingOf("names to expressions"),
        "What the function that it calls is called with, of the request and of who calls.", DOES, NOT_SERVED,
        when=When("the function takes something"), below=(
            named("NAME", Kind.ADDS, "The value of what the function takes by that name.",
                  "An error where the function takes it.", shapes.Expression(shapes.Sight.NONE)),), side="moves")
    also: Fact[tuple[Effect, ...]] | None = adds(
        "also", EFFECTS, OTHER_ROWS, NO_OTHER_ROW, side="moves",
        does=OfVerbs(lambda verb: verb.effects, "says what else changes"))
    case: Case | None = adds(
        "cases", shapes.Members(), "What an expression chooses; a case is an endpoint, but for what is read before.",
        "There is one case: what the endpoint states.", below=(BY, CASE), whole=lambda _: None)

    # fmt: on

    @property
    def called(self) -> str | None:
        """The case that it is, as the contract names it; None: it has none."""
        return None if self.case is None else self.case.called

    @property
    def of_all_rows(self) -> bool:
        """Whether it changes all the rows that its path, `where` and `query` leave."""
        return any(each.all for each in value_of(self.does) or ())

    @property
    def streams(self) -> bool:
        """Whether it tells of events as they happen."""
        return any(kind_of(each.verb).streams for each in value_of(self.does) or ())

    @property
    def lists(self) -> bool:
        """Whether it shows rows in an order, a page at a time."""
        return any(kind_of(each.verb).lists for each in value_of(self.does) or ())

    @property
    def is_edited(self) -> bool:
        """Whether its body is a JSON Patch."""
        return text_of(self.patch) == "json-patch"

    @property
    def is_refused(self) -> bool:
        """Whether a check refuses it whatever is asked, so that it never answers otherwise."""
        ends = any(kind_of(each.verb).outcomes for each in value_of(self.does) or ())
        return not ends and any(each.never_holds for each in value_of(self.check) or ())

    @property
    def outcomes(self) -> frozenset[str]:
        """The outcomes that have an answer."""
        return frozenset(each.outcome.text for each in value_of(self.responses) or () if each.outcome is not None)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of its query, as far as they are shown."""
        return value_of(self.query) or ()

    @property
    def filters(self) -> tuple[Parameter, ...]:
        """The parameters that narrow its rows."""
        return tuple(each for each in self.parameters if each.where is not None)

    def by(self, effect: str) -> Parameter | None:
        """The parameter that does something (`sorts`, `selects`, `expands`)."""
        return next((each for each in self.parameters if getattr(each, effect) is not None), None)

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """What of a request expressions may read, as far as it is shown."""
        return tuple(each for fact in (self.path, self.query, self.request_headers) for each in value_of(fact) or ())


BEFORE_THE_CASE: Final = (
    "path", "query", "request_headers", "pages", "idempotency_key", "requests", "error_shape", "grant",
    "case")  # fmt: skip
"""What holds before the case of a request is known, and so stands at the endpoint alone, by its attributes."""


@cache
def in_a_case() -> frozenset[str]:
    """What a case may say in the place of its endpoint."""
    return frozenset(each.attribute for each in members(Endpoint) if each.attribute not in BEFORE_THE_CASE)


@cache
def rows_of_cases() -> tuple[Key, ...]:
    """The rows of part 4 for what a case says; `none` says that it has none of it."""
    said = {key.name for each in members(Endpoint) if each.attribute in in_a_case() for key in (*each.beside, each.key)}
    return tuple(_in_a_case(key) for key in rows(Endpoint, 4) if key.path.split(".")[0] in said)


_OF_OPENAPI: Final[Refused] = MappingProxyType({
    "requestBody": "what the body gives is `body`",
    "parameters": "parameters stand by their names under `query`, `request headers` and `path`",
    "security": "who may call an endpoint is said in part 5, under `permissions`",
    **dict.fromkeys(("tags", "summary", "description", "operationId"),
                    "a caller sees nothing of it: leave it out, or make it a comment"),
})
"""Keys of OpenAPI's Operation Object that have another name, or another place."""


def _in_a_case(key: Key) -> Key:
    line = falling_back(key, 4, f"ENDPOINT.{key.path}", says_none=key.admits_none) if not key.parent else key
    return replace(line, path=f"ENDPOINT.cases.CASE.{key.path}")


def endpoint_as_it_was(r: Reading, entry: Entry, route: Route | None) -> Endpoint:
    """What an endpoint was. Where its key cannot be read it has no segments; its facts are read all the same."""
    return _of_kind(_endpoint(r.keyed(entry.value, keys_as_they_were(Endpoint), entry.name, _OF_OPENAPI), entry, route))


def _endpoint(level: Level, entry: Entry, route: Route | None) -> Endpoint:
    route = route or Route("", ())
    own = {"key": entry.name, "method": route.method, "segments": (), "span": entry.key.span}
    found = facts_of(level.reading, Endpoint, level, **own)
    call, does = apart(level.reading, found.does)
    return replace(found, call=call, does=does, segments=with_values(route.segments, found.path))


def _in_its_cases(r: Reading, entry: Entry, route: Route | None) -> tuple[Endpoint, ...]:
    """The same, once for each of its cases."""
    level = r.keyed(entry.value, keys_of(Endpoint), entry.name, _OF_OPENAPI)
    return tuple(map(_of_kind, in_cases(level, _endpoint(level, entry, route), _said_in_a_case)))


def _of_kind(endpoint: Endpoint) -> Endpoint:
    """With what it does, now that its responses and its grant say of which kind its verb is."""
    return replace(endpoint, does=of_kind(endpoint.does, endpoint.outcomes, isinstance(endpoint.grant, Shown)))


def _said_in_a_case(r: Reading, entry: Entry) -> dict[str, Any]:
    """What a case states, in the place of what its endpoint states."""
    own = {key.name: key for key in rows_of_cases() if key.parent == "ENDPOINT.cases.CASE"}
    level = r.keyed(entry.value, {**keys_of(Endpoint), **own}, entry.name, _OF_OPENAPI)
    if level.gap is not None:
        return {"responses": Gap(level.gap)}
    for name in (each for each in level.known if each not in own):
        message = f"`{name}` stands in a case"
        label = Label(level.known[name].key.span, "holds before the case is known")
        r.say(BEFORE_ITS_CASE, message, label, help=("write it beside `cases`: it is of the whole endpoint",))
    with r.proposing(entry.proposed or entry.value.proposed):
        said = read_members(r, Endpoint, level, in_a_case())
    if said["does"] is not None:
        said["call"], said["does"] = apart(r, said["does"])
    return {name: fact for name, fact in said.items() if fact is not None or (name == "call" and said["does"])}


def every_endpoint(level: Level) -> Fact[tuple[Endpoint, ...]] | None:
    """What stands in part 4 under a method and a path."""
    r = level.reading
    named = tuple(entry for entry in level.named if routes.is_meant(r, entry.key, level.keys))
    written = [(entry, found) for entry in named if (found := routes.route(r, entry.key)) is not None]
    routes.distinct(r, [(entry.key, found) for entry, found in written])
    by_key = {entry.name: found for entry, found in written}
    return each_case(
        collected(r, named, level.node.span, lambda entry: _in_its_cases(r, entry, by_key.get(entry.name)))
    )


# fmt: off

ENDPOINT = named("ENDPOINT", Kind.NAMES, "A method and a path, such as `GET /orders/{id}`.",
                 "The method and path are not there; each use of them is an error.", promise="add an endpoint")


@dataclass(frozen=True, slots=True)
class Endpoints:
    """`endpoints`: each in each of its cases."""

    base: Fact[str] | None = adds("base", shapes.Path(), "A path that comes before the path of every endpoint.",
        "Paths are served as written.", order="other", words=str, sentence="`{}` comes before every path")
    requests: Fact[Requests] | None = asked(
        "requests", One(Requests), "How requests are read.", REQUEST_MEDIA_TYPE,
        "endpoints with a body or with parameters are not served")
    produces: Fact[Name] | None = asked(
        "produces", shapes.MediaType(), "The media type of response bodies.", PRODUCES,
        "endpoints that answer with a body are not served", when=if_asked(PRODUCES),
        told="media type of responses")
    cors: Fact[Cors] | None = adds(
        "cors", One(Cors), "What scripts of other origins may do (CORS).", "No response has a CORS header.",
        sentence="what scripts of other origins may do", promise="relax a restriction")
    functions: Fact[tuple[Function, ...]] | None = names(
        "functions", FUNCTIONS, "Functions that endpoints call.", "There are none; each use of one is an error.",
        read=read_functions)
    endpoints: Fact[tuple[Endpoint, ...]] | None = adds(
        "", Each(Endpoint, ENDPOINT), "", "", whole=every_endpoint)

    # fmt: on

    def requests_of(self, endpoint: Endpoint) -> Requests:
        """How the requests of an endpoint are read: as it says itself, else as is said of all. Where either is `none`
        or not shown as a whole, so is each fact in it."""
        return Requests(**{**members_within(Requests, self.requests), **members_within(Requests, endpoint.requests)})


def endpoints(r: Reading, part: Part) -> Endpoints:
    """What one sentence says for the whole part is said of the endpoints alone."""
    said = spoken(part)
    return part_of(r, Endpoints, part) if said is None else Endpoints(endpoints=said)


def reads_content(endpoint: Endpoint, members: Fact[Name] | None) -> bool:
    """Whether the service reads what is sent: a body, or, where unknown members are refused and `none` is stated,
    whether there are members."""
    refused = text_of(members) == "refused"
    return isinstance(endpoint.body, Shown) or (isinstance(endpoint.body, StatedNone) and refused)


def shows_content(endpoint: Endpoint) -> bool:
    """Whether a response holds a template: neither `none` nor a stream."""
    return any(each.shows_content for each in value_of(endpoint.responses) or ())
