"""Endpoints that are served, and those that are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from ninefold.checked.resources import Effect, Guard, Rule, Transition
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Place
from ninefold.expressions.tree import Typed
from ninefold.language.verbs import TRANSITION as TRANSITION
from ninefold.language.verbs import Verb
from ninefold.values import Type


@dataclass(frozen=True)
class PathName:
    """A name in braces. `found` is the expression over the acted-on row that has to equal the value; `resource`
    is the resource whose unique field it is, reached through `through` (the reference fields, left to right)."""

    text: str
    type: Type
    resource: str
    field: str
    through: tuple[str, ...]
    found: Typed


@dataclass(frozen=True)
class PathValue:
    """A name in braces that is no field: a value of the request, in `request.path`. Text that is none is `missing`
    (narrowed to `resource`, which the endpoint acts on)."""

    text: str
    type: Type
    resource: str | None


Segment: TypeAlias = str | PathName | PathValue


@dataclass(frozen=True)
class Leaf:
    """`trace`, here and below: where it is stated, and under which name. It makes no difference to what it is: what
    stands on another line is the same."""

    expression: Typed
    null_shown: bool = False
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Object:
    """`present`: the row that this shows, where it may not be there or not be seen; then there is no such object.
    `named`: what the contract calls it, where it is a whole row (`order`) or a view of one (`article.full`).
    `optional`: the members that a request may leave out. `expanded`: what it may ask for, by name: it is shown in the
    place of the member of that name, or behind the others."""

    members: tuple[tuple[str, Content], ...]
    present: Typed | None = None
    null_shown: bool = False
    named: str | None = None
    optional: tuple[str, ...] = ()
    expanded: tuple[tuple[str, Content], ...] = ()
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Array:
    items: tuple[Content, ...]
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Rows:
    """`page.items`, each shown as `item`, whose row is the resource's own name."""

    item: Content
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Each:
    """The items of an array that the database gives (rows that refer back, say), each shown as `item`, which reads it
    by the variable."""

    range: Typed
    variable: str
    item: Content
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Choice:
    """`yes` where the condition is true, else `no`. It has no schema of its own: where the one that is shown has no
    value, it is left out."""

    condition: Typed
    yes: Content
    no: Content
    trace: tuple[Place, ...] = field(default=(), repr=False, compare=False)


Content: TypeAlias = Leaf | Object | Array | Rows | Each | Choice


def expressions_of(content: Content, *, of_rows: bool = True) -> Iterator[Typed]:
    """Every expression of a content; without `of_rows` those that stand beside the rows of a page."""
    match content:
        case Leaf():
            yield content.expression
        case Object():
            if content.present is not None:
                yield content.present
            for _, value in (*content.members, *content.expanded):
                yield from expressions_of(value, of_rows=of_rows)
        case Array():
            for item in content.items:
                yield from expressions_of(item, of_rows=of_rows)
        case Rows():
            if of_rows:
                yield from expressions_of(content.item)
        case Each():
            yield content.range
            yield from expressions_of(content.item, of_rows=of_rows)
        case Choice():
            yield content.condition
            yield from expressions_of(content.yes, of_rows=of_rows)
            yield from expressions_of(content.no, of_rows=of_rows)


@dataclass(frozen=True)
class Response:
    """`content` None: stated `none`."""

    status: int
    content: Content | None
    headers: tuple[tuple[str, Leaf], ...]
    place: Place


@dataclass(frozen=True)
class BodyLeaf:
    """The value at `pointer` (member names from the root) is the field's."""

    pointer: tuple[str, ...]
    field: str


@dataclass(frozen=True)
class BodyMember:
    """A member of the body that is no field: `request.body.NAME`."""

    name: str
    type: Type
    schema: Mapping[str, Any]
    required: bool
    place: Place
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class BodyConstant:
    """A member of the body that is this and nothing else, and is there wherever the object around it is."""

    pointer: tuple[str, ...]
    value: str | int | float | bool
    place: Place


@dataclass(frozen=True)
class Parameter:
    name: str
    type: Type
    schema: Mapping[str, Any]
    required: bool
    code: str | None
    place: Place
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Filter:
    """`condition` reads the row and the root `value`, which has the type `type`: an array where several values are
    `written`."""

    name: str
    type: Type
    condition: Typed
    default: Typed | None
    place: Place
    written: Literal["repeated", "comma separated"] | None = None


SortKeys: TypeAlias = tuple[tuple[str, bool], ...]
"""Fields, each with whether it descends."""


@dataclass(frozen=True)
class Sorts:
    parameter: str | None
    default: SortKeys
    offered: tuple[SortKeys, ...]


@dataclass(frozen=True)
class Pages:
    """`largest` None: stated `none`. `first`: the number of the first page."""

    by: Literal["cursor", "offset", "page", "none"]
    default: int = 0
    largest: int | None = None
    size: str | None = None
    next: str | None = None
    start: str | None = None
    number: str | None = None
    first: Literal[0, 1] = 1


