"""Part 4: how requests are read, functions, and what a request chooses of a list."""

from __future__ import annotations

import re
from functools import partial

from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.codes import NOT_IN_FORM, WRONG_SHAPE
from ninefold.language.declaration import Each, adds, asked, named
from ninefold.language.expressions import ANY, Expression, Template, expression, template
from ninefold.language.fact import Fact, Name
from ninefold.language.json_schema import KEYS as KEYWORDS
from ninefold.language.json_schema import keywords
from ninefold.language.key import Kind
from ninefold.language.question import Question
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.language.records import of_entry
from ninefold.language.schemas import Schema, is_a_name, schema
from ninefold.syntax.nodes import Entry, Mapping, Node, Sequence

# fmt: off

DOES = Question("does", 4, "what {} does", "blocks", "E", "E")
ORDER = Question("order", 4, "the order in which {} lists", "blocks", "E", "E", "of each list")
REQUEST_MEDIA_TYPE = Question(
    "request media type", 4, "the media type of requests", "blocks", "the endpoints with a body",
    asked="if an endpoint has a body, or refuses one that has members")
UNKNOWN_MEMBERS = Question(
    "unknown members", 4, "what happens to members that no fact names", "blocks", "the endpoints that state a body",
    asked="if an endpoint states a `body`, be it `none`")
UNKNOWN_PARAMETERS = Question(
    "unknown parameters", 4, "what happens to parameters that no fact names", "blocks", "every endpoint")

NOT_SERVED = "E is not served"
PARAMETER = shapes.Name("a query parameter")


# How requests are read

@dataclass(frozen=True, slots=True)
class Requests:
    """How requests are read: all of them, or, where an endpoint says it, those of that one."""

    media_types: Fact[tuple[Name, ...]] | None = asked(
        "media type", shapes.OneOf((shapes.MediaType(), shapes.ListOf(shapes.MediaType()))),
        f"The media types of request bodies: of JSON, or `{shapes.FORM}`.", REQUEST_MEDIA_TYPE,
        "endpoints with a body are not served", read=leaves.request_media_types)
    unknown_members: Fact[Name] | None = asked(
        "unknown members", shapes.Word(("refused", "ignored")),
        "What happens to members of a body that no fact names.", UNKNOWN_MEMBERS,
        "endpoints with a body are not served")
    unknown_parameters: Fact[Name] | None = asked(
        "unknown parameters", shapes.Word(("refused", "ignored")),
        "What happens to query parameters that no fact names.", UNKNOWN_PARAMETERS,
        "endpoints with parameters are not served")
    texts: Fact[Name] | None = adds(
        "texts", shapes.Word(("read",)),
        "Where a field of the body, or each item of its array, is a number or a truth value, a text that JSON would "
        'read as one (`"1"`, `"true"`) is taken for it.', 'A text is a text: `"1"` is no number.',
        says_none=True)


# Functions

UNCALLED = "endpoints that call it are not served"


@dataclass(frozen=True, slots=True)
class Taken:
    """A value that a function is called with, by its name."""

    name: str
    span: Span
    schema: Schema


