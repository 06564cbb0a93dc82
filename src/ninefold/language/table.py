"""The one table of every key of the language, and how to look things up in it; and the verbs as a page tells them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from ninefold.language.authentication import Authentication
from ninefold.language.declaration import rows
from ninefold.language.endpoints import Endpoints, rows_of_cases
from ninefold.language.errors import Errors
from ninefold.language.events import Events
from ninefold.language.json_schema import KEYS, KEYWORDS
from ninefold.language.key import Key, Kind
from ninefold.language.limits import Limits
from ninefold.language.resources import Resources
from ninefold.language.responses import OF_RESPONSES, STATUS
from ninefold.language.shapes import JSONSchema, ListOf, MappingOf, Sight, sight_of
from ninefold.language.states import RESOURCE, Machine
from ninefold.language.verbs import TRANSITION, VERBS, Page
from ninefold.language.versioning import Versioning

_OF_PARTS: Final[Mapping[int, Callable[[], Iterable[Key]]]] = {
    2: lambda: rows(Resources, 2),
    3: lambda: (RESOURCE, *rows(Machine, 3, "RESOURCE")),
    4: lambda: (*rows(Endpoints, 4), *rows_of_cases()),
    5: lambda: rows(Authentication, 5),
    6: lambda: rows(Events, 6),
    7: lambda: rows(Errors, 7),
    8: lambda: rows(Limits, 8),
    9: lambda: rows(Versioning, 9),
}


@cache
def vocabulary() -> tuple[Key, ...]:
    """Every key. What reads a contract by its declarations needs few of them: they are made when they are looked up."""
    return tuple(key for part in _OF_PARTS for key in _keys(part))


@cache
def _keys(part: int) -> tuple[Key, ...]:
    return tuple(_OF_PARTS[part]()) if part in _OF_PARTS else ()


@cache
def _by_path(part: int) -> dict[str, Key]:
    return {key.path: key for key in _keys(part)}


@cache
def _by_parent(part: int) -> dict[str, tuple[Key, ...]]:
    found: dict[str, list[Key]] = {}
    for key in _keys(part):
        found.setdefault(key.parent, []).append(key)
    return {parent: tuple(keys) for parent, keys in found.items()}


def keys_under(part: int, path: str) -> tuple[Key, ...]:
    """The keys of the mapping at `path`, in the table's order (`""` is the part itself). Placeholders included."""
    return _by_parent(part).get(path, ())


def key_at(part: int, path: str) -> Key:
    """The row of a path. `KeyError` where the table has none."""
    return _by_path(part)[path]


def row_at(part: int, path: str) -> Key | None:
    """The row of a path, where the table has one."""
    return _by_path(part).get(path)


def key_named(part: int, path: str, name: str) -> Key | None:
    """The key `name` of the mapping at `path`, as its own row of the table; a placeholder stands for no name here."""
    found = _by_path(part).get(f"{path}.{name}" if path else name)
    return None if found is None or found.is_placeholder else found


def row_written(part: int, path: str, name: str = "") -> Key | None:
    """The row of what is written as `name` in the mapping at a path, or of an item of the list there: its own, else the
    placeholder's, else that of a schema within a schema. None: the table has none."""
    own = key_named(part, path, name) if name else None
    named = own or next((key for key in keys_under(part, path) if key.is_placeholder and _stands_for(key, name)), None)
    return named or _row_within_schema(part, path, name)


def _stands_for(placeholder: Key, name: str) -> bool:
    """Whether it may be a name of its kind: where an outcome may stand beside a status, that is the number."""
    return placeholder.name not in OF_RESPONSES or (placeholder.name == STATUS) is name.isdigit()


WITHIN: Final = ".*"
"""Ends the path of what a keyword holds by names or in a list, and of what has no row of its own."""

_KEYWORD: Final = {key.name: key for key in KEYS}


def _row_within_schema(part: int, path: str, name: str) -> Key | None:
    """A schema is one record that stands at several places: its keywords have the same rows within another schema, at
    the path of the outermost. What a keyword holds by names or in a list are schemas without a row of their own."""
    root, _, keyword = path.removesuffix(WITHIN).rpartition(".")
    if keyword not in _KEYWORD or f"{root}.contentSchema" not in _by_path(part):
        return None
    shape, found = _KEYWORD[keyword].shape, _KEYWORD.get(name)
    is_of_several = shape == ListOf(JSONSchema()) or (isinstance(shape, MappingOf) and "schemas" in shape.of)
    if is_of_several and not path.endswith(WITHIN):
        return Key(part, f"{path}{WITHIN}", Kind.RESTRICTS, JSONSchema(), "A schema.", "It says nothing.")
    if found is None or not (is_of_several or shape == JSONSchema()):
        return None
    return found.at(part, f"{root}.{name}")


