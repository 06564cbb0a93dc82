"""What a request chooses of a response: which members it leaves out, and what it asks for as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.reference.operations import expansion_of, projection_of

from ninefold.checked.endpoints import Endpoint


@dataclass(frozen=True)
class Chosen:
    """`left_out`: members; `expanded`: the names of what is shown as rows."""

    left_out: frozenset[str] = frozenset()
    expanded: frozenset[str] = frozenset()


NOTHING = Chosen()


def asked(endpoint: Endpoint, given: Mapping[str, Any]) -> Chosen:
    """What is chosen, by the values of what is declared."""
    projection, expansion = projection_of(endpoint), expansion_of(endpoint)
    left_out: set[str] = set()
    if projection is not None and projection.parameter in given:
        left_out = set(projection.members) - set(given[projection.parameter])
    expanded: set[str] = set()
    if expansion is not None and expansion.parameter in given:
        expanded = set(given[expansion.parameter]) - left_out
    return Chosen(frozenset(left_out), frozenset(expanded))