def read_taken(r: Reading, node: Node, slot: Slot) -> tuple[Taken, ...] | None:
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        if not is_a_name(r, entry, "arguments", "leave it out: a function is called with everything that it takes"):
            continue
        own = schema(r, entry.value, Slot(entry.name, shapes.JSONSchema()))
        if not entry.name.isidentifier():
            r.say(
                NOT_IN_FORM,
                f"{quoted(entry.name)} is not the name of an argument",
                Label(entry.key.span, "no argument is called so"),
                help=("an argument of a Python function is called by letters, digits and `_`",),
            )
        elif own is not None:
            found.append(Taken(entry.name, entry.key.span, own))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the operator's that endpoints call: what it takes and gives, and the error codes with which it
    refuses."""

    name: str
    span: Span
    takes: Fact[tuple[Taken, ...]] | None = asked(
        "takes", shapes.MappingOf("names to schemas"),
        "What it is called with, by name: each value is held to its schema.", DOES, UNCALLED, says_none=True,
        read=read_taken, below=(
            named("NAME", Kind.ASKED, "A value that it is called with, and its schema.", f"A gap: {UNCALLED}.",
                  shapes.JSONSchema(), DOES),
            *(key for key in keywords(0, "NAME") if key.name != "required")))
    gives: Fact[Schema] | None = asked(
        "gives", shapes.JSONSchema(), "What it gives, which is held to this schema, and is `result.FUNCTION`.", DOES,
        UNCALLED, read=schema, below=KEYWORDS)
    refuses: Fact[tuple[Name, ...]] | None = adds(
        "refuses", shapes.Names("an error code"), "The error codes with which it may refuse a request.",
        "It refuses none: where it does, that is `internal`.")


def callable_name(r: Reading, entry: Entry, _: object) -> None:
    """Says of a name whether no function of Python is called so."""
    if not entry.name.isidentifier():
        r.say(
            NOT_IN_FORM,
            f"{quoted(entry.name)} is not the name of a function",
            Label(entry.key.span, "no function is called so"),
            help=("a function of Python is called by letters, digits and `_`: `quote_of`",),
        )


FUNCTIONS = Each(
    Function,
    named("FUNCTION", Kind.NAMES, "A function, which the operator gives by this name.",
          "There is no such function; each use is an error."),
    look=callable_name)


def read_functions(r: Reading, node: Node, slot: Slot) -> tuple[Function, ...] | None:
    entries = r.entries(node, slot)
    return None if entries is None else r.each(entries, partial(of_entry(FUNCTIONS), r))


# What a request chooses of a list, and of what is shown

def read_written(r: Reading, node: Node, slot: Slot) -> str | None:
    found = leaves.word(r, node, slot)
    return None if found is None else found.text


WRITTEN = shapes.Word(("repeated", "comma separated"))
SEVERAL = "How several names are given: the parameter is repeated, or its value has commas."
ALONE = "The parameter gives one name."


@dataclass(frozen=True, slots=True)
class Filter:
    """A list's filter: an expression over the row and `value`, or `{is, written, default}`."""

    name: str
    span: Span
    condition: Fact[Expression] | None = asked("is", shapes.Expression(), "The condition.", DOES, NOT_SERVED)
    written: Fact[str] | None = adds(
        "written", WRITTEN, "How several values are given: the parameter is repeated, or its value has commas.",
        "The parameter gives one value.", read=read_written)
    default: Fact[Expression] | None = adds(
        "default", shapes.Expression(), "The value where the parameter is not given.",
        "The filter takes no part where it is not given.")


FILTERS = Each(
    Filter,
    named("FILTER", Kind.ADDS, "A condition on the row and on `value`, what the parameter gives.",
          "There is no such parameter.", shapes.OneOf((shapes.Expression(), shapes.Members()))))


def read_filters(r: Reading, node: Node, slot: Slot) -> tuple[Filter, ...] | None:
    """Each an expression, or `{is, written, default}`."""
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    whole = of_entry(FILTERS)

    def one(entry: Entry) -> Filter:
        if isinstance(entry.value, Mapping):
            found: Filter = whole(r, entry)
            return found
        condition = r.fact(entry.value, Slot(entry.name, ANY), expression, entry.proposed)
        return Filter(entry.name, entry.key.span, condition)

    return r.each(node.entries, one)


@dataclass(frozen=True, slots=True)
class SortKey:
    """A field, ascending, or descending with a minus before it."""

    field: str
    descending: bool
    span: Span


DIRECTION = re.compile(r"(\w+)[ :]+(asc(?:ending)?|desc(?:ending)?)", re.IGNORECASE)
"""What SQL writes for `name` and `-name`."""


