"""Walking typed expressions, and putting one in the place of another."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ninefold.expressions.reads import parts
from ninefold.expressions.tree import (
    All,
    Call,
    Comprehension,
    Constant,
    MakeArray,
    MakeObject,
    Select,
    Typed,
    Variable,
)
from ninefold.values import Anything, Array, Type


def walk(typed: Typed) -> Iterator[Typed]:
    """The expression and everything in it, outermost first."""
    yield typed
    for part in parts(typed):
        yield from walk(part)


def free_variables(typed: Typed) -> set[str]:
    """The roots that an expression reads: its variables, less those that its comprehensions bring."""
    match typed:
        case Variable():
            return {typed.name}
        case Select():
            return free_variables(typed.operand)
        case Call():
            return set().union(*map(free_variables, typed.arguments))
        case Comprehension():
            inner = free_variables(typed.body)
            if typed.condition is not None:
                inner |= free_variables(typed.condition)
            return free_variables(typed.range) | (inner - {typed.variable})
        case MakeArray():
            return set().union(*map(free_variables, typed.items))
        case MakeObject():
            return set().union(*(free_variables(value) for _, value in typed.members))
        case Constant() | All():
            return set()


def rewrite(typed: Typed, change: Callable[[Typed], Typed | None]) -> Typed:
    """The expression with `change` applied from outside in: what it gives instead of a node stays as it is,
    and where it gives None the node's own parts are rewritten."""
    changed = change(typed)
    if changed is not None:
        return changed
    match typed:
        case Select():
            return msgspec.structs.replace(typed, operand=rewrite(typed.operand, change))
        case Call():
            return msgspec.structs.replace(typed, arguments=[rewrite(each, change) for each in typed.arguments])
        case Comprehension():
            variable = typed.variable

            def within(node: Typed) -> Typed | None:
                # The comprehension's own variable hides a root of the same name.
                return node if isinstance(node, Variable) and node.name == variable else change(node)

            return msgspec.structs.replace(
                typed,
                range=rewrite(typed.range, change),
                body=rewrite(typed.body, within),
                condition=None if typed.condition is None else rewrite(typed.condition, within),
            )
        case MakeArray():
            return msgspec.structs.replace(typed, items=[rewrite(each, change) for each in typed.items])
        case MakeObject():
            return msgspec.structs.replace(
                typed, members=[(name, rewrite(value, change)) for name, value in typed.members]
            )
        case Constant() | Variable() | All():
            return typed


def substitute(typed: Typed, root: str, by: Typed) -> Typed:
    """The expression with another in the place of a root. Where a comprehension's own variable has the name of
    something that the other one reads, it is given another name."""
    read = free_variables(by)

    def change(node: Typed) -> Typed | None:
        match node:
            case Variable(name=name) if name == root:
                return by
            case Comprehension(variable=name, body=body, condition=condition) if name in read and name != root:
                other = f"{name}'"
                renamed = Variable(name=other, type=_item_of(node))
                return rewrite(
                    msgspec.structs.replace(
                        node,
                        variable=other,
                        body=substitute(body, name, renamed),
                        condition=None if condition is None else substitute(condition, name, renamed),
                    ),
                    change,
                )
            case _:
                return None

    return rewrite(typed, change)


def _item_of(comprehension: Comprehension) -> Type:
    items = comprehension.range.type
    return items.items if isinstance(items, Array) else Anything()
