"""The resource that a command is about, and the values that are given for its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ninefold.cli.terminal import Unusable
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.plan.operator import OperatorOperations
from ninefold.plan.service import ServicePlan
from ninefold.values import Text, Timestamp, from_schema


def operations_of(plan: ServicePlan, resource: str) -> OperatorOperations:
    """What the operator does with a resource. Raises Unusable where nothing of that name is stored."""
    known = {each.resource: each for each in plan.operator_operations}
    if resource not in known:
        names = ", ".join(known) or "none: part 2 does not show what they are made of"
        help = did_you_mean(resource, known) or (f"the resources that are stored: {names}",)
        raise Unusable(f"the contract has no resource {resource} whose rows can be stored", *help)
    return known[resource]


def pairs(texts: Iterable[str], allowed: Sequence[str], what: str) -> dict[str, str]:
    """NAME=VALUE, each name of those that are `allowed` and given once. Raises Unusable."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Unusable(f"{text} is not NAME=VALUE", f"NAME is one of: {', '.join(allowed)}")
        if name not in allowed:
            raise Unusable(
                f"{name} is no {what}", *(did_you_mean(name, allowed) or (f"there are: {', '.join(allowed)}",))
            )
        if name in found:
            raise Unusable(f"{name} is given twice")
        found[name] = value
    return found


def given(written: Mapping[str, str], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON that texts of a command line mean: of a field that is a text, the text as it is; of another, what it
    is as JSON. What is no JSON stays a text, for the field's schema to refuse."""
    return {name: _given(text, schemas[name]) for name, text in written.items()}


def _given(text: str, schema: Any) -> Any:
    if isinstance(from_schema(schema), Text | Timestamp):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
