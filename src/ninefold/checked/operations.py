"""Operations: what an endpoint does, or the service by itself, with plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from ninefold.checked.bodies import BodyConstant, BodyLeaf, BodyMember, WholeBody
from ninefold.checked.contents import Response
from ninefold.checked.resources import Effect, Guard, Resource, Transition
from ninefold.checked.said import Saying
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Constant, Typed
from ninefold.language.endpoints import Ends
from ninefold.language.verbs import TRANSITION as TRANSITION
from ninefold.language.verbs import Verb
from ninefold.plan.chosen import Expansion as Expansion
from ninefold.plan.chosen import Projection as Projection
from ninefold.plan.operations import By
from ninefold.plan.routes import Rule
from ninefold.values import Type


@dataclass(frozen=True)
class PathName:
    """A name in braces. `found` is the expression over the acted-on row that has to equal the value; of `resource` it
    says which row, alone or with others, reached through `through` (the reference fields, left to right). `after`:
    what stands behind its colon."""

    text: str
    type: Type
    resource: str
    field: str
    through: tuple[str, ...]
    found: Typed
    after: str = ""

    def asks_row(self, resources: Mapping[str, Resource]) -> bool:
        """Whether it sets a reference that only the row it leads to can say: it names another field of that row than
        the primary key."""
        return len(self.through) == 1 and resources[self.resource].primary_key != (self.field,)


@dataclass(frozen=True)
class PathValue:
    """A name in braces that is no field: a value of the request, in `request.path`. Text that is none is `not found`
    (narrowed to `resource`, which the endpoint acts on)."""

    text: str
    type: Type
    resource: str | None
    after: str = ""


Segment: TypeAlias = str | PathName | PathValue


@dataclass(frozen=True)
class Parameter(Saying):
    """A value in the path, a query parameter or a header. `default`: its value where it is not given, if it has one;
    `explode`: of an array, whether it is repeated, or else its text has commas; `is_json`: its text is JSON; `origin`:
    its name in the document, where an older version has another one for it."""

    name: str
    type: Type
    schema: Mapping[str, Any]
    required: bool
    place: Place
    rules: tuple[Rule, ...] = ()
    default: tuple[Any, ...] = ()
    explode: bool = True
    is_json: bool = False
    origin: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """By which expressions read it: those of all versions by its name in the document."""
        return (self.name,) if self.origin is None else (self.name, self.origin)


@dataclass(frozen=True)
class Filter:
    """A parameter that narrows rows: `condition` reads the row and the root `value`, which has the type `type`."""

    name: str
    type: Type
    condition: Typed
    place: Place


SortKeys: TypeAlias = tuple[tuple[str, bool], ...]
"""Fields, each with whether it descends."""


@dataclass(frozen=True)
class Order:
    """An order that can be chosen. `name`: of its own; None: it is called as its keys are."""

    name: str | None
    keys: SortKeys


@dataclass(frozen=True)
class Reverse:
    """What turns an order round: a parameter, whose values are of `type`, with one of `values`, as requests write
    them."""

    parameter: str
    type: Type
    values: tuple[str, ...]


@dataclass(frozen=True)
class Sorts:
    """`several`: a request chooses one order after another, each for the rows that are alike in those before it."""

    parameter: str | None
    default: SortKeys
    offered: tuple[Order, ...]
    several: bool = False
    reverse: Reverse | None = None

    @property
    def every(self) -> Iterator[SortKeys]:
        """The order that is there where none is chosen, those that can be chosen, and each of them turned round."""
        stated = (self.default, *(each.keys for each in self.offered))
        yield from stated
        yield from map(turned, stated) if self.reverse is not None else ()


def turned(keys: SortKeys) -> SortKeys:
    """The same fields, each in its other direction."""
    return tuple((name, not descending) for name, descending in keys)


@dataclass(frozen=True)
class Pages(Saying):
    """`maximum` None: stated `none`. `at`: the parameter that says which page; None: there is but the first. `first`:
    the number of the first page, or the offset of the first row."""

    by: By
    default: int = 0
    minimum: int = 1
    maximum: int | None = None
    size: str | None = None
    at: str | None = None
    first: int = 0


@dataclass(frozen=True)
class Takes:
    """What of a request is declared. `body`: the fields that its body gives; None: nothing is said of one; `()`: stated
    `none`."""

    path: tuple[Parameter, ...] = ()
    query: tuple[Parameter, ...] = ()
    headers: tuple[Parameter, ...] = ()
    body: tuple[BodyLeaf, ...] | None = None
    members: tuple[BodyMember, ...] = ()
    whole: WholeBody | None = None
    constants: tuple[BodyConstant, ...] = ()

    @property
    def written(self) -> tuple[tuple[str, ...], ...]:
        """The pointers of all that a body has, in the order in which the contract writes it."""
        found = [(each.turn, each.pointer) for each in self.constants]
        found += [(each.turn, each.pointer) for each in self.body or ()]
        found += [(each.turn, (each.name,)) for each in self.members]
        return tuple(pointer for _, pointer in sorted(found, key=lambda each: each[0]))


@dataclass(frozen=True)
class _Operation:
    """What operations have in common. `key`: the endpoint's that it is of, as written, or what it is called where no
    endpoint asks for it. `segments` and `where` say which rows it is about, `guards` what has to hold of them.
    `errors`: the conditions that have a code of their own here. `validator`: there are entity tags."""

    key: str
    place: Place
    kind: Verb
    resource: str | None
    response: Response
    segments: tuple[Segment, ...] = ()
    where: Typed | None = None
    guards: tuple[Guard, ...] = ()
    validator: bool = False
    errors: Mapping[str, str] = field(default_factory=dict)
    takes: Takes = Takes()
    several: bool = False
    """It acts on all the rows of `$wanted` (`ninefold.compile.several`)."""

    @property
    def verb(self) -> str:
        return self.kind.name

    @property
    def names(self) -> tuple[PathName, ...]:
        return tuple(segment for segment in self.segments if isinstance(segment, PathName))

    @property
    def ends_well(self) -> tuple[Response, ...]:
        """What it answers where nothing is wrong."""
        never = any(isinstance(each.that, Constant) and each.that.value is False for each in self.guards)
        return () if never else (self.response,)

    @property
    def is_conditional(self) -> bool:
        """Whether what it shows, without a change, is a representation, which a request may have conditions on
        (RFC 9110 13.2.1)."""
        shows = self.key.startswith("GET ") or self.validator
        return shows and any(200 <= each.status < 300 for each in self.ends_well)


@dataclass(frozen=True)
class Read(_Operation):
    """`digested`: its entity tag is of what is shown, which is more than the row."""

    digested: bool = False
    projection: Projection | None = None
    expansion: Expansion | None = None


@dataclass(frozen=True, kw_only=True)
class List(_Operation):
    """`total`: it tells how many rows there are."""

    sorts: Sorts
    pages: Pages
    filters: tuple[Filter, ...] = ()
    total: bool = False
    linked: bool = False
    projection: Projection | None = None
    expansion: Expansion | None = None


@dataclass(frozen=True)
class Compute(_Operation):
    """It acts on no row."""


@dataclass(frozen=True)
class Stream(_Operation):
    """The event log, followed. `where` and `filters`: which events are told."""

    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True)
class _Mutation(_Operation):
    """A change of a row, or of several. What a verb cannot state is not there to be given, and reads as nothing.
    `host`: of an effect, the operation that it follows from."""

    also: tuple[Effect, ...] = ()
    host: Mutation | None = None

    @property
    def sets(self) -> tuple[tuple[str, Typed], ...]:
        return ()

    @property
    def transition(self) -> Transition | None:
        return None

    @property
    def further(self) -> tuple[Transition, ...]:
        return ()

    @property
    def known_by(self) -> tuple[str, ...]:
        return ()

    @property
    def issues(self) -> str | None:
        return None

    @property
    def ends(self) -> Ends | None:
        return None

    @property
    def of_all(self) -> tuple[Filter, ...] | None:
        return None

    @property
    def filters(self) -> tuple[Filter, ...]:
        return self.of_all or ()

    @property
    def each(self) -> Typed | None:
        return None

    @property
    def follows(self) -> Literal["in its state", "in any state"] | None:
        return None

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What else it does with other rows, before anything `further`: what the transition does that it takes, then,
        where nothing follows, what the endpoint states."""
        own = () if self.transition is None else self.transition.also
        return own if self.further else (*own, *self.also)

    @property
    def goes_on(self) -> bool:
        """Whether more is done once the row is written."""
        return bool(self.effects or self.further)


