"""What bodies of requests hold: good ones, others each time, and the same with one thing otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from typing import Any

from ninefold.development.samples import sample, varied
from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.bounds import telling
from ninefold.diff.making import NOTHING, otherwise_written, put, resource_of, with_numbers, within
from ninefold.diff.said import Said
from ninefold.plan.operations import List
from ninefold.plan.routes import Body, Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.writes import SignIn
from ninefold.runtime.store.protocol import Stored
from ninefold.values import Row, required


@dataclass
class Bodies:
    """`tables`: the rows that there are. `known`: by its resource, what a row was made of."""

    plan: ServicePlan
    said: Said
    tables: Callable[[], Mapping[str, list[dict[str, Stored]]]]
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: int = 0

    def taken(self, route: Served, body: Body | None, document: Any) -> None:
        """What a row is made of is known to who signs in to it."""
        resource = resource_of(route)
        if body is None or resource is None or not _makes(route):
            return
        given = {each.field: _at(document, each.pointer) for each in body.fields}
        self.known.setdefault(resource, {name: value for name, value in given.items() if value is not None})

    def usual(self, route: Served, body: Body, turn: int) -> dict[str, Any]:
        """What the body takes, other values each time."""
        usual = sample(body.schema)
        found: dict[str, Any] = dict(usual) if isinstance(usual, dict) else {}
        known = self.known.get(resource_of(route) or "", {}) if _signs_in(route) else {}
        for each in (*body.fields, *body.beside):
            if each.fixed or not each.pointer:
                continue
            schema = within(body.schema, each.pointer)
            if each.field in known:
                value = known[each.field]
            elif isinstance(each.type, Row):
                value = self._some(each.type.resource, turn)
            else:
                value = sample(schema)
                if isinstance(schema, dict) and schema.get("enum"):
                    value = schema["enum"][turn % len(schema["enum"])]
                elif isinstance(value, str):
                    value = varied(value, schema, turn)
            if value is not None:
                put(found, each.pointer, value)
        self.made += 1
        number = (None, *self.said.numbers)[self.made % (1 + len(self.said.numbers))]
        if number is not None:
            found = with_numbers(found, number, body.schema)
        return found

    def _some(self, resource: str, turn: int) -> Any:
        table = next((each for each in self.plan.schema.tables if each.name == resource), None)
        rows = self.tables().get(resource, [])
        return rows[turn % len(rows)].get(table.key[0]) if table and table.key and rows else None

    def otherwise(self, route: Served, body: Body, both: Sequence[Body], turn: Callable[[], int]) -> Iterator[Any]:
        """Good bodies with one thing otherwise, and one without anything."""
        yield {**self.usual(route, body, turn()), "nobody_knows_this": 1}
        yield sample(body.schema)
        yield [1]
        yield {}
        fields = {one.pointer: one for each in both for one in (*each.fields, *each.beside) if one.pointer}
        for pointer, each in fields.items():
            schemas = [within(one.schema, pointer) for one in both]
            values: Iterable[Any] = telling(schemas, (*self.said.numbers, *self.said.texts))
            if self.said.forms:
                values = (*otherwise_written(schemas[-1]), *values)
            if len(schemas) == 2 and schemas[0] == schemas[1]:
                values = (*islice(values, 3), *self.columns(each.field), *self.said.numbers, *self.said.texts, None)
            for value in values:
                yield put(self.usual(route, body, turn()), pointer, value)
            yield put(self.usual(route, body, turn()), pointer, NOTHING)

    def columns(self, name: str) -> Iterator[Any]:
        """Values that rows have under a name: what is unique is taken."""
        for rows in self.tables().values():
            yield from (row[name] for row in rows[-2:] if isinstance(row.get(name), str | int))

    def narrowing(self, routes: Iterable[Served], name: str) -> Iterator[Any]:
        """For a parameter that narrows a list: values of its type that rows have, of whichever field it asks."""
        operations = [(resource_of(each), one.operation) for each in routes for one in each.admissions]
        of = [
            (resource, required(one.type))
            for resource, each in operations if isinstance(each, List) for one in each.filters if one.name == name
        ]  # fmt: skip
        for table in self.plan.schema.tables:
            for column in (each for each in table.columns if (table.name, required(each.type)) in of):
                values = (row.get(column.name) for row in self.tables().get(table.name, [])[-2:])
                yield from (each for each in values if isinstance(each, str | int | float))


def _makes(route: Served) -> bool:
    return route.method in ("POST", "PUT") and not _signs_in(route)


def _signs_in(route: Served) -> bool:
    return any(isinstance(each.operation, SignIn) for each in route.admissions)


def _at(document: Any, pointer: Sequence[str]) -> Any:
    for name in pointer:
        document = document.get(name) if isinstance(document, dict) else None
    return document
