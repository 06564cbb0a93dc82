"""Facts: what a contract says in one place, and how it says it.

A leaf of a contract has the type `Fact[T] | None`. `None` has one meaning everywhere: nothing is written
there. Whether that is a gap is decided by the questions (`ninefold.contract.questions`), not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span

T = TypeVar("T")
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Shown(Generic[T]):
    """A stated fact. `proposed`: it was a proposal, and is in force because proposals were accepted."""

    value: T
    span: Span
    proposed: bool = False


@dataclass(frozen=True, slots=True)
class StatedNone:
    """`none`: the service has none of it."""

    span: Span
    proposed: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """`not shown`, written out."""

    span: Span


@dataclass(frozen=True, slots=True)
class Proposal(Generic[T]):
    """A gap with a candidate."""

    candidate: Shown[T] | StatedNone
    span: Span


Fact: TypeAlias = Shown[T] | StatedNone | Gap | Proposal[T]


@dataclass(frozen=True, slots=True)
class Name:
    """A word with its place: the name of something, or a keyword of the language."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class BuiltIn(Name):
    """The name of a resource that the language has itself, where the contract has none of that name."""


def value_of(fact: Fact[T] | None) -> T | None:
    """The stated value, if a value is stated."""
    return fact.value if isinstance(fact, Shown) else None


def text_of(fact: Fact[Name] | None) -> str | None:
    """The stated word or name, if one is stated."""
    return fact.value.text if isinstance(fact, Shown) else None


def candidate_of(fact: Fact[T] | None) -> T | None:
    """A value that is shown, or proposed."""
    match fact:
        case Shown(value):
            return value
        case Proposal(Shown(value)):
            return value
        case _:
            return None


def within(whole: Fact[W] | None, part: Callable[[W], Fact[T] | None]) -> Fact[T] | None:
    """A fact inside another. Where the whole is `none`, not shown or proposed, so is each part of it."""
    match whole:
        case Shown(value):
            return part(value)
        case Proposal(_, span):
            return Proposal(StatedNone(span), span)
        case _:
            return whole


def is_open(fact: Fact[T] | None) -> bool:
    """Whether a question that this fact would answer is still open."""
    return fact is None or isinstance(fact, Gap | Proposal)


def is_stated(fact: Fact[bool] | None) -> bool:
    """Whether `true` is stated."""
    return isinstance(fact, Shown) and fact.value
