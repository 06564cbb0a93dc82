"""In which states conditions can hold, as far as that can be told without a row."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.expressions.evaluate import holds
from ninefold.expressions.reads import parts
from ninefold.expressions.tree import Call, Select, Typed, Variable


def possible(states: tuple[str, ...], field: str, resource: str, conditions: tuple[Typed, ...]) -> tuple[str, ...]:
    """Those of `states` in which none of the conditions is known to fail. A condition is taken apart at its `&&`, and
    what reads nothing but the state (`order.status == 'draft'`) is asked; what reads more may hold or not."""
    asked = [
        holds(part)
        for condition in conditions
        for part in _conjuncts(condition)
        if _reads_state_alone(part, field, resource)
    ]
    return tuple(state for state in states if all(each({resource: {field: state}}) for each in asked))


def _conjuncts(condition: Typed) -> Iterator[Typed]:
    if isinstance(condition, Call) and condition.function == "&&":
        for each in condition.arguments:
            yield from _conjuncts(each)
    else:
        yield condition


def _reads_state_alone(typed: Typed, field: str, resource: str) -> bool:
    match typed:
        case Select(operand=Variable(name=name), name=selected) if name == resource:
            return selected == field
        case Variable():
            return False
        case _:
            return all(_reads_state_alone(part, field, resource) for part in parts(typed))
