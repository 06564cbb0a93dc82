"""The one table of every key of the language, and how to look things up in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ninefold.language.authentication import Authentication
from ninefold.language.declaration import rows
from ninefold.language.endpoints import Endpoints, rows_of_cases
from ninefold.language.errors import Errors
from ninefold.language.events import Events
from ninefold.language.key import Key
from ninefold.language.limits import Limits
from ninefold.language.resources import Resources
from ninefold.language.shapes import Sight, sight_of
from ninefold.language.states import RESOURCE, Machine
from ninefold.language.versioning import Versioning

VOCABULARY: tuple[Key, ...] = (
    *rows(Resources, 2),
    RESOURCE,
    *rows(Machine, 3, "RESOURCE"),
    *rows(Endpoints, 4),
    *rows_of_cases(),
    *rows(Authentication, 5),
    *rows(Events, 6),
    *rows(Errors, 7),
    *rows(Limits, 8),
    *rows(Versioning, 9),
)


@cache
def _by_path() -> dict[tuple[int, str], Key]:
    return {(key.part, key.path): key for key in VOCABULARY}


@cache
def keys_under(part: int, path: str) -> tuple[Key, ...]:
    """The keys of the mapping at `path`, in the table's order (`""` is the part itself). Placeholders included."""
    return tuple(key for key in VOCABULARY if key.part == part and key.parent == path)


def key_at(part: int, path: str) -> Key:
    """The row of a path. `KeyError` where the table has none."""
    return _by_path()[part, path]


def key_named(part: int, path: str, name: str) -> Key | None:
    """The key `name` of the mapping at `path`, as its own row of the table; a placeholder stands for no name here."""
    found = _by_path().get((part, f"{path}.{name}" if path else name))
    return None if found is None or found.is_placeholder else found


@cache
def names_under(part: int, path: str) -> tuple[str, ...]:
    """The words that may be written as keys of the mapping at `path`: what a misspelt key may have meant."""
    return tuple(key.name for key in keys_under(part, path) if not key.is_placeholder)


@cache
def is_open(part: int, path: str) -> bool:
    """Whether the contract chooses the names in the mapping at `path`."""
    return any(key.is_placeholder for key in keys_under(part, path))


def place_of(key: Key) -> tuple[int, str]:
    """Where a key stands: what stands in a case stands for the same key of its endpoint."""
    return key.part, key.path.replace("ENDPOINT.cases.CASE.", "ENDPOINT.")


@cache
def sights() -> Mapping[tuple[int, str], Sight]:
    """Which rows an expression reads, by the part and path of each place where one may stand."""
    found = ((place_of(key), sight_of(key.shape)) for key in VOCABULARY)
    return {place: sight for place, sight in found if sight is not None}
