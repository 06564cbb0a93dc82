"""Which of two conditions holds more often: by what they are joined of, else by all values that they tell apart.

A proof over values takes what a condition reads as independent: what is found to be wider or narrower is so, and what
is found to be neither may still be, and is not said to be proved where it reads more than comparisons with constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise, product
from typing import Any, Final, Literal, TypeAlias

from ninefold.diff.domains import Domains, nothing_known
from ninefold.diff.normal import Normal, expression
from ninefold.expressions.ast import Ast, Binary, Conditional, ListLiteral, Unary
from ninefold.expressions.ast import Literal as Constant

Relation: TypeAlias = Literal["same", "wider", "narrower", "other", "unproved"]

MOST_CASES: Final = 20_000

_OTHER: Final = "any other value"

_BESIDE: Final = "beside"
"""What the path of two values begins with that are compared: which of them is more, as a number beside 0."""

_NEITHER: Final = "neither has a value"
"""Of two values: then they are equal, and neither is more. None: they are not equal, and have no order."""

_COMPARING: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def relation(old: Ast | None, new: Ast | None, known: Domains = nothing_known) -> Relation:
    """`None`: it always holds. `known`: which values something has that they read."""
    if old is None or new is None:
        return "same" if old is new else "narrower" if old is None else "wider"
    if expression(old) == expression(new):
        return "same"
    reads = _Reads()
    reads.look(old)
    reads.look(new)
    domains = {path: known(path) or tuple(_domain(values)) for path, values in reads.values.items()}
    domains |= {path: (*domains[path], _NEITHER) for path in domains if path[0] == _BESIDE}
    domains |= dict.fromkeys(reads.opaque, (False, True, None))
    count = 1
    for values in domains.values():
        count *= len(values)
        if count > MOST_CASES:
            return "unproved"
    lost, got = False, False
    names = tuple(domains)
    for values in product(*domains.values()):
        given = dict(zip(names, values, strict=True))
        before, after = _holds(old, given) is True, _holds(new, given) is True
        lost, got = lost or (before and not after), got or (after and not before)
        if lost and got:
            return "unproved" if reads.opaque or any(each[0] == _BESIDE for each in domains) else "other"
    return "narrower" if lost else "wider" if got else "same"


class _Reads:
    """What two conditions read: constants that something is compared with, and what else is true or false."""

    def __init__(self) -> None:
        self.values: dict[Normal, set[tuple[str, Any]]] = {}
        self.opaque: set[Normal] = set()

    def look(self, ast: Ast) -> None:
        match ast:
            case Binary("&&" | "||", left, right):
                self.look(left)
                self.look(right)
            case Unary("!", operand):
                self.look(operand)
            case Conditional(condition, yes, no):
                self.look(condition)
                self.look(yes)
                self.look(no)
            case Constant(bool()):
                pass
            case _:
                found = _compared(ast)
                if found is None:
                    self.opaque.add(_atom(ast)[0])
                else:
                    path, constants, _ = found
                    self.values.setdefault(path, set()).update((type(each).__name__, each) for each in constants)


@cache
def _compared(ast: Ast) -> tuple[Normal, tuple[Any, ...], str] | None:
    """What is compared, with which constants, and how; None: it is no such comparison."""
    match ast:
        case Binary("in", left, ListLiteral(items=items)) if all(isinstance(each, Constant) for each in items):
            return expression(left), tuple(each.value for each in items if isinstance(each, Constant)), "in"
        case Binary(operator, left, Constant(value)) if operator in _COMPARING and not isinstance(left, Constant):
            return _ordered(expression(left), value, operator)
        case Binary(operator, Constant(value), right) if operator in _COMPARING and not isinstance(right, Constant):
            return _ordered(expression(right), value, _MIRRORED[operator])
        case Binary(operator, left, right) if operator in _COMPARING:
            one, other = expression(left), expression(right)
            if repr(one) > repr(other):
                one, other, operator = other, one, _MIRRORED[operator]
            return (_BESIDE, one, other), (0,), operator
        case _:
            return None


def _ordered(path: Normal, value: Any, operator: str) -> tuple[Normal, tuple[Any, ...], str] | None:
    """Texts are told apart, and not put in order."""
    if operator not in ("==", "!=") and (isinstance(value, bool) or not isinstance(value, int | float)):
        return None
    return path, (value,), operator


def _domain(values: set[tuple[str, Any]]) -> Iterator[Any]:
    """Values of each kind that the constants tell apart."""
    numbers = sorted({value for _, value in values if isinstance(value, int | float) and not isinstance(value, bool)})
    yield from dict.fromkeys(value for _, value in values if isinstance(value, bool | str))
    yield from numbers
    yield from ((one + other) / 2 for one, other in pairwise(numbers))
    yield from (numbers[0] - 1, numbers[-1] + 1) if numbers else (_OTHER,)
    yield None


def _atom(ast: Ast) -> tuple[Normal, bool]:
    """What is not looked into, and whether it is turned round: `a != b` is not `a == b`."""
    if isinstance(ast, Binary) and ast.operator == "!=":
        return ("==", *expression(ast)[1:]), True
    return expression(ast), False


def _holds(ast: Ast, given: Mapping[Normal, Any]) -> bool | None:
    """None: it has no value, as what compares nothing with a number (Kleene's strong logic)."""
    match ast:
        case Binary("&&" | "||" as joining, left, right):
            decides = joining == "||"
            both = _holds(left, given), _holds(right, given)
            return decides if decides in both else None if None in both else not decides
        case Unary("!", operand):
            inner = _holds(operand, given)
            return None if inner is None else not inner
        case Conditional(condition, yes, no):
            chosen = _holds(condition, given)
            return None if chosen is None else _holds(yes if chosen else no, given)
        case Constant(bool() as value):
            return value
    found = _compared(ast)
    if found is None:
        atom, turned = _atom(ast)
        said = given[atom]
        return None if said is None else bool(said) is not turned
    path, constants, operator = found
    value = given[path]
    if operator == "in":
        return any(_same(value, each) for each in constants)
    if operator in ("==", "!="):
        return (value == _NEITHER if path[0] == _BESIDE and isinstance(value, str) else _same(value, constants[0])) is (
            operator == "=="
        )
    if value is None or (path[0] == _BESIDE and value == _NEITHER):
        return None
    return isinstance(value, int | float) and not isinstance(value, bool) and _COMPARING[operator](value, constants[0])


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)
