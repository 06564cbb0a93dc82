"""Functions that endpoints call, and which endpoint calls which."""

from __future__ import annotations

from dataclasses import replace

from ninefold.contract.endpoints import Action
from ninefold.diagnostics.diagnostic import Label
from ninefold.language.codes import NOT_AN_ACTION
from ninefold.language.fact import Fact, Shown
from ninefold.language.reading import Reading
from ninefold.language.verbs import kind_of


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
