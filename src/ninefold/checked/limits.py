"""Part 8: rates whose every fact is known."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Place
from ninefold.expressions.tree import Typed

Algorithm: TypeAlias = Literal["fixed window", "sliding window", "token bucket", "gcra"]

Carries: TypeAlias = Literal["policies", "standings", "limit", "remaining", "reset", "retry after"]


@dataclass(frozen=True)
class Rate:
    """`of`: a word, or an expression over the request. `per` in microseconds. `burst` None: the algorithm has none.
    `endpoints` None: it counts all."""

    name: str
    of: Literal["caller", "address"] | Typed
    allow: int
    per: int
    algorithm: Algorithm
    burst: int | None
    endpoints: tuple[str, ...] | None
    place: Place


@dataclass(frozen=True)
class Limits:
    """`headers`: those that tell of rates, by their names, each with what it carries. `keys_kept` in microseconds."""

    rates: tuple[Rate, ...] = ()
    headers: tuple[tuple[str, Carries], ...] = ()
    keys_kept: int | None = None
