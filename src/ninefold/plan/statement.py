"""Statements: texts known before any request, in pieces that a request switches on.

A list with three filters would be eight texts; instead its pieces are known, and which of them take part is
decided by the names of what the request gives (`filter status`, `body note`, `match`, `sort -created_at`,
`after -created_at`). The texts that can come of a statement are all the choices of its pieces, and no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from ninefold.expressions.tree import Typed
from ninefold.values import Type

P = TypeVar("P")


class Piece(msgspec.Struct, frozen=True, omit_defaults=True):
    """`text` holds one `?` for each bind. `when` names the switch that has to be on, `unless` the one that must not be;
    a piece with neither always takes part. `beside`: where it says nothing by itself, others that it may be on with."""

    text: str
    binds: tuple[Typed, ...] = ()
    when: str | None = None
    unless: str | None = None
    beside: tuple[str, ...] = ()


def switched(piece: Piece, text: str) -> str:
    """What is written of a piece for people: `[when: text]`, `[unless: text]`."""
    switch = piece.when if piece.unless is None else f"unless {piece.unless}"
    return text if switch is None else f"[{switch}: {text}]"


class ResultColumn(msgspec.Struct, frozen=True):
    """What a column of the result is called (for `ninefold plan`) and what its values are."""

    name: str
    type: Type


class Statement(msgspec.Struct, frozen=True):
    """Run as one statement; its result has `columns`, in order."""

    pieces: tuple[Piece, ...]
    columns: tuple[ResultColumn, ...] = ()


class Plainly(msgspec.Struct, frozen=True):
    """A new row of which all is known before: `statement` stores its values and returns nothing, and whatever the
    write's own asks, constraints of the table refuse as well. Where it is refused, for whatever reason, that is asked.
    `row`: what that would return, each in the form that is stored."""

    statement: Statement
    row: tuple[Typed, ...]


def statements(part: object) -> Iterator[Statement]:
    """Every statement in a plan or a part of one, wherever it stands."""
    return parts(part, Statement)


def parts(part: object, kind: type[P]) -> Iterator[P]:
    """Everything of one kind in a plan or a part of one, wherever it stands."""
    if isinstance(part, kind):
        yield part
    if isinstance(part, msgspec.Struct):
        for name in part.__struct_fields__:
            yield from parts(getattr(part, name), kind)
    elif isinstance(part, tuple | list):
        for each in part:
            yield from parts(each, kind)
    elif isinstance(part, dict):
        yield from parts(tuple(part.values()), kind)
