"""Which of two conditions holds more often: by what they are joined of, else by all values that they tell apart.

A proof over values takes what a condition reads as independent: what is found to be wider or narrower is so, and what
is found to be neither may still be, and is not said to be proved where it reads more than comparisons with constants.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise, product
from typing import Any, Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.diff.domains import NOTHING_KNOWN, Domains, Edges, holds
from ninefold.diff.edges import is_number
from ninefold.diff.normal import Normal, expression
from ninefold.diff.requests import same_json
from ninefold.diff.verdicts import Direction
from ninefold.expressions.ast import Ast, Binary, Conditional, Invocation, ListLiteral, Unary
from ninefold.expressions.ast import Literal as Constant

# How two values can stand to one another: all ways that comparisons, and what is asked of texts, tell apart.

_IS_IN: Final = "contains"
_BEGINS: Final = "startsWith"
_ENDS: Final = "endsWith"

TEXTS: Final = (_IS_IN, _BEGINS, _ENDS)
"""Functions of a text and one that may be in it."""

OF_THE_OTHER: Final = {each: f"{each} of the other" for each in TEXTS}
"""The same where the first one is in the second one."""

_ORDERED: Final = {"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


@dataclass(frozen=True, slots=True)
class Beside:
    """`order`: less than 0 where the first one is less, 0 where they are equal. None: one of them has no value, or
    neither has (`are_equal`), and then nothing else holds of them. `texts`: what holds of two texts."""

    order: int | None
    texts: frozenset[str] = frozenset()
    are_equal: bool = False

    def holds(self, operator: str) -> bool | None:
        """None: it has no value."""
        if self.order is not None:
            return self.order in _ORDERED[operator] if operator in _ORDERED else operator in self.texts
        return self.are_equal is (operator == "==") if operator in ("==", "!=") else None


def stand(is_there: bool, other_is_there: bool, *, texts: bool) -> Iterator[Beside]:
    """All ways. `is_there`: the first one always has a value. `texts`: functions of texts are asked, too."""
    for order in (-1, 0, 1):
        yield from (Beside(order, each) for each in (_of_texts(order) if texts else (frozenset[str](),)))
    if not (is_there and other_is_there):
        yield Beside(None)
    if not (is_there or other_is_there):
        yield Beside(None, are_equal=True)


def _of_texts(order: int) -> Iterator[frozenset[str]]:
    """A text begins, and ends, with itself; one that begins with another one is more than that."""
    if order == 0:
        yield frozenset((*TEXTS, *OF_THE_OTHER.values()))
        return
    yield frozenset()
    for of_other, begins, ends in product((False, True), repeat=3):
        if not begins or (order < 0) is of_other:
            held = [name for name, holds in ((_IS_IN, True), (_BEGINS, begins), (_ENDS, ends)) if holds]
            yield frozenset(OF_THE_OTHER[each] if of_other else each for each in held)


MOST_CASES: Final = 20_000

_OTHER: Final = "any other value"

_BESIDE: Final = "beside"
"""What the path of two values begins with that are compared: how the first one stands to the second one."""

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")
"""What a text begins with that may be a moment: one moment has several texts, whose order is none of moments."""

_COMPARING: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", **OF_THE_OTHER}


_TRUE: Final = Constant(True, 0, 0)


def relation(old: Ast | None, new: Ast | None, known: Domains = NOTHING_KNOWN) -> Direction:
    """`None`: it always holds. `known`: which values something has that they read."""
    if old is None or new is None:
        is_always = (old or new) is None or relation(old or _TRUE, new or _TRUE, known) == "same"
        return "same" if is_always else "less" if old is None else "more"
    if expression(old) == expression(new):
        return "same"
    reads = _Reads()
    reads.look(old)
    reads.look(new)
    domains = {path: tuple(_values(path, values, known)) for path, values in reads.values.items()}
    domains |= dict.fromkeys(reads.opaque, (False, True, None))
    count = 1
    for values in domains.values():
        count *= len(values)
        if count > MOST_CASES:
            return "unproved"
    found: set[tuple[bool, bool]] = set()
    """Whether something holds no more, or did not, and whether every two values that are compared have an order."""
    names = tuple(domains)
    for values in product(*domains.values()):
        given = dict(zip(names, values, strict=True))
        before, after = _holds(old, given) is True, _holds(new, given) is True
        if before is not after:
            found.add((before, not any(isinstance(each, Beside) and each.order is None for each in values)))
    ways = {is_lost for is_lost, _ in found}
    if len(ways) < 2:
        return "same" if not ways else "less" if True in ways else "more"
    if not any(path[0] == _BESIDE for path in reads.values) and not reads.opaque:
        return "other"
    return (
        "other" if {(True, True), (False, True)} <= found and not reads.opaque and _are_apart(domains) else "unproved"
    )


def _are_apart(domains: Mapping[Normal, Any]) -> bool:
    """Whether what is read is there but once: then each of its values comes with each of the others."""
    read = [each for path in domains for each in (path[1:] if path[0] == _BESIDE else (path,))]
    leaves = [leaf for each in read for leaf in {*_leaves(each)}]
    return len(leaves) == len({*leaves})


def _leaves(path: Normal) -> Iterator[Normal]:
    """The names that something is made of, each as far as it leads."""
    if path[:1] in (("name",), ("member",)) and all(isinstance(each, str) or each[:1] != ("call",) for each in path):
        yield path
        return
    for each in path:
        if isinstance(each, tuple):
            yield from _leaves(each)


def _values(path: Normal, values: set[tuple[str, Any]], known: Domains) -> Iterator[Any]:
    """Those of something that a condition compares, as far as conditions tell them apart."""
    if path[0] == _BESIDE:
        told = {name for _, name in values if name not in _COMPARING}
        yield from stand(*(known.is_there(each) for each in path[1:]), texts=bool(told))
        return
    few = known.values(path)
    is_there = known.is_there(path)
    found = few or _within(known.within(path), values, is_whole=known.is_whole(path))
    yield from (each for each in found if each is not None or not is_there)


def _within(edges: tuple[Edges, ...], values: set[tuple[str, Any]], *, is_whole: bool) -> Iterator[Any]:
    """Those that conditions tell apart, and of numbers those that there may be."""
    if edges and any(map(is_number, (value for _, value in values))):
        values = {*values, *((type(each).__name__, each) for one in edges for each in one.values())}
        yield from (
            each
            for each in _domain(values, is_whole=is_whole)
            if not is_number(each) or any(holds(one, each) for one in edges)
        )
    else:
        yield from _domain(values, is_whole=is_whole)


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
            return _beside(expression(left), expression(right), operator)
        case Invocation(function=function, target=target, arguments=(argument,)) if target and function in TEXTS:
            return _beside(expression(target), expression(argument), function)
        case _:
            return None


def _beside(one: Normal, other: Normal, operator: str) -> tuple[Normal, tuple[Any, ...], str]:
    if repr(one) > repr(other):
        one, other, operator = other, one, _MIRRORED[operator]
    return (_BESIDE, one, other), (operator,), operator


def _ordered(path: Normal, value: Any, operator: str) -> tuple[Normal, tuple[Any, ...], str] | None:
    if operator not in ("==", "!="):
        if isinstance(value, str) and not _MOMENT.match(value):
            return path, (value,), operator
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
    return path, (value,), operator


def _domain(values: set[tuple[str, Any]], *, is_whole: bool) -> Iterator[Any]:
    """Values of each kind that the constants tell apart. `is_whole`: of numbers, the whole ones next to them."""
    numbers = sorted({value for _, value in values if isinstance(value, int | float) and not isinstance(value, bool)})
    texts = sorted({value for _, value in values if isinstance(value, str)})
    yield from dict.fromkeys(value for _, value in values if isinstance(value, bool | str))
    if is_whole and numbers:
        yield from sorted({beside for each in numbers for beside in _whole(each)})
    else:
        yield from numbers
        yield from ((one + other) / 2 for one, other in pairwise(numbers))
        yield from (numbers[0] - 1, numbers[-1] + 1) if numbers else (_OTHER,)
    # By code points: before the first one, and next behind each.
    yield from (each for each in ("", *(f"{text}\0" for text in texts)) if texts and each not in texts)
    yield None


def _whole(number: float) -> tuple[int, ...]:
    """What is there of whole numbers on both sides of a number, and where it is one."""
    below, above = math.floor(number), math.ceil(number)
    return above - 1, below, above, below + 1


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
        return any(same_json(value, each) for each in constants)
    if isinstance(value, Beside):
        return value.holds(operator)
    if operator in ("==", "!="):
        return same_json(value, constants[0]) is (operator == "==")
    if value is None or isinstance(value, bool) or isinstance(value, str) is not isinstance(constants[0], str):
        return None
    return _COMPARING[operator](value, constants[0])
