"""The keys of part 4: endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ninefold.language.check import GUARDS
from ninefold.language.declaration import One, below, key_of
from ninefold.language.endpoints import FILTERS, FUNCTIONS, Expansion, Projection, Requests, Sorts
from ninefold.language.errors import Errors, Shape
from ninefold.language.json_schema import parameter_keywords, path_keywords
from ninefold.language.key import Key, adds, asked, asked_when, falling_back, names, restricts
from ninefold.language.limits import Limits, Pages
from ninefold.language.shapes import (
    Boolean,
    Duration,
    Expression,
    JSONSchema,
    ListOf,
    MappingOf,
    MediaType,
    Members,
    Name,
    Names,
    OneOf,
    Path,
    Template,
    Text,
    Word,
)
from ninefold.language.verbs import OUTCOMES
from ninefold.vocabulary.effects import effects

REQUEST_MEDIA_TYPE = "request media type"
RESPONSE_MEDIA_TYPE = "response media type"
DOES = "does"
BODY = "body"
PATCH = "patch"
RESPONSES = "responses"
ENDED = "ended"
ORDER = "order"

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""What an endpoint's key may begin with. HEAD and OPTIONS come from HTTP itself (RFC 9110)."""

CONDITIONS_OF_GRANTS = ("grant_type", "scope")
"""The parameters of such a request of which `invalid` may be narrowed: `invalid scope`."""

_E = "ENDPOINT"

_PAGES = falling_back(replace(key_of(Limits, "pages"), part=4, path=f"{_E}.pages"), 8, "pages")
_ERROR_SHAPE = falling_back(
    replace(
        key_of(Errors, "shape"),
        part=4,
        path=f"{_E}.error shape",
        meaning="What the body of an error of this endpoint is.",
        question=None,
        says_none=True,
    ),
    7,
    "shape",
)

_GUARDS = restricts(
    4, f"{_E}.guards", ListOf(Members()), "Several guards, each with its error.", "Every row is admitted."
)

_REQUESTS = asked(
    4, "requests", Members(), REQUEST_MEDIA_TYPE, "How requests are read.",
    "A gap: endpoints with a body or with parameters are not served.",
)  # fmt: skip
_OWN_REQUESTS = falling_back(
    adds(4, f"{_E}.requests", Members(), "How the requests of this endpoint alone are read.", ""), 4, "requests"
)
_CALLS = names(4, "calls", Members(), "Functions that endpoints call.", "There are none; each use of one is an error.")
_FILTERS = adds(
    4, f"{_E}.filters", MappingOf("parameters to conditions"),
    "Query parameters that narrow a list, or the rows that are all changed.", "There are no such parameters.",
)  # fmt: skip
_SORTS = asked(
    4, f"{_E}.sorts", Members(), ORDER, "The order of a list.", "A gap: the list is not served.", says_none=True
)
_PROJECTION = adds(
    4, f"{_E}.projection", Members(), "The caller chooses which members of a row are shown.", "All members are shown."
)
_EXPAND = adds(
    4, f"{_E}.expand", Members(), "References are shown as rows where a request asks for it.",
    "What is shown is the same for every request.",
)  # fmt: skip

