"""What a request is made of: a path to a row, a body with one thing otherwise, as bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from ninefold.development.samples import admits, resolved, sample, varied, whole
from ninefold.language.shapes import FORM
from ninefold.plan.operations import List, Operation, Read, Sweep
from ninefold.plan.routes import Body, Parameter, PathParameter, Route, Segment, Served
from ninefold.plan.service import ServicePlan
from ninefold.plan.writes import Ending, Put, Write
from ninefold.runtime.store.protocol import Stored

_ORDER: Final = {"POST": 0, "PUT": 1, "GET": 2, "HEAD": 2, "PATCH": 3, "DELETE": 5}

NOTHING: Final = object()
"""In the place of a value: there is none."""


def rank(route: Served) -> tuple[int, int]:
    """What makes rows first, then what shows them, what changes them, what moves them, and last what removes them."""
    holes = sum(isinstance(each, PathParameter) for each in route.segments)
    return (4 if route.method == "POST" and holes else _ORDER.get(route.method, 3), holes)


def resource_of(route: Route) -> str | None:
    """What an endpoint acts on."""
    operations: list[Operation] = [each.operation for each in route.admissions] if isinstance(route, Served) else []
    return next((each.resource for each in operations if isinstance(each, Read | List | Sweep | Write)), None)


def state_of(plan: ServicePlan, route: Served, row: Mapping[str, Stored] | None) -> str | None:
    """The resource of a row and its state, as they are told; None: it has none."""
    table = next((each for each in plan.schema.tables if each.name == resource_of(route)), None)
    if row is None or table is None or table.machine is None or table.machine.column not in row:
        return None
    state = row[table.machine.column]
    return f"{table.name} {state}" if isinstance(state, str) else None


def joined(plan: ServicePlan, segments: Iterable[str]) -> str:
    """The whole path, with what stands before those of all endpoints."""
    versions = plan.versions
    version = (versions.current,) if versions is not None and versions.by == "path" else ()
    return "/" + "/".join((*plan.base, *version, *segments))


def path_of(plan: ServicePlan, route: Served, text: str) -> str:
    """With the same text in each place that a request fills."""
    return joined(
        plan, (each if isinstance(each, str) else quote(text, safe="") + each.after for each in route.segments)
    )


def puts(route: Served) -> bool:
    """Whether a request to a path of no row makes one."""
    return any(isinstance(each.operation, Put) for each in route.admissions)


def ends_credentials(route: Served) -> bool:
    """Whether what callers are known by may end with a request."""
    writes = (each.operation for each in route.admissions)
    return any(isinstance(step, Ending) for each in writes if isinstance(each, Write) for step in each.follows)


def given_to(parameters: Sequence[Parameter], row: Mapping[str, Stored] | None) -> dict[str, str]:
    """The parameters that a request has to give: as the row has it, or what their schemas admit."""
    found = dict[str, str]()
    for each in parameters:
        value = None if row is None else row.get(each.name)
        value = sample(each.schema) if value is None or not admits(each.schema, value) else value
        if each.required and value is not None:
            found[each.name] = value if isinstance(value, str) else json.dumps(value)
    return found


def path_of_new(plan: ServicePlan, route: Served, tables: Mapping[str, list[dict[str, Stored]]], turn: int) -> str:
    """To a row that may be there: of values that its fields admit, other ones each turn, under rows that are there."""
    own, found = resource_of(route), list[str]()
    for each in route.segments:
        text = each if isinstance(each, str) else None
        if not isinstance(each, str) and each.resource != own:
            text = text_of(plan, tables, each, {})
        if not isinstance(each, str) and text is None:
            text = quote(_admitted(plan, each, turn), safe="") + each.after
        found.append(text or "")
    return joined(plan, found)


def _admitted(plan: ServicePlan, parameter: PathParameter, turn: int) -> str:
    """A text of which the schema of the field is known; else a number, which most types admit."""
    name = parameter.name.rpartition(".")[2]
    held = (each for stored in plan.stored if stored.resource == parameter.resource for each in stored.fields)
    schema = next((each.schema for each in held if each.column.name == name), None)
    value = sample(schema)
    match value:
        case str():
            return varied(value, schema, turn)
        case int() | float() if not isinstance(value, bool):
            return str(value + turn) if admits(schema, value + turn) else str(value)
        case _:
            return str(1 + turn)


def otherwise_written(schema: Any) -> Iterator[str]:
    """Texts that may be normalised."""
    usual = sample(schema)
    yield from (usual.upper(), f" {usual} ") if isinstance(usual, str) else ()


def text_of(
    plan: ServicePlan, tables: Mapping[str, list[dict[str, Stored]]], segment: Segment, row: Mapping[str, Stored]
) -> str | None:
    """What stands in a segment for a row; where it is not of the row, of one that the row refers to, or of any."""
    if isinstance(segment, str):
        return segment
    *owners, name = segment.name.split(".")
    value = row.get(name) if not owners else None
    if value is None:
        of = owners[-1] if owners else name
        table = next((each for each in plan.schema.tables if row and each.name == _table_of(plan, row, tables)), None)
        for each in table.references if table is not None else ():
            if of in (each.column, each.table):
                rows = (one for one in tables.get(each.table, []) if one.get(each.key) == row.get(each.column))
                referred = next(rows, None)
                value = None if referred is None else referred.get(name if owners else each.key)
    if value is None and segment.resource is not None:
        rows_there = tables.get(segment.resource, [])
        key = next((each.key[0] for each in plan.schema.tables if each.name == segment.resource and each.key), name)
        value = rows_there[-1].get(name, rows_there[-1].get(key)) if rows_there else None
    return (
        None
        if value is None
        else quote(value.hex() if isinstance(value, bytes) else str(value), safe="") + segment.after
    )


def _table_of(
    plan: ServicePlan, row: Mapping[str, Stored], tables: Mapping[str, list[dict[str, Stored]]]
) -> str | None:
    return next((each.name for each in plan.schema.tables if row in tables.get(each.name, [])), None)


def within(schema: Any, pointer: Sequence[str]) -> Any:
    """The schema of a member of what a schema describes."""
    root = schema
    for name in pointer:
        while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            schema = resolved(schema["$ref"], root)
        schema = schema.get("properties", {}).get(name, {}) if isinstance(schema, dict) else {}
    return whole(schema, root)


def put(document: dict[str, Any], pointer: Sequence[str], value: Any) -> dict[str, Any]:
    """A document with another value at a place, which is made where it is not there."""
    at = document
    for name in pointer[:-1]:
        below = at.get(name)
        at[name] = below = dict(below) if isinstance(below, dict) else {}
        at = below
    if value is NOTHING:
        at.pop(pointer[-1], None)
    else:
        at[pointer[-1]] = value
    return document


def with_numbers(document: Any, number: float, schema: Any) -> Any:
    """The same with another number in each place where the schema lets it be."""
    for place in tuple(_numbers(document, ())):
        other = _with(document, place, number)
        document = other if admits(schema, other) else document
    return document


def _numbers(value: Any, place: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict | list):
        for at, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(each, (*place, at))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place


def _with(value: Any, place: tuple[str | int, ...], number: float) -> Any:
    if not place:
        return number
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = {at: _with(each, place[1:], number) if at == place[0] else each for at, each in pairs}
    return found if isinstance(value, dict) else list(found.values())


def content_of(body: Body, document: Any) -> bytes:
    """A body as it is sent."""
    if body.media_types[0].lower().startswith(FORM) and isinstance(document, dict):
        texts = {name: each if isinstance(each, str) else json.dumps(each) for name, each in document.items()}
        return urlencode(texts).encode()
    if body.edits and isinstance(document, dict):
        document = [{"op": "add", "path": f"/{name}", "value": value} for name, value in document.items()]
    return json.dumps(document).encode()
