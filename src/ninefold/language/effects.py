"""Effects: other rows that change in the same transaction, under an endpoint, one of its cases, or a transition."""

from __future__ import annotations

from typing import Final

from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves, shapes
from ninefold.language.actions import Action, Actor, action
from ninefold.language.codes import NOT_AN_EFFECT
from ninefold.language.declaration import Several, adds, named, names
from ninefold.language.expressions import Assignment, Expression
from ninefold.language.key import Kind
from ninefold.language.reading import Read, Reading, Slot
from ninefold.language.verbs import VERBS
from ninefold.syntax.nodes import Mapping, Node, Scalar

# fmt: off

OTHER_ROWS: Final = "Other rows that change in the same transaction, in this order."
NO_OTHER_ROW: Final = "No other row changes."

_ON_ITS_OWN: Final = tuple(verb.name for verb in VERBS.values() if verb.as_effect)
"""What an effect does to a row, where it takes no transition."""


def _done(verb: str) -> Read[Action]:
    """Reads the resource that something is done to."""
    def read(r: Reading, node: Node, slot: Slot) -> Action | None:
        resource = leaves.name(r, node, slot)
        return None if resource is None else Action(verb, resource.text, resource.span)

    return read


@dataclass(frozen=True, slots=True)
class Effect:
    """One of `create`, `update`, `delete` and `take` says what is done. `row`: to which row, `where`: to which rows;
    neither: to a new one, or to the only one that there is. `each`: one is made for each item of this array."""

    span: Span
    create: Action | None = names(
        "create", shapes.Name("a resource"), "A row of it is created, or one for `each` item.", "It creates nothing.",
        read=_done("create"))
    update: Action | None = names(
        "update", shapes.Name("a resource"), "A row of it is updated.", "It updates nothing.", read=_done("update"))
    delete: Action | None = names(
        "delete", shapes.Name("a resource"), "A row of it is deleted.", "It deletes nothing.", read=_done("delete"))
    take: Action | None = names(
        "take", shapes.Name("a transition with its resource: `place order`"), "A row takes a transition.",
        "It takes no transition.", read=action(Actor("an effect", (), "place order")))
    row: Expression | None = names(
        "row", shapes.Expression(),
        "The row that is updated, deleted or takes the transition; where it has no value, nothing happens.",
        "An effect on a row that is there is an error.")
    where: Expression | None = names(
        "where", shapes.Expression(),
        "All rows of which it holds are updated, deleted or take the transition; `this` is the row acted on.",
        "An effect on rows that are there names one by `row`.")
    each: Expression | None = adds(
        "each", shapes.Expression(shapes.Sight.NONE),
        "A row is created for each item of this array; the item is `each`.",
        "One row is created.")
    sets: tuple[Assignment, ...] = adds(
        "sets", shapes.MappingOf("fields to expressions"), "Values that it gives.", "It gives no values of its own.",
        default=(),
        below=(named("FIELD", Kind.ADDS, "The value that it gives the field.", "It gives no value of its own.",
                     shapes.Expression()),))

    @property
    def action(self) -> Action:
        """What is done, at the place where the resource is written."""
        done = self.create or self.update or self.delete or self.take
        assert done is not None, "what does nothing is no effect"
        return done

    @property
    def verb(self) -> str:
        """`create`, `update`, `delete`, or a transition's name."""
        return self.action.verb

    @property
    def subject(self) -> str:
        """The resource."""
        return self.action.subject or ""

    @property
    def reads(self) -> tuple[Expression, ...]:
        """All that it reads, but for what is set."""
        return tuple(given for given in (self.row, self.where, self.each) if given is not None)


def _does_one_thing(r: Reading, node: Node, _: Slot, found: Effect) -> bool:
    """Whether an effect says one thing that is done, and can be read to say it; that it says none, or two, is told."""
    if not isinstance(node, Mapping):
        return False
    stated = [each for each in node.entries if not (isinstance(each.value, Scalar) and each.value.says("none"))]
    done = [each for name in (*_ON_ITS_OWN, "take") for each in stated if each.name == name]
    if len(done) != 1:
        if done or node.entries:
            message = "an effect does two things" if done else "an effect does nothing"
            labels = [Label(each.key.span, f"`{each.name}`") for each in done] or [Label(node.span)]
            say = "one item of the list for each" if done else "one of `create`, `update`, `delete` and `take`"
            r.say(NOT_AN_EFFECT, message, *labels, help=(f"write {say}",))
        return False
    return (found.create or found.update or found.delete or found.take) is not None


EFFECTS = Several(
    Effect,
    named("EFFECT", Kind.ADDS, "Rows that are created, updated or deleted, or take a transition.", NO_OTHER_ROW),
    _does_one_thing)
