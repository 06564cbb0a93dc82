"""What the operator gives, and the endpoints that cannot be served without it: those by whose plan it is read, in any
version, and those whose requests a rate counts by it."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType
from typing import Any, Final

import msgspec

from ninefold.checked.service import Checked
from ninefold.compile.places import traced
from ninefold.expressions.tree import Select, Variable
from ninefold.plan.limits import Limits
from ninefold.plan.routes import Route, Served
from ninefold.plan.service import OperatorValue
from ninefold.plan.versioning import Versions


def operator_values(
    checked: Checked, routes: tuple[Route, ...], versions: Versions | None, limits: Limits
) -> tuple[OperatorValue, ...]:
    """Of a contract that names none, nothing is looked through."""
    if not checked.operator:
        return ()
    older = () if versions is None else versions.versions
    needed: dict[str, dict[str, None]] = {each.name: dict.fromkeys(each.blocks) for each in checked.operator}
    for route in (*routes, *(route for version in older for route in version.routes)):
        if isinstance(route, Served):
            for name in _read_by(route):
                needed[name][route.key] = None
    for rate in limits.rates:
        for name in _read_by(rate.of):
            needed[name] |= dict.fromkeys(rate.endpoints)
    return tuple(OperatorValue(each.name, traced(*each.places), tuple(needed[each.name])) for each in checked.operator)


def _read_by(part: Any) -> Iterator[str]:
    """The names after `operator.` in all expressions of a part of a plan, its statements' among them."""
    left = [part]
    while left:
        each = left.pop()
        kind = type(each)
        if kind in _HOLD_NOTHING:
            continue  # nearly all that there is
        if kind is Select and isinstance(each.operand, Variable) and each.operand.name == "operator":
            yield each.name
        elif issubclass(kind, msgspec.Struct):
            left += msgspec.structs.astuple(each)
        elif kind is dict:
            left += each.values()
        elif issubclass(kind, tuple | list):
            left += each


_HOLD_NOTHING: Final = {str, int, bool, NoneType}
