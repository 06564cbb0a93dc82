"""The smallest scenario that still disagrees: requests, rows, and entries of the contract are taken out for as long as
something differs. What is no contract any more does not count."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.agreement.comparing import Disagreement, Scenario, compare

KEPT = frozenset(
    {"purpose", "resources", "states", "events", "errors", "limits", "versioning", "authentication", "endpoints"}
)
"""Parts that a contract has, whatever they say."""


def shrunk(found: Disagreement) -> Disagreement:
    """The smallest disagreement that is found from one, about the same statuses."""
    before = None
    while before is not found:
        before = found
        found = _shorter(found, len(found.scenario.requests) - 1)
        found = _with_fewer_rows(found)
        found = _with_less_stated(found)
    return found


def disagreement(scenario: Scenario, alike: Disagreement | None = None) -> Disagreement | None:
    try:
        compare(scenario)
    except Disagreement as found:
        return found if alike is None or found.statuses == alike.statuses else None
    except Exception:  # what cannot be run shows nothing
        return None
    return None


def _shorter(found: Disagreement, size: int) -> Disagreement:
    """With fewer requests: the last one is what the two disagree about."""
    while size:
        start = 0
        while start < len(found.scenario.requests) - 1:
            *before, last = found.scenario.requests
            kept = (*before[:start], *before[start + size :], last)
            again = disagreement(replace(found.scenario, requests=kept), found)
            start = start + size if again is None else start
            found = again or found
        size //= 2
    return found


def _with_fewer_rows(found: Disagreement) -> Disagreement:
    for row in found.scenario.rows:
        rows = tuple(each for each in found.scenario.rows if each is not row)
        found = disagreement(replace(found.scenario, rows=rows), found) or found
    return found


def _with_less_stated(found: Disagreement) -> Disagreement:
    """Without entries of the contract, the largest first."""
    for path in sorted(_paths(found.scenario.contract), key=lambda path: (len(path), str(path))):
        contract = copy.deepcopy(found.scenario.contract)
        if _removed(contract, path):
            rows = tuple(row for row in found.scenario.rows if row[0] in contract["resources"])
            if path[0] == "resources" and len(path) == 4:
                rows = tuple((name, _without(fields, name, path)) for name, fields in rows)
            found = disagreement(replace(found.scenario, contract=contract, rows=rows), found) or found
    return found


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where entries of mappings and lists stand."""
    inside = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        if path or key not in KEPT:
            yield (*path, key)
        yield from _paths(item, (*path, key))


def _removed(contract: Any, path: tuple[Any, ...]) -> bool:
    """Take out an entry; False where it is out already."""
    try:
        for key in path[:-1]:
            contract = contract[key]
        del contract[path[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _without(fields: Mapping[str, Any], resource: str, path: tuple[Any, ...]) -> Mapping[str, Any]:
    """The values of a row, without that of a field that is no more."""
    return {name: value for name, value in fields.items() if (resource, "fields", name) != path[1:]}
