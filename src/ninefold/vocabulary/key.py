"""A key of the language: what it asks for, what its value looks like, and what its absence costs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ninefold.vocabulary.shapes import Shape


class Kind(Enum):
    """What happens where a key is absent.

    `asked`: a question asks for it, and absence is a gap. `restricts`: it narrows what is accepted, how often or
    when, and the restriction is not there. `adds`: the member, header, filter, code or event is not there.
    `names`: others refer to it, and each use is an error. `tells`: nothing that a caller sees.
    """

    ASKED = "asked"
    RESTRICTS = "restricts"
    ADDS = "adds"
    NAMES = "names"
    TELLS = "tells"


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the table.

    `part` counts from 1. `path` runs from the part's own mapping, its segments joined by `.`; a segment in
    capitals stands for any name (`RESOURCE.fields.FIELD.on create`), or for an item of a list
    (`ENDPOINT.guards.GUARD.when`). `question` is the id of the question that asks for it
    (`ninefold.questions`);
    `absence` says what the absence costs, `meaning` what the key says.
    """

    part: int
    path: str
    kind: Kind
    shape: Shape
    meaning: str
    absence: str
    question: str | None = None

    @property
    def name(self) -> str:
        """The last segment: the key as it is written, or the placeholder."""
        return self.path.rpartition(".")[2]

    @property
    def parent(self) -> str:
        """The path of the mapping that holds the key; `""` is the part itself."""
        return self.path.rpartition(".")[0]

    @property
    def is_placeholder(self) -> bool:
        """Whether the last segment stands for any name."""
        return self.name.isupper()


# The rows of a part's file read as a table: one call a row.


def asked(part: int, path: str, shape: Shape, question: str, meaning: str, absence: str) -> Key:
    return Key(part, path, Kind.ASKED, shape, meaning, absence, question)


def restricts(part: int, path: str, shape: Shape, meaning: str, absence: str) -> Key:
    return Key(part, path, Kind.RESTRICTS, shape, meaning, absence)


def adds(part: int, path: str, shape: Shape, meaning: str, absence: str) -> Key:
    return Key(part, path, Kind.ADDS, shape, meaning, absence)


def names(part: int, path: str, shape: Shape, meaning: str, absence: str) -> Key:
    return Key(part, path, Kind.NAMES, shape, meaning, absence)


def tells(part: int, path: str, shape: Shape, meaning: str) -> Key:
    return Key(part, path, Kind.TELLS, shape, meaning, "Nothing that a caller sees.")
