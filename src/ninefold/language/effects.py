"""Parts 3 and 4: what changes of other rows when an operation is done, or a transition taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import leaves
from ninefold.language.actions import Actor, action
from ninefold.language.codes import NOT_AN_EFFECT
from ninefold.language.declaration import adds, named
from ninefold.language.expressions import Assignment, Expression, assignments, expression
from ninefold.language.fact import Name
from ninefold.language.key import Kind
from ninefold.language.reading import Level, Reading, Slot
from ninefold.language.shapes import Expression as ExpressionShape
from ninefold.language.shapes import ListOf, MappingOf, Members
from ninefold.language.shapes import Name as NameShape
from ninefold.language.verbs import VERBS
from ninefold.syntax.nodes import Mapping, Node


@dataclass(frozen=True, slots=True)
class Effect:
    """`verb`: `create`, `update`, `delete`, or a transition's name. `subject`: the resource, whose name is written at
    `named`. `row`: which row of it, `where`: which rows; neither: a new one, or the only one that there is. `each`: one
    is made for each item of this array."""

    verb: str
    subject: str
    named: Span
    row: Expression | None
    sets: tuple[Assignment, ...]
    span: Span
    where: Expression | None = None
    each: Expression | None = None

    @property
    def reads(self) -> tuple[Expression, ...]:
        """All that it reads, but for what is set."""
        return tuple(given for given in (self.row, self.where, self.each) if given is not None)


# fmt: off

_RESOURCE = NameShape("a resource")
_ROWS = (
    named("create", Kind.NAMES, "A row of it is created, or one for `each` item.", "It creates nothing.", _RESOURCE),
    named("update", Kind.NAMES, "A row of it is updated.", "It updates nothing.", _RESOURCE),
    named("delete", Kind.NAMES, "A row of it is deleted.", "It deletes nothing.", _RESOURCE),
    named("take", Kind.NAMES, "A row takes a transition.", "It takes no transition.",
          NameShape("a transition with its resource: `place order`")),
    named("row", Kind.NAMES,
          "The row that is updated, deleted or takes the transition; where it has no value, nothing happens.",
          "An effect on a row that is there is an error.", ExpressionShape()),
    named("where", Kind.NAMES,
          "All rows of which it holds are updated, deleted or take the transition; `this` is the row acted on.",
          "An effect on rows that are there names one by `row`.", ExpressionShape()),
    named("each", Kind.ADDS, "A row is created for each item of this array; the item is `each`.",
          "One row is created.", ExpressionShape()),
    named("sets", Kind.ADDS, "Values that it gives.", "It gives no values of its own.",
          MappingOf("fields to expressions")),
)
_FIELD = named("sets.FIELD", Kind.ADDS, "The value that it gives the field.", "It gives no value of its own.",
               ExpressionShape())
_KEYS = {key.name: key for key in _ROWS}
_EFFECT = named("EFFECT", Kind.ADDS, "Rows that are created, updated or deleted, or take a transition.",
                "No other row changes.")


def then() -> Any:
    """The member of a record that lists effects."""
    rows = (_EFFECT, *(replace(key, path=f"EFFECT.{key.path}") for key in (*_ROWS, _FIELD)))
    return adds("then", ListOf(Members()), "Other rows that change in the same transaction, in this order.",
                "No other row changes.", read=effects, below=rows)

# fmt: on


_ON_ITS_OWN = tuple(verb.name for verb in VERBS.values() if verb.as_effect)
"""What an effect does to a row, where it takes no transition."""

_TAKES = Actor("an effect", ())


def effects(r: Reading, node: Node, slot: Slot) -> tuple[Effect, ...] | None:
    items = r.items(node, slot)
    if items is None:
        return None
    found = (effect(r, item, r.keyed(item, _KEYS, slot.called)) for item in items)
    return tuple(each for each in found if each is not None)


def effect(r: Reading, node: Node, level: Level) -> Effect | None:
    """None: it is not one, which has been said."""
    if not isinstance(node, Mapping):
        return None
    done = [name for name in (*_ON_ITS_OWN, "take") if name in level.known]
    if len(done) != 1:
        if done or node.entries:
            message = "an effect does two things" if done else "an effect does nothing"
            labels = [Label(level.known[name].key.span, f"`{name}`") for name in done] or [Label(node.span)]
            say = "one item of the list for each" if done else "one of `create`, `update`, `delete` and `take`"
            r.say(NOT_AN_EFFECT, message, *labels, help=(f"write {say}",))
        return None
    row, sets = level.inner("row", expression), level.inner("sets", assignments)
    where, each = level.inner("where", expression), level.inner("each", expression)
    named = _what(level, done[0])
    if named is None:
        return None
    verb, resource = named
    return Effect(verb, resource.text, resource.span, row, sets or _NO_VALUES, node.span, where, each)


_NO_VALUES: tuple[Assignment, ...] = ()


def _what(level: Level, key: str) -> tuple[str, Name] | None:
    if key != "take":
        resource = level.inner(key, leaves.name)
        return None if resource is None else (key, resource)
    taken = level.inner("take", action(_TAKES))
    if taken is None or taken.subject is None:
        return None
    return taken.verb, Name(taken.subject, taken.span)
