"""The order of a list that a request chooses: its switches, and what its cursors keep and are bound to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan import operations as plan
from ninefold.values import Value
from ninefold.values.texts import from_text


@dataclass(frozen=True, slots=True)
class Order:
    """`switches` put the rows into it, `after` begin behind a cursor. `keys`: the columns of the result that a cursor
    keeps."""

    switches: frozenset[str]
    after: frozenset[str]
    keys: tuple[int, ...]
    bound_to: str


Named: TypeAlias = Mapping[str, Order]


class Orders:
    """Those of one list. A name that is no order has been refused, and is passed over."""

    __slots__ = ("_combined", "_named", "_parameter", "_reverse", "_reversed", "_reversing")

    def __init__(self, operation: plan.List) -> None:
        self._parameter = operation.sort_parameter
        self._combined = operation.combined
        self._named: Named = {name: _whole(each) for name, each in operation.by_name().items()}
        self._reversed: Named = {name: _whole(each) for name, each in operation.reversed_by_name().items()}
        reverse = operation.reverse
        self._reverse = None if reverse is None else reverse.parameter
        self._reversing = () if reverse is None else tuple(from_text(reverse.type, each) for each in reverse.values)

    def chosen(self, values: Mapping[str, Value]) -> Order:
        """By the values of the declared parameters."""
        chosen = None if self._parameter is None else values.get(self._parameter)
        reverses = self._reverse is not None and values.get(self._reverse) in self._reversing
        if self._combined is not None:
            names = [each for each in chosen if isinstance(each, str)] if isinstance(chosen, list) else []
            return _together(self._combined, names, reverses)
        name = chosen if isinstance(chosen, str) and chosen in self._named else ""
        return self.called(name, reverses)

    def called(self, name: str, reverses: bool = False) -> Order:
        """An order that stands alone."""
        return (self._reversed if reverses else self._named)[name]


def _whole(sort: plan.Sort) -> Order:
    switches, after = frozenset((f"sort {sort.name}",)), frozenset((f"after {sort.name}",))
    return Order(switches, after, sort.keys, "\n".join(sort.bound_to))


def _together(combined: plan.Combined, names: Iterable[str], reverses: bool) -> Order:
    """Several orders, one behind the other, and what breaks their ties."""
    orders = [combined.orders[name] for name in names if name in combined.orders] or [combined.orders[""]]
    keys: dict[int, str] = {}
    for name in (each for order in orders for each in order):
        own = combined.keys[name]
        keys.setdefault(own.column, own.reverse if reverses and own.reverse is not None else name)
    for name in combined.ties:
        keys.setdefault(combined.keys[name].column, name)
    named = [*enumerate(keys.values())]
    switches = {f"sort {number} {name}" for number, name in named}
    after = {f"after {number} {name}" for number, name in named[:-1]}
    after |= {f"last {number} {name}" for number, name in named[-1:]}
    told = (combined.keys[name].told for _, name in named)
    computed = dict.fromkeys(each for _, name in named for each in combined.keys[name].computed)
    bound_to = "\n".join((*combined.bound_to, *told, *computed))
    return Order(frozenset(switches), frozenset(after), tuple(keys), bound_to)
