"""Typed expressions: the one form that SQL and Python are both made from. Data only; part of the plan.

Names are resolved, terms of the contract's language are gone: what is left is a small tree in which every
node has a type. `Variable` is a root (`order`, `caller`, `now`, `value`, `page`, a comprehension's own
variable …); what a root means is said by whoever evaluates the tree: a row of a table in SQL, an entry of the
environment in Python.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ninefold.values import Type


class _Node(msgspec.Struct, frozen=True, tag_field="node", omit_defaults=True):
    pass


class Constant(_Node, frozen=True, tag="constant"):
    """A literal. A timestamp is its text, a duration its microseconds, an empty list `[]`."""

    value: bool | int | float | str | list[object] | None
    type: Type


class Variable(_Node, frozen=True, tag="variable"):
    name: str
    type: Type


class Select(_Node, frozen=True, tag="select"):
    """`operand.name`: a field of a row, the rows that refer back to it, or a member of an object."""

    operand: Typed
    name: str
    type: Type
    through: Literal["field", "computed", "back", "member"] = "member"


class All(_Node, frozen=True, tag="all"):
    """`all(R)`: every row of a resource (that may be seen)."""

    resource: str
    type: Type


class Call(_Node, frozen=True, tag="call"):
    """A function or operator of the closed table, by the name it has there (`==`, `size`, `?:`, `+` …)."""

    function: str
    arguments: list[Typed]
    type: Type


class Comprehension(_Node, frozen=True, tag="comprehension"):
    """A macro over a list or over rows: `range.exists(variable, body)`."""

    macro: Literal["exists", "exists_one", "all", "filter", "map", "flatMap", "sortBy"]
    range: Typed
    variable: str
    body: Typed
    type: Type
    condition: Typed | None = None
    """The filter of the three-argument `map(x, condition, body)`."""


class MakeArray(_Node, frozen=True, tag="array"):
    items: list[Typed]
    type: Type


class MakeObject(_Node, frozen=True, tag="object"):
    """A map literal; a member without a value is left out."""

    members: list[tuple[str, Typed]]
    type: Type


Typed: TypeAlias = Constant | Variable | Select | All | Call | Comprehension | MakeArray | MakeObject
