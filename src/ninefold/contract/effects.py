"""`put` among effects: it changes the row that is there, and makes one where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Final

from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Binary, Held, Invocation, Member, Name, Unary, reads_row
from ninefold.expressions.terms import is_another_each_time
from ninefold.language.effects import Effect
from ninefold.language.expressions import Expression
from ninefold.language.fact import Shown, value_of
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
    """The first of the keys of the resource of which every field is given by `sets`, or made on create of who calls;
    none: it says of no row."""
    given = _key_values(effect, own).keys()
    return next((key for key in own.keys if given >= {*key}), ())


def as_wanted(effect: Effect) -> Expression | None:
    """That a row has all that `put` sets, but for what is new each time; None: it sets nothing else."""
    compared = [each for each in effect.sets if not is_another_each_time(each.value.ast)]
    if not compared:
        return None
    text = " && ".join(f"{effect.subject}.{each.name} == {each.value.text}" for each in compared)
    return _written(effect, _all(_holds(Name(effect.subject, 0, 0), each.name, each.value) for each in compared), text)


def _key_values(effect: Effect, own: Resource) -> dict[str, Expression]:
    """What fields of the row that is put are sure to be: those that `sets` gives, and those that are the same each time
    that the same caller does the same, whatever the row is."""
    made = {each.name: value_of(each.on_create) for each in value_of(own.fields) or ()}
    same = {
        name: each
        for name, each in made.items()
        if each is not None and not (is_another_each_time(each.ast) or reads_row(each.ast, own.name))
    }
    return same | {each.name: each.value for each in effect.sets}


def _apart(effect: Effect, own: Resource, key: Sequence[str]) -> Iterator[Effect]:
    values = _key_values(effect, own)
    fixed = {*key, *(name.text for name in value_of(own.primary_key) or ())}
    fixed |= {each.name for each in value_of(own.fields) or () if isinstance(each.immutable, Shown)}
    changed = replace(effect, sets=tuple(each for each in effect.sets if each.name not in fixed))
    same = as_wanted(changed)
    if same is not None:
        which = _all(_holds(Name(own.name, 0, 0), name, values[name]) for name in key)
        if effect.each is None:  # of several, which of them are as wanted is known with them (`as_wanted`)
            which = _all([which, Unary("!", same.ast, 0, 0)])
        text = " && ".join(f"{own.name}.{name} == {values[name].text}" for name in key)
        yield replace(changed, does=replace(effect.does, verb="update"), where=_narrowed(effect, which, text))
    there = _all(_holds(Name(_THERE, 0, 0), name, values[name]) for name in key)
    has = (Invocation("has", None, (Member(Name(_THERE, 0, 0), name, 0, 0, 0),), 0, 0, 0) for name in key)
    rows = Invocation("all", None, (Name(own.name, 0, 0),), 0, 0, 0)
    none = Unary("!", Invocation("exists", rows, (Name(_THERE, 0, 0), _all([*has, there])), 0, 0, 0), 0, 0)
    text = f"no {own.name} has " + " and ".join(f"{name} == {values[name].text}" for name in key)
    yield replace(effect, does=replace(effect.does, verb="create"), where=_narrowed(effect, none, text))


def _holds(row: Name, name: str, value: Expression) -> Ast:
    return Held("==", Member(row, name, 0, 0, 0), value.ast, 0, 0)


def _all(conditions: Iterable[Ast]) -> Ast:
    return reduce(lambda left, right: Binary("&&", left, right, 0, 0), conditions)


def _narrowed(effect: Effect, condition: Ast, text: str) -> Expression:
    """A condition beside that of the effect, at the place of the latter, or of what is done."""
    if effect.where is None:
        return _written(effect, condition, text)
    found = _written(effect, Binary("&&", condition, effect.where.ast, 0, 0), text)
    return replace(effect.where, ast=found.ast, terms=(*effect.where.terms, *found.terms))


def _written(effect: Effect, condition: Ast, text: str) -> Expression:
    """A condition that nobody wrote, at the place of what is done."""
    terms = tuple(dict.fromkeys(term for each in effect.sets for term in each.value.terms))
    span: Span = effect.does.span
    return Expression(condition, Scalar(span, text, text, Style.PLAIN, range(span.start, span.end + 1)), terms)
