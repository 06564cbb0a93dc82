"""Meaning "unknown members": a member is unknown where no schema names it that the value has to keep. `refused`
refuses exactly the valid values of which `ignored` drops something, however many parts of a schema describe the same
member."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import pytest

from ninefold.checks.schemas import SharedSchemas, schema_of
from ninefold.contract.service import Contract
from ninefold.language.fact import value_of
from ninefold.pipeline import compile_document
from ninefold.runtime.messages.named import named
from ninefold.runtime.messages.schemas import Schemas

NAMES: Final = ("a", "b", "c")
FIELDS: Final = 40
VALUES: Final = 25


def schema(random: Random, depth: int, types: tuple[str, ...] = ()) -> dict[str, Any]:
    """One of an object, in parts that describe the same members."""
    if depth == 0 or random.random() < 0.15:
        return {"type": "integer"}
    members = {each: schema(random, depth - 1, types) for each in NAMES if random.random() < 0.5}
    found: dict[str, Any] = {"type": "object", "properties": members}
    if random.random() < 0.5:
        found["allOf"] = [schema(random, depth, types) for _ in range(random.randint(1, 2))]
        found["allOf"] = [each for each in found["allOf"] if each["type"] == "object"] or [{"type": "object"}]
    if types and random.random() < 0.4:
        found = {"$ref": f"#/types/{random.choice(types)}", **found}
    if random.random() < 0.2:
        found["required"] = [random.choice(NAMES)]
    return found


def value(random: Random, depth: int) -> Any:
    if depth == 0 or random.random() < 0.3:
        return 1
    return {each: value(random, depth - 1) for each in (*NAMES, "d") if random.random() < 0.4}


def contract(random: Random, members: str) -> Contract:
    """A contract of which fields have such schemas."""
    types: dict[str, Any] = {}
    for name in ("one", "two"):
        fields = {each: schema(random, 2) for each in NAMES if random.random() < 0.7} or {"a": {"type": "integer"}}
        types[name] = {"type": "object", "properties": fields}
        types[name] |= {"required": [next(iter(fields))]} if random.random() < 0.3 else {}
    fields = {f"f{number}": schema(random, 2, tuple(types)) for number in range(FIELDS)}
    said = {
        "resources": {
            "types": types,
            "item": {"primary key": "id", "fields": {"id": {"type": "string"}, **fields}},
        },
        "endpoints": {"requests": {"unknown members": members}},
    }
    return compile_document("contract.yaml", json.dumps(said).encode()).contract


def schemas(of: Contract) -> Iterator[tuple[str, dict[str, Any]]]:
    shared = SharedSchemas(of)
    (item,) = (each for each in value_of(of.resources.resources) or () if each.name == "item")
    yield from ((each.name, schema_of(each, shared)) for each in value_of(item.fields) or ())


@pytest.mark.parametrize("seed", range(2))
def test_what_is_refused_is_what_would_be_ignored(seed: int) -> None:
    opened, closed = (dict(schemas(contract(Random(seed), each))) for each in ("ignored", "refused"))
    random, told = Random(f"values {seed}"), {True: 0, False: 0}
    assert len(opened) == FIELDS + 1
    for field in opened.keys() - {"id"}:
        ready, strict = Schemas(opened[field]), Schemas(closed[field])
        for _ in range(VALUES):
            given = value(random, 3)
            if ready.is_valid(given):
                nothing_is_dropped = named(ready, given) == given
                told[nothing_is_dropped] += 1
                assert strict.is_valid(given) == nothing_is_dropped, (opened[field], closed[field], given)
            else:
                assert not strict.is_valid(given)
    assert min(told.values()) > 20, told
