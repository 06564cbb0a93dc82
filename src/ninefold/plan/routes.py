"""Routes: from a request to an operation, for each kind of caller."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import structs

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.calls import Call
from ninefold.plan.operations import List, Operation
from ninefold.plan.problems import ErrorShape
from ninefold.plan.responses import Carried, carried
from ninefold.plan.said import Saying
from ninefold.values import Type
from ninefold.values.plain import Plain


class Cors(Saying, frozen=True, omit_defaults=True):
    """`origins` None: any. `headers`: those that a request may have besides what CORS always allows; `exposed`: those
    of a response that a script may read besides. `max_age`: how many seconds a browser may keep the answer to a
    preflight; None: as long as its own rule says. `preflight`: the status of an answer to OPTIONS."""

    origins: tuple[str, ...] | None = ()
    headers: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    credentials: bool = False
    max_age: int | None = None
    preflight: int = 204
    trace: tuple[Place, ...] = ()


class PathParameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A segment in braces, `after` which a colon and a literal may stand. `name` is as written (`id`, `article.slug`).
    A value that is not of the type is `not found` (narrowed to `resource`; None: it names no row, and the endpoint acts
    on none), and so is one of which `normalise`, with the root `value`, makes none."""

    name: str
    type: Type
    resource: str | None
    after: str = ""
    normalise: Typed | None = None


Segment: TypeAlias = str | PathParameter


class Rule(msgspec.Struct, frozen=True):
    """Where a rule stands that a value has to keep. `path` leads from the value to what the rule is about: names of
    members, and `*` for each element. `keyword` is that of JSON Schema, or the language's own (`unique`)."""

    path: tuple[str, ...]
    keyword: str
    place: Place


class Requests(Saying, frozen=True, omit_defaults=True):
    """How the requests of an endpoint are read, but for their bodies."""

    @property
    def ignores_unknown_parameters(self) -> bool:
        """If not, a parameter that no fact names is refused."""
        return self.said.get("unknown parameters") == "ignored"


class Parameter(Saying, frozen=True, omit_defaults=True):
    """A value in the path, a query parameter or a header of the endpoint's own, in `request.path`, `request.query` or
    `request.headers`. `default`: its value where it is not given, as JSON, if it has one. `explode`: of an array,
    whether it is repeated, or else its text has commas. `is_json`: its text is JSON. `origin`: its name in the
    document, by which codes are for it, where an older version has another one for it."""

    name: str
    type: Type
    schema: dict[str, Any]
    required: bool = False
    rules: tuple[Rule, ...] = ()
    default: tuple[Any, ...] = ()
    explode: bool = True
    is_json: bool = False
    trace: tuple[Place, ...] = ()
    origin: str | None = None


class BodyField(Saying, frozen=True, omit_defaults=True):
    """A leaf of a body: the value at `pointer` (member names from the root) is the field's.

    `normalise` is applied before validation, with the root `value`. `fixed`: the field is immutable and must not
    be given (rule `immutable`), unless `known_as` is a name in braces of the path, whose value it may repeat.
    `merged`: an object is merged into the one that is there (RFC 7396). `stored`: what is stored of the value, the
    root `value`, once it is valid; where nothing can be, or it is not as `held` says, the rule `stored` is broken.
    `was`: the column of the row as it is that an edit finds in its place, where that is another than the field's.
    `null_shown`: what an edit finds where there is no value is `null`, and not nothing."""

    field: str
    pointer: tuple[str, ...]
    type: Type
    normalise: Typed | None = None
    fixed: bool = False
    known_as: str | None = None
    merged: bool = False
    null_shown: bool = False
    stored: Typed | None = None
    held: dict[str, Any] | None = None
    was: str | None = None
    rules: tuple[Rule, ...] = ()
    trace: tuple[Place, ...] = ()


class WholeBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the type that is the body asks of the object as a whole, beside what it says of each member. `at_times`: the
    members that are such only where the schema names them. `others`: it may have members that have no name of their
    own, and these are values of this type; None: it may not."""

    schema: dict[str, Any]
    at_times: tuple[str, ...] = ()
    others: Type | None = None


class Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """`schema` is the JSON Schema of the body, member by member, and `whole` what is asked of it besides. `merge`:
    RFC 7396; a null clears a nullable field. `edits`: RFC 6902; the schema is that of what the edits change, as a merge
    patch would give it. `media_types`: those that are read, the stated one first."""

    media_types: tuple[str, ...]
    schema: dict[str, Any]
    fields: tuple[BodyField, ...] = ()
    unknown: Literal["refused", "ignored"] = "refused"
    merge: bool = False
    edits: bool = False
    optional: bool = False
    """`body: none`: nothing needs to come; what comes must be an object without members, or is ignored."""
    grants: bool = False
    """It asks for a token, and the client may say who it is by HTTP's Basic scheme instead."""
    members: dict[str, Type] = {}
    """What is no field, and is read as `request.body.NAME`."""
    beside: tuple[BodyField, ...] = ()
    """The same, with where it is stated, and its rules."""
    whole: WholeBody | None = None
    constants: tuple[tuple[str, ...], ...] = ()
    """Where members are whose value the contract states: they are known, and give nothing."""
    chosen_by: str | None = None
    """The member by which the case was chosen: it is known, whether it is a field's or not."""
    texts: bool = False
    """A text is taken for a number or a truth value where a field is one."""


