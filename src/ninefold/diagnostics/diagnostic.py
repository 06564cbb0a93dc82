"""A diagnostic: one fact about a document, with the places where it can be seen."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Generic, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span

T = TypeVar("T")


class Severity(Enum):
    """`error`: the contract cannot be served. `warning`: it can, and is probably not what was meant.
    `note`: a fact about this build, such as something stated that it does not put in force."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of diagnostic. What it is about, with a wrong and a right example, stands in one of the pages in
    codes/, beside this file (`ninefold.diagnostics.explanations` reads them)."""

    id: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class Label:
    """What is to be seen at a place; the text may be empty."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """The message states the fact, labels say what is to be seen at a place (the first is where the
    diagnostic stands), only `help` advises. `of`: the name by which nothing is read until this is
    mended, as it is written (`order`; `.status` behind a dot)."""

    code: Code
    message: str
    labels: tuple[Label, ...]
    help: tuple[str, ...] = ()
    of: str = ""

    @property
    def span(self) -> Span:
        return self.labels[0].span if self.labels else Span(0, 0)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What a phase yields: always a value, however incomplete, and what it has to say."""

    value: T
    diagnostics: tuple[Diagnostic, ...] = ()


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By place, then code; the same diagnostic is said once."""
    return tuple(
        sorted(
            dict.fromkeys(diagnostics),
            key=lambda d: (d.span.start, d.span.end, d.code.id, d.message),
        )
    )


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(d.code.severity is Severity.ERROR for d in diagnostics)
