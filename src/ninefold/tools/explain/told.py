"""A record, told by its declaration: each fact in a line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

from ninefold.language import shapes
from ninefold.language.amounts import duration, size
from ninefold.language.declaration import Declared, Each, One, Several, members
from ninefold.language.fact import Fact, Shown, is_stated
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds

T = TypeVar("T")

WORDS: Final[Mapping[type, Callable[[Any], str]]] = {
    shapes.Word: lambda word: word.text,
    shapes.Text: str,
    shapes.Integer: str,
    shapes.Duration: duration,
    shapes.Size: size,
    shapes.Date: str,
    shapes.MediaType: lambda name: name.text,
    shapes.HeaderName: lambda name: name.text,
    shapes.Name: lambda name: f"`{name.text}`",
    shapes.Names: lambda names: ", ".join(each.text for each in names),
    shapes.Expression: lambda expression: f"`{expression.text}`",
}
"""How the values of a shape are told."""


def words_of(shape: shapes.Shape) -> Callable[[Any], str] | None:
    """How the values of a shape are told; None: as they are written."""
    if isinstance(shape, shapes.ListOf) and (words := words_of(shape.item)) is not None:
        return lambda values: ", ".join(map(words, values))
    return WORDS.get(type(shape))


def told(
    g: Grounds,
    record: object,
    *only: str,
    but: Collection[str] = (),
    **otherwise: Callable[[Fact[Any] | None], Iterable[Item]],
) -> list[Item]:
    """The facts of a record in their order, all `but` some, so that a key that is new is told too; or those that are
    named, in this order. `otherwise`: those that are not told as their declaration has them. What one sentence says for
    all of them is told once."""
    found = {each.attribute: each for each in members(type(record))}
    facts = {name: getattr(record, name) for name in only or found if name not in but}
    once = {id(fact): name for name, fact in reversed(facts.items())}
    return [
        item
        for name, fact in facts.items()
        if once[id(fact)] == name
        for item in (otherwise[name](fact) if name in otherwise else _told(g, found[name], fact))
    ]


def each_of(g: Grounds, called: str, fact: Fact[tuple[T, ...]] | None, tell: Callable[[T], Item]) -> list[Item]:
    """A fact that says several things, each in an item of its own."""
    return [tell(each) for each in fact.value] if isinstance(fact, Shown) else g.fact(called, fact)


def named(g: Grounds, record: Any, head: str) -> Item:
    """A record that has a name, with its facts. `head`: `the rate {}`."""
    return g.together(head.format(record.name), record.span, told(g, record))


def _told(g: Grounds, each: Declared, fact: Fact[Any] | None) -> list[Item]:
    called, sentence = each.told or each.key.path, each.sentence
    if each.holding is not None and isinstance(fact, Shown):
        match each.holding:
            case Each(row=row) if fact.value:
                return [named(g, item, sentence or f"the {row.path.lower()} `{{}}`") for item in fact.value]
            case One() if sentence:
                return [g.together(sentence, fact.span, told(g, fact.value), each.meanings)]
            case One():
                return told(g, fact.value)
            case Several():
                return [g.item(g.written(item.span), item.span) for item in fact.value]
    words = each.words or words_of(each.key.shape)
    if isinstance(each.key.shape, shapes.Boolean) and sentence:
        return _flag(g, each, fact)
    if words is None or not sentence:
        return g.fact(called, fact, words, () if each.holding is not None else each.meanings)
    return g.fact(called, fact, lambda value: sentence.format(words(value)), each.meanings, whole=True)


def _flag(g: Grounds, each: Declared, fact: Fact[bool] | None) -> list[Item]:
    """What is so where `true` is stated, and is not told where it is not."""
    if is_stated(fact):
        return g.fact(each.sentence, fact, lambda _: each.sentence, each.meanings, whole=True)
    return [item for item in g.fact(each.sentence, fact) if item.standing != "in force"]
