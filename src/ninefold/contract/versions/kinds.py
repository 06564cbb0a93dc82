"""The kinds of subscriptions. They are stored under the names that the document has, whatever version they are given
in; a version that calls a kind otherwise shows and takes its own name of it, and shows none that it does not have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ninefold.contract.service import KINDS, Contract, KindsInVersion
from ninefold.contract.versions.shown import with_instead
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import (
    Ast,
    Binary,
    Conditional,
    Invocation,
    ListLiteral,
    Literal,
    Member,
    Name,
)
from ninefold.language.expressions import Expression
from ninefold.language.fact import Shown, value_of
from ninefold.language.verbs import SUBSCRIPTION
from ninefold.syntax.nodes import Scalar, Style


def names_stored(versions: Iterable[Contract]) -> tuple[str, ...]:
    """What the kinds of all versions are stored as."""
    kinds = (each for version in versions for each in value_of(version.events.kinds) or ())
    return tuple(dict.fromkeys(each.origin or each.name for each in kinds))


def with_its_kinds(contract: Contract, version: str, stored: tuple[str, ...]) -> Contract:
    """A version in which subscriptions have its own names of kinds. `stored`: as in `names_stored`."""
    kinds = contract.events.kinds
    told = {each.origin or each.name: each.name for each in value_of(kinds) or ()}
    is_own = any(each.name == SUBSCRIPTION for each in value_of(contract.resources.resources) or ())
    if not isinstance(kinds, Shown) or is_own or not told or told == {name: name for name in stored}:
        return contract
    at, own = kinds.span, KINDS[1]
    shown: Ast = Member(_name(SUBSCRIPTION), own, 0, 0, 0)
    given: Ast = _name("value")
    if len(told) < len(stored):
        shown = _each("filter", shown, _is_one_of(told))
    renamed = [(name, called) for name, called in told.items() if name != called]
    if renamed:
        shown = _each("map", shown, _instead(renamed))
        given = _each("map", given, _instead([(called, name) for name, called in renamed]))
    field = f"{own} of {version}"
    subscribed = KindsInVersion(field, stored, _expression(shown, at), _expression(given, at), bool(renamed))
    return with_instead(replace(contract, subscribed=subscribed), {KINDS: field})


# ── Expressions that nobody wrote ─────────────────────────────────────────────────────────────────────────────
#
# Made as trees, since the text of an expression is bounded, and of kinds there may be however many; their words are
# what `upgrade` tells of them.


def _name(name: str) -> Name:
    return Name(name, 0, 0)


def _text(value: str) -> Literal:
    return Literal(value, 0, 0)


def _each(function: str, target: Ast, of: Ast) -> Ast:
    return Invocation(function, target, (_name("kind"), of), 0, 0, 0)


def _is_one_of(names: Iterable[str]) -> Ast:
    return Binary("in", _name("kind"), ListLiteral(tuple(map(_text, names)), 0, 0), 0, 0)


def _instead(names: Sequence[tuple[str, str]]) -> Ast:
    """Of a `kind`, the name that stands for it. Halved, since what stands in each other is bounded in depth."""
    if len(names) == 1:
        [(name, other)] = names
        return Conditional(Binary("==", _name("kind"), _text(name), 0, 0), _text(other), _name("kind"), 0, 0)
    half = len(names) // 2
    first = _is_one_of(name for name, _ in names[:half])
    return Conditional(first, _instead(names[:half]), _instead(names[half:]), 0, 0)


def _expression(tree: Ast, at: Span) -> Expression:
    text = _words(tree)
    return Expression(tree, Scalar(at, text, text, Style.PLAIN, range(at.start, at.start + len(text) + 1)))


def _words(tree: Ast) -> str:
    """As somebody would write it."""
    match tree:
        case Literal(value=str() as text):
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case Name(name=name):
            return name
        case Member(operand=operand, name=name):
            return f"{_words(operand)}.{name}"
        case ListLiteral(items=items):
            return f"[{', '.join(map(_words, items))}]"
        case Binary(operator=operator, left=left, right=right):
            return f"{_words(left)} {operator} {_words(right)}"
        case Conditional(condition=condition, yes=yes, no=no):
            inner = f"({_words(yes)})" if isinstance(yes, Conditional) else _words(yes)
            return f"{_words(condition)} ? {inner} : {_words(no)}"
        case Invocation(function=function, target=target, arguments=(item, of)) if target is not None:
            return f"{_words(target)}.{function}({_words(item)}, {_words(of)})"
    raise AssertionError(tree)
