"""Part 3: states and transitions."""

from __future__ import annotations

from typing import Final

from ninefold.diagnostics import regex
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import shapes
from ninefold.language.check import CHECKS, Check
from ninefold.language.declaration import Each, One, adds, asked, named, names, restricts
from ninefold.language.effects import EFFECTS, NO_OTHER_ROW, OTHER_ROWS, Effect
from ninefold.language.expressions import Assignment, Expression, either, expression
from ninefold.language.fact import Fact, Name, Shown
from ninefold.language.identifiers import declare
from ninefold.language.key import Key, Kind
from ninefold.language.quantities import duration
from ninefold.language.question import Question
from ninefold.language.reading import Level, Reading, Slot, spoken
from ninefold.language.records import of_records
from ninefold.language.verbs import VERBS
from ninefold.syntax.nodes import Entry, Node, Part, Scalar

# fmt: off

MACHINE = Question("machine", 3, "the states of {}, or none", "blocks", "the endpoints that write R", "R")
INITIAL = Question("initial", 3, "the initial state of {}", "blocks", "the endpoints that create R", "R")
FROM = Question("from", 3, "the states that {} goes from", "blocks", "the endpoints that take T", "T")
TO = Question("to", 3, "the state that {} goes to", "blocks", "the endpoints that take T", "T")

NO_WRITES: Final = "writes of R are not served"
NOT_TAKEN: Final = "the transition is not served"
STATE: Final = "a state"

_OF_A_ROW: Final = regex.compile(r"\.\s*[A-Za-z_]|\(")
"""What an expression that gives a time has, and no duration: a field of the row, or a function."""


def after(r: Reading, node: Node, slot: Slot) -> int | Expression | None:
    """A duration, or an expression over the row."""
    if isinstance(node, Scalar) and (_OF_A_ROW.search(node.text) or node.text in r.terms):
        return expression(r, node, slot)
    return duration(r, node, Slot(slot.called, shapes.Duration()))


@dataclass(frozen=True, slots=True)
class Transition:
    """`after`: an ISO 8601 duration in microseconds, or an expression over the row."""

    name: str
    span: Span
    origin: Fact[tuple[Name, ...]] | None = asked(
        "from", shapes.Names(STATE, alone=True), "The state or states that it leaves.", FROM, NOT_TAKEN, main=True,
        words=either, side="takes")
    to: Fact[Name] | None = asked("to", shapes.Name(STATE), "The state that it reaches.", TO, NOT_TAKEN, main=True,
        side="moves")
    check: Fact[tuple[Check, ...]] | None = restricts(
        "check", CHECKS, "What has to hold of the row, as it was, for the transition to be taken.",
        "It is taken from each of its states.", meanings=("truth", "before and after"), side="takes")
    sets: Fact[tuple[Assignment, ...]] | None = adds(
        "sets", shapes.MappingOf("fields to expressions"), "Values that it gives.", "It changes the state alone.",
        below=(named("FIELD", Kind.ADDS, "The value that it gives the field.", "The field keeps its value.",
                     shapes.Expression()),), side="moves")
    after: Fact[int | Expression] | None = adds(
        "after", shapes.OneOf((shapes.Duration(), shapes.Expression())),
        "The service takes it by itself: when the row has been in `from` for so long, or when an expression over the "
        "row says. That gives a time, or a duration in `from`.", "It waits to be asked.",
        read=after, side="moves")
    also: Fact[tuple[Effect, ...]] | None = adds("also", EFFECTS, OTHER_ROWS, NO_OTHER_ROW, side="moves")


def _look(r: Reading, entry: Entry, level: Level) -> None:
    declare(r, entry.key, "a transition", VERBS.keys(), selected=True)


TRANSITIONS = Each(
    Transition,
    named("TRANSITION", Kind.NAMES, "A move, which an endpoint takes (`does: place order`), or a timer.",
          "Each use of its name is an error.", side="takes", promise="add a transition"),
    "transitions to their ends", _look, about="{0} {1}")


@dataclass(frozen=True, slots=True)
class Machine:
    """The states of one resource."""

    span: Span
    initial: Fact[Name] | None = asked(
        "initial", shapes.Name(STATE), "The state of a row just created.", INITIAL, "creating R is not served")
    states: Fact[tuple[Name, ...]] | None = asked(
        "states", shapes.NEW_NAMES, "All states.", MACHINE, NO_WRITES, words=either,
        side="gives", promise="add a state")
    gone: Fact[tuple[Name, ...]] | None = adds(
        "gone", shapes.Names(STATE, alone=True), "States in which a row answers `gone` (a soft delete).",
        "A row is served in every state.", words=either, meanings=("gone rows",), side="gives", order="other")
    transitions: Fact[tuple[Transition, ...]] | None = names(
        "transitions", TRANSITIONS, "The moves between states.", "Each use of a transition is an error.")


RESOURCE: Final = Key(
    3, "RESOURCE", Kind.ASKED, shapes.Members(), "The states of a resource; `none` where it has none.",
    f"A gap: {NO_WRITES}.", MACHINE.id, says_none=True)


@dataclass(frozen=True, slots=True)
class ResourceStates:
    """`order: {…}` or `customer: none`."""

    resource: Name
    machine: Fact[Machine]


@dataclass(frozen=True, slots=True)
class States:
    machines: Fact[tuple[ResourceStates, ...]] | None


def states(r: Reading, part: Part) -> States:
    said = spoken(part)
    if said is not None:
        return States(said)
    found = tuple(
        ResourceStates(
            Name(each.name, each.key.span),
            r.fact(each.value, Slot(each.name, shapes.Members()), of_records(One(Machine)), each.proposed))
        for each in part.facts.entries)
    return States(Shown(found, part.facts.span) if found else None)
