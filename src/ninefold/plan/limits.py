"""Limits that are in force."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.said import Saying

Counted: TypeAlias = Literal["caller", "address"] | Typed

Algorithm: TypeAlias = Literal["fixed window", "sliding window", "token bucket"]

KEYS_KEPT: Final = "idempotency keys kept"

Carries: TypeAlias = Literal["policies", "standings", "limit", "remaining", "reset", "retry after"]


class Rate(Saying, frozen=True, omit_defaults=True, kw_only=True):
    """`of`: each caller, each address, or each value of an expression over the request. `burst` counts for
    `token bucket`. `endpoints`: the keys of those whose requests it counts."""

    name: str
    of: Counted
    allow: int
    per_microseconds: int
    algorithm: Algorithm
    burst: int = 0
    endpoints: tuple[str, ...] = ()
    trace: tuple[Place, ...] = ()


class RateHeader(msgspec.Struct, frozen=True, omit_defaults=True):
    """A header that tells of rates. `policies` and `standings` are lists of structured fields (RFC 9651), as
    draft-ietf-httpapi-ratelimit-headers writes RateLimit-Policy and RateLimit; the others are whole numbers, those
    of times in seconds."""

    name: str
    carries: Carries
    trace: tuple[Place, ...] = ()


class Limits(Saying, frozen=True, omit_defaults=True):
    """`places`: where a bound is stated, by the condition of what is beyond it."""

    places: dict[str, Place] = {}
    rates: tuple[Rate, ...] = ()
    headers: tuple[RateHeader, ...] = ()

    @property
    def body_bytes(self) -> int | None:
        """A larger body is `too large`, told while it is read; None: the contract does not limit it."""
        return self.number("body size")

    @property
    def request_microseconds(self) -> int | None:
        """A request that takes longer is `timed out`; None: the contract does not limit it."""
        return self.number("timeout")

    @property
    def keys_kept_microseconds(self) -> int | None:
        """How long an idempotency key and its response are kept; None: no endpoint takes one."""
        return self.number(KEYS_KEPT)
