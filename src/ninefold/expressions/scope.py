"""What an expression may read: names with their types, and the shapes of the resources behind them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from enum import Enum
from typing import Final, TypeAlias

from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.suggest import singulars
from ninefold.expressions.tree import Typed
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Digest,
    Duration,
    Integer,
    Null,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    optional,
    required,
)


class Inferred(Enum):
    """The mark of a variable whose type the expression gives (`value` in a filter)."""

    INFERRED = "inferred"


INFERRED: Final = Inferred.INFERRED

BEFORE_IT: Final = "$before"
AFTER_IT: Final = "$after"
"""What stands before and after the value of the parameter that says at which page a list begins, in the path and the
query of a request as it came: members of `page` that no expression can name, and `PAGE_AT` reads."""

PAGE_AT: Final = "page.at"

COUNT: Final = "$count"
"""How many rows a page has: the member of `page` that `page.items.size()` reads."""


@dataclass(frozen=True, slots=True)
class Log:
    """The event log, whose rows are events. `version`: they are as that one has them; None: there are no versions.
    `lasts`: for how many microseconds an event can be read; None: without an end. `kinds`: those that there are; None:
    whatever has happened."""

    lasts: int | None
    version: str | None = None
    kinds: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ResourceShape:
    """A resource as expressions see it.

    `fields` holds the types of all fields, computed ones too; one that may have no value is nullable; a
    reference is a `Row`. `inverse` leads from the name of a back-reference to (resource, its referring field).
    `computed` holds the expressions of computed fields, in which the resource's own name is the row. `log`: its rows
    are no table's.
    """

    name: str
    primary_key: tuple[str, ...]
    fields: Mapping[str, Type]
    inverse: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    computed: Mapping[str, Typed] = field(default_factory=dict)
    computed_fields: Collection[str] = frozenset()
    """The names of computed fields whose expressions are not known yet (while they are being checked)."""
    log: Log | None = None
    views: Collection[str] = ()
    """The names of its views, which no expression applies."""

    @property
    def identifier_type(self) -> Type | None:
        """The type of the one primary key field; `None` where there are several, or none that is known."""
        return self.fields.get(self.primary_key[0]) if len(self.primary_key) == 1 else None

    @property
    def is_no_value(self) -> str:
        """Why a row of it is no value, where it is not known by one field."""
        fields = " and ".join(f"`{each}`" for each in self.primary_key)
        why = f"its primary key is {fields}" if fields else "there is one, without a primary key"
        return f"a row of `{self.name}` is no value: {why}"


Model: TypeAlias = Mapping[str, ResourceShape]


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that an expression may use. An object without members admits any (`claims.NAME`).

    `request_only`: judged before the database is asked. `serial`: the place is an `on create`, where
    `serial()` may stand alone. `items`: the variables, besides rows, whose values the database has: each stands for one
    item of an array.
    """

    variables: Mapping[str, Type | Inferred]
    model: Model = field(default_factory=dict)
    request_only: bool = False
    serial: bool = False
    items: Collection[str] = ()

    def rows_of(self, name: str) -> tuple[str, ...]:
        """How rows are read beside a page of them, where a name of one or of several of them is no one row."""
        page = self.variables.get("page")
        items = (page.members or {}).get("items") if isinstance(page, Object) else None
        row = items.items if isinstance(items, Array) else None
        if isinstance(row, Row) and row.resource.casefold() in singulars(name):
            return ("the rows of a page are `page.items`: as they are, through a view, or by `map`",)
        return ()


def stored_as(type_: Type, model: Model) -> Type:
    """The type that a value is stored as: of a row, that of its primary key, which may be a row again."""
    shape = model.get(type_.resource) if isinstance(type_, Row) else None
    return type_ if shape is None or shape.identifier_type is None else stored_as(shape.identifier_type, model)


def describe(type_: Type) -> str:
    """A type in the contract's words, with its article: "an integer", "an array of strings"."""
    match type_:
        case Array(items=Anything() | Null()):
            return "an array"
        case Array(items=items):
            return f"an array of {_PLURALS[type(items)]}" if type(items) in _PLURALS else "an array"
        case Row(resource=resource):
            return f"a row of `{resource}`"
        case _:
            return _WORDS[type(type_)]


_WORDS: Final[Mapping[type, str]] = {
    Boolean: "a boolean",
    Integer: "an integer",
    Number: "a number",
    Text: "a string",
    Timestamp: "a date-time",
    Duration: "a duration",
    Digest: "a secret",
    Object: "an object",
    Null: "null",
    Anything: "a value of any type",
}
_PLURALS: Final[Mapping[type, str]] = {
    Boolean: "booleans",
    Integer: "integers",
    Number: "numbers",
    Text: "strings",
    Timestamp: "date-times",
    Duration: "durations",
    Object: "objects",
    Array: "arrays",
    Row: "rows",
}


def cel_name(type_: Type) -> str | None:
    """What CEL calls the values of a type that is known beforehand; None: they may be of any, or have no such name."""
    match type_:
        case Boolean():
            return "bool"
        case Integer():
            return "int"
        case Number():
            return "double"
        case Text():
            return "string"
        case Array():
            return "list"
        case Object():
            return "map"
        case _:
            return None


def fits(given: Type, wanted: Type) -> bool:
    """Whether a value of one type can stand where the other is wanted. That it may be null is no hindrance:
    null is an error where a value is needed. `Anything` fits everywhere, and is looked at when it is there; but no
    value of JSON is a duration."""
    match given, wanted:
        case (Anything(), Duration()):
            return False
        case (Anything(), _) | (_, Anything()):
            return True
        case (Null(), _):
            return wanted.nullable or isinstance(wanted, Null)
        case (Array(items=of), Array(items=wanted_of)):
            return fits(of, wanted_of)
        case (Row(resource=resource), Row(resource=wanted_resource)):
            return resource == wanted_resource
        case _:
            return type(given) is type(wanted)


def join(left: Type, right: Type) -> Type | None:
    """The type of what is either; `None` if there is none but "anything"."""
    match left, right:
        case (Null(), Null()):
            return left
        case (Null(), other) | (other, Null()):
            return optional(other)
        case (Anything(), _) | (_, Anything()):
            return Anything(nullable=True)
        case (Array(items=a), Array(items=b)):
            items = join(a, b)
            return None if items is None else Array(items=items, nullable=left.nullable or right.nullable)
        case (Object(members=a), Object(members=b)):
            others = None if left.others is None or right.others is None else join(left.others, right.others)
            return Object(members=_common(a, b), others=others, nullable=left.nullable or right.nullable)
        case _:
            if required(left) != required(right):
                return None
            return optional(left) if right.nullable else left


def member_type(object_: Object) -> Type:
    """The type of a member of which the name is not known."""
    found = object_.others
    for member in object_.members.values():
        found = None if found is None else join(found, member)
    return Anything(nullable=True) if found is None else found


def _common(left: Mapping[str, Type], right: Mapping[str, Type]) -> dict[str, Type]:
    """The members of what is either of two objects: one that only one of them has may have no value."""
    members: dict[str, Type] = {}
    for name in {**left, **right}:
        if name in left and name in right:
            members[name] = join(left[name], right[name]) or Anything(nullable=True)
        else:
            members[name] = optional(left[name] if name in left else right[name])
    return members
