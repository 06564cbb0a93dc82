"""A record, told by its declaration: each fact in a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ninefold.language import shapes
from ninefold.language.amounts import duration, size
from ninefold.language.declaration import Declared, Each, members
from ninefold.language.fact import Fact, Shown, is_stated
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds

WORDS: Final[Mapping[type, Callable[[Any], str]]] = {
    shapes.Word: lambda word: word.text,
    shapes.Text: str,
    shapes.Integer: str,
    shapes.Duration: duration,
    shapes.Size: size,
    shapes.MediaType: lambda name: name.text,
    shapes.Name: lambda name: f"`{name.text}`",
    shapes.Names: lambda names: ", ".join(each.text for each in names),
    shapes.Expression: lambda expression: f"`{expression.text}`",
}
"""How the values of a shape are told, if not as they are written."""


def told(g: Grounds, record: object, *only: str) -> list[Item]:
    """The facts of a record in their order, or some of them in this one."""
    found = {each.attribute: each for each in members(type(record))}
    return [item for name in only or found for item in _told(g, found[name], getattr(record, name))]


def named(g: Grounds, record: Any, called: str) -> Item:
    """A record that has a name, with its facts."""
    return g.together(f"the {called} `{record.name}`", record.span, told(g, record))


def _told(g: Grounds, each: Declared, fact: Fact[Any] | None) -> list[Item]:
    if each.holding is not None and isinstance(fact, Shown):
        if not isinstance(each.holding, Each):
            return told(g, fact.value)
        if fact.value:
            return [named(g, item, each.holding.row.path.lower()) for item in fact.value]
    words = WORDS.get(type(each.key.shape))
    called, sentence = each.told or each.key.path, each.sentence
    if isinstance(each.key.shape, shapes.Boolean) and sentence:
        return _flag(g, each, fact)
    if words is None or not sentence:
        return g.fact(called, fact, words, each.meanings)
    return g.fact(called, fact, lambda value: sentence.format(words(value)), each.meanings, whole=True)


def _flag(g: Grounds, each: Declared, fact: Fact[bool] | None) -> list[Item]:
    """What is so where `true` is stated, and is not told where it is not."""
    if is_stated(fact):
        return g.fact(each.sentence, fact, lambda _: each.sentence, each.meanings, whole=True)
    return [item for item in g.fact(each.sentence, fact) if item.standing != "in force"]
