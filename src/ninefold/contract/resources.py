"""Part 2: resources, their fields, and the schemas that they share."""

from __future__ import annotations

from ninefold.contract.expression import Expression, Template
from ninefold.contract.fact import Fact, Name
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.check import Check
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import Node


@dataclass(frozen=True, slots=True)
class Seen:
    """How callers of an older version see a field. `called`: its name for them; None: it is not there for them.
    `instead`: the field that is shown in its place, whose own `place_of` is this one's name. `schema`: what they give
    is held to it. `stored`: what is kept of the `value` that they give."""

    called: str | None
    span: Span
    instead: str | None = None
    place_of: str | None = None
    schema: Schema | None = None
    stored: Expression | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """`seen` is None in the version that the document describes. `schema` is `None` where nothing of JSON Schema is
    written (a reference, a state field)."""

    name: str
    span: Span
    schema: Fact[Schema] | None
    on_create: Fact[Expression] | None
    on_change: Fact[Expression] | None
    again_on: Fact[tuple[Name, ...]] | None
    computed: Fact[Expression] | None
    normalise: Fact[Expression] | None
    refers_to: Fact[Name] | None
    back: Fact[Name] | None
    on_delete: Fact[Name] | None
    unique: Fact[bool] | None
    immutable: Fact[bool] | None
    secret: Fact[Name] | None
    sensitive: Fact[bool] | None
    state: Fact[bool] | None
    seen: Seen | None = None

    @property
    def called(self) -> str | None:
        """Its name for callers; None: it is not there for them."""
        return self.name if self.seen is None else self.seen.called

    @property
    def is_older(self) -> bool:
        """Whether only an older version has it, worked out: no field of a document has such a name."""
        return " of " in self.name


@dataclass(frozen=True, slots=True)
class View:
    """A template over a row; `[id, name, {author: profile(article.author)}]` or a mapping."""

    name: str
    span: Span
    template: Template


@dataclass(frozen=True, slots=True)
class Resource:
    """What it `includes` of others is among its facts."""

    name: str
    span: Span
    includes: Fact[tuple[Name, ...]] | None
    identifier: Fact[tuple[Name, ...]] | None
    fields: Fact[tuple[Field, ...]] | None
    required: Fact[tuple[Name, ...]] | None
    unique: Fact[tuple[tuple[Name, ...], ...]] | None
    invariants: Fact[tuple[Check, ...]] | None
    records: Fact[Node] | None
    views: Fact[tuple[View, ...]] | None
    expires: Fact[Expression] | None


@dataclass(frozen=True, slots=True)
class SharedType:
    """An entry of `types`: an object schema that fields refer to as `#/types/NAME`."""

    name: str
    span: Span
    fields: Fact[tuple[tuple[Name, Schema], ...]] | None
    required: Fact[tuple[Name, ...]] | None


@dataclass(frozen=True, slots=True)
class Resources:
    resources: Fact[tuple[Resource, ...]] | None
    types: tuple[SharedType, ...]
