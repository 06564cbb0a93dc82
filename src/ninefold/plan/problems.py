"""What can go wrong, in which order it counts, and how it is said."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.responses import Content, In
from ninefold.plan.said import Saying
from ninefold.plan.statement import Statement
from ninefold.values.pointers import pointer


class Condition(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that refuses a request: a condition of the closed list, perhaps narrowed to a subject
    (`not found article`), with a code of its own where the contract names one (`otherwise: empty_order`).
    Where it is about a value of the request, `location` and `rule` say where and what; of several fields that are
    unique together, `others` are the locations of the rest, of which the first counts that the request gives, where it
    does not give the one at `location`."""

    condition: str
    subject: str | None = None
    code: str | None = None
    location: Location | None = None
    rule: str | None = None
    trace: tuple[Place, ...] = ()
    others: tuple[Location, ...] = ()


class Location(msgspec.Struct, frozen=True):
    """Where in a request: `pointer` is an RFC 6901 JSON Pointer into the body, or into the parameters seen
    as one object."""

    place: In
    pointer: str
    name: str


ITEM: Final = "*"
"""In a pointer: the place of the position of an item, whichever it is."""


def location(place: In, names: Sequence[str]) -> Location:
    """The value that these names lead to, called as the nearest member is; a body as a whole is `body`."""
    named = [name for name in names if name != ITEM]
    return Location(place, pointer(names), named[-1] if named else place)


class Judge(msgspec.Struct, frozen=True, omit_defaults=True):
    """The select that names why nothing was found or touched. It always gives one row: for each condition, in
    order, whether it *fails* the request (1 or 0); then the detail of each code in `details`. What needs all values
    of the body is false while the bind `$judge.values` is; what needs those of some fields, while one of them is wrong
    (`$judge.wrong F`) or the body was not read (`$judge.read`). Its statement has no switches. `anew`: for each
    condition the fields that are made at random, of which other values may not be taken; empty: there are none."""

    statement: Statement
    conditions: tuple[Condition, ...]
    details: tuple[str, ...] = ()
    anew: tuple[tuple[str, ...], ...] = ()


DETAIL = "detail"
"""What a code says in a body, beside the headers of its responses."""


def said_by(code: str, name: str) -> str:
    """How what a code says is called among the `details` of a judge or a write."""
    return code if name == DETAIL else f"{code} {name}"


class ErrorCode(Saying, frozen=True, omit_defaults=True):
    """`called`: what callers of an older version know it by, where that is not its name. `detail` where it reads no
    row; one that does is a column of the judge. `headers` of its responses, each None where it reads a row. `said`
    is read by the shape of an error: `error.title`. `places`: where its facts stand, by their keys."""

    name: str
    status: int
    detail: Typed | None = None
    about: str | None = None
    called: str | None = None
    trace: tuple[Place, ...] = ()
    places: dict[str, Place] = {}
    headers: dict[str, Typed | None] = {}

    @property
    def known_as(self) -> str:
        """What callers know it by."""
        return self.called or self.name


class ErrorShape(msgspec.Struct, frozen=True, omit_defaults=True):
    """The media type and the body of errors; both None: every error is a bare status."""

    media_type: str | None = None
    content: Content | None = None


class Problems(msgspec.Struct, frozen=True, omit_defaults=True):
    """`conditions` maps a condition, or a narrowed one (`not found article`), to its code. What has no code is
    answered with its status of the table of fixed meanings (`statuses`) and an empty body, and so is everything
    where `content` is None. `precedence` orders all conditions, and the narrowed ones that are placed themselves.
    `places`: where the rest is stated: `media type`, `precedence`, `for CONDITION`, `messages RULE`."""

    statuses: dict[str, int]
    precedence: tuple[str, ...]
    codes: tuple[ErrorCode, ...] = ()
    conditions: dict[str, str] = {}
    media_type: str | None = None
    content: Content | None = None
    messages: dict[str, str] = {}
    places: dict[str, Place] = {}


def names(condition: str, subject: str | None) -> tuple[str, ...]:
    """What a contract may call a condition, the narrowest first: `conflict user.email`, `conflict user`, `conflict`."""
    if subject is None:
        return (condition,)
    return tuple(dict.fromkeys((f"{condition} {subject}", f"{condition} {subject.partition('.')[0]}", condition)))


def rank(condition: str, subject: str | None, own_code: bool, told: Container[str], order: Mapping[str, int]) -> int:
    """The place of a failure in the precedence (meaning "precedence"); the lower counts. `own_code`: it has a code
    of its own where it is stated, which makes an `invalid` value a narrower condition than any; `told` are the names
    that have codes; `order` has the places of all conditions, and of the narrowed ones that are placed themselves."""
    before = _OF_A_FIELD if own_code and condition == "invalid" else 0
    for name in names(condition, subject):
        if name in order:
            return order[name] * _APART - before
        if not before and name in told:
            before = _OF_A_FIELD if "." in name else _OF_A_RESOURCE
    return len(order) * _APART


_OF_A_RESOURCE, _OF_A_FIELD, _APART = 1, 2, 3
"""How far before the place of its condition stands what is narrowed, and how far apart the places are."""
