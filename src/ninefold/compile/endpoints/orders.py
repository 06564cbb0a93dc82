"""The orders of a list in SQL: each that can be chosen, and what comes after a cursor in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ninefold.checked import operations as checked
from ninefold.checked.lists import title
from ninefold.checked.operations import SortKeys, turned
from ninefold.checked.resources import Resource
from ninefold.compile import inputs
from ninefold.compile.contents import Columns
from ninefold.compile.perspective import Perspective
from ninefold.expressions.reads import computed_by
from ninefold.expressions.tree import Select, Typed, Variable, words
from ninefold.plan.operations import Combined, Sort, SortKey
from ninefold.plan.statement import Piece
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, bind, join
from ninefold.values import Row

Key: TypeAlias = tuple[Fragment, Typed, bool]
"""What is sorted by, as SQL and with its type; and whether it descends."""


def orders_of(
    operation: checked.List, resource: Resource, columns: Columns, perspective: Perspective
) -> tuple[tuple[Sort, ...], Combined | None, tuple[Piece, ...]]:
    """The orders that may be asked for, and the pieces of the statement that put the rows into each, behind those that
    begin after the last row of the page before."""
    if operation.sorts.several:
        return (), *_combined(operation, resource, columns, perspective)
    sorts, pieces = _sorted(operation, resource, columns, perspective)
    return sorts, None, pieces


def _sorted(
    operation: checked.List, resource: Resource, columns: Columns, perspective: Perspective
) -> tuple[tuple[Sort, ...], tuple[Piece, ...]]:
    """Of which one is chosen: each is whole by itself."""
    stated = _stated(operation, resource)
    named, reversed_ = _orders(stated, resource), dict[SortKeys, list[str]]()
    if operation.sorts.reverse is not None:
        reversed_ = _orders({name: turned(keys) for name, keys in stated.items()}, resource)
    sorts, orders, after = list[Sort](), list[Piece](), list[Piece]()
    for keys in dict.fromkeys((*named, *reversed_)):
        name, *aliases = named.get(keys) or [_not_taken(f"reverse {reversed_[keys][0]}", stated)]
        expressions = [(_field(resource, field), descending) for field, descending in keys]
        fragments = [(perspective.shown(each, columns.rows), each, descending) for each, descending in expressions]
        bound_to = _bound_to(resource, expressions, perspective) if operation.pages.by == "cursor" else ()
        found = tuple(columns.add(each) for each, _ in expressions)
        sorts.append(Sort(name, found, tuple(aliases), bound_to, tuple(reversed_.get(keys, ()))))
        order = _order(fragments, perspective.dialect)
        orders.append(Piece(order.text, order.binds, f"sort {name}"))
        if operation.pages.by == "cursor":
            behind = " AND (" + _after(fragments, perspective.dialect) + ")"
            after.append(Piece(behind.text, behind.binds, f"after {name}"))
    return tuple(sorts), (*after, *orders)


def _not_taken(name: str, stated: Mapping[str, SortKeys]) -> str:
    while name in stated:
        name = f"reverse {name}"
    return name


def _stated(operation: checked.List, resource: Resource) -> dict[str, SortKeys]:
    """Each order by its name: `""` is the default."""
    offered = () if operation.sorts.parameter is None else operation.sorts.offered
    return {"": operation.sorts.default} | {title(each, resource): each.keys for each in offered}


def _orders(stated: Mapping[str, SortKeys], resource: Resource) -> dict[SortKeys, list[str]]:
    """Each order with its names. The primary key is added where an order does not hold it, so that no two rows are
    equal; what is the same then is one order."""
    orders: dict[SortKeys, list[str]] = {}
    for name, keys in stated.items():
        orders.setdefault(_with_identifier(keys, resource), []).append(name)
    return orders


# ── What cursors are bound to ────────────────────────────────────────────────────────────────────────────────


def _bound_to(resource: Resource, keys: Sequence[tuple[Typed, bool]], perspective: Perspective) -> tuple[str, ...]:
    """What tells an order from every other one: the case whose list it is of, the resource, each key with its direction
    and the type that is stored of it, and what is computed for them. It is the same on each database, and in each build
    that makes the same of the contract."""
    told = [_told(*each, perspective) for each in keys]
    computed = dict.fromkeys(made for typed, _ in keys for made in _computed(typed, perspective))
    return (*_of_all(resource, perspective), *told, *computed)


def _of_all(resource: Resource, perspective: Perspective) -> tuple[str, ...]:
    return perspective.case or "", resource.name


def _told(typed: Typed, descending: bool, perspective: Perspective) -> str:
    assert isinstance(typed, Select)
    stored = perspective.stored(typed.type).__struct_config__.tag
    return f"{'-' if descending else ''}{typed.name} {stored}{' or null' if typed.type.nullable else ''}"


def _computed(typed: Typed, perspective: Perspective) -> tuple[str, ...]:
    found = computed_by(typed, perspective.checked.model)
    return tuple(f"{name} = {words(made)}" for name, made in found.items())


# ── As SQL ───────────────────────────────────────────────────────────────────────────────────────────────────


def _with_identifier(keys: SortKeys, resource: Resource) -> SortKeys:
    named = {field for field, _ in keys}
    return (*keys, *((key, False) for key in resource.primary_key if key not in named))


def _field(resource: Resource, name: str) -> Typed:
    field = resource.fields[name]
    through = "field" if field.computed is None else "computed"
    return Select(Variable(resource.name, Row(resource=resource.name)), name, field.type, through)  # type: ignore[arg-type]


def _order(keys: Sequence[tuple[Fragment, Typed, bool]], dialect: Dialect) -> Fragment:
    return " ORDER BY " + join(", ", [_ordered(*key) for key in keys] or [Fragment(dialect.any_order)])


def _ordered(fragment: Fragment, typed: Typed, descending: bool) -> Fragment:
    # SQLite puts nulls first in an ascending order; the language puts them last in every order.
    return fragment + (" DESC" if descending else " ASC") + (" NULLS LAST" if typed.type.nullable else "")


def _after(keys: Sequence[Key], dialect: Dialect, index: int = 0) -> Fragment:
    """Rows that come after the cursor's in the order of `keys`: beyond it in the first key, or equal there and
    after it in the rest."""
    if index + 1 == len(keys):
        return _beyond(keys[index], index)
    return _behind(keys[index], index, dialect) + _after(keys, dialect, index + 1) + "))"


def _beyond(key: Key, index: int) -> Fragment:
    """Rows beyond the cursor's in one key."""
    fragment, typed, descending = key
    value = bind(inputs.cursor_key(index, typed.type))
    beyond = fragment + (" < " if descending else " > ") + value
    if typed.type.nullable:
        beyond = "(" + beyond + " OR (" + fragment + " IS NULL AND " + value + " IS NOT NULL))"
    return beyond