@dataclass(frozen=True)
class Projection:
    """Where the query parameter `parameter` is given, of `members` only those are shown that it names, each one of
    `offered`."""

    parameter: str
    offered: tuple[str, ...]
    members: tuple[str, ...]
    written: Literal["repeated", "comma separated"] | None = None
    places: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Expansion:
    """What the query parameter `parameter` names, each one of `offered`, is shown as a row."""

    parameter: str
    offered: tuple[str, ...]
    written: Literal["repeated", "comma separated"] | None = None
    places: tuple[Place, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Admission:
    """`condition` None: every such caller. `of_request`: the condition reads no row. `scopes`: those that it asks a
    token for."""

    who: str
    condition: Typed | None
    of_request: bool
    place: Place
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Requests:
    """How requests are read. `texts`: a text is taken for a number or a truth value where one is meant."""

    media_types: tuple[str, ...]
    unknown_members: Literal["refused", "ignored"]
    unknown_parameters: Literal["refused", "ignored"]
    texts: bool = False


@dataclass(frozen=True)
class ErrorShape:
    """The body of an error and its media type. Either None: it is a gap, or none is stated; every error is a bare
    status."""

    media_type: str | None
    content: Content | None


@dataclass(frozen=True)
class Case:
    """Which requests a case is of: those for which `by` gives its name; `name` None: those of no other case. `member`:
    `by` is this member of the body. `all`: the names of the endpoint's cases."""

    by: Typed
    member: str | None
    name: str | None
    all: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class Argument:
    """A value that a function is called with. `given`: where the request gives it; empty: it does not by itself."""

    name: str
    value: Typed
    type: Type
    schema: Mapping[str, Any]
    nullable: bool
    given: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class Call:
    """A function that is called first. `fields`: those that the body gives, and how arguments name them."""

    function: str
    arguments: tuple[Argument, ...]
    gives: Mapping[str, Any]
    type: Type
    refuses: tuple[str, ...]
    fields: tuple[tuple[str, tuple[str, ...]], ...]
    place: Place


@dataclass(frozen=True)
class Endpoint:
    """An endpoint with cases is one for each `case`, all with one key. `body` None: the endpoint takes none and says
    nothing about one; `()`: stated `none`. Of `ensure` and `remove`, `untouched` answers where there was nothing to do,
    and `known_by` are the fields that say which row is meant: those that the path does not name are made as on create
    (`()`: `row` or `where` says which). `issues`: the scheme of which a credential is made for the row; `ends`: which
    of those that were issued to it end."""

    key: str
    method: str
    segments: tuple[Segment, ...]
    place: Place
    kind: Verb
    resource: str | None
    response: Response
    admissions: tuple[Admission, ...]
    untouched: Response | None = None
    known_by: tuple[str, ...] = ()
    transition: Transition | None = None
    row: Typed | None = None
    body: tuple[BodyLeaf, ...] | None = None
    members: tuple[BodyMember, ...] = ()
    constants: tuple[BodyConstant, ...] = ()
    patch: Literal["merge", "json-patch"] = "merge"
    path: tuple[Parameter, ...] = ()
    query: tuple[Parameter, ...] = ()
    request_headers: tuple[Parameter, ...] = ()
    filters: tuple[Filter, ...] = ()
    where: Typed | None = None
    sorts: Sorts | None = None
    pages: Pages | None = None
    total: bool = False
    projection: Projection | None = None
    expansion: Expansion | None = None
    sets: tuple[tuple[str, Typed], ...] = ()
    guards: tuple[Guard, ...] = ()
    then: tuple[Effect, ...] = ()
    several: bool = False
    """It acts on all the rows of `$wanted` (`ninefold.planner.several`)."""
    all_rows: bool = False
    """It acts on all the rows that its path, `where` and `filters` leave, and shows them as a list does."""
    validator: bool = False
    digested: bool = False
    idempotency_key: Literal["optional", "required"] | None = None
    issues: str | None = None
    ends: Literal["presented", "others", "all"] | None = None
    requests: Requests | None = None
    """How its own requests are read; None: as all are."""
    error_shape: ErrorShape | None = None
    """What its own errors look like; None: what all look like."""
    errors: Mapping[str, str] = field(default_factory=dict)
    case: Case | None = None
    further: tuple[Transition, ...] = ()
    """What is done with the same row after that, in this order."""
    follows: Literal["in its state", "in any state"] | None = None
    """Of what is done with a row that an operation has just written: whether that has left it in a state from which
    the transition leads."""

    call: Call | None = None
    """What is called before any of it."""
    host: Endpoint | None = None
    """Of an effect: the operation that it follows from."""
    each: Typed | None = None
    """Of an effect: the array for each item of which a row is made."""

    @property
    def verb(self) -> str:
        return self.kind.name

    @property
    def names(self) -> tuple[PathName, ...]:
        return tuple(segment for segment in self.segments if isinstance(segment, PathName))

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What else it does with other rows, before anything `further`: what the transition does that it takes, then,
        where nothing follows, what the endpoint states."""
        own = () if self.transition is None else self.transition.then
        return own if self.further else (*own, *self.then)

    @property
    def goes_on(self) -> bool:
        """Whether more is done once the row is written."""
        return bool(self.effects or self.further)


@dataclass(frozen=True)
class CrossOrigin:
    """`origins` None: any. `kept`: microseconds."""

    origins: tuple[str, ...] | None
    headers: tuple[str, ...]
    exposed: tuple[str, ...]
    credentials: bool
    kept: int | None
    place: Place


@dataclass(frozen=True)
class Stopped:
    """An endpoint that is not served, and why, each reason in one line."""

    key: str
    method: str
    segments: tuple[str | None, ...]
    place: Place
    reasons: tuple[str, ...]
