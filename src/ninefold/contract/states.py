"""Part 3: states and transitions."""

from __future__ import annotations

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language.effects import Effect
from ninefold.language.expressions import Assignment, Expression
from ninefold.language.fact import Fact, Name


@dataclass(frozen=True, slots=True)
class Transition:
    """`after`: an ISO 8601 duration in microseconds, or an expression over the row."""

    name: str
    span: Span
    origin: Fact[tuple[Name, ...]] | None
    to: Fact[Name] | None
    when: Fact[Expression] | None
    otherwise: Fact[Name] | None
    sets: Fact[tuple[Assignment, ...]] | None
    after: Fact[int | Expression] | None
    then: Fact[tuple[Effect, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """The states of one resource."""

    field: Fact[Name] | None
    initial: Fact[Name] | None
    states: Fact[tuple[Name, ...]] | None
    final: Fact[tuple[Name, ...]] | None
    gone: Fact[tuple[Name, ...]] | None
    transitions: Fact[tuple[Transition, ...]] | None
    span: Span


@dataclass(frozen=True, slots=True)
class ResourceStates:
    """`order: {…}` or `customer: none`."""

    resource: Name
    machine: Fact[Machine]


@dataclass(frozen=True, slots=True)
class States:
    machines: Fact[tuple[ResourceStates, ...]] | None
