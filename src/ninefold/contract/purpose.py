"""Part 1: what the service does."""

from __future__ import annotations

from dataclasses import dataclass

from ninefold.contract.fact import Fact


@dataclass(frozen=True, slots=True)
class Purpose:
    """The prose of part 1."""

    text: Fact[str] | None
