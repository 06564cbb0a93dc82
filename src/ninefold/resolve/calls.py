"""Functions that endpoints call, and which endpoint calls which."""

from __future__ import annotations

from dataclasses import replace

from ninefold.contract.endpoints import Action, Function, Taken
from ninefold.contract.fact import Fact, Shown
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import leaves
from ninefold.language.codes import NOT_AN_ACTION, NOT_IN_FORM
from ninefold.language.reading import Reading, Slot, quoted
from ninefold.language.schemas import is_a_name, schema
from ninefold.language.shapes import JSONSchema
from ninefold.language.verbs import kind_of
from ninefold.syntax.nodes import Entry, Node


def functions(r: Reading, node: Node, slot: Slot) -> tuple[Function, ...] | None:
    entries = r.entries(node, slot)
    return None if entries is None else r.each(entries, lambda entry: _function(r, entry))


def _function(r: Reading, entry: Entry) -> Function:
    if not entry.name.isidentifier():
        r.say(
            NOT_IN_FORM,
            f"{quoted(entry.name)} is not the name of a function",
            Label(entry.key.span, "no function is called so"),
            help=("a function of Python is called by letters, digits and `_`: `quote_of`",),
        )
    level = r.level(entry.value, 4, "calls.FUNCTION", entry.name)
    return Function(
        name=entry.name,
        span=entry.key.span,
        takes=level.fact("takes", taken),
        gives=level.fact("gives", schema),
        refuses=level.fact("refuses", leaves.names),
    )


def taken(r: Reading, node: Node, slot: Slot) -> tuple[Taken, ...] | None:
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        if not is_a_name(r, entry, "arguments", "leave it out: a function is called with everything that it takes"):
            continue
        own = schema(r, entry.value, Slot(entry.name, JSONSchema()))
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


def apart(r: Reading, does: Fact[tuple[Action, ...]] | None) -> tuple[Action | None, Fact[tuple[Action, ...]] | None]:
    """The function that an endpoint calls first, and what it does then: with nothing else it computes a response."""
    if not isinstance(does, Shown) or all(each.verb != "call" for each in does.value):
        return None, does
    first, *rest = does.value
    late = next((each for each in rest if each.verb == "call"), None)
    if late is not None:
        if first.verb == "call":
            message, help = f"`{late.written}` is called besides another function", "one function may call the other"
        else:
            message = f"`{late.written}` is not the first of several operations"
            ordered = (late, first, *(each for each in rest if each is not late))
            help = f"write it first: `does: [{', '.join(each.written for each in ordered)}]`"
        why = "a function is called before anything else is done"
        r.say(NOT_AN_ACTION, message, Label(late.span, why), help=(help,))
        rest = [each for each in rest if each.verb != "call"]
        if first.verb != "call":
            return late, replace(does, value=(first, *rest))
    if not rest:
        rest = [Action("compute", None, first.span)]
    elif rest[0].all or not kind_of(rest[0].verb).after_call:
        r.say(
            NOT_AN_ACTION,
            f"`{rest[0].written}` does not follow a call",
            Label(rest[0].span, "what a function gives has nothing to do there"),
            help=("`create`, `update`, `replace`, `delete` and transitions of one row do",),
        )
        rest = [Action("compute", None, first.span)]
    return first, replace(does, value=tuple(rest))
