"""What a request chooses of a response, read from its query parameters: the switches that are on."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.plan.chosen import Choices, Expansion, Projection, Written, expanded, given, hidden
from ninefold.runtime.messages.parameters import Query
from ninefold.runtime.messages.problems import Failure, invalid

NOTHING: frozenset[str] = frozenset()


class Chooser:
    """The choices of one operation. `names` are their query parameters."""

    __slots__ = ("_expansion", "_projection", "names")

    def __init__(self, choices: Choices) -> None:
        self._projection = choices.projection
        self._expansion = choices.expansion
        self.names = frozenset(each.parameter for each in given(choices))

    def read(self, query: Query, failures: list[Failure]) -> frozenset[str]:
        """The switches that are on; what is wrong with the parameters is added to `failures`."""
        projection, expansion = self._projection, self._expansion
        on: set[str] = set()
        left_out: set[str] = set()
        if projection is not None and projection.parameter in query:
            left_out = set(projection.members).difference(_named(projection, query, failures))
            on |= {hidden(name) for name in left_out}
        if expansion is not None and expansion.parameter in query:
            on |= {expanded(name) for name in _named(expansion, query, failures) if name not in left_out}
        return frozenset(on) if on else NOTHING


def _named(choice: Projection | Expansion, query: Query, failures: list[Failure]) -> Sequence[str]:
    """The names that a parameter gives, each once; what is wrong is a failure (rules `enum`, `uniqueItems`,
    `repeated`)."""
    names = _texts(query[choice.parameter], choice.written)
    rules = []
    if names is None:
        rules.append("repeated")
    elif not all(name in choice.offered for name in names):
        rules.append("enum")
    if names is not None and len(set(names)) < len(names):
        rules.append("uniqueItems")
    failures.extend(invalid("query", choice.parameter, rule) for rule in rules)
    return () if rules or names is None else names


def _texts(values: Sequence[str], written: Written | None) -> Sequence[str] | None:
    """The single names; None: there are several values where one is meant."""
    if written == "repeated":
        return values
    if len(values) > 1:
        return None
    return values[0].split(",") if written == "comma separated" else values