def place_of(key: Key) -> tuple[int, str]:
    """Where a key stands: what stands in a case stands for the same key of its endpoint."""
    return key.part, key.path.replace("ENDPOINT.cases.CASE.", "ENDPOINT.")


SHAPES: Mapping[str, str] = {
    "check": "CHECK",
    "also": "EFFECT",
    "path": "PARAMETER",
    "query": "PARAMETER",
    "request headers": "PARAMETER",
    "pages": "PAGES",
    "requests": "REQUESTS",
    "error shape": "SHAPE",
}
"""What holds keys that stand at several places, by its key: their shape, of which the page is told once."""


def shape_of(key: Key) -> tuple[str, str] | None:
    """The shape that a key belongs to, and its path there: `("PAGES", "by")`; what holds it belongs to none."""
    names = key.path.split(".")
    for number, name in enumerate(names[:-1], 1):
        if name in SHAPES:
            below = names[number:] if not names[number].isupper() else names[number + 1 :]
            return SHAPES[name], ".".join(below)
    return None


@cache
def shapes() -> Mapping[str, Mapping[str, Key]]:
    """The keys of each shape by their paths in it: those of the first place that has them, where another line does not
    hold instead."""
    found: dict[str, dict[str, Key]] = {name: {} for name in dict.fromkeys(SHAPES.values())}
    for key in sorted(vocabulary(), key=lambda each: each.line is not None):
        shape, path = shape_of(key) or ("", "")
        if path and place_of(key) == (key.part, key.path) and not (is_keyword(key) or is_item(key)):
            found[shape].setdefault(path, key)
    return found


@cache
def holders(shape: str, path: str | None = None) -> tuple[str, ...]:
    """What holds a key of a shape; none is named: any of them."""
    at = set[str]()
    for key in vocabulary():
        own, below = shape_of(key) or ("", "")
        if own == shape and below and path in (None, below) and not is_keyword(key):
            at.add(next(name for name in key.path.split(".") if name in SHAPES))
    return tuple(name for name in SHAPES if name in at)


def is_keyword(key: Key) -> bool:
    """Whether a key belongs to a schema: its parent admits a schema's `contentSchema` and its name is a keyword. The
    `required` of a parameter is OpenAPI's, and no schema's."""
    if key.name == "required" and shape_of(key) is not None:
        return False
    return key.name in KEYWORDS and f"{key.parent}.contentSchema" in _by_path(key.part)


SAID_ABOVE = frozenset(
    {
        (4, "ENDPOINT.body.$ref"),
        (4, "ENDPOINT.errors.CONDITION"),
        (4, "ENDPOINT.responses.OUTCOME.STATUS"),
        (4, "functions.FUNCTION.takes.NAME"),
        (5, "schemes.SCHEME.caller.NAME"),
    }
)
"""Rows of items that are asked for, named or fall back, of which what holds them says all nevertheless."""


@cache
def is_item(key: Key) -> bool:
    """Whether a row is that of a value in a list or a mapping, of which its parent says all: `sets.FIELD`."""
    alone = key.is_placeholder and key.kind in (Kind.ADDS, Kind.RESTRICTS) and not keys_under(key.part, key.path)
    return alone or place_of(key) in SAID_ABOVE


def counted(part: int) -> tuple[Key, ...]:
    """The keys of a part as they are told and counted: those of shapes, cases and schemas stand there alone."""
    own = (key for key in _keys(part) if place_of(key) == (part, key.path))
    return tuple(key for key in own if not (shape_of(key) or is_keyword(key) or is_item(key)))


@cache
def sights() -> Mapping[tuple[int, str], Sight]:
    """Which rows an expression reads, by the part and path of each place where one may stand."""
    found = ((place_of(key), sight_of(key.shape)) for key in vocabulary())
    return {place: sight for place, sight in found if sight is not None}


def told_verbs() -> Iterator[tuple[str, ...]]:
    """How each is written (R stands for a resource), what it does, which row, the body and what may be shown."""
    for verb in VERBS.values():
        what = "" if verb.stands_alone else " NAME" if verb.acts_on == "a function" else " R"
        yield _row(f"`{verb.name}{what}`", verb.page)
        if verb.name == "delete":
            yield _row("a transition: `close note`", TRANSITION.page)


def _row(written: str, page: Page | None) -> tuple[str, ...]:
    return (written,) if page is None else (written, page.does, page.row, page.body, page.shown)