class Case(msgspec.Struct, frozen=True, omit_defaults=True):
    """A case of an endpoint: the requests for which `by` gives its name; None: those that are of no other. `segments`,
    `stored`, `errors` and `said` are the endpoint's where they are None; `places`: what is stated in the case."""

    name: str | None
    body: Body | None = None
    trace: tuple[Place, ...] = ()
    segments: tuple[Segment, ...] | None = None
    stored: tuple[Parameter, ...] | None = None
    errors: dict[str, str] | None = None
    said: dict[str, Plain] | None = None
    carries: tuple[Carried, ...] = ()
    """What its responses do, beside those of all cases."""
    places: dict[str, Place] = {}


class Cases(msgspec.Struct, frozen=True, omit_defaults=True):
    """What chooses a case, before any statement: a `member` of the body, or `by`, which reads the request, its
    caller and its time. A request of no case is `invalid` at that member; where there is none, `forbidden`."""

    cases: tuple[Case, ...]
    member: str | None = None
    by: Typed | None = None
    trace: tuple[Place, ...] = ()


class Admission(msgspec.Struct, frozen=True, omit_defaults=True):
    """`who` is a scheme's name or `anyone`. `condition` reads the request alone; where it does not hold the
    caller is forbidden. What reads rows is in the operation's own statements. `scopes`: those that a token needs, one
    without them being told so (RFC 6750 3.1)."""

    who: str
    operation: Operation
    condition: Typed | None = None
    scopes: tuple[str, ...] = ()
    trace: tuple[Place, ...] = ()
    call: Call | None = None
    """What is called before the operation."""
    case: int = 0
    """The number of the case, from 1 on, that the operation is of. 0: there are none; or what is of all of them, by
    which requests are judged that are of none."""


class Served(Saying, frozen=True, tag_field="route", tag="served", omit_defaults=True, kw_only=True):
    """`key` is the endpoint as written. `offers`: the media type that is written (for Accept). `schemes`: every scheme
    that the contract admits here, also those that this build accepts no credential of. `stored`: the names of the path
    whose values a row is created with, each with the schema of its field; `path`: those that are no fields."""

    key: str
    method: str
    segments: tuple[Segment, ...]
    admissions: tuple[Admission, ...]
    schemes: tuple[str, ...] = ()
    body: Body | None = None
    stored: tuple[Parameter, ...] = ()
    path: tuple[Parameter, ...] = ()
    offers: str | None = None
    query: tuple[Parameter, ...] = ()
    headers: tuple[Parameter, ...] = ()
    requests: Requests = Requests()
    challenge: str | None = None
    """How the clients are known to whom tokens are granted."""
    cases: Cases | None = None
    error_shape: ErrorShape | None = None
    """What the errors of this endpoint look like, where that is not what all look like."""
    carries: tuple[Carried, ...] = ()
    """What each of its responses does, beside what its version says."""
    errors: dict[str, str] = {}
    """Conditions that have a code of their own on this endpoint."""
    places: dict[str, Place] = {}
    """Where what it answers is stated besides, by the key (`request media type`, `unknown members`, `etag`, the
    conditions of `errors` …)."""
    trace: tuple[Place, ...] = ()

    @property
    def idempotency_key(self) -> Literal["optional", "required"] | None:
        """The header Idempotency-Key is honoured; its writes are done once."""
        word = self.text("idempotency key")
        return None if word is None else "required" if word == "required" else "optional"


def in_case(route: Served, number: int) -> Served:
    """An endpoint in one of its cases; 0: it has none, or it is not known in which, and what is of all of them."""
    admissions = tuple(each for each in route.admissions if each.case == number)
    if not number or route.cases is None:
        return structs.replace(route, admissions=admissions)
    case = route.cases.cases[number - 1]
    return structs.replace(
        route,
        admissions=admissions,
        body=case.body,
        segments=route.segments if case.segments is None else case.segments,
        stored=route.stored if case.stored is None else case.stored,
        errors=route.errors if case.errors is None else case.errors,
        said=route.said if case.said is None else case.said,
        carries=carried(route.carries, case.carries),
        places={**route.places, **case.places},
    )


def bodies(route: Served) -> tuple[Body, ...]:
    """Every body that an endpoint takes: that of each of its cases, in their order, where it has any."""
    every = (route.body,) if route.cases is None else tuple(case.body for case in route.cases.cases)
    return tuple(each for each in every if each is not None)


class Blocked(msgspec.Struct, frozen=True, tag_field="route", tag="blocked", omit_defaults=True, kw_only=True):
    """Answers 501 with an empty body. `reasons` say which gap, or what is not in force, each with its place."""

    key: str
    method: str
    segments: tuple[Segment, ...]
    reasons: tuple[str, ...]
    trace: tuple[Place, ...] = ()


Route: TypeAlias = Served | Blocked


# The one schema of a body that is told member by member and as a whole.


def in_one(members: dict[str, Any], whole: dict[str, Any], at_times: bool) -> dict[str, Any]:
    """A schema that asks what both ask: one object where both name the same members, and each of them always
    (`at_times`: some are members of some bodies alone)."""
    if not whole:
        return members
    if at_times or members.get("properties", {}).keys() != whole.get("properties", {}).keys():
        return members | {"allOf": [*members.get("allOf", ()), whole]}
    return {**whole, **members}


def query_parameters(route: Served) -> tuple[str, ...]:
    """The query parameters that an endpoint knows: its own, then those of its pages."""
    found = [each.name for each in route.query]
    for admission in route.admissions:
        operation = admission.operation
        if isinstance(operation, List):
            found += [name for name in (operation.paging.size, operation.paging.at) if name is not None]
    return tuple(dict.fromkeys(found))
