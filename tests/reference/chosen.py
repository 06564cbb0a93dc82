"""What a request chooses of a response: which members it leaves out, and what it asks for as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.reference.failures import Failure, invalid
from tests.reference.operations import expansion_of, projection_of

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Expansion, Projection


@dataclass(frozen=True)
class Chosen:
    """`left_out`: members; `expanded`: the names of what is shown as rows."""

    left_out: frozenset[str] = frozenset()
    expanded: frozenset[str] = frozenset()


NOTHING = Chosen()


def names(endpoint: Endpoint) -> set[str]:
    """The query parameters by which it is chosen."""
    return {each.parameter for each in (projection_of(endpoint), expansion_of(endpoint)) if each is not None}


def asked(endpoint: Endpoint, query: Mapping[str, Sequence[str]], failures: list[Failure]) -> Chosen:
    """What is chosen; what is wrong with it goes to `failures`."""
    projection, expansion = projection_of(endpoint), expansion_of(endpoint)
    left_out: set[str] = set()
    if projection is not None and projection.parameter in query:
        left_out = set(projection.members) - _named(projection, query, failures)
    expanded: set[str] = set()
    if expansion is not None and expansion.parameter in query:
        expanded = _named(expansion, query, failures) - left_out
    return Chosen(frozenset(left_out), frozenset(expanded))


def _named(choice: Projection | Expansion, query: Mapping[str, Sequence[str]], failures: list[Failure]) -> set[str]:
    texts = query[choice.parameter]
    if choice.written != "repeated" and len(texts) > 1:
        failures.append(invalid("query", choice.parameter, "repeated"))
        return set()
    names = texts[0].split(",") if choice.written == "comma separated" else list(texts)
    if any(name not in choice.offered for name in names):
        failures.append(invalid("query", choice.parameter, "enum"))
    if len(set(names)) < len(names):
        failures.append(invalid("query", choice.parameter, "uniqueItems"))
    return set(names)
