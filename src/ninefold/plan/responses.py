"""What a response is made of. A content is a tree over the columns of a result and over typed expressions."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeAlias

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.statement import ResultColumn

NO_FIELD_VALUE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$")
"""What no value of a header has (RFC 9110 5.5): control characters but the tab, and white space around it."""

REFERENCES: Final = frozenset(("location", "content-location"))
"""Headers whose values are URI references: what none has is escaped in them."""


class _Content(msgspec.Struct, frozen=True, tag_field="content", omit_defaults=True, kw_only=True):
    """`null_shown`: it is `null` where it has no value, and not left out. `trace`: where it is stated, with the name
    under which it is a member, and the fields that it reads."""

    null_shown: bool = False
    trace: tuple[Place, ...] = ()


class FromColumn(_Content, frozen=True, tag="column"):
    """The value of a column of the row."""

    column: int


class FromExpression(_Content, frozen=True, tag="expression"):
    """The value of an expression that reads no row."""

    expression: Typed


class ObjectOf(_Content, frozen=True, tag="object"):
    """A JSON object, members in written order. Where `present` names a column, a row without a value there has no such
    object.

    `optional`: the members that a request may leave out. `expanded`: what it may ask for, by name: it is shown in the
    place of the member of that name, or behind the others (`ninefold.plan.chosen`)."""

    members: tuple[tuple[str, Content], ...]
    present: int | None = None
    optional: tuple[str, ...] = ()
    expanded: tuple[tuple[str, Content], ...] = ()


class ArrayOf(_Content, frozen=True, tag="array"):
    """A JSON array written out."""

    items: tuple[Content, ...]


class EachRow(_Content, frozen=True, tag="rows"):
    """`page.items`: one element a row of the result."""

    item: Content


class EachOf(_Content, frozen=True, tag="each"):
    """The items of an array within a row. The column holds them as a JSON array of arrays, in each of which there are
    the stored values of `columns`; of one of these, `item` is shown, as of a row. It has no value where the column has
    none; an item that shows nothing is left out."""

    column: int
    columns: tuple[ResultColumn, ...]
    item: Content


class ChoiceOf(_Content, frozen=True, tag="choice"):
    """`yes` where the condition is true; where it is false, null or an error, `no`, whatever either says of null. What
    either is shown from, the result holds in any case."""

    condition: FromColumn | FromExpression
    yes: Content
    no: Content


Content: TypeAlias = FromColumn | FromExpression | ObjectOf | ArrayOf | EachRow | EachOf | ChoiceOf


class Response(msgspec.Struct, frozen=True, omit_defaults=True):
    """`content` None: no body and no media type. `revision` is the column of the row's revision where an
    entity tag is given; `tag_prefix` then tells apart what the same revision looked like under another contract.
    `digested`: the tag is of the content as well, which may change while the row stays as it is.
    `trace`: where the status is stated; `places`: where headers are that no fact writes as such, by their names in
    lower case."""

    status: int
    media_type: str | None = None
    content: Content | None = None
    headers: tuple[tuple[str, FromColumn | FromExpression], ...] = ()
    revision: int | None = None
    digested: bool = False
    tag_prefix: str = ""
    trace: tuple[Place, ...] = ()
    places: dict[str, tuple[Place, ...]] = {}


class Carried(msgspec.Struct, frozen=True, omit_defaults=True):
    """A header that every response carries of an endpoint, of a version, or of all. `value`: its texts and, by their
    numbers, what the names of the path were given between them. `defined`: the document that says what it means.
    `until`: seconds since 1970 (UTC), from which on it is not sent."""

    name: str
    value: tuple[str | int, ...]
    defined: str
    until: int | None = None
    trace: tuple[Place, ...] = ()

    @property
    def is_constant(self) -> bool:
        return self.until is None and all(isinstance(part, str) for part in self.value)


def carried(*of: tuple[Carried, ...]) -> tuple[Carried, ...]:
    """What a response carries of all that it is of, the widest first: of one name, the narrower says what is sent."""
    return tuple({each.name.lower(): each for some in of for each in some}.values())


In: TypeAlias = Literal["body", "query", "path", "header", "row"]


def roots(content: Content) -> frozenset[str]:
    """The names of the environment that a content reads, as `error` or `now`."""
    return frozenset(_variables(msgspec.to_builtins(content)))


def _variables(node: Any) -> set[str]:
    match node:
        case {"node": "variable", "name": str(name)}:
            return {name}
        case dict():
            return set().union(*map(_variables, node.values()))
        case list() | tuple():
            return set().union(*map(_variables, node))
        case _:
            return set()
