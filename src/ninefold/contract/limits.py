"""Part 8: limits."""

from __future__ import annotations

from dataclasses import fields, replace

from ninefold.contract.expression import Expression
from ninefold.contract.fact import Fact, Name
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span


@dataclass(frozen=True, slots=True)
class Rate:
    """`of` is the word `caller` or `address`, or an expression. `per` in microseconds."""

    name: str
    span: Span
    of: Fact[Name | Expression] | None
    allow: Fact[int] | None
    per: Fact[int] | None
    algorithm: Fact[Name] | None
    burst: Fact[int] | None
    endpoints: Fact[tuple[Name, ...]] | None


@dataclass(frozen=True, slots=True)
class Pages:
    """The page bounds of lists, or of one list. `largest: none`: no bound."""

    default: Fact[int] | None
    largest: Fact[int] | None
    by: Fact[Name] | None
    size: Fact[Name] | None
    """The parameter that gives the size of a page."""
    next: Fact[Name] | None
    """The parameter that gives the cursor."""
    start: Fact[Name] | None
    """The parameter that gives the offset."""
    number: Fact[Name] | None
    """The parameter that gives the number of a page, from 1."""
    index: Fact[Name] | None
    """The parameter that gives the number of a page, from 0."""
    span: Span


def narrowed(own: Pages, shared: Pages) -> Pages:
    """The bounds of one list: its own, and those of part 8 for what it does not say. One name of pages by their number
    stands for the other."""
    stated = {each.name: value for each in fields(own) if (value := getattr(own, each.name)) is not None}
    if stated.keys() & {"number", "index"}:
        shared = replace(shared, number=None, index=None)
    return replace(shared, **stated)


@dataclass(frozen=True, slots=True)
class TimeOuts:
    """Microseconds."""

    request: Fact[int] | None


@dataclass(frozen=True, slots=True)
class Limits:
    """`body_size` in bytes; `keys_kept` in microseconds."""

    rates: Fact[tuple[Rate, ...]] | None
    headers: Fact[tuple[Name, ...]] | None
    body_size: Fact[int] | None
    pages: Fact[Pages] | None
    time_outs: Fact[TimeOuts] | None
    keys_kept: Fact[int] | None
