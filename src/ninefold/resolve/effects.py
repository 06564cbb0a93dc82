"""Effects: `then` of an endpoint or of a transition."""

from __future__ import annotations

from ninefold.contract.effects import Effect
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import leaves
from ninefold.language.actions import Actor, action
from ninefold.language.codes import NOT_AN_EFFECT
from ninefold.language.expressions import Assignment, assignments, expression
from ninefold.language.fact import Name
from ninefold.language.reading import Level, Read, Reading, Slot
from ninefold.language.verbs import VERBS
from ninefold.syntax.nodes import Mapping, Node

_ON_ITS_OWN = tuple(verb.name for verb in VERBS.values() if verb.as_effect)
"""What an effect does to a row, where it takes no transition."""

_TAKES = Actor("an effect", ())


def effects(part: int, path: str) -> Read[tuple[Effect, ...]]:
    """What is listed at `path` of the table."""

    def read(r: Reading, node: Node, slot: Slot) -> tuple[Effect, ...] | None:
        items = r.items(node, slot)
        if items is None:
            return None
        found = (effect(r, item, r.level(item, part, f"{path}.EFFECT", slot.called)) for item in items)
        return tuple(each for each in found if each is not None)

    return read


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
