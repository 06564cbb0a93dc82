"""What a contract says, without how it is written: two ways to say the same are equal.

Terms are spelled out, what `&&` and `||` join has no order, a double negation is none, and what stands alone is a list
of one. An expression that cannot be read is its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.ast import (
    Ast,
    Binary,
    Conditional,
    Const,
    Index,
    Invocation,
    ListLiteral,
    Literal,
    MapLiteral,
    Member,
    Name,
    Problem,
    Unary,
)
from ninefold.expressions.parse import parse
from ninefold.expressions.terms import Meaning, spelled_out
from ninefold.language.authentication import BY_CALLER
from ninefold.language.key import Key
from ninefold.language.reading import Reading
from ninefold.language.shapes import Expression, ListOf, Names, OneOf, Shape, Template
from ninefold.language.table import keys_under
from ninefold.language.terms import terms
from ninefold.syntax.nodes import Document, Node, Scalar, Sequence
from ninefold.syntax.nodes import Mapping as MappingNode

_WITHOUT_ORDER: Final = (("mapping",), ("&&",), ("||",), ("==",), ("!=",), ("entries",))
"""What normal forms that are sorted begin with."""

Normal: TypeAlias = tuple[Any, ...]
"""A form that is equal for what says the same, and has a hash."""


class Tag(str):
    """What a form is: no name of a contract, whatever is called so."""

    __slots__ = ()


JOINING: Final = ("&&", "||")

_MIRRORED: Final = {">": "<", ">=": "<="}
"""Comparisons that are written one way round."""

_EITHER_WAY: Final = ("==", "!=")


@dataclass(frozen=True, slots=True)
class Words:
    """What names stand for in one document."""

    terms: Mapping[str, Meaning]

    def read(self, text: str) -> Ast | None:
        """An expression with its terms spelled out; None: it is none."""
        found = parse(text)
        if isinstance(found, Problem):
            return None
        whole = spelled_out(found, self.terms)
        return None if isinstance(whole, Problem) else whole


def words_of(document: Document) -> Words:
    reading = Reading(document, False, keys_under)
    terms(reading, document.part("resources"))
    return Words({name: each.meaning for name, each in reading.terms.items() if each.meaning is not None})


def normal(node: Node, key: Key, words: Words) -> Normal:
    """A value as its key reads it."""
    match node:
        case MappingNode(entries=entries):
            found = ((entry.name, normal(entry.value, key, words)) for entry in entries)
            return Tag("mapping"), *sorted(found, key=repr)
        case Sequence(items=items) if key.shape in BY_CALLER:
            return Tag("list"), *sorted((normal(item, key, words) for item in items), key=repr)
        case Sequence(items=items):
            return Tag("list"), *(normal(item, key, words) for item in items)
        case Scalar() if reads_expressions(key.shape) and isinstance(node.value, str):
            ast = words.read(node.text)
            return (Tag("text"), node.text) if ast is None else (Tag("expression"), *_of(ast))
        case Scalar():
            return scalar(node)


def renamed(said: Normal, name: re.Pattern[str], into: str, key: Key) -> Normal:
    """The same with another name in it: what has no order is put in order again."""
    found = tuple(
        name.sub(into, each) if type(each) is str else renamed(each, name, into, key) if isinstance(each, tuple)
        else each
        for each in said
    )  # fmt: skip
    if found[:1] in _WITHOUT_ORDER or (found[:1] == ("list",) and key.shape in BY_CALLER):
        return found[:1] + tuple(sorted(found[1:], key=repr))
    return found


def scalar(node: Scalar) -> Normal:
    value = node.text if isinstance(node.value, str) else node.value
    return Tag(type(value).__name__), value


def alone(key: Key) -> bool:
    """Whether what may stand alone is a list of one."""
    shapes = key.shape.shapes if isinstance(key.shape, OneOf) else (key.shape,)
    return any(isinstance(each, ListOf) or (isinstance(each, Names) and each.alone) for each in shapes)


def reads_expressions(shape: Shape) -> bool:
    match shape:
        case Expression() | Template():
            return True
        case OneOf(shapes):
            return any(map(reads_expressions, shapes))
        case ListOf(item):
            return reads_expressions(item)
        case _:
            return False


def joined(ast: Ast, operator: str) -> Iterator[Ast]:
    """What an operator joins, however it is nested."""
    if isinstance(ast, Binary) and ast.operator == operator:
        yield from joined(ast.left, operator)
        yield from joined(ast.right, operator)
    else:
        yield ast


def expression(ast: Ast) -> Normal:
    """The normal form of an expression."""
    return _of(ast)


def _of(ast: Ast) -> Normal:
    match ast:
        case Binary(operator=operator) if operator in JOINING:
            return Tag(operator), *sorted({_of(each) for each in joined(ast, operator)}, key=repr)
        case Binary(operator, left, right) if operator in _EITHER_WAY:
            return Tag(operator), *sorted((_of(left), _of(right)), key=repr)
        case Binary(operator, left, right) if operator in _MIRRORED:
            return _MIRRORED[operator], _of(right), _of(left)
        case Binary(operator, left, right):
            return Tag(operator), _of(left), _of(right)
        case Unary("!", Unary("!", inner)):
            return _of(inner)
        case Unary(operator, operand):
            return Tag(operator), _of(operand)
        case Literal(value) | Const(value):
            return Tag("literal"), Tag(type(value).__name__), repr(value)
        case Name(name):
            return Tag("name"), name
        case Member(operand=operand, name=name):
            return Tag("member"), _of(operand), name
        case Index(operand=operand, index=index):
            return Tag("index"), _of(operand), _of(index)
        case Invocation(function=function, target=target, arguments=arguments):
            return Tag("call"), function, () if target is None else _of(target), *map(_of, arguments)
        case ListLiteral(items=items):
            return Tag("items"), *map(_of, items)
        case MapLiteral(entries=entries):
            return Tag("entries"), *sorted(((_of(name), _of(value)) for name, value in entries), key=repr)
        case Conditional(condition=condition, yes=yes, no=no):
            return Tag("if"), _of(condition), _of(yes), _of(no)
