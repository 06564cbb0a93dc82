"""Typed trees as the binds of statements. Of a request there are more of them than of anything else that is evaluated,
and most are a member of a root."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Final, TypeAlias

from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.expressions.reads import NO_MODEL
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Constant, Select, Typed, Variable
from ninefold.values.stored import SQLiteValue, sqlite_writer

_OF_SEVERAL: Final = (dict, list)
_KINDS_OF_SEVERAL: Final = frozenset(_OF_SEVERAL)

Bind: TypeAlias = Callable[[Env], SQLiteValue]


def binder(typed: Typed, model: Model = NO_MODEL) -> Bind:
    """The value of a statement's bind, in the form that SQLite stores. An error is null, as it is in SQL.

    What the types promise to be there is not there of a request that is refused: the judge is asked of such, too."""
    evaluate, write = compile(typed, model), sqlite_writer(typed.type)
    match typed:
        case Constant() | Variable():
            return evaluate if write is None else lambda env: write(evaluate(env))  # type: ignore[return-value]
        case Select(name=name) if not model and (root := _root(typed)) is not None:
            return _member(root, name)

    def bound(env: Env) -> SQLiteValue:
        try:
            value = evaluate(env)
        except EvaluationError:
            return None
        if write is None:
            # Of callers of whom not all is shown, nothing promises what a member is: a row is no value of a column.
            return None if isinstance(value, _OF_SEVERAL) else value
        return write(value)

    return bound


def _root(typed: Typed) -> str | None:
    """The root of which it is a member, and is stored as it is there."""
    match typed:
        case Select(operand=Variable(name=root), through="member" | "field"):
            return root if sqlite_writer(typed.type) is None else None
    return None


def _member(root: str, name: str) -> Bind:
    """The same of a member of a root, in one call."""

    def bound(env: Env) -> SQLiteValue:
        try:
            value = env[root].get(name)
        except (KeyError, AttributeError):  # there is no such root, or it is no row
            return None
        return None if isinstance(value, _OF_SEVERAL) else value

    return bound


def together(binds: Sequence[tuple[Typed, Bind]]) -> Callable[[Env], list[SQLiteValue]]:
    """The values of several, each with its `binder`, in their order. Members of one root, as most of a row that is
    stored, are taken of it at once."""
    of_root: dict[str, list[int]] = {}
    for number, (typed, _) in enumerate(binds):
        if (root := _root(typed)) is not None:
            of_root.setdefault(root, []).append(number)
    of_root = {root: numbers for root, numbers in of_root.items() if len(numbers) > 1}
    at_once = [number for numbers in of_root.values() for number in numbers]
    one_by_one = [number for number in range(len(binds)) if number not in at_once]
    singly = [binds[number][1] for number in one_by_one]
    if not of_root:
        return lambda env: [bind(env) for bind in singly]
    groups = [
        (root, [_name(binds[number][0]) for number in numbers], [binds[number][1] for number in numbers])
        for root, numbers in of_root.items()
    ]
    found_at = {number: place for place, number in enumerate([*one_by_one, *at_once])}
    in_order = itemgetter(*(found_at[number] for number in range(len(binds))))

    def bound(env: Env) -> list[SQLiteValue]:
        values = [bind(env) for bind in singly]
        for root, names, each in groups:
            row = env.get(root)
            if type(row) is dict:
                found = [*map(row.get, names)]  # a member that is not there is null
                if _KINDS_OF_SEVERAL.isdisjoint(map(type, found)):
                    values += found
                    continue
            values += [bind(env) for bind in each]
        return [*in_order(values)]

    return bound


def _name(member: Typed) -> str:
    assert isinstance(member, Select)
    return member.name


def by_column(binds: Sequence[tuple[Typed, Bind]]) -> Callable[[Sequence[Env]], list[list[SQLiteValue]]]:
    """The values of several, each with its `binder`, for each of many environments: a list for each bind."""
    columns = [_column(typed, bind) for typed, bind in binds]
    return lambda envs: [column(envs) for column in columns]


def _column(typed: Typed, bind: Bind) -> Callable[[Sequence[Env]], list[SQLiteValue]]:
    root = _root(typed)
    if root is None:
        return lambda envs: [*map(bind, envs)]
    of, name = itemgetter(root), _name(typed)

    def column(envs: Sequence[Env]) -> list[SQLiteValue]:
        try:
            values = [*map(dict.get, map(of, envs), repeat(name))]
        except (KeyError, TypeError):  # a root of one of them is not there, or is no row
            return [*map(bind, envs)]
        return values if _KINDS_OF_SEVERAL.isdisjoint(map(type, values)) else [*map(bind, envs)]

    return column


def together_again(binds: Sequence[tuple[Typed, Bind]], root: str) -> Callable[[Env], list[SQLiteValue]]:
    """The same for whoever asks time and again with one and the same value of a root, such as who calls: a member of it
    is read again where that is another object."""
    others = [(at, bind) for at, (typed, bind) in enumerate(binds) if not _is_of(typed, root)]
    if len(others) == len(binds):
        return together(binds)
    of: object = None
    known: list[SQLiteValue] = []

    def bound(env: Env) -> list[SQLiteValue]:
        nonlocal of, known
        asked = env.get(root)
        if asked is None or asked is not of:
            of, known = asked, [bind(env) for _, bind in binds]
            return known.copy()
        values = known.copy()
        for at, bind in others:
            values[at] = bind(env)
        return values

    return bound


def but_one(
    binds: Sequence[tuple[Typed, Bind]], root: str, name: str, changing: Collection[str]
) -> Callable[[Env], Callable[[SQLiteValue], list[SQLiteValue]]] | None:
    """The same for whoever asks time and again with values of all roots that stay as they are, but for those that are
    `changing`: what gives them for an environment, and then for a member of one such root. None: they read more than
    this one member of what changes, or are worked out."""
    places = [at for at, (typed, _) in enumerate(binds) if _root(typed) == root and _name(typed) == name]
    others = [typed for at, (typed, _) in enumerate(binds) if at not in places]
    if len(places) != 1 or any((of := _is_read_of(typed)) is None or of in changing for typed in others):
        return None
    place = places[0]

    def bound(env: Env) -> Callable[[SQLiteValue], list[SQLiteValue]]:
        before, after = ([bind(env) for _, bind in some] for some in (binds[:place], binds[place + 1 :]))
        return lambda value: [*before, value, *after]

    return bound


def _is_read_of(typed: Typed) -> str | None:
    """The root that is read, or a member of it; "" of a constant. None: more is done."""
    while isinstance(typed, Select):
        typed = typed.operand
    if isinstance(typed, Constant):
        return ""
    return typed.name if isinstance(typed, Variable) else None


def _is_of(typed: Typed, root: str) -> bool:
    """Whether it is a member of a root, or of a member of it."""
    return isinstance(typed, Select) and _is_read_of(typed) == root
