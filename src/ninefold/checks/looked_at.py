"""How often a validator looks at one value, be it at what is deep inside: by what `unevaluatedProperties` asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ninefold.checks.findings import Findings
from ninefold.contract.shared_types import schemas_in, types_in
from ninefold.diagnostics.codes import VALUE_TOO_LARGE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.language.fact import value_of
from ninefold.language.json_schema import VALUES
from ninefold.language.schemas import Schema
from ninefold.values.keywords import BY_NAME, SAME_VALUE, UNEVALUATED

MOST_TIMES: Final = 64
"""How often one value is looked at. Without a bound schemas in each other double it, and some thirty of them take
minutes for a body of a few hundred bytes."""

AGAIN: Final = 2
"""What is weighed to know which members are named is looked at once more to know whether the value is valid."""

MUCH: Final = 16
"""The same of what asks that itself: each member is asked of it anew."""

_SEVERAL: Final = SAME_VALUE | {"$ref"}
_WEIGHED: Final = frozenset({"anyOf", "oneOf", "if", "then", "else"})


def check_looks(findings: Findings) -> None:
    """Says of the values that would be looked at more often, each where it comes to be so."""
    types = findings.contract.shared_types
    often = {name for name, each in types.bounded.items() if _is_often(value_of(each.schema), findings)}
    for name in types.bounded:
        schema = value_of(types.by_name[name].schema)
        if name in often and schema is not None and often.isdisjoint(types_in(schema.json)):
            _say(name, types.by_name[name].span, findings)
    for resource in findings.resources:
        for field in value_of(resource.fields) or ():
            schema = value_of(field.schema)
            if schema is None or not types.bounded.keys() >= (within := set(types_in(schema.json))):
                continue
            if often.isdisjoint(within) and _is_often(schema, findings):
                _say(f"{resource.name}.{field.name}", field.span, findings)


def _say(name: str, span: Span, findings: Findings) -> None:
    label = f"more than {MOST_TIMES} times, to see which members nothing names"
    findings.say(VALUE_TOO_LARGE, f"a value of `{name}` would be looked at too often", Label(span, label))


def _is_often(schema: Schema | None, findings: Findings) -> bool:
    if schema is None or not any(_SEVERAL & each.keys() for each in schemas_in(schema.json)):
        return False
    endpoints = findings.contract.endpoints
    said = {value_of(endpoints.requests_of(each).unknown_members) for each in findings.survey.endpoints}
    every = {findings.schemas, *(findings.schemas.where(each.text) for each in said if each is not None)}
    return any(too_often(each.inlined(schema.json)) for each in every)


def too_often(schema: Any) -> bool:
    """Whether a schema, with all that it refers to inside it, has a value looked at more than `MOST_TIMES` times."""
    return _looks(schema, {})[0] > MOST_TIMES


def _looks(schema: Any, known: dict[int, tuple[int, bool]]) -> tuple[int, bool]:
    """How often what is looked at most often is; and whether the schema, or one for the same value, asks what no other
    names."""
    if not isinstance(schema, dict):
        return 1, False
    found = known.get(id(schema))
    if found is None:
        most, asks = 1, not UNEVALUATED.isdisjoint(schema)
        for key, inner in _inside(schema):
            times, inner_asks = _looks(inner, known)
            if key in SAME_VALUE and asks:
                times *= MUCH if inner_asks else AGAIN if key in _WEIGHED else 1
            most = max(most, min(times, MOST_TIMES + 1))
        found = known[id(schema)] = (
            most,
            asks or any(_looks(inner, known)[1] for key, inner in _inside(schema) if key in SAME_VALUE),
        )
    return found


def _inside(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas inside one, by keyword."""
    for key, value in schema.items():
        if key in VALUES:
            continue
        if isinstance(value, list):
            yield from ((key, each) for each in value)
        elif isinstance(value, dict):
            yield from ((key, each) for each in (value.values() if key in BY_NAME else (value,)))
