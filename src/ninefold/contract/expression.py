"""Expressions and templates as a contract writes them: parsed, with places, not yet typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Final, TypeAlias

from ninefold.contract.fact import Name
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast
from ninefold.syntax.nodes import Document, Node, Scalar


@dataclass(frozen=True, slots=True)
class Expression:
    """`written` maps offsets of the expression to places in the document. `terms` are the terms that it reads by
    name, each where it is declared; in `ast` they are spelled out."""

    ast: Ast
    written: Scalar
    terms: tuple[Name, ...] = ()

    @property
    def text(self) -> str:
        return self.written.text

    @property
    def span(self) -> Span:
        return self.written.span


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of a template: an expression, the name of a resource (`order`), or a view applied
    (`profile(article.author)`)."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    span: Span
    value: Template


@dataclass(frozen=True, slots=True)
class Members:
    """A JSON object, its members in written order."""

    members: tuple[Member, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Items:
    """A JSON array written out. In a body it is a list of field names."""

    items: tuple[Template, ...]
    span: Span


Template: TypeAlias = Leaf | Members | Items


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name: expression`, as in `sets`, `caller`, `headers`."""

    name: str
    span: Span
    value: Expression


def expressions_in(facts: object) -> Sequence[Expression]:
    """Every expression of a contract, or of a part of one, in written order."""
    found: list[Expression] = []
    _collect(facts, found)
    return found


def _collect(facts: object, found: list[Expression]) -> None:
    if isinstance(facts, Expression):
        found.append(facts)
    elif isinstance(facts, tuple):
        for each in facts:
            _collect(each, found)
    else:
        kind: type = type(facts)
        for name in _holding_facts(kind):
            inner = getattr(facts, name)
            if inner is not None:
                _collect(inner, found)


@cache
def _holding_facts(kind: type) -> tuple[str, ...]:
    """The names of the fields of a fact that may hold others: neither those of nodes nor plain values. Asked once of
    each kind, since contracts are walked often."""
    if not is_dataclass(kind) or issubclass(kind, Node | Document | Span):
        return ()
    return tuple(each.name for each in fields(kind) if each.type not in _PLAIN)


_PLAIN: Final = frozenset({"str", "bool", "int", "float", "Span", "str | None", "int | None", "bool | None", "Name"})
"""The types of fields, as they are written, that hold no expression."""
