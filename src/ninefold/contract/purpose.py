"""Part 1: what the service does."""

from __future__ import annotations

from ninefold.contract.fact import Fact
from ninefold.diagnostics.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Purpose:
    """The prose of part 1."""

    text: Fact[str] | None