@dataclass(frozen=True)
class Create(_Mutation):
    """`issues`: the scheme of which a credential is made for the row. `further`: what is done with it after that, in
    this order. `each`: of an effect, the array for each item of which a row is made."""

    sets: tuple[tuple[str, Typed], ...] = ()
    issues: str | None = None
    further: tuple[Transition, ...] = ()
    each: Typed | None = None


@dataclass(frozen=True)
class Update(_Mutation):
    """An update, a replacement or a transition. `of_all`: it acts on all the rows that its path, `where` and these
    filters leave, and shows them as a list does. `ends`: which credentials that were issued to the row end. `follows`:
    of what is done with a row that an operation has just written, whether that has left it in a state from which the
    transition leads. `each`: of an effect, the array that has an item for each row."""

    patch: Literal["merge", "json-patch"] | None = None
    transition: Transition | None = None
    sets: tuple[tuple[str, Typed], ...] = ()
    issues: str | None = None
    ends: Ends | None = None
    further: tuple[Transition, ...] = ()
    of_all: tuple[Filter, ...] | None = None
    follows: Literal["in its state", "in any state"] | None = None
    each: Typed | None = None


@dataclass(frozen=True)
class Delete(_Mutation):
    """`of_all`: as of a change."""

    of_all: tuple[Filter, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class _Known(_Mutation):
    """`outcomes`: what answers each that is stated. `known_by` are the fields that say which row is meant."""

    outcomes: Mapping[str, Response]
    known_by: tuple[str, ...] = ()

    @property
    def ends_well(self) -> tuple[Response, ...]:
        return tuple(self.outcomes.values())


@dataclass(frozen=True, kw_only=True)
class Ensure(_Known):
    """Those of `known_by` that the path does not name are made as on create."""

    sets: tuple[tuple[str, Typed], ...] = ()
    further: tuple[Transition, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Remove(_Known):
    """`known_by` `()`: `where` says which row is meant."""


@dataclass(frozen=True)
class SignIn(_Mutation):
    """Also what grants a token. `issues`, `ends`: as of a change."""

    sets: tuple[tuple[str, Typed], ...] = ()
    issues: str | None = None
    ends: Ends | None = None
    further: tuple[Transition, ...] = ()


@dataclass(frozen=True)
class SignOut(_Mutation):
    """`ends`: which of the credentials that were issued to the row."""

    ends: Ends | None = None


Mutation: TypeAlias = Create | Update | Delete | Ensure | Remove | SignIn | SignOut

Operation: TypeAlias = Read | List | Compute | Stream | Mutation
"""What is done: by an endpoint, after another operation, at a time, or by the operator."""
