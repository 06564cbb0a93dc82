"""Expressions and templates as a contract writes them: parsed, with places, not yet typed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeAlias

from ninefold.contract.fact import Name
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


def expressions_in(facts: object) -> Iterator[Expression]:
    """Every expression of a contract, or of a part of one, in written order."""
    if isinstance(facts, Expression):
        yield facts
    elif isinstance(facts, tuple):
        for each in facts:
            yield from expressions_in(each)
    elif is_dataclass(facts) and not isinstance(facts, Node | Document):
        for field in fields(facts):
            yield from expressions_in(getattr(facts, field.name))