def _behind(key: Key, index: int, dialect: Dialect) -> Fragment:
    """What stands before the rest, and two parentheses that close it: rows beyond the cursor's in one key, or equal
    there and after it in the rest."""
    (fragment, typed, descending), beyond = key, _beyond(key, index)
    value = bind(inputs.cursor_key(index, typed.type))
    if typed.type.nullable:
        return beyond + " OR (" + fragment + dialect.alike + value + " AND ("
    # Said this way round, an index on the first key bounds the search.
    bound = fragment + (" <= " if descending else " >= ") + value
    return bound + " AND (" + beyond + " OR ("


# ── Several ──────────────────────────────────────────────────────────────────────────────────────────────────


def _combined(
    operation: checked.List, resource: Resource, columns: Columns, perspective: Perspective
) -> tuple[Combined, tuple[Piece, ...]]:
    """Of which several are chosen, one behind the other: each key at each place where it may come."""
    stated, ties = _stated(operation, resource), tuple((name, False) for name in resource.primary_key)
    by_cursor, turns = operation.pages.by == "cursor", operation.sorts.reverse is not None
    keys = dict.fromkeys(key for each in (*operation.sorts.every, ties) for key in each)
    found, named = dict[str, SortKey](), dict[str, Key]()
    for field, descending in keys:
        typed, reverse = _field(resource, field), (field, not descending)
        name = _name(field, descending)
        named[name] = (perspective.shown(typed, columns.rows), typed, descending)
        found[name] = SortKey(
            columns.add(typed),
            _name(*reverse) if turns and reverse in keys else None,
            _told(typed, descending, perspective) if by_cursor else "",
            _computed(typed, perspective) if by_cursor else (),
        )
    combined = Combined(
        found,
        {name: tuple(_name(*key) for key in each) for name, each in stated.items()},
        tuple(_name(*key) for key in ties),
        _of_all(resource, perspective) if by_cursor else (),
    )
    places = range(len({field for field, _ in keys}))
    after = _all_after(named, places, perspective.dialect) if by_cursor else ()
    return combined, (*after, *_all_ordered(named, places))


def _name(field: str, descending: bool) -> str:
    return f"-{field}" if descending else field


def _all_ordered(keys: Mapping[str, Key], places: Sequence[int]) -> Iterator[Piece]:
    first = next(iter(keys), "")
    for place in places:
        for name, key in keys.items():
            ordered = (", " if place else " ORDER BY ") + _ordered(*key)
            yield Piece(
                ordered.text, ordered.binds, f"sort {place} {name}", beside=(f"sort 0 {first}",) if place else ()
            )


def _all_after(keys: Mapping[str, Key], places: Sequence[int], dialect: Dialect) -> Iterator[Piece]:
    """What `_after` makes of one order, in pieces that each begin what the next stands in."""
    first = next(iter(keys), "")
    for place in places:
        start, before = ("", (f"after 0 {first}",)) if place else (" AND (", ())
        for name, key in keys.items():
            if place + 1 < len(places):
                begun, then = start + _behind(key, place, dialect), f"last {place + 1} {first}"
                yield Piece(begun.text, begun.binds, f"after {place} {name}", beside=(*before, then))
            last = start + _beyond(key, place) + ("" if place else ")")
            yield Piece(last.text, last.binds, f"last {place} {name}", beside=before)
    for place in reversed(places[:-1]):
        yield from (Piece("))" if place else ")))", when=f"after {place} {name}") for name in keys)
