"""Requests that are made of two contracts, and told to the old one: of each endpoint of either, as one caller of each
kind, of rows in each state, with values at the bounds that either says, and with what else a request can have.

Nothing is drawn by chance: the same contracts are asked the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from itertools import islice
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlencode

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.ablate.fixed import Asked
from ninefold.diff.bounds import given, of_query, telling
from ninefold.diff.documents import Bodies
from ninefold.diff.making import (
    content_of,
    ends_credentials,
    given_to,
    joined,
    path_of,
    path_of_new,
    puts,
    rank,
    resource_of,
    state_of,
    text_of,
)
from ninefold.diff.people import NOBODY, Person, rows_of
from ninefold.diff.rehearsal import BEGINNING, BETWEEN, Moment, Rehearsal, Seen, Told
from ninefold.diff.said import Said
from ninefold.plan.events import RESUME
from ninefold.plan.routes import Body, PathParameter, Served, bodies, query_parameters
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operations.stream import FIRST
from ninefold.runtime.store.memory import Changes, State
from ninefold.runtime.store.protocol import Stored

ROWS: Final = 8
"""Rows of which an endpoint is asked, each in another state as long as there are such."""

PEOPLE: Final = 8

ROUNDS: Final = 3
"""How often all is asked: what one request leaves behind, the next one finds."""

MOST: Final = 3_000
"""Requests."""

OFTEN: Final = 200
"""How often one comes at most, where a rate is another one."""

FARTHEST: Final = timedelta(days=3653)
"""From the first request, a day on which something is said to be otherwise."""

LARGEST: Final = 2 * 1024 * 1024
"""Bytes of a body."""

MAKERS: Final = 3
"""Callers who make rows anew before they are moved."""

REFUSED: Final = 3
"""Rows for which somebody is told that he may not, before others are not tried any more."""

KEPT: Final = 3
"""Rows in one state of which the last but one is moved no more."""

_MOVES: Final = 3

Part: TypeAlias = tuple[Literal["query", "header"], str]
"""A query parameter, or a header, in small letters."""

PLACES: Final = ("query", "header")

_FROM_THE_FIRST: Final = {RESUME.lower(): FIRST}


class Enough(Exception):
    """No more requests are made: there are so many, or time is up."""


@dataclass
class Asking:
    """The old contract as it is asked. `is_over`: whether time is up. `again`: those whose tokens
    end, with tokens that are made now. `of`: the endpoint that a request was made
    for, by its number."""

    rehearsal: Rehearsal
    plans: tuple[ServicePlan, ServicePlan]
    said: Said
    is_over: Callable[[], bool]
    people: Sequence[Person] = (NOBODY,)
    asked: list[Asked] = field(default_factory=list)
    passed: int = 0
    again: Callable[[], Iterable[Person]] = tuple
    _state: tuple[Changes, State] | None = None
    _count: int = 0
    _renewed: Mapping[str, Person] = field(default_factory=dict)
    _good: dict[str, dict[str, tuple[Person, str, dict[str, Stored] | None]]] = field(default_factory=dict)
    _near: dict[str, tuple[Person, str, dict[str, Stored] | None]] = field(default_factory=dict)
    _tables: tuple[Changes, dict[str, list[dict[str, Stored]]]] | None = None

    @cached_property
    def bodies(self) -> Bodies:
        """What is sent."""
        return Bodies(self._plan, self.said, lambda: self.tables)

    def all(self) -> None:
        """Raises Enough."""
        for _ in range(ROUNDS):
            for key, routes in self._each.items():
                self._anew(routes[-1])
                self._plainly(key, routes[-1])
        for key, routes in self._each.items():
            self._anew(routes[-1])
            self._otherwise(key, routes)
        for seconds in self.said.seconds:
            self._later((seconds + 1) * 1_000_000)
        for day in self.said.dates:
            passed = datetime.combine(day, time(), UTC) - BEGINNING
            if timedelta(microseconds=self.passed) < passed < FARTHEST:
                self._later(passed // timedelta(microseconds=1) - self.passed)
        for times in self.said.times:
            for key, routes in self._each.items():
                self._often(key, routes[0], min(times + 1, OFTEN))

    @cached_property
    def _each(self) -> Mapping[str, tuple[Served, ...]]:
        """Each endpoint as it is in either, what makes rows first and what removes them last, else as it is written."""
        found: dict[str, list[Served]] = {}
        for plan in self.plans:
            for route in plan.routes:
                if isinstance(route, Served):
                    found.setdefault(route.key, []).append(route)
        return {key: tuple(each) for key, each in sorted(found.items(), key=lambda each: rank(each[1][0]))}

    def _later(self, waited: int) -> None:
        """What is shown then, and in which versions, and what is sent again. Who has a token has a new one."""
        self.passed += waited
        self._renewed = {each.who: each for each in self.again()}
        repeated = {"idempotency-key": f"of-{self.passed}"}
        for key, routes in self._each.items():
            if routes[0].method == "GET":
                self._plainly(key, routes[-1])
                self._again(key, routes[-1], headers=_FROM_THE_FIRST)
                self._in_versions(key, routes[-1])
            if any(each.idempotency_key for each in routes):
                self._again(key, routes[-1], headers=repeated, happening="again", since=waited)

    # ── One request after another ─────────────────────────────────────────────────────────────────────────────

    def _plainly(self, key: str, route: Served) -> None:
        for person in self.people[:PEOPLE]:
            refused = 0
            for path, row in tuple(self._paths(route)):
                if refused >= REFUSED:
                    break
                for body in (*bodies(route), None) if route.body is None else bodies(route):
                    status = self.ask(key, route, person, path, body, row=row).status
                    refused += status in (401, 403)
                    if status < 400:
                        self._good.setdefault(key, {})[person.who] = person, path, row
                    elif status not in (401, 403):
                        self._near.setdefault(key, (person, path, row))

    def _anew(self, route: Served) -> None:
        """Rows as they are when they are made, where an endpoint moves or removes them."""
        if route.method in ("GET", "HEAD") or rank(route)[0] < _MOVES:
            return
        for key, routes in self._each.items():
            if (
                rank(routes[0])[0] < _MOVES
                and routes[0].method != "GET"
                and resource_of(routes[0]) == resource_of(route)
            ):
                for person, path, row in (*self._good.get(key, {}).values(),)[:MAKERS] * 2:
                    self.ask(key, routes[-1], person, path, next(iter(bodies(routes[-1])), None), row=row)

    def _well(self, key: str) -> tuple[Person, str, dict[str, Stored] | None]:
        """By whom, and of which row, it went well; else who was let in."""
        return next(iter(self._good.get(key, {}).values()), self._near.get(key, (NOBODY, "", None)))

    def _otherwise(self, key: str, routes: tuple[Served, ...]) -> None:
        """The same with one thing otherwise."""
        route = routes[-1]
        for headers in ({"if-match": '"another"'}, {"if-none-match": "*"}, {"accept": "text/x-none"},
                        {"content-type": "text/x-none"}, {"idempotency-key": "the-same"},
                        {"idempotency-key": "the-same"}, _FROM_THE_FIRST):  # fmt: skip
            self._again(key, route, headers=headers)
        for part in self._given(key, None):
            self._again(key, route, without=part)
        if any(each.idempotency_key for each in routes):
            self._again(key, route, headers={"idempotency-key": "a-second-time"}, happening="again")
        self._again(key, route, happening="timed out")
        for number, body in enumerate(bodies(route)):
            others = [found[number] if len(found) > number else body for each in routes if (found := bodies(each))]
            for document in self.bodies.otherwise(route, body, others, lambda: self._count):
                self._again(key, route, body=body, document=document)
        for size in self.said.sizes:
            self._again(key, route, padded=size)
            self._again(key, route, padded=size + 1)
        for name in dict.fromkeys(name for each in routes for name in (*query_parameters(each), "nobody-knows-this")):
            schemas = [*of_query(routes, name)]
            rows = self.bodies.narrowing(routes, name)
            for value in (*telling(schemas, self.bodies.columns(name)), *rows, *self.said.texts, *self.said.numbers):
                self._again(key, route, query={name: given(value)})
        for name in dict.fromkeys(one.name for each in routes for one in each.headers):
            schemas = [one.schema for each in routes for one in each.headers if one.name == name]
            for value in telling(schemas, self.said.texts):
                text = value if isinstance(value, str) else json.dumps(value)
                if text.isascii() and text.isprintable():
                    self._again(key, route, headers={name.lower(): text})
        for text in (*self.said.texts, "nobody-has-this", "-1"):
            self._elsewhere(key, route, text)
        self._in_versions(key, route)

    def _again(self, key: str, route: Served, **otherwise: Any) -> None:
        """As it went well, of a row like that one."""
        person, path, row = self._well(key)
        alike = [each for each in self._paths(route) if state_of(self._plan, route, each[1]) ==
                 state_of(self._plan, route, row)]  # fmt: skip
        path, row = next(iter(alike), (path or path_of(self._plan, route, "1"), row))
        was, now = otherwise.pop("begins", ("", ""))
        path = now + path.removeprefix(was)
        body = otherwise.pop("body", next(iter(bodies(route)), None))
        self.ask(key, route, person, path, body, row=row, **otherwise)

    def _elsewhere(self, key: str, route: Served, text: str) -> None:
        if any(isinstance(each, PathParameter) for each in route.segments):
            person, _, _ = self._well(key)
            self.ask(key, route, person, path_of(self._plan, route, text), next(iter(bodies(route)), None))

    def _in_versions(self, key: str, route: Served) -> None:
        """In each version of either, as a request names it to the old one."""
        versions = self._plan.versions
        both = [each.versions for each in self.plans if each.versions is not None]
        for name in dict.fromkeys(
            name for each in both for name in (*(one.name for one in each.versions), each.current)
        ):
            own = self._as_in(name, key) or route
            match versions.by if versions is not None else None:
                case "header" if versions is not None:
                    self._again(key, own, headers={versions.name.lower(): name})
                case "query" if versions is not None:
                    self._again(key, own, query={versions.name: name})
                case "path" if versions is not None:
                    before = joined(self._plan, ())
                    self._again(key, own, begins=(before, f"{before.removesuffix(versions.current)}{name}"))
                case _:
                    pass

    def _as_in(self, version: str, key: str) -> Served | None:
        """An endpoint as a version of the old contract has it, else one of the new: with a body that is good there."""
        for plan in self.plans:
            if plan.versions is not None:
                own = (each.routes for each in plan.versions.versions if each.name == version)
                routes = plan.routes if version == plan.versions.current else next(own, ())
                for each in routes:
                    if isinstance(each, Served) and each.key == key:
                        return each
        return None

    def _often(self, key: str, route: Served, times: int) -> None:
        if route.method not in ("GET", "POST") or key not in self._good:
            return
        person, path, row = self._well(key)
        counted: Mapping[str, Any] = {}
        for _ in range(times):
            self.ask(key, route, person, path, next(iter(bodies(route)), None), row=row, counted=counted)
            counted = self.rehearsal.counted()

    def ask(
        self, key: str, route: Served, person: Person, path: str, body: Body | None, *,
        row: dict[str, Stored] | None = None, document: Any = None, padded: int = 0,
        headers: Mapping[str, str] | None = None, query: Mapping[str, str] | None = None,
        counted: Mapping[str, Any] | None = None, without: Part | None = None, happening: str | None = None,
        since: int = 0,
    ) -> Seen:  # fmt: skip
        """`padded`: how many bytes the body has; `without`: what is left out of what has to be given. Raises Enough."""
        if len(self.asked) >= MOST or self.is_over():
            raise Enough
        self._count += 1
        self.passed += BETWEEN
        person = self._renewed.get(person.who, person)
        sent, content = dict(person.headers), b""
        if body is not None and not body.optional:
            document = self.bodies.usual(route, body, self._count) if document is None else document
            content = content_of(body, document)
            content += b" " * max(min(padded, LARGEST) - len(content), 0)
            sent |= {"content-type": body.media_types[0], "content-length": str(len(content))}
        given = {part: text for part, text in self._given(key, row).items() if part != without}
        of_query, also = ({name: text for (at, name), text in given.items() if at == place} for place in PLACES)
        asked = urlencode({**self._naming("query"), **of_query, **person.query, **(query or {})})
        sent |= {**self._naming("header"), **also, **(headers or {})}
        told = Told(route.method, path.encode(), asked.encode(), sent, content, happening, since)
        moment = Moment(1 + len(self.asked), self.passed, self._now(), self._plan.schema, counted or {})
        self.rehearsal.put(moment)
        seen = self.rehearsal.ask(told, moment)
        ends = seen.status < 400 and person.scheme is not None and ends_credentials(route)
        where = f"{key}\0{person.who}\0{state_of(self._plan, route, row) or ''}"
        self.asked.append(Asked(told, moment, seen, (), where, frozenset(), frozenset()))
        if seen.status < 400:
            self.bodies.taken(route, body, document)
        if ends:
            self._without(person)
        if ends or (seen.gone and self._is_last(route, row)):
            # Others are asked of a row like this one, or by the same caller: what came of it is taken back.
            self.rehearsal.put(moment)
            self._state = self.rehearsal.database.changes, moment.state
        return seen

    def _given(self, key: str, row: Mapping[str, Stored] | None) -> dict[Part, str]:
        """What a request has to give to either contract, beside its body, so that one of them can be left out alone."""
        found: dict[Part, str] = {}
        for route in self._each[key]:
            found |= {("query", name): text for name, text in given_to(route.query, row).items()}
            found |= {("header", name.lower()): text for name, text in given_to(route.headers, row).items()}
            if route.idempotency_key == "required":
                found["header", "idempotency-key"] = f"key-{self._count}"
        return found

    def _without(self, person: Person) -> None:
        """What is answered where a credential has ended."""
        read = (key for key, who in self._good.items() if person.who in who and key.startswith("GET "))
        key = next(iter(sorted(read, key=lambda each: NOBODY.who in self._good[each])), None)
        if key is not None and key in self._each:
            _, path, row = self._good[key][person.who]
            self.ask(key, self._each[key][0], person, path, None, row=row)

    def _is_last(self, route: Served, row: Mapping[str, Stored] | None) -> bool:
        """Whether a row was moved or removed of which there is no second one in its state. As it was before."""
        if row is None or rank(route)[0] < _MOVES or self._tables is None:
            return False
        table = next((each for each in self._plan.schema.tables if each.name == resource_of(route)), None)
        rows = [] if table is None else self._tables[1].get(table.name, [])
        state = None if table is None or table.machine is None else table.machine.column
        return sum(state is None or each.get(state) == row.get(state) for each in rows) < KEPT

    @property
    def _plan(self) -> ServicePlan:
        return self.plans[0]

    def _now(self) -> State:
        """The rows that there are: the same value as long as nothing is written."""
        changes = self.rehearsal.database.changes
        if self._state is None or self._state[0] != changes:
            self._state = changes, self.rehearsal.database.state()
        return self._state[1]

    @property
    def tables(self) -> dict[str, list[dict[str, Stored]]]:
        """The rows that there are."""
        changes = self.rehearsal.database.changes
        if self._tables is None or self._tables[0] != changes:
            self._tables = changes, self.rehearsal.database.tables()
        return self._tables[1]

    def _naming(self, place: str) -> dict[str, str]:
        """What names the version, where no request is taken that names none."""
        versions = self._plan.versions
        named = versions is not None and versions.by == place and versions.default is None
        return {versions.name.lower() if place == "header" else versions.name: versions.current} if (
            versions is not None and named
        ) else {}  # fmt: skip

    # ── What a request is made of ─────────────────────────────────────────────────────────────────────────────

    def _paths(self, route: Served) -> Iterator[tuple[str, dict[str, Stored] | None]]:
        """Paths to rows that there are, each with the row that it is of; one of no row where there are none."""
        tables = self.tables
        found = dict[str, dict[str, Stored] | None]()
        if any(isinstance(each, PathParameter) for each in route.segments):
            for row in self._rows(tables, resource_of(route)):
                texts = [text_of(self._plan, tables, each, row) for each in route.segments]
                if None not in texts:
                    found.setdefault(joined(self._plan, (each or "" for each in texts)), row)
        yield from islice(found.items(), ROWS)
        if not found or puts(route):
            yield path_of_new(self._plan, route, tables, self._count), None

    def _rows(self, tables: Mapping[str, list[dict[str, Stored]]], resource: str | None) -> Iterator[dict[str, Stored]]:
        table = next((each for each in self._plan.schema.tables if each.name == resource), None)
        if table is not None:
            state = table.machine.column if table.machine is not None else None
            yield from rows_of(tables, table.name, state, tuple(each.column for each in table.references), ROWS)
        yield {}
