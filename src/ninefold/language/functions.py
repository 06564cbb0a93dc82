"""Part 4: functions of the operator's, which endpoints call."""

from __future__ import annotations

from functools import partial

from ninefold.diagnostics.codes import NOT_IN_FORM
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import shapes
from ninefold.language.declaration import Each, adds, asked, named
from ninefold.language.fact import Fact, Name
from ninefold.language.json_schema import KEYS as KEYWORDS
from ninefold.language.json_schema import keywords
from ninefold.language.key import Kind
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.language.records import of_entry
from ninefold.language.requests import DOES
from ninefold.language.schemas import Schema, is_a_name, schema
from ninefold.syntax.nodes import Entry, Node

# fmt: off

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
