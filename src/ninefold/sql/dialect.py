"""What differs between databases, as one object: operators, functions, JSON and the exactness of numbers.

Every fragment made here is null where an argument is null, and where CEL speaks of an error. Arguments are
columns, binds, or stand in parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from ninefold.sql.fragment import Fragment, join
from ninefold.values import Array, Null, Type

Build: TypeAlias = Callable[[tuple[Fragment, ...]], Fragment]


PATH_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The names of members that stand in a path as they are."""

ROWS: Final = Array(items=Array(items=Null()), nullable=True)
"""The type of what `gather_rows` makes."""


ALIKE: Final[Mapping[str, str]] = {
    "add_text": "({0} || {1})",
    **dict.fromkeys(
        ("string_text", "string_timestamp", "int_integer", "double_number", "bool_boolean", "timestamp_timestamp",
         "duration_duration"), "{0}"),
    "hours_duration": "({0} / 3600000000)",
    "minutes_duration": "({0} / 60000000)",
    "seconds_duration": "({0} / 1000000)",
    "milliseconds_duration": "({0} % 1000000 / 1000)",
}  # fmt: skip
"""The functions that every database has in the same words."""


class Dialect(Protocol):
    """A database's SQL, as far as expressions and the statements of a plan need it."""

    name: str
    true: str
    false: str
    asks_types: bool
    """Whether a bind has to say its type: what stands around its `?` says it then (`bound`)."""
    counts_rows: bool
    """Whether the rows of each table have a number of the database's own."""
    returning_costs: bool
    """Whether what returns the row that it stores takes longer than to store it."""
    nothing: str
    """A source for FROM that has one row, and no column that anything refers to."""
    any_order: str
    """What ORDER BY says where every order will do."""
    nameless: str
    """What stands behind a query in FROM to which nothing refers."""
    alike: str
    """The operator of `same`, with its spaces."""
    overflowing: frozenset[str]
    """The functions whose result may be outside of 64 bits until `whole` has looked at it; such results may be
    operands of further such functions."""

    def bound(self, type_: Type) -> str:
        """The place of a bind of a type."""

    def function(self, id: str, arguments: tuple[Fragment, ...]) -> Fragment | None:
        """A function of the closed table by its id; `None`: for values of the request only."""

    def whole(self, integer: Fragment) -> Fragment:
        """An integer, or null if it overflowed."""

    def null(self, type_: Type) -> Fragment:
        """No value, in a column of values of a type."""

    def same(self, left: Fragment, right: Fragment) -> Fragment:
        """Equality in which null is equal to null; never null."""

    def same_json(self, left: Fragment, right: Fragment) -> Fragment:
        """The same of JSON values: members in any order, `1` and `1.0` alike."""

    def json_is(self, value: Fragment, name: str) -> Fragment:
        """Whether a value of any type, stored as JSON, is of the type that CEL calls so; never null."""

    def of_json(self, value: Fragment, type_: Type) -> Fragment | None:
        """A value of any type, stored as JSON, as one of a type; null where it is of another. `None`: the database
        cannot tell."""

    def as_json(self, value: Fragment, type_: Type) -> Fragment | None:
        """A plain value of a type as JSON; `None` for a type that has no JSON."""

    def choose(self, condition: Fragment, yes: Fragment, no: Fragment) -> Fragment:
        """`?:`; null where the condition is."""

    def is_true(self, condition: Fragment) -> Fragment:
        """True where the condition is true, else false; never null."""

    def items(self, array: Fragment, alias: str) -> Fragment:
        """A source for FROM: one row for each item of an array."""

    def item(self, alias: str, type_: Type) -> Fragment:
        """The item that a row of `items` stands for."""

    def position(self, alias: str) -> Fragment:
        """Its position in the array, from 0."""

    def name_of(self, alias: str) -> Fragment:
        """Of an object, the name of the member that a row of `items` stands for."""

    def named(self, alias: str, value: Fragment, type_: Type) -> Fragment:
        """Whether the row of `items` is of the member of an object that a value names."""

    def rows(self, array: Fragment, columns: Sequence[tuple[str, Type]]) -> Fragment:
        """A query for the rows of an array, each an array of values in the forms that they are stored in (bytes in
        hexadecimal): their position, from 0, then these columns."""

    def length(self, array: Fragment) -> Fragment:
        """How many items an array has."""

    def member(self, object_: Fragment, name: str, type_: Type) -> Fragment | None:
        """A member of an object; `None` if a name is such that no path leads to it."""

    def gather(self, item: Fragment, type_: Type, order: tuple[Fragment, ...]) -> Fragment:
        """The aggregate that makes an array of items in an order."""

    def gather_members(self, name: Fragment, member: Fragment, type_: Type) -> Fragment:
        """The aggregate that makes an object of members; one that is null is left out."""

    def gather_rows(self, cells: Sequence[Fragment], types: Sequence[Type], order: tuple[Fragment, ...]) -> Fragment:
        """The aggregate that makes an array of rows, each an array of its cells in the forms that they are stored in.
        A cell that is such an array itself is of the type `ROWS`."""

    def text_of(self, column: Fragment, type_: Type) -> Fragment:
        """A column as text: of truth values 1 and 0. Of a number each database has its own, which says it exactly."""

    def array_of(self, cells: Sequence[Fragment], types: Sequence[Type]) -> Fragment:
        """A JSON array of columns, which says truth values and numbers as `text_of` does."""

    def object_of(self, cells: Sequence[tuple[str, Fragment]]) -> Fragment:
        """A JSON object of columns under their names."""

    def of_text(self, text: Fragment, type_: Type) -> Fragment:
        """A value to compare a column of a type with, of its text."""

    def item_of(self, array: Fragment, position: int, type_: Type) -> Fragment:
        """A column's value of what `array_of` made, from 0."""

    def member_of(self, object_: Fragment, name: str, type_: Type) -> Fragment:
        """A column's value of what `object_of` made."""

    def about(self, column: str, width: int) -> str:
        """The identifier of the row that an event is about (`ninefold.sql.events.about`), of at most so many fields."""

    def later(self, one: Fragment, other: Fragment) -> Fragment:
        """The later of two timestamps; null if one is."""

    def total(self, column: str, source: Fragment) -> Fragment:
        """A query for the sum of an integer column; null if an item is null, or if it overflows."""

    def steps(self, reached: str, steps: Sequence[tuple[Fragment, Fragment, Fragment]]) -> Fragment:
        """What follows on each row of `reached` behind the UNION of a recursive query of that name: the cells, the
        source and the condition of each step."""


