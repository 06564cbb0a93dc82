"""Part 3: states and transitions."""

from __future__ import annotations

import re

from ninefold.contract.states import Machine, ResourceStates, States, Transition
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import leaves
from ninefold.language.codes import WITHOUT_GUARD
from ninefold.language.effects import effects
from ninefold.language.expressions import Expression, assignments, expression
from ninefold.language.fact import Name, Shown
from ninefold.language.identifiers import declare
from ninefold.language.quantities import duration
from ninefold.language.reading import Reading, Slot, spoken
from ninefold.language.shapes import Duration, Members
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Scalar


def states(r: Reading, part: Part) -> States:
    said = spoken(part)
    if said is not None:
        return States(said)
    level = r.level(part.facts, 3, "", "")
    if not level.named:
        return States(None)
    return States(Shown(tuple(of_resource(r, entry) for entry in level.named), part.facts.span))


def of_resource(r: Reading, entry: Entry) -> ResourceStates:
    found = r.fact(entry.value, Slot(entry.name, Members()), machine, entry.proposed)
    return ResourceStates(Name(entry.name, entry.key.span), found)


def machine(r: Reading, node: Node, slot: Slot) -> Machine | None:
    level = r.level(node, 3, "RESOURCE", slot.called)
    if not isinstance(node, Mapping):
        return None
    return Machine(
        field=level.fact("field", leaves.name),
        initial=level.fact("initial", leaves.name),
        states=level.fact("states", leaves.names),
        final=level.fact("final", leaves.name_or_names),
        gone=level.fact("gone", leaves.name_or_names),
        transitions=level.fact("transitions", transitions),
        span=node.span,
    )


def transitions(r: Reading, node: Node, slot: Slot) -> tuple[Transition, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    return r.each(node.entries, lambda entry: transition(r, entry))


def transition(r: Reading, entry: Entry) -> Transition:
    declare(r, entry.key, "a transition", selected=True)
    level = r.level(entry.value, 3, "RESOURCE.transitions.TRANSITION", entry.name)
    if "otherwise" in level.known and "when" not in level.known:
        r.say(
            WITHOUT_GUARD,
            "`otherwise` stands without `when`",
            Label(level.known["otherwise"].key.span, "no request ends so"),
            help=("write the guard: `when: …`",),
        )
    return Transition(
        name=entry.name,
        span=entry.key.span,
        origin=level.fact("from", leaves.name_or_names, main=True),
        to=level.fact("to", leaves.name, main=True),
        when=level.fact("when", expression),
        otherwise=level.fact("otherwise", leaves.name),
        sets=level.fact("sets", assignments),
        after=level.fact("after", after),
        then=level.fact("then", effects),
    )


_OF_A_ROW = re.compile(r"\.\s*[A-Za-z_]|\(")
"""What an expression that gives a time has, and no duration: a field of the row, or a function."""


def after(r: Reading, node: Node, slot: Slot) -> int | Expression | None:
    """A duration, or an expression over the row."""
    if isinstance(node, Scalar) and (_OF_A_ROW.search(node.text) or node.text in r.terms):
        return expression(r, node, slot)
    return duration(r, node, Slot(slot.called, Duration()))
