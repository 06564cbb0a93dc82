"""`before.R`: the row that an operation acts on, as it was.

It is known before the statement that changes the row runs: in that statement, and in all after it, its values are
binds, under the root `before`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ninefold.expressions.rewrite import rewrite, walk
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.values import Object, Row

BEFORE: Final = "before"


def before(resource: str, maybe: bool) -> Object:
    """The type of the root. `maybe`: there may have been no row before."""
    return Object(members={resource: Row(resource=resource, nullable=maybe)})


def is_as_it_was(typed: Typed) -> bool:
    """Whether this is `before.R`."""
    match typed:
        case Select(operand=Variable(name=name, type=Object()), type=Row()):
            return name == BEFORE
        case _:
            return False


def fields_as_they_were(typed: Typed, resource: str) -> Iterator[Select]:
    """The fields that an expression reads of the row as it was."""
    for node in walk(typed):
        match node:
            case Select(operand=Select(name=name) as row) if name == resource and is_as_it_was(row):
                yield node
            case _:
                pass


def reads_before(typed: Typed) -> bool:
    return any(map(is_as_it_was, walk(typed)))


def loaded(typed: Typed) -> Typed:
    """The expression with computed fields of the row as it was read like stored ones: they were worked out then."""

    def change(node: Typed) -> Typed | None:
        match node:
            case Select(operand=row, name=name, through="computed") if is_as_it_was(row):
                return Select(row, name, node.type, "member")
            case _:
                return None

    return rewrite(typed, change)


def unwritten(typed: Typed) -> Typed:
    """The expression over a row that is as it was: it is not written, or not yet."""

    def change(node: Typed) -> Typed | None:
        if is_as_it_was(node) and isinstance(node, Select):
            return Variable(node.name, Row(resource=node.name))
        return None

    return rewrite(typed, change)


def computed_before(typed: Typed, resource: str) -> Typed:
    """The expression with what is computed of a row as it was computed of it before: of one that is deleted, what else
    there is may be gone with it."""
    was = Select(Variable(BEFORE, before(resource, maybe=False)), resource, Row(resource=resource))

    def change(node: Typed) -> Typed | None:
        match node:
            case Select(operand=Variable(name=name), name=field, through="computed") if name == resource:
                return Select(was, field, node.type, "computed")
            case _:
                return None

    return rewrite(typed, change)
