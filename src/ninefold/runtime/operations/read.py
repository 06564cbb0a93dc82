"""Operations that write nothing, made ready, and what every operation is called with.

An operation knows nothing of routes. It is given a `Call`, and says what it waits for until there is a response;
what refuses it is raised as `Refusal`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.scope import AFTER_IT, BEFORE_IT, COUNT
from ninefold.plan import environment
from ninefold.plan import operations as plan
from ninefold.plan.environment import Environment
from ninefold.runtime.messages import conditional
from ninefold.runtime.messages.encode import NO_ROW, Shape
from ninefold.runtime.messages.message import Request, Response, joined
from ninefold.runtime.messages.parameters import NOTHING, Chooser, Page, PageReader
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations.constraints import Judge, Refusal
from ninefold.runtime.operations.cursors import Cursors, Seals, once_more
from ninefold.runtime.operations.events import Form
from ninefold.runtime.operations.flow import Next, Select, Wait
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.statements import NO_SWITCHES, Chosen, Prepared
from ninefold.values import GREATEST_INTEGER
from ninefold.values.stored import sqlite_reader

Values: TypeAlias = dict[str, Any]

RowsRead: TypeAlias = Callable[[str, Sequence[Stored]], list[Row]]
"""The rows of a statement with its binds, at once. Raises where they have to be waited for."""


NamedRow: TypeAlias = tuple[str, Callable[[Environment], Callable[[Stored], Sequence[Stored]]]]
"""A text, and what gives its binds for an environment, and then for a value of the name that a path has."""

OF_EACH_REQUEST = frozenset((environment.PATH, "now"))
"""Roots that are others in each request of one caller that is like an earlier one."""


class Call(msgspec.Struct, eq=False):
    """An operation called by a request. `route` and `who` are what a cursor is bound to beside its order, and
    `identity`, where it is one caller's; `body` the values of the body by field, None where it could not be read or is
    not valid; `valid`: what is valid of it, and `wrong` the fields of which the rest is; `page` what is asked of a
    list. `on_current`: what is stored depends on the row as it was read, which is `current`; None: there was none.
    `end`: which of the good ends it came to. `unfit`: what refuses it if there is no row yet. `caused`: it is a part of
    another write, of whose row the request has its conditions."""

    request: Request
    env: Environment
    sources: Sources
    cursors: Cursors
    route: str
    who: str
    identity: str | None = None
    body: Values | None = msgspec.field(default_factory=dict)
    valid: Values | None = None
    wrong: frozenset[str] = frozenset()
    page: Page | None = None
    current: Values | None = None
    on_current: bool = False
    log: Log | None = None
    end: int = 0
    unfit: Sequence[Failure] = ()
    caused: bool = False


@dataclass(frozen=True, slots=True)
class Log:
    """How the event log is shown, and how long streams go back in it: for so many microseconds; None: to its
    beginning."""

    form: Form
    kept: int | None


def _answer(
    request: Request,
    env: Environment,
    shape: Shape,
    resource: str | None,
    heeds: bool,
    row: Row,
    rows: Sequence[Row] = (),
) -> Response:
    """The response of an operation that writes nothing, or what the conditions of the request on what it shows make of
    it, where it `heeds` them."""
    response = shape.filled(row, rows, env)
    return _heeded(request, response, resource) if heeds and conditional.is_asked(request) else response


def _heeded(request: Request, response: Response, resource: str | None) -> Response:
    """What the conditions of a request make of a response."""
    changed = conditional.is_changed(request, joined(response.headers).get("etag"))
    if changed is None:
        raise Refusal((Failure("precondition failed", resource),))
    return response if changed else conditional.not_modified(response)


def chosen_of(env: Mapping[str, Any]) -> frozenset[str]:
    """The switches of what a request chooses of the response."""
    found: frozenset[str] = env.get(environment.CHOSEN, NOTHING)
    return found


class Read:
    """One row."""

    def __init__(self, operation: plan.Read) -> None:
        self.resource: str | None = operation.resource
        self.judge: Judge | None = Judge(operation.judge)
        self._judge = self.judge
        self._select = Prepared(operation.select)
        self._shape = Shape(operation.response, operation.select.columns)
        self._heeds = operation.conditional
        self.chooser = None if operation.choices is None else Chooser(operation.choices)

    def prepare(self, call: Call) -> None:
        """Nothing that a request gives but its path, and what it chooses, takes part."""

    def perform(self, call: Call) -> Next:
        select = self._select
        switches = chosen_of(call.env) & select.switches if select.switches else NO_SWITCHES
        return Wait(Select(*select.bound(call.env, switches)), partial(self._found, call))

    def _found(self, call: Call, rows: Sequence[Row]) -> Next:
        if not rows:
            return self._judge.asked(call.env)
        return _answer(call.request, call.env, self._shape, self.resource, self._heeds, rows[0])

    def named(
        self, noted: Mapping[str, Any], conditions: bool, name: str
    ) -> tuple[NamedRow, Callable[[Request, Environment, Row], Response]] | None:
        """What is `sought`, where of a path and of the time nothing is read but one name of the path: what it reads
        gives its binds for an environment without them, and then for a value of the name. None: more is read."""
        chosen = chosen_of(noted) & self._select.switches
        found = self._select.but_one(environment.PATH, name, OF_EACH_REQUEST, chosen)
        if found is None or not self._shows_what_stays:
            return None
        return found, self.sought(noted, conditions)[1]

    @cached_property
    def _shows_what_stays(self) -> bool:
        return self._shape.reads.isdisjoint(OF_EACH_REQUEST)

    def likewise(
        self, noted: Mapping[str, Any], conditions: bool, read: RowsRead
    ) -> Callable[[Request, Environment], Response | None]:
        """What performs it for the requests of one caller that choose of the response as these roots of the environment
        say, all of which have conditions on it, or none; it gives None where there is no such row."""
        (text, binds), shown = self.sought(noted, conditions)

        def performed(request: Request, env: Environment) -> Response | None:
            rows = read(text, binds(env))
            return shown(request, env, rows[0]) if rows else None

        return performed

    def sought(
        self, noted: Mapping[str, Any], conditions: bool
    ) -> tuple[Chosen, Callable[[Request, Environment, Row], Response]]:
        """The same in two: what it reads, and the response of the row."""
        fill, resource = self._shape.fill, self.resource

        def shown(request: Request, env: Environment, row: Row) -> Response:
            return fill(row, (), env)

        def heeded(request: Request, env: Environment, row: Row) -> Response:
            return _heeded(request, fill(row, (), env), resource)

        chosen = self._select.of_one("caller", chosen_of(noted) & self._select.switches)
        return chosen, heeded if self._heeds and conditions else shown


class List:
    """Rows, a page at a time."""

    def __init__(self, operation: plan.List) -> None:
        self.resource: str | None = operation.resource
        self.judge = None if operation.judge is None else Judge(operation.judge)
        self.pages = PageReader(operation)
        self.chooser = None if operation.choices is None else Chooser(operation.choices)
        self._by = operation.paging.by
        self._select = Prepared(operation.select)
        self._count = None if operation.count is None else Prepared(operation.count)
        self._head = None if operation.head is None else Prepared(operation.head)
        self._heeds = operation.conditional
        beside = () if operation.head is None else operation.head.columns
        self._shape = Shape(operation.response, beside, operation.select.columns)
        self._readers = tuple(sqlite_reader(each.type) for each in operation.select.columns)

    def cursor(self, call: Call) -> Failure | None:
        """Open the cursor that came; a failure if it is none of ours. Its keys go to `$list`."""
        page = call.page
        if page is None or page.cursor is None:
            return None
        keys = call.cursors.open(page.cursor, call.route, call.who, page.order.bound_to)
        if keys is None:
            return self.pages.not_ours()
        # As many as there are, each of its type: both are in what it is bound to.
        readers = [self._readers[index] for index in page.order.keys]
        call.env[environment.LIST] = {
            f"k{number}": key if read is None else read(key)
            for number, (key, read) in enumerate(zip(keys, readers, strict=True))
        }
        return None

    def prepare(self, call: Call) -> None:
        page = call.page
        assert page is not None
        call.env[environment.FILTER] = page.filters
        call.env[environment.LIST] = {**call.env.get(environment.LIST, {}), **_listing(page)}

    def perform(self, call: Call) -> Next:
        page = call.page
        assert page is not None
        seal = call.cursors.of(call.route, call.who, page.order.bound_to)
        ready = self._ready(page, chosen_of(call.env), seal, self._select.chosen)
        return Wait(_selected(ready.rows, call.env), partial(self._found, call, ready))

    def _ready(
        self, page: Page, chosen: frozenset[str], seal: Seals, select: Callable[[frozenset[str]], Chosen]
    ) -> Ready:
        """`chosen`: the switches of what is chosen of the response. `select`: what gives the statement of the rows."""
        filters = frozenset(f"filter {name}" for name in page.filters)
        switches = filters | page.order.switches | (chosen & self._select.switches)
        if page.cursor is not None:
            switches |= page.order.after
        return Ready(
            select(switches),
            None if self._count is None else self._count.chosen(filters),
            None if self._head is None else self._head.chosen(chosen & self._head.switches),
            page.size,
            teller(page, self._by),
            page.order.keys if self._by == "cursor" else (),
            seal,
        )

    def _found(self, call: Call, ready: Ready, rows: list[Row]) -> Next:
        if not rows and self.judge is not None:
            return Wait(Select(*self.judge.bound(call.env, False)), partial(self._empty, call, ready))
        return self._counted(call, ready, rows)

    def _empty(self, call: Call, ready: Ready, judged: Sequence[Row]) -> Next:
        assert self.judge is not None
        refusal = self.judge.refusal(judged, call.env)
        if refusal is not None:
            raise refusal
        return self._counted(call, ready, [])

    def _counted(self, call: Call, ready: Ready, rows: list[Row]) -> Next:
        if ready.count is None:
            return self._headed(call, ready, rows, None)
        return Wait(_selected(ready.count, call.env), lambda counted: self._headed(call, ready, rows, counted[0][0]))

    def _headed(self, call: Call, ready: Ready, rows: list[Row], total: Stored) -> Next:
        """With what is shown beside the rows."""
        rows = ready.turned(call.env, rows, total)
        if ready.head is None:
            return self._shown(call, rows, NO_ROW)
        return Wait(_selected(ready.head, call.env), lambda head: self._shown(call, rows, head[0]))

    def _shown(self, call: Call, rows: list[Row], head: Row) -> Next:
        return _answer(call.request, call.env, self._shape, self.resource, self._heeds, head, rows)

    def likewise(
        self,
        noted: Mapping[str, Any],
        conditions: bool,
        read: RowsRead,
        page: Page | None,
        seals: Callable[[str], Seals],
    ) -> Callable[[Request, Environment], Response | None]:
        """The same for one caller's requests of this page, without a cursor; it gives None where it is refused.
        `seals`: what seals, bound to an order."""
        assert page is not None
        of_one = partial(self._select.of_one, "caller")
        seal = once_more(seals(page.order.bound_to))
        ready, listing = self._ready(page, chosen_of(noted), seal, of_one), _listing(page)
        fill, resource, heeds, judge = self._shape.fill, self.resource, self._heeds and conditions, self.judge
        (text, binds), count, head = ready.rows, ready.count, ready.head

        def performed(request: Request, env: Environment) -> Response | None:
            env[environment.FILTER], env[environment.LIST] = page.filters, listing
            rows = read(text, binds(env))
            if not rows and judge is not None:
                if judge.refusal(read(*judge.bound(env, False)), env) is not None:
                    return None
            total = None if count is None else read(count[0], count[1](env))[0][0]
            rows = ready.turned(env, rows, total)
            row = NO_ROW if head is None else read(head[0], head[1](env))[0]
            response = fill(row, rows, env)
            return _heeded(request, response, resource) if heeds else response

        return performed


def _listing(page: Page) -> dict[str, int]:
    """Where the page begins, and how many rows are read for it."""
    # One more than it has, to know whether there is a next one.
    return {"offset": page.start} | ({} if page.size is None else {"limit": min(page.size + 1, GREATEST_INTEGER)})


class Ready(msgspec.Struct, eq=False):
    """What a request asks of a list, made ready: the statements that read its rows, that count them, and of what is
    shown beside them; how many rows a page has, None: all; what tells of it; and the columns of the keys of a row, in
    its order, where pages are reached by cursors, with what seals them."""

    rows: Chosen
    count: Chosen | None
    head: Chosen | None
    size: int | None
    told: Callable[[int, object, bool, str | None], dict[str, object]]
    keys: tuple[int, ...]
    seal: Seals

    def turned(self, env: Environment, rows: list[Row], total: Stored) -> list[Row]:
        """The rows of the page, of which the environment tells. `rows`: one more, where there is a next page."""
        size, cursor = self.size, None
        # Behind a page of no rows there is no next one: it would be the same.
        more = size is not None and 0 < size < len(rows)
        if size is not None and size < len(rows):
            rows = rows[:size]
        if more and self.keys:
            last = rows[-1]
            cursor = self.seal([last[index] for index in self.keys])
        # What is shown beside them may read both the page and a row of the path: a link to the next page.
        env["page"] = self.told(len(rows), total, more, cursor)
        return rows


def _selected(chosen: Chosen, env: Environment) -> Select:
    text, binds = chosen
    return Select(text, binds(env))


class Compute:
    """A response from expressions, without a row of its own."""

    def __init__(self, operation: plan.Compute) -> None:
        self.resource: str | None = None
        self.judge = None if operation.judge is None else Judge(operation.judge)
        self._select = None if operation.select is None else Prepared(operation.select)
        self._heeds = operation.conditional
        self._shape = Shape(operation.response, () if operation.select is None else operation.select.columns)
        self.reads_rows = self.judge is not None or self._select is not None

    def prepare(self, call: Call) -> None:
        """Nothing is made."""

    def perform(self, call: Call) -> Next:
        if self.judge is None:
            return self._judged(call, ())
        return Wait(Select(*self.judge.bound(call.env, False)), partial(self._judged, call))

    def _judged(self, call: Call, judged: Sequence[Row]) -> Next:
        refusal = None if self.judge is None else self.judge.refusal(judged, call.env)
        if refusal is not None:
            raise refusal
        if self._select is None:
            return self._answered(call, ())
        return Wait(Select(*self._select.bound(call.env)), partial(self._answered, call))

    def _answered(self, call: Call, rows: Sequence[Row]) -> Response:
        row = rows[0] if rows else NO_ROW
        return _answer(call.request, call.env, self._shape, self.resource, self._heeds, row)


def teller(page: Page, by: str) -> Callable[[int, object, bool, str | None], dict[str, object]]:
    """What tells of a page: of how many rows it has; of how many the list has, where that was asked; whether rows come
    after the page; and of the cursor that asks for them, where pages are reached so."""
    same: dict[str, object] = {COUNT: 0, "total": None, "next": None, "previous": None}
    onward: int | None = None
    if page.size is not None:
        same |= {"size": page.size, "start": page.start}
        if page.around is not None:
            same |= dict(zip((BEFORE_IT, AFTER_IT), page.around, strict=True))
        if by in ("page", "offset") and page.size:
            step, before = (1, 1) if by == "page" else (page.size, min(page.size, page.start))
            onward = page.at + step
            same["previous"] = page.at - before if page.start > 0 else None

    def told(count: int, total: object, more: bool, cursor: str | None) -> dict[str, object]:
        return {**same, COUNT: count, "total": total, "next": onward if more and onward is not None else cursor}

    return told
