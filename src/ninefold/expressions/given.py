"""Which of the values that a contract gives to the fields of a row only a statement can make."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ninefold.expressions.reads import needs_database
from ninefold.expressions.rewrite import walk
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Select, Typed, Variable


def in_statement(
    given: Mapping[str, Typed], resource: str, model: Model, besides: Collection[str] = ()
) -> dict[str, Typed]:
    """Of what the contract gives fields of a row, what the statement has to make: what reads other rows, or a computed
    field of its own one, or a field that the statement makes (such as those in `besides`)."""
    chosen = {
        name
        for name, typed in given.items()
        if needs_database(typed, (), model)
        or any(
            isinstance(node, Select) and _is_of(node, resource) and node.through == "computed" for node in walk(typed)
        )
    }
    reads = {name: fields_read(typed, resource, model) for name, typed in given.items()}
    while more := {name for name in given if name not in chosen and reads[name] & (chosen | set(besides))}:
        chosen |= more
    return {name: typed for name, typed in given.items() if name in chosen}


def fields_read(typed: Typed, resource: str, model: Model) -> frozenset[str]:
    """The fields of the row itself that an expression reads, also by way of computed ones."""
    found: set[str] = set()
    ahead = [typed]
    while ahead:
        for node in walk(ahead.pop()):
            if isinstance(node, Select) and _is_of(node, resource) and node.name not in found:
                found.add(node.name)
                if node.through == "computed":
                    ahead.append(model[resource].computed[node.name])
    return frozenset(found)


def _is_of(node: Select, resource: str) -> bool:
    return isinstance(node.operand, Variable) and node.operand.name == resource
