"""Part 4: endpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from ninefold.contract.effects import Effect
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Member as MemberAst
from ninefold.expressions.ast import Name as NameAst
from ninefold.language.actions import Action
from ninefold.language.check import Check
from ninefold.language.endpoints import Expansion, Filter, Function, Projection, Requests, Sorts
from ninefold.language.errors import Shape
from ninefold.language.expressions import Assignment, Expression, Items, Leaf, Members, Template
from ninefold.language.fact import Fact, Name, Shown, StatedNone, value_of, within
from ninefold.language.limits import Pages
from ninefold.language.schemas import Schema

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Literal:
    """A path segment that stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class PathName:
    """`{id}`, or `{article.slug}`: a unique field, or a path through references to one."""

    names: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class PathValue:
    """`{year}`: what `path` declares, a value of the request that names no row by itself."""

    name: str
    span: Span


Segment: TypeAlias = Literal | PathName | PathValue


@dataclass(frozen=True, slots=True)
class Parameter:
    """An entry of `path`, `query` or `request headers`."""

    name: str
    span: Span
    schema: Schema
    otherwise: Name | None
    required: bool = False
    """Whether a request has to give it."""


@dataclass(frozen=True, slots=True)
class Response:
    """`outcome` is set where an operation has several good ends (`created`, `unchanged`).
    The content is a template, `none`, or the keyword `stream`."""

    status: int
    span: Span
    content: Fact[Template | Name]
    outcome: Name | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """`fields`: a list of field names or a template read backwards, each of whose leaves is a field's
    path or a list of fields. `reference`: `$ref` to a shared type, by the type's name (`line`)."""

    template: Template | None
    reference: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Case:
    """Which requests a case is of: those for which `by` gives its name; `name` None: `otherwise`. `all`: the names of
    the endpoint's cases. `has_rest`: one of them is `otherwise`. `among`: where they all stand. `position`: how many
    are written before it."""

    by: Fact[Expression] | None
    name: str | None
    span: Span
    all: tuple[str, ...]
    has_rest: bool
    among: Span
    position: int = 0

    @property
    def is_last(self) -> bool:
        """Whether it is written behind the others."""
        return self.position == len(self.all) + self.has_rest - 1

    @property
    def member(self) -> str | None:
        """The member of the body by which it is chosen: that of `request.body.kind`."""
        match None if not isinstance(self.by, Shown) else self.by.value.ast:
            case MemberAst(operand=MemberAst(operand=NameAst(name="request"), name="body"), name=name):
                return name
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`key` is as written: `POST /orders/{id}/place`. An endpoint with cases is one endpoint for each `case`, all with
    its key: what a case states stands in the place of what the endpoint states."""

    key: str
    method: str
    segments: tuple[Segment, ...]
    span: Span
    does: Fact[tuple[Action, ...]] | None
    row: Fact[Expression] | None
    body: Fact[Body] | None
    query: Fact[tuple[Parameter, ...]] | None
    request_headers: Fact[tuple[Parameter, ...]] | None
    filters: Fact[tuple[Filter, ...]] | None
    where: Fact[Expression] | None
    sorts: Fact[Sorts] | None
    pages: Fact[Pages] | None
    sets: Fact[tuple[Assignment, ...]] | None
    guards: Fact[tuple[Check, ...]] | None
    patch: Fact[Name] | None
    validators: Fact[Name] | None
    idempotency_key: Fact[Name] | None
    issues: Fact[Name] | None
    errors: Fact[tuple[tuple[Name, Name], ...]] | None
    responses: Fact[tuple[Response, ...]] | None
    headers: Fact[tuple[Assignment, ...]] | None
    case: Case | None = None
    then: Fact[tuple[Effect, ...]] | None = None
    projection: Fact[Projection] | None = None
    expand: Fact[Expansion] | None = None
    ends: Fact[Name] | None = None
    requests: Fact[Requests] | None = None
    error_shape: Fact[Shape] | None = None
    path: Fact[tuple[Parameter, ...]] | None = None
    call: Action | None = None
    """The function that is called before anything is done; `does` is what is done then."""
    called_with: Fact[tuple[Assignment, ...]] | None = None

    @property
    def of_all_rows(self) -> bool:
        """Whether it changes all the rows that its path, `where` and `filters` leave."""
        return any(each.all for each in value_of(self.does) or ())

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """What of a request expressions may read, as far as it is shown."""
        return tuple(each for fact in (self.path, self.query, self.request_headers) for each in value_of(fact) or ())


def with_values(segments: tuple[Segment, ...], path: Fact[tuple[Parameter, ...]] | None) -> tuple[Segment, ...]:
    """Segments in which what `path` declares is a value, and no other name is."""
    declared = {(each.name,) for each in value_of(path) or ()}

    def known(segment: Segment) -> Segment:
        match segment:
            case PathName(names=names, span=span) if names in declared:
                return PathValue(names[0], span)
            case PathValue(name=name, span=span) if (name,) not in declared:
                return PathName((name,), span)
            case _:
                return segment

    return tuple(map(known, segments))


@dataclass(frozen=True, slots=True)
class CrossOrigin:
    """What scripts of other origins may do (CORS). `origins` None: any. `kept`: microseconds."""

    origins: tuple[Name, ...] | None
    headers: tuple[Name, ...]
    exposed: tuple[Name, ...]
    credentials: bool
    kept: int | None


@dataclass(frozen=True, slots=True)
class Endpoints:
    base: Fact[str] | None
    requests: Fact[Requests] | None
    response_media_type: Fact[Name] | None
    cross_origin: Fact[CrossOrigin] | None
    endpoints: Fact[tuple[Endpoint, ...]] | None
    functions: Fact[tuple[Function, ...]] | None = None

    def requests_of(self, endpoint: Endpoint) -> Requests:
        """How the requests of an endpoint are read: as it says itself, else as is said of all. Where either is `none`
        or not shown as a whole, so is each fact in it."""

        def said(part: Callable[[Requests], Fact[T] | None]) -> Fact[T] | None:
            return within(endpoint.requests, part) or within(self.requests, part)

        return Requests(
            media_types=said(lambda each: each.media_types),
            unknown_members=said(lambda each: each.unknown_members),
            unknown_parameters=said(lambda each: each.unknown_parameters),
            texts=said(lambda each: each.texts),
        )


def reads_content(endpoint: Endpoint, members: Fact[Name] | None) -> bool:
    """Whether the service reads what is sent: a body, or, where unknown members are refused and `none` is stated,
    whether there are members."""
    refused = (word := value_of(members)) is not None and word.text == "refused"
    return isinstance(endpoint.body, Shown) or (isinstance(endpoint.body, StatedNone) and refused)


def shows_content(endpoint: Endpoint) -> bool:
    """Whether a response holds a template: neither `none` nor a stream."""
    responses = value_of(endpoint.responses) or ()
    return any(
        isinstance(response.content, Shown) and isinstance(response.content.value, Leaf | Members | Items)
        for response in responses
    )
