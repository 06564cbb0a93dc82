"""`put` among effects: it changes the row that is there, and makes one where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Binary, Invocation, Member, Name, Unary, every
from ninefold.expressions.terms import is_new_each_time
from ninefold.language.effects import Effect
from ninefold.language.expressions import Expression
from ninefold.language.fact import Shown, is_stated, value_of
from ninefold.language.resources import Resource
from ninefold.language.verbs import kind_of
from ninefold.syntax.nodes import Scalar, Style

_THERE: Final = "$there"
"""A row that is looked at for its key: no contract can call one so."""


def each_alone(effects: tuple[Effect, ...], resources: Mapping[str, Resource]) -> Iterator[Effect]:
    """Effects as what they do to rows that are there, and to rows that are not: `put` does both, one after the other.
    One that does not say which row it is about is left out."""
    for effect in effects:
        own = resources.get(effect.subject)
        if own is None or not kind_of(effect.verb).may_make:
            yield effect
        elif key := known_by(effect, own):
            yield from _apart(effect, own, key)


def known_by(effect: Effect, own: Resource) -> tuple[str, ...]:
    """The first of the keys of the resource of which `sets` gives every field; none: it says of no row."""
    given = {each.name for each in effect.sets}
    unique = ((each.name,) for each in value_of(own.fields) or () if is_stated(each.unique))
    groups = (tuple(name.text for name in group) for group in value_of(own.unique) or ())
    keys = (tuple(name.text for name in value_of(own.primary_key) or ()), *unique, *groups)
    return next((key for key in keys if key and given.issuperset(key)), ())


def _apart(effect: Effect, own: Resource, key: Sequence[str]) -> Iterator[Effect]:
    values = {each.name: each.value for each in effect.sets}
    fixed = {*key, *(name.text for name in value_of(own.primary_key) or ())}
    fixed |= {each.name for each in value_of(own.fields) or () if isinstance(each.immutable, Shown)}
    changed = tuple(each for each in effect.sets if each.name not in fixed)
    differ = [each.name for each in changed if not _is_new_each_time(each.value.ast)]
    if differ:
        same = _all(_holds(Name(own.name, 0, 0), name, values[name]) for name in differ)
        which = _all([_all(_holds(Name(own.name, 0, 0), name, values[name]) for name in key), Unary("!", same, 0, 0)])
        text = " && ".join(f"{own.name}.{name} == {values[name].text}" for name in key)
        yield replace(
            effect, does=replace(effect.does, verb="update"), where=_narrowed(effect, which, text), sets=changed
        )
    there = _all(_holds(Name(_THERE, 0, 0), name, values[name]) for name in key)
    rows = Invocation("all", None, (Name(own.name, 0, 0),), 0, 0, 0)
    none = Unary("!", Invocation("exists", rows, (Name(_THERE, 0, 0), there), 0, 0, 0), 0, 0)
    text = f"no {own.name} has " + " and ".join(f"{name} == {values[name].text}" for name in key)
    yield replace(effect, does=replace(effect.does, verb="create"), where=_narrowed(effect, none, text))


def _holds(row: Name, name: str, value: Expression) -> Ast:
    return Binary("==", Member(row, name, 0, 0, 0), value.ast, 0, 0)


def _all(conditions: Iterable[Ast]) -> Ast:
    return reduce(lambda left, right: Binary("&&", left, right, 0, 0), conditions)


def _narrowed(effect: Effect, condition: Ast, text: str) -> Expression:
    """A condition beside that of the effect, at the place of the latter, or of what is done."""
    terms = tuple(dict.fromkeys(term for each in effect.sets for term in each.value.terms))
    if effect.where is None:
        span: Span = effect.does.span
        return Expression(condition, Scalar(span, text, text, Style.PLAIN, range(span.start, span.end + 1)), terms)
    both = Binary("&&", condition, effect.where.ast, 0, 0)
    return replace(effect.where, ast=both, terms=(*effect.where.terms, *terms))


def _is_new_each_time(ast: Ast) -> bool:
    return any((isinstance(node, Name) and node.name == "now") or is_new_each_time(node) for node in every(ast))
