"""What a value of the language looks like: rich enough for a sentence in a diagnostic and for a JSON Schema.

`none` and `not shown` are admitted for every key, and so is `!proposed` before a value; shapes do not repeat it.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeAlias

from ninefold.diagnostics.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a closed list."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text. `what` says of what, where it is not just words for people."""

    what: str = "text"


@dataclass(frozen=True, slots=True)
class Integer:
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`. `only_true`: the key is there to say `true`, and is left out otherwise."""

    only_true: bool = False


class Sight(Enum):
    """Which rows an expression reads besides the one in question, by the place where it stands (meaning "row rules").

    `ALL`: every row, those that are gone too. `CALLERS`: those that the caller may see by its row rules, and that are
    not gone. `OF_USE`: as the place that uses it. `NONE`: no row but what came with the request, such as the caller's.

    A value is the same for everyone who may see it. So what computes, judges and makes reads all rows; what is shown to
    a caller, or by which it says what it wants to be shown, reads those that the caller sees. A computed field that is
    read in such a place keeps its value, which is made of all rows.
    """

    ALL = "all rows"
    CALLERS = "the rows that the caller sees"
    OF_USE = "those of the place that uses it"
    NONE = "no rows: it is judged before any is read"


@dataclass(frozen=True, slots=True)
class Expression:
    """CEL; text has inner quotes. `reads`: which rows."""

    reads: Sight = Sight.ALL


@dataclass(frozen=True, slots=True)
class Duration:
    """ISO 8601 with weeks, days, hours, minutes and seconds: `PT30M`."""


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes with a unit: `64 KiB`."""


@dataclass(frozen=True, slots=True)
class Date:
    """A full-date of RFC 3339: `2026-06-01`."""


FORM = "application/x-www-form-urlencoded"
"""What is sent as the query of a URL is written (WHATWG URL, section 5)."""


@dataclass(frozen=True, slots=True)
class MediaType:
    """A media type of RFC 9110: `application/json`."""


@dataclass(frozen=True, slots=True)
class HeaderName:
    """A field name of RFC 9110: `Api-Version`."""


@dataclass(frozen=True, slots=True)
class Path:
    """A path of RFC 3986 without a trailing slash: `/api`."""


@dataclass(frozen=True, slots=True)
class Name:
    """The name of something that the contract declares, such as `a resource`; `of` says what."""

    of: str


SHARED_TYPE: Final = Name('a shared schema in quotes (`#` begins a comment), such as `"#/types/line"`')


@dataclass(frozen=True, slots=True)
class Names:
    """A list of such names. `alone`: one name may stand without a list."""

    of: str
    alone: bool = False


NEW_NAME: Final = Name("a new name")
NEW_NAMES: Final = Names("a new name")
"""Of things that are declared by it."""


@dataclass(frozen=True, slots=True)
class Template:
    """A JSON value whose leaves are expressions, or a view. `reads`: which rows these do."""

    reads: Sight = Sight.ALL


@dataclass(frozen=True, slots=True)
class JSONSchema:
    """A JSON Schema of draft 2020-12, in the keywords of the table."""


@dataclass(frozen=True, slots=True)
class JSON:
    """Any JSON value."""


@dataclass(frozen=True, slots=True)
class Members:
    """A mapping whose keys are those that the table lists below this one."""


@dataclass(frozen=True, slots=True)
class MappingOf:
    """A mapping from names that the contract chooses; `of` says of what. The placeholder below this key
    in the table says what each holds."""

    of: str


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list. Where `item` is `Members`, the placeholder below this key lists the keys of each."""

    item: Shape


@dataclass(frozen=True, slots=True)
class OneOf:
    """Several ways to write the same fact."""

    shapes: tuple[Shape, ...]


Shape: TypeAlias = (
    Word
    | Text
    | Integer
    | Boolean
    | Expression
    | Duration
    | Size
    | Date
    | MediaType
    | HeaderName
    | Path
    | Name
    | Names
    | Template
    | JSONSchema
    | JSON
    | Members
    | MappingOf
    | ListOf
    | OneOf
)


def describe(shape: Shape) -> str:
    """The shape in words, to follow "is written as": `a duration such as PT30M`."""
    match shape:
        case Word(words):
            quoted = [f"`{word}`" for word in words]
            return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]
        case Text(what):
            return what
        case Integer(minimum, None):
            return f"a whole number of at least {minimum}"
        case Integer(minimum, maximum):
            return f"a whole number from {minimum} to {maximum}"
        case Boolean(only_true):
            return "`true`" if only_true else "`true` or `false`"
        case Expression():
            return "an expression"
        case Duration():
            return "a duration such as `PT30M`"
        case Size():
            return "a size such as `64 KiB`"
        case Date():
            return "a date such as `2026-06-01`"
        case MediaType():
            return "a media type such as `application/json`"
        case HeaderName():
            return "a header's name"
        case Path():
            return "a path such as `/api`"
        case Name(of):
            return of
        case Names(of, alone):
            # "a field" becomes "a list of fields"
            noun = of.split(" ", 1)[1] if of.startswith(("a ", "an ")) else of
            return f"{of}, or a list of them" if alone else f"a list in brackets, each item {_article(noun)}"
        case Template():
            return "a template: a mapping, a list or an expression"
        case JSONSchema():
            return "a mapping of JSON Schema keywords"
        case JSON():
            return "any value"
        case Members():
            return "a mapping"
        case MappingOf(of):
            return f"a mapping from {of}"
        case ListOf(item):
            return f"a list, each item {describe(item)}"
        case OneOf(shapes):
            return ", or ".join(describe(each) for each in shapes)


def sight_of(shape: Shape) -> Sight | None:
    """Which rows are read by an expression that stands there; None: none may, nor a template of expressions."""
    match shape:
        case Expression(reads) | Template(reads):
            return reads
        case OneOf(shapes):
            return next((found for each in shapes if (found := sight_of(each)) is not None), None)
        case ListOf(item):
            return sight_of(item)
        case _:
            return None


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"