_SIMPLE: Final = re.compile(r'\?|[A-Za-z0-9_]+|"(?:[^"]|"")*"\."(?:[^"]|"")*"')
_HOLE: Final = re.compile(r"\{(\d)\}")


def once(arguments: tuple[Fragment, ...], build: Build, nameless: str = "") -> Fragment:
    """A fragment that names its arguments several times, while each is written and evaluated once. `nameless`: that of
    the dialect."""
    if all(_SIMPLE.fullmatch(argument.text) for argument in arguments):
        return build(arguments)
    columns = join(", ", (argument + f" AS v{index}" for index, argument in enumerate(arguments)))
    names = tuple(Fragment(f"v{index}") for index in range(len(arguments)))
    return "(SELECT " + build(names) + " FROM (SELECT " + columns + f"){nameless})"


def template(text: str, nameless: str = "") -> Build:
    """A text with holes `{0}`, `{1}` … for arguments. `nameless`: that of the dialect."""
    pieces = _HOLE.split(text)
    holes = [int(index) for index in pieces[1::2]]

    def fill(arguments: tuple[Fragment, ...]) -> Fragment:
        made = Fragment(pieces[0])
        for index, piece in zip(holes, pieces[2::2], strict=True):
            made = made + arguments[index] + piece
        return made

    if len(set(holes)) == len(holes):
        return fill
    return lambda arguments: once(arguments, fill, nameless)
