"""Operations: what a route, a timer or the operator causes. Each is judged, and each is data."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.plan.chosen import Choices
from ninefold.plan.events import Concerns
from ninefold.plan.problems import Judge
from ninefold.plan.responses import Response
from ninefold.plan.said import Saying
from ninefold.plan.statement import Statement
from ninefold.plan.writes import Effect, OfResource, Written
from ninefold.values import Type


class Read(OfResource, frozen=True, tag="read"):
    """One row. No row: the judge says why. `conditional`: the conditions of the request on what is shown are heeded
    (RFC 9110 13.1). `choices`: what a request chooses of what is shown."""

    select: Statement
    judge: Judge
    conditional: bool = True
    choices: Choices | None = None


class FilterParameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A query parameter that narrows a list. Where it has no value its piece (switch `filter NAME`) takes no part."""

    name: str
    type: Type
    trace: tuple[Place, ...] = ()


class Sort(msgspec.Struct, frozen=True, omit_defaults=True):
    """An order of a list, with its switches `sort NAME` and `after NAME`. `keys` are the columns of the result
    that a cursor keeps, the primary key last. `aliases`: its further names, by which it has the same cursors.
    `bound_to`: what a cursor of it is bound to, beside the endpoint and the kind of caller: all that says what its keys
    mean; empty where pages are not reached by cursors. `reverses`: the names of the orders that it is turned round."""

    name: str
    keys: tuple[int, ...]
    aliases: tuple[str, ...] = ()
    bound_to: tuple[str, ...] = ()
    reverses: tuple[str, ...] = ()


class SortKey(msgspec.Struct, frozen=True, omit_defaults=True):
    """What rows may be sorted by: a column of the result. `reverse`: the name of the same in its other direction.
    `told` and `computed`: what cursors are bound to where an order has it."""

    column: int
    reverse: str | None = None
    told: str = ""
    computed: tuple[str, ...] = ()


class Combined(msgspec.Struct, frozen=True, omit_defaults=True):
    """Orders of which a request chooses several, one behind the other. Each of `orders` is of some of `keys`, by their
    names; the one called `""` is there where none is chosen. `ties` stand behind all that do not have them, in whatever
    direction. The key that comes as the N-th has the switches `sort N KEY` and `after N KEY`, or `last N KEY` where
    none is behind it. `bound_to`: what all cursors are bound to."""

    keys: dict[str, SortKey]
    orders: dict[str, tuple[str, ...]]
    ties: tuple[str, ...]
    bound_to: tuple[str, ...] = ()


class Reverse(msgspec.Struct, frozen=True):
    """The parameter that turns an order round, with which of its values, as a request writes them."""

    parameter: str
    type: Type
    values: tuple[str, ...]


By: TypeAlias = Literal["cursor", "offset", "page", "none"]
"""How the next page of a list is reached; `none`: the list is given whole."""


class Paging(Saying, frozen=True, omit_defaults=True):
    """`maximum` None: no bound. `at` gives a cursor, an offset or the number
    of a page; these count from `first`. `places`: where each is stated. `linked`: what a response shows leads to other
    pages of the same request."""

    by: By
    default: int = 0
    minimum: int = 1
    maximum: int | None = None
    size: str | None = None
    at: str | None = None
    first: int = 0
    places: dict[str, Place] = {}
    linked: bool = False


class List(OfResource, frozen=True, tag="list"):
    """Rows. `sort_parameter` takes the name of one of `sorts`; the first of them holds where it is not given and
    is called `""`. Where a request chooses several, they are `combined` instead. `count` gives `page.total`, `head` the
    columns of what is shown beside the rows. `judge` is asked when nothing was found: the path may name rows that have
    to be there, and who calls may have no right to them. `conditional` and `choices`: as of `Read`. `grows`: what makes
    it cost the more, the more rows there are."""

    select: Statement
    paging: Paging
    sorts: tuple[Sort, ...]
    filters: tuple[FilterParameter, ...] = ()
    sort_parameter: str | None = None
    sort_trace: tuple[Place, ...] = ()
    combined: Combined | None = None
    reverse: Reverse | None = None
    count: Statement | None = None
    head: Statement | None = None
    judge: Judge | None = None
    conditional: bool = True
    choices: Choices | None = None
    grows: tuple[str, ...] = ()

    def by_name(self) -> dict[str, Sort]:
        """Its orders by their names."""
        return {name: sort for sort in self.sorts for name in (sort.name, *sort.aliases)}

    def reversed_by_name(self) -> dict[str, Sort]:
        """The same turned round, by the names of what is turned."""
        return {name: sort for sort in self.sorts for name in sort.reverses}


class Sweep(OfResource, frozen=True, tag="sweep"):
    """A change of all the rows that `change.find` gives, under the switches `filter NAME` of `filters`. `judge` is
    asked where it finds none: the path may name rows that have to be there, and who calls may have no right to them.
    `items` gives the columns of the rows by `$several`: as they have become, or, before a deletion, as they are; None:
    no row is shown. `head`: the columns of what is shown beside them."""

    change: Effect
    filters: tuple[FilterParameter, ...] = ()
    items: Statement | None = None
    head: Statement | None = None
    judge: Judge | None = None


class Stream(msgspec.Struct, frozen=True, tag_field="operation", tag="stream", omit_defaults=True, kw_only=True):
    """The event log, followed as it grows. `select` gives the events behind `$log.position`, at most as many as a batch
    holds: position, whether this caller sees the row (null: not), then id, kind, row, time, payload. `judge`: whether
    the caller is permitted, where that takes rows to say. `concerns`: which events may be seen; None: all may. `lines`:
    it is had as server-sent events; `websocket`: over WebSocket, which pages of the `origins` may open; None: all.
    `filters` are switches as those of a list; `seen`: what else narrows it."""

    response: Response
    select: Statement
    filters: tuple[FilterParameter, ...] = ()
    seen: tuple[Place, ...] = ()
    lines: bool = True
    websocket: bool = False
    origins: tuple[str, ...] | None = ()
    judge: Judge | None = None
    concerns: Concerns | None = None


class Compute(msgspec.Struct, frozen=True, tag_field="operation", tag="compute", omit_defaults=True, kw_only=True):
    """No row of its own: a response from expressions; `select` gives the columns that need the database. `judge` says
    before whether it is refused; None: nothing refuses it. `conditional`: as of `Read`."""

    response: Response
    select: Statement | None = None
    judge: Judge | None = None
    conditional: bool = True


Operation: TypeAlias = Read | List | Written | Sweep | Compute | Stream