def read_sort_keys(r: Reading, node: Node, slot: Slot) -> tuple[SortKey, ...] | None:
    names = leaves.name_or_names(r, node, slot)
    if names is None:
        return None
    for each in names:
        if (found := DIRECTION.fullmatch(each.text)) is not None:
            r.say(
                WRONG_SHAPE,
                f"{quoted(each.text)} is not how a field is sorted by",
                Label(each.span),
                help=(f"write `{'-' if found[2].casefold().startswith('desc') else ''}{found[1]}`",),
            )
            return None
    return tuple(SortKey(each.text.removeprefix("-"), each.text.startswith("-"), each.span) for each in names)


@dataclass(frozen=True, slots=True)
class Sorts:
    """The order of a list, and the orders that its caller may choose."""

    parameter: Fact[Name] | None = adds(
        "parameter", PARAMETER, "The query parameter that chooses an order.", "Clients cannot choose.")
    default: Fact[tuple[SortKey, ...]] | None = asked(
        "default", shapes.Names("a field (with `-` before it for descending)", alone=True),
        "The order where none is chosen. Ties are ordered by identifier.", ORDER, "the list is not served",
        read=read_sort_keys)
    offered: Fact[tuple[SortKey, ...]] | None = adds(
        "offered", shapes.Names("a field (with `-` before it for descending)"), "The orders that can be chosen.",
        "Clients cannot choose.", read=read_sort_keys)


@dataclass(frozen=True, slots=True)
class Projection:
    """What members of a row a request chooses: those that `parameter` names of `offered`, and `always` the others."""

    parameter: Fact[Name] | None = asked(
        "parameter", PARAMETER,
        "The query parameter that names the members to show. Where it is not given all are shown.", DOES, NOT_SERVED)
    offered: Fact[tuple[Name, ...]] | None = asked(
        "offered", shapes.Names("a member of what is shown of a row"), "The members that can be named.", DOES,
        NOT_SERVED)
    always: Fact[tuple[Name, ...]] | None = adds(
        "always", shapes.Names("a member of what is shown of a row"), "Members that are shown whatever is named.",
        "Only what is named is shown.")
    written: Fact[str] | None = adds("written", WRITTEN, SEVERAL, ALONE, read=read_written)


@dataclass(frozen=True, slots=True)
class Expanded:
    """Something that is shown on request: `name` is how it is asked for, and the member. `field`: the reference, or the
    rows that refer back. `shows` None: the whole row of each."""

    name: str
    field: str
    span: Span
    shows: Template | None


def read_expanded(r: Reading, node: Node, slot: Slot) -> tuple[Expanded, ...] | None:
    """References by their names, shown as whole rows; or names, each with what is shown."""
    if isinstance(node, Sequence):
        names = leaves.names(r, node, slot)
        return None if names is None else tuple(Expanded(each.text, each.text, each.span, None) for each in names)
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        shows = template(r, entry.value, Slot(entry.name, shapes.Template()))
        if shows is not None:
            found.append(Expanded(entry.name, entry.name, entry.key.span, shows))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Expansion:
    """Which references a request may have shown as rows."""

    parameter: Fact[Name] | None = asked(
        "parameter", PARAMETER, "The query parameter that names what is to be shown as rows.", DOES, NOT_SERVED)
    offered: Fact[tuple[Expanded, ...]] | None = asked(
        "offered", shapes.OneOf((shapes.Names("a reference"), shapes.MappingOf("names to what is shown"))),
        "What can be asked for: references, each shown as its whole row; or names, each with what is shown.", DOES,
        NOT_SERVED, read=read_expanded, below=(
            named("NAME", Kind.ADDS,
                  "What is shown under that name: a view applied to the reference, a template, or the resource that "
                  "the reference leads to, for its whole row.", "It cannot be asked for.", shapes.Template()),))
    written: Fact[str] | None = adds("written", WRITTEN, SEVERAL, ALONE, read=read_written)
