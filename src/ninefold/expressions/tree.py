"""Typed expressions: the one form that SQL and Python are both made from. Data only; part of the plan.

Names are resolved, terms of the contract's language are gone: what is left is a small tree in which every
node has a type. `Variable` is a root (`order`, `caller`, `now`, `value`, `page`, a comprehension's own
variable …); what a root means is said by whoever evaluates the tree: a row of a table in SQL, an entry of the
environment in Python. Here, too, is how such trees are walked, rewritten, and written as a contract would.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal, TypeAlias, assert_never

import msgspec

from ninefold.values import Type


class _Node(msgspec.Struct, frozen=True, tag_field="node", omit_defaults=True):
    pass


class Constant(_Node, frozen=True, tag="constant"):
    """A literal. A timestamp is its text, a duration its microseconds, an empty list `[]`."""

    value: bool | int | float | str | list[object] | dict[str, object] | None
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


Macro: TypeAlias = Literal["exists", "exists_one", "all", "filter", "map", "flatMap", "sortBy", "transformMap"]


class Comprehension(_Node, frozen=True, tag="comprehension"):
    """A macro over a list, over rows or over the members of an object: `range.exists(variable, body)`."""

    macro: Macro
    range: Typed
    variable: str
    body: Typed
    type: Type
    condition: Typed | None = None
    """The filter of the three-argument `map(x, condition, body)`."""
    place: str | None = None
    """The variable that is where the item is: its position in a list, from 0, or its name in an object."""

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,) if self.place is None else (self.place, self.variable)


class MakeArray(_Node, frozen=True, tag="array"):
    items: list[Typed]
    type: Type


class MakeObject(_Node, frozen=True, tag="object"):
    """A map literal; a member without a value is left out. `nulls`: the members that are shown as `null` then, where
    they have no value or are an error."""

    members: list[tuple[str, Typed]]
    type: Type
    nulls: tuple[str, ...] = ()


Typed: TypeAlias = Constant | Variable | Select | All | Call | Comprehension | MakeArray | MakeObject


def parts(typed: Typed) -> Sequence[Typed]:
    """The expressions directly inside one."""
    match typed:
        case Constant() | Variable() | All():
            return ()
        case Select(operand=operand):
            return (operand,)
        case Call(arguments=arguments):
            return arguments
        case Comprehension(range=range_, condition=condition, body=body):
            return (range_, body) if condition is None else (range_, condition, body)
        case MakeArray(items=items):
            return items
        case MakeObject(members=members):
            return [member for _, member in members]


def walk(typed: Typed) -> Iterator[Typed]:
    """The expression and everything in it, outermost first."""
    left = [typed]
    while left:
        each = left.pop()
        yield each
        left += reversed(parts(each))


def conjuncts(condition: Typed) -> Iterator[Typed]:
    """What its outermost `&&` join; itself where there is none."""
    if isinstance(condition, Call) and condition.function == "&&":
        for each in condition.arguments:
            yield from conjuncts(each)
    else:
        yield condition


def free_variables(typed: Typed) -> set[str]:
    """The roots that an expression reads: its variables, less those that its comprehensions bring."""
    match typed:
        case Variable():
            return {typed.name}
        case Comprehension():
            inner = free_variables(typed.body)
            if typed.condition is not None:
                inner |= free_variables(typed.condition)
            return free_variables(typed.range) | inner.difference(typed.variables)
        case _:
            return set().union(*map(free_variables, parts(typed)))


def is_apart(typed: Typed, rows: Collection[str]) -> bool:
    """Whether an expression has one value whatever `rows` are, which are its roots: it reads none of them, nor any
    others."""
    return free_variables(typed).isdisjoint(rows) and not any(isinstance(each, All) for each in walk(typed))


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
            own = typed.variables

            def within(node: Typed) -> Typed | None:
                # The comprehension's own variable hides a root of the same name.
                return node if isinstance(node, Variable) and node.name in own else change(node)

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
    return _substitute(typed, root, free_variables(by), lambda _: by)


def _substitute(typed: Typed, root: str, read: Collection[str], by: Callable[[Variable], Typed]) -> Typed:
    """`read`: the roots of what takes the place of each mention."""

    def change(node: Typed) -> Typed | None:
        match node:
            case Variable(name=name) if name == root:
                return by(node)
            case Comprehension(variables=own) if taken := {*read}.intersection(own) - {root}:
                return rewrite(_renamed(node, min(taken)), change)
            case _:
                return None

    return rewrite(typed, change)


def _renamed(node: Comprehension, name: str) -> Comprehension:
    """A macro with another name of one of its variables, which has the type that it had at each mention."""
    other = f"{name}'"

    def renamed(part: Typed) -> Typed:
        return _substitute(part, name, (other,), lambda mention: Variable(name=other, type=mention.type))

    return msgspec.structs.replace(
        node,
        variable=other if name == node.variable else node.variable,
        place=other if name == node.place else node.place,
        body=renamed(node.body),
        condition=None if node.condition is None else renamed(node.condition),
    )


_OPERATORS = ("||", "&&", "==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%")


def words(typed: Typed) -> str:
    """An expression in one line. Operators inside operators stand in parentheses, whether CEL needs them or not."""
    match typed:
        case Constant(value=value):
            return msgspec.json.encode(value).decode()
        case Variable(name=name):
            return name
        case Select(operand=operand, name="$count"):
            return f"{_inner(operand)}.items.size()"
        case Select(operand=operand, name=name):
            return f"{_inner(operand)}.{name}"
        case All(resource=resource):
            return f"all({resource})"
        case Call(function="?:", arguments=[condition, yes, no]):
            return f"{_inner(condition)} ? {_inner(yes)} : {_inner(no)}"
        case Call(function="[]", arguments=[operand, index]):
            return f"{_inner(operand)}[{words(index)}]"
        case Call(function=function, arguments=[left, right]) if function in _OPERATORS:
            return f"{_inner(left)} {function} {_inner(right)}"
        case Call(function="!" | "-" as function, arguments=[operand]):
            return f"{function}{_inner(operand)}"
        case Call(function="narrow" | "is true" | "names of", arguments=[operand]):
            return words(operand)  # what is looked at besides has no words in CEL
        case Call(function="is of type", arguments=[operand, Constant(value=str() as name)]):
            return f"type({words(operand)}) == {name}"
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(map(words, arguments))})"
        case Comprehension(range=range_, variables=own, body=body, condition=condition):
            macro = "transformList" if typed.macro == "map" and typed.place is not None else typed.macro
            inside = [*own, *([words(condition)] if condition is not None else []), words(body)]
            return f"{_inner(range_)}.{macro}({', '.join(inside)})"
        case MakeArray(items=items):
            return f"[{', '.join(map(words, items))}]"
        case MakeObject(members=members, nulls=nulls):
            told = ((name, f"nullable({words(value)})" if name in nulls else words(value)) for name, value in members)
            return "{" + ", ".join(f"{name}: {value}" for name, value in told) + "}"
        case _:
            assert_never(typed)


def _inner(typed: Typed) -> str:
    text = words(typed)
    while isinstance(typed, Call) and typed.function in ("narrow", "is true", "names of"):
        typed = typed.arguments[0]
    is_wide = isinstance(typed, Call) and (typed.function in _OPERATORS or typed.function in ("?:", "is of type"))
    return f"({text})" if is_wide else text


def with_inner_quotes(text: str) -> str:
    """A text as an expression in YAML: `Not found` becomes `"'Not found'"`."""
    return f"\"'{text}'\"" if "'" not in text else f"'\"{text.replace(chr(39), chr(39) * 2)}\"'"
