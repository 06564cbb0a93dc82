"""Part 3: states and transitions."""

from __future__ import annotations

from functools import partial

from ninefold.language.amounts import duration
from ninefold.language.check import Check
from ninefold.language.effects import Effect
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Shown, value_of
from ninefold.language.states import Machine, ResourceStates, Transition
from ninefold.language.verbs import kind_of
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import each_of, told


def transition(g: Grounds, own: Transition) -> Item:
    by_row = isinstance(own.after, Shown) and isinstance(own.after.value, Expression)
    called, meanings = (
        ("taken by the service at", ("before and after", "due rows"))
        if by_row
        else ("taken by the service after", ("before and after", "timers"))
    )
    facts = told(
        g,
        own,
        check=partial(checks, g),
        sets=lambda fact: each_of(
            g, "sets", fact, lambda each: g.item(f"sets `{each.name}`: `{each.value.text}`", each.span)
        ),
        after=lambda fact: g.fact(called, fact, when, meanings),
        also=lambda fact: each_of(g, "also", fact, partial(effect, g)),
    )
    return g.together(f"the transition `{own.name}`", own.span, facts)


def checks(g: Grounds, fact: Fact[tuple[Check, ...]] | None) -> list[Item]:
    """What has to hold, each with its error."""
    items = g.fact("check", fact) if value_of(fact) is None else []
    for each in value_of(fact) or ():
        facts = [g.item(f"`{each.that.text}`", each.that.span)]
        facts += [g.item(f"else `{g.codes.known_as(each.code.text)}`", each.code.span)] if each.code else []
        items.append(g.together("check", each.span, facts, ("truth", "before and after")))
    return items


def effect(g: Grounds, own: Effect) -> Item:
    """Another row that changes in the same transaction."""
    which = "if holds" if kind_of(own.verb).makes else "the rows of which holds"
    facts = [] if own.where is None else [g.item(f"{which}: `{own.where.text}`", own.where.span)]
    facts += [] if own.each is None else [g.item(f"a row for each of: `{own.each.text}`", own.each.span)]
    facts += [g.item(f"sets `{each.name}`: `{each.value.text}`", each.span) for each in own.sets]
    several = ("effects on several rows",) if own.where is not None or own.each is not None else ()
    return g.item(f"also `{own.verb} {own.subject}`", own.span, facts, ("effects", *several))


def when(after: int | Expression) -> str:
    return duration(after) if isinstance(after, int) else f"`{after.text}`"


def machine(g: Grounds, own: ResourceStates) -> Item:
    """The states of a resource, or that it has none."""
    found: Machine | None = value_of(own.machine)
    if found is None:
        return g.fact(f"states of `{own.resource.text}`", own.machine, span=own.resource.span)[0]
    facts = told(g, found, transitions=lambda fact: each_of(g, "transitions", fact, partial(transition, g)))
    return g.item(f"states of `{own.resource.text}`", own.resource.span, facts)
