"""Effects: other rows that change in the same transaction, under an endpoint, one of its cases, or a transition."""

from __future__ import annotations

from collections import abc
from collections.abc import Iterable
from typing import Final

from ninefold.diagnostics.codes import NOT_AN_EFFECT
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import named_by
from ninefold.language import shapes
from ninefold.language.actions import Action, Actor, action
from ninefold.language.declaration import Several, adds, asked, named, restricts
from ninefold.language.expressions import Assignment, Expression
from ninefold.language.key import Kind
from ninefold.language.reading import Reading, Slot
from ninefold.language.requests import DOES
from ninefold.language.verbs import VERBS
from ninefold.syntax.nodes import Mapping, Node

# fmt: off

OTHER_ROWS: Final = "Other rows that change in the same transaction, in this order."
NO_OTHER_ROW: Final = "No other row changes."

_VERBS: Final = tuple(verb.name for verb in VERBS.values() if verb.as_effect)
"""What an effect does to a row, where it takes no transition."""

_ACTOR: Final = Actor("an effect", _VERBS)


@dataclass(frozen=True, slots=True)
class Effect:
    """A small endpoint without a request of its own: `does` says what is done. `where`: to which rows, or, of one that
    is made, whether; `each`: one is made for each item of this array. `this` is the row acted on."""

    span: Span
    does: Action = asked(
        "does", shapes.Text("what is done, such as `create order` or `place order`"),
        "What is done to other rows: `create`, `put`, `update`, `delete` or a transition, with the resource.", DOES,
        "nothing of what it stands in is served", read=action(_ACTOR))
    where: Expression | None = restricts(
        "where", shapes.Expression(),
        "All rows of which it holds are updated, deleted or take the transition; a row is created or put if it holds. "
        "`this` is the row acted on, and a resource's name the row that changes.",
        "A new row is made always; an effect on rows that are there is an error, but of a resource of one row.")
    each: Expression | None = adds(
        "each", shapes.Expression(shapes.Sight.NONE),
        "A row is created, or put, for each item of this array; the item is `each`.",
        "One row is created or put.")
    sets: tuple[Assignment, ...] = adds(
        "sets", shapes.MappingOf("fields to expressions"), "Values that it gives.", "It gives no values of its own.",
        default=(),
        below=(named("FIELD", Kind.ADDS, "The value that it gives the field.", "It gives no value of its own.",
                     shapes.Expression()),))

    @property
    def verb(self) -> str:
        """`create`, `put`, `update`, `delete`, or a transition's name."""
        return self.does.verb

    @property
    def subject(self) -> str:
        """The resource."""
        return self.does.subject or ""

    @property
    def reads(self) -> tuple[Expression, ...]:
        """All that it reads, but for what is set."""
        return tuple(given for given in (self.where, self.each) if given is not None)

    def is_of_one(self, keys: Iterable[tuple[str, ...]], same: abc.Mapping[str, str]) -> bool:
        """Whether `where` names one row that is there, by one of these keys of the resource, or as what leads to it.
        `same`: as of `named_by`."""
        return self.where is not None and named_by(self.where.ast, self.subject, keys, same) is not None


def _does_something(r: Reading, node: Node, slot: Slot, found: Effect) -> bool:
    """Whether an effect says what is done, and can be read to say it; that it does not is told."""
    if found.does is None and isinstance(node, Mapping) and node.get("does") is None:
        r.say(NOT_AN_EFFECT, "an effect does nothing", Label(node.span),
              help=("write `does`, as of an endpoint: `{does: create RESOURCE, …}`",))
    return found.does is not None


EFFECTS = Several(
    Effect,
    named("EFFECT", Kind.ADDS, "Rows that are created, put, updated or deleted, or take a transition.", NO_OTHER_ROW),
    _does_something,
    alone=True)
