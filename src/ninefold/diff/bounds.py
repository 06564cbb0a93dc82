"""Values at the bounds of schemas: those that one of two contracts takes and the other does not, and their like."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from ninefold.development.samples import CANDIDATES, admits, of_pattern, resolved, sample, whole
from ninefold.plan.operations import List
from ninefold.plan.routes import Served

REPEATED: Final = 100
"""How often at most a part of a text that a pattern matches is repeated."""

ELEMENTS: Final = 32
"""Elements with which a list is tried, of which the two schemas tell which are taken."""

OF_EACH_TYPE: Final[tuple[Any, ...]] = ("text", 1, 1.5, True, None, [], {})

MOST: Final = 8
"""Values of one place of a body."""

LONGEST: Final = 10_000
"""Characters, or elements, of a value that is made."""


def telling(schemas: Sequence[Any], more: Iterable[Any] = ()) -> tuple[Any, ...]:
    """Values for what one schema or two say: first those that only one admits, then those that any does, then others.
    `more`: what else may tell them apart, such as the numbers of a condition."""
    made = [*(value for schema in schemas for value in bounds(schema)), *more, *OF_EACH_TYPE]
    found: dict[str, tuple[int, Any]] = {}
    for value in made:
        taken = {admits(schema, value) for schema in schemas}
        rank = 0 if len(taken) > 1 else 1 if True in taken else 2
        found.setdefault(json.dumps(value), (rank, value))
    return tuple(value for _, value in sorted(found.values(), key=lambda each: each[0]))[:MOST]


def of_query(routes: Iterable[Served], name: str) -> Iterator[Any]:
    """The schemas of a query parameter of endpoints, that of the size of a page among them."""
    for each in routes:
        yield from (one.schema for one in each.query if one.name == name)
        lists = (one.operation for one in each.admissions if isinstance(one.operation, List))
        for paging in (one.paging for one in lists if one.paging.size == name):
            most = {} if paging.maximum is None else {"maximum": paging.maximum}
            yield {"type": "integer"} | ({} if paging.said.get("clamps") else {"minimum": paging.minimum} | most)


def given(value: Any) -> str:
    """What a request gives for a value; several are given with commas."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ",".join(value)
    return value if isinstance(value, str) else json.dumps(value)


def bounds(schema: Any) -> Iterator[Any]:
    """Values at the bounds of a schema, on both sides of each."""
    yield from _bounds(schema, schema, 0)


def _bounds(schema: Any, root: Any, depth: int) -> Iterator[Any]:
    if not isinstance(schema, dict) or depth > 4:
        return
    if isinstance(reference := schema.get("$ref"), str):
        yield from _bounds(resolved(reference, root), root, depth + 1)
    for key in ("oneOf", "anyOf", "allOf"):
        for form in schema.get(key, ()):
            yield from _bounds(form, root, depth + 1)
    yield from (schema[key] for key in ("const", "default") if key in schema)
    yield from schema.get("enum", ())
    yield from _numbers(schema)
    yield from _texts(schema)
    yield from _lists(schema, root)
    yield from _objects(schema, root, depth)


def _numbers(schema: Mapping[str, Any]) -> Iterator[float]:
    for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if isinstance(bound := schema.get(key), int | float):
            yield from (bound, bound - 1, bound + 1)
    if isinstance(step := schema.get("multipleOf"), int | float):
        yield from (step, step * 1.5 if isinstance(step, float) else step + 1)


def _texts(schema: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(pattern := schema.get("pattern"), str):
        yield from of_pattern(pattern, 0)
        yield from islice(of_pattern(pattern, 0, REPEATED), 1)
    if "format" in schema:
        yield from CANDIDATES
    for key in ("minLength", "maxLength"):
        if isinstance(bound := schema.get(key), int) and bound < LONGEST:
            yield from ("a" * max(each, 0) for each in (bound, bound - 1, bound + 1))


def _lists(schema: Mapping[str, Any], root: Any) -> Iterator[list[Any]]:
    items = whole(schema.get("items", {}), root)
    one = sample(items)
    for key in ("minItems", "maxItems"):
        if isinstance(bound := schema.get(key), int) and bound < 1_000:
            yield from ([one] * max(each, 0) for each in (bound, bound - 1, bound + 1))
    if schema.get("type") == "array":
        yield from ([each] for each in _of_items(items))
        yield [one, one]


def _objects(schema: Mapping[str, Any], root: Any, depth: int) -> Iterator[dict[str, Any]]:
    """What the schema admits, with one member at its bounds."""
    usual = sample(whole(schema, root))
    for name, own in schema.get("properties", {}).items() if isinstance(usual, dict) else ():
        yield from ({**usual, name: value} for value in _bounds(own, root, depth + 1))


def _of_items(schema: Any) -> tuple[Any, ...]:
    return tuple(islice(bounds(schema), ELEMENTS))
