"""Part 7: errors."""

from __future__ import annotations

from ninefold.contract.expression import Expression, Template
from ninefold.contract.fact import Fact, Name
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span


@dataclass(frozen=True, slots=True)
class ConditionName:
    """A condition of the closed list, possibly narrowed: `missing article`, `conflict user.email`."""

    condition: str
    subject: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """`called`: what callers of an older version know it by, where that is not its name."""

    name: str
    span: Span
    status: Fact[int] | None
    title: Fact[str] | None
    detail: Fact[Expression] | None
    about: Fact[Name] | None
    when: Fact[tuple[ConditionName, ...]] | None
    called: str | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    media_type: Fact[Name] | None
    body: Fact[Template] | None


@dataclass(frozen=True, slots=True)
class Message:
    """The words for a rule (`required`, `minLength` …), or for the rest (`otherwise`)."""

    rule: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Errors:
    """`precedence` holds conditions, perhaps narrowed."""

    shape: Fact[Shape] | None
    codes: Fact[tuple[ErrorCode, ...]] | None
    messages: Fact[tuple[Message, ...]] | None
    precedence: Fact[tuple[Name, ...]] | None