_KEYS: tuple[Key, ...] = (
    adds(4, "base", Path(), "A path that comes before the path of every endpoint.", "Paths are served as written."),
    _REQUESTS, *below(_REQUESTS, One(Requests)),
    asked(4, "responses", Members(), RESPONSE_MEDIA_TYPE, "How responses are written.",
          "A gap: endpoints that answer with a body are not served."),
    asked(4, "responses.media type", MediaType(), RESPONSE_MEDIA_TYPE, "The media type of response bodies.",
          "A gap: endpoints that answer with a body are not served."),
    adds(4, "cross origin", Members(), "What scripts of other origins may do (CORS).",
         "No response has a CORS header."),
    adds(4, "cross origin.origins", OneOf((Word(("any",)), ListOf(Text("an origin such as `https://shop.example`")))),
         "The origins, or `any`.", "No origin is allowed."),
    adds(4, "cross origin.headers", Names("a request header"), "Request headers that scripts may send.",
         "Those that CORS always allows."),
    adds(4, "cross origin.exposed", Names("a response header"), "Response headers that scripts may read.",
         "Those that CORS always exposes."),
    adds(4, "cross origin.credentials", Boolean(), "Whether cookies and credentials may come along.",
         "They may not."),
    adds(4, "cross origin.kept", Duration(), "How long a browser may keep the answer to a preflight.",
         "As long as the browser's own rule says."),
    _CALLS, *below(_CALLS, FUNCTIONS),

    names(4, _E, Members(), "A method and a path, such as `GET /orders/{id}`.",
          "The method and path are not there; each use of them is an error."),
    asked(4, f"{_E}.does", OneOf((Text("an action such as `create order`"), ListOf(Text("an action")))), DOES,
          "What it does: one of a closed list or a transition; or a list, of which each after the first is a "
          "transition; a `call` comes before all of it.",
          "A gap: E is not served."),
    asked_when(4, f"{_E}.row", Expression(), DOES, "neither the path nor `where` names the row that it acts on",
              "The row that it acts on, where the path names none.",
          "A gap: E is not served. Else they say which."),
    asked_when(4, f"{_E}.body", OneOf((Names("a field"), Template(), Members())), BODY, "E takes values",
          "What the body gives: a list of fields, a template read backwards, or `$ref`.",
          "A gap: E is not served. Else a body is not read.", says_none=True),
    names(4, f"{_E}.body.$ref", Name("a shared schema such as `#/types/line`"),
          "The body is as that schema says; its members that are no fields are `request.body.NAME`.",
          "The body has no other description."),
    names(4, f"{_E}.path", MappingOf("names in braces to schemas"),
          "Names in the path that are no fields, readable as `request.path.NAME`.",
          "Each name in braces is a field, or a path through references to one."),
    names(4, f"{_E}.path.NAME", JSONSchema(), "A value in the path and its schema.",
          "The name in braces is that of a field, else an error."),
    *path_keywords(4, f"{_E}.path.NAME"),
    adds(4, f"{_E}.query", MappingOf("parameters to schemas"), "Query parameters, readable as `request.query.NAME`.",
         "There are no such parameters."),
    adds(4, f"{_E}.query.PARAMETER", JSONSchema(), "A query parameter and its schema.",
         "There is no such parameter."),
    *parameter_keywords(4, f"{_E}.query.PARAMETER"),
    adds(4, f"{_E}.request headers", MappingOf("headers to schemas"),
         "Request headers, readable as `request.headers.NAME`.", "No such header is read."),
    adds(4, f"{_E}.request headers.PARAMETER", JSONSchema(), "A request header and its schema.",
         "No such header is read."),
    *parameter_keywords(4, f"{_E}.request headers.PARAMETER"),
    _FILTERS, *below(_FILTERS, FILTERS),
    restricts(4, f"{_E}.where", Expression(), "Which rows are listed or acted on.", "All rows that may be seen."),
    _SORTS, *below(_SORTS, One(Sorts)),
    _PAGES, *below(_PAGES, One(Pages)),
    adds(4, f"{_E}.sets", MappingOf("fields to expressions"), "Values that it gives.", "It gives the body's values."),
    adds(4, f"{_E}.sets.FIELD", Expression(), "The value that it gives the field.", "It gives no value of its own."),
    restricts(4, f"{_E}.when", Expression(), "A guard on the row as it was.", "Every row is admitted."),
    adds(4, f"{_E}.otherwise", Name("an error code"), "The error when the guard does not hold.",
         "The error is the code of the condition `guard`."),
    _GUARDS, *below(_GUARDS, GUARDS),
    asked_when(4, f"{_E}.patch", Word(("merge", "json-patch")), PATCH, "E updates and its body gives something",
          "How an update is read: RFC 7396 (`merge`) or RFC 6902 (`json-patch`).",
          "A gap: E is not served."),
    adds(4, f"{_E}.validators", Word(("etag",)), "Responses carry an entity tag, and conditions on it are honoured.",
         "There is no entity tag, and no condition on one is honoured."),
    adds(4, f"{_E}.idempotency key", Word(("required", "optional")),
         "A request with the header Idempotency-Key is done once, and its response is given again. Where it is "
         "`required`, a request without one is `invalid`.",
         "The header means nothing."),
    adds(4, f"{_E}.issues", Name("a scheme"),
         "A credential of that scheme is made for the row, and is `caller.credential`.",
         "No credential is made."),
    asked_when(4, f"{_E}.ends", Word(("presented", "others", "all")), ENDED, "E signs out",
          "Which credentials that were issued to the row it ends: the one that the request presents, all others, or "
          "all.",
          "A gap: E is not served. Else it ends none, but for what a new password ends.", says_none=True),
    _OWN_REQUESTS, *below(_OWN_REQUESTS, One(Requests)),
    _ERROR_SHAPE, *below(_ERROR_SHAPE, One(Shape)),
    falling_back(adds(4, f"{_E}.errors", MappingOf("conditions to error codes"),
                      "Codes of conditions on this endpoint alone.",
         "The codes of part 7 hold."), 7, "codes"),
    falling_back(adds(4, f"{_E}.errors.CONDITION", Name("an error code"),
                      "The code of the condition on this endpoint.", "The code of part 7 holds."), 7, "codes"),
    asked(4, f"{_E}.responses", MappingOf("statuses to what is shown"), RESPONSES,
          "The good responses by status, 200 to 399: a view, a template, `none` or `stream`; or by outcome, then by "
          "status.",
          "A gap: E is not served."),
    asked(4, f"{_E}.responses.STATUS", OneOf((Template(), Word(("stream",)))), RESPONSES,
          "What a response with that status shows.", "A gap: E is not served."),
    asked(4, f"{_E}.responses.OUTCOME", MappingOf("statuses to what is shown"), RESPONSES,
          "The response of one good end: " + ", ".join(f"`{word}`" for word in OUTCOMES) + ".",
          "A gap: E is not served."),
    asked(4, f"{_E}.responses.OUTCOME.STATUS", OneOf((Template(), Word(("stream",)))), RESPONSES,
          "What that response shows.", "A gap: E is not served."),
    adds(4, f"{_E}.headers", MappingOf("headers to expressions"), "Headers of the good responses.",
         "There are no such headers."),
    adds(4, f"{_E}.headers.HEADER", Expression(), "The header's value.", "There is no such header."),

    asked_when(4, f"{_E}.with", MappingOf("names to expressions"), DOES, "the function takes something",
               "What the function that it calls is called with, of the request and of who calls.",
               "A gap: E is not served."),
    adds(4, f"{_E}.with.NAME", Expression(), "The value of what the function takes by that name.",
         "An error where the function takes it."),
    *effects(4, f"{_E}.then"),
    adds(4, f"{_E}.cases", Members(), "Bodies, values, guards and responses that an expression chooses.",
         "There is one case: what the endpoint states."),
    asked(4, f"{_E}.cases.by", Expression(), DOES,
          "What says which case it is: `request.body.NAME`, or a text that reads no row and no body.",
          "A gap: E is not served."),
    adds(4, f"{_E}.cases.CASE", Members(),
         "What holds where `by` is that text; `otherwise`: where it is the name of no case.",
         "A request that is of no case is refused."),
    _PROJECTION, *below(_PROJECTION, One(Projection)),
    _EXPAND, *below(_EXPAND, One(Expansion)),
)  # fmt: skip

IN_A_CASE = ("body", "sets", "when", "otherwise", "guards", "responses", "headers", "then")
"""What a case may say in the place of its endpoint; `none` says that it has none of it."""


def _in_a_case() -> Iterator[Key]:
    for key in _KEYS:
        if key.path.startswith(f"{_E}.") and key.path.split(".")[1] in IN_A_CASE:
            path = key.path.replace(f"{_E}.", f"{_E}.cases.CASE.", 1)
            of_case = falling_back(key, 4, key.path, says_none=key.admits_none) if key.parent == _E else key
            yield replace(of_case, path=path)


KEYS: tuple[Key, ...] = (*_KEYS, *_in_a_case())
