"""How the rows of a list are found: by which fields an index finds them in their order, and what none finds.

An index holds the rows that have the same values in some fields next to each other, in the order of the others: a page
of them costs the same among a thousand rows and among ten million. So it serves what is compared with one value, by
`==` and nothing else, and an order over what is stored. For each of its sorts, and for each filter that is such a
comparison, an endpoint has an index, behind the fields by which its row rule, its path and its `where` narrow it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TypeAlias

import msgspec
from msgspec import structs

from ninefold.checked.contents import Content, Response, expressions_of, with_expressions
from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.operations import List, Order, PathName, Segment, SortKeys, turned
from ninefold.checked.resources import Field, Resource
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.tree import (
    Call,
    Constant,
    Select,
    Typed,
    Variable,
    conjuncts,
    is_apart,
    rewrite,
)
from ninefold.values import Boolean, Integer, Number, Row, Text, Timestamp

Rules: TypeAlias = Mapping[str, Mapping[str, Typed | None]]
"""By resource and caller: which rows are seen; None: all."""


@dataclass(frozen=True)
class Wanted:
    """An index that finds rows by the values of `equal`, and gives them in an `order`: fields, each with whether it
    descends."""

    equal: tuple[str, ...]
    order: SortKeys = ()


@dataclass(frozen=True)
class Narrowed:
    """What a condition says of one row: the fields that equal one value, those that are less or greater than one, and
    whether it says `more`, which no index knows."""

    equal: tuple[str, ...] = ()
    ranged: tuple[str, ...] = ()
    more: bool = False

    def __add__(self, other: Narrowed) -> Narrowed:
        equal = tuple(dict.fromkeys((*self.equal, *other.equal)))
        return Narrowed(equal, (*self.ranged, *other.ranged), self.more or other.more)


ALL = Narrowed()


@dataclass(frozen=True)
class Asked:
    """A list, and by whom it is asked for; by the operator, where nobody is."""

    list: List
    admissions: tuple[Admission, ...] = ()


def asked(endpoint: Endpoint) -> Asked | None:
    """What an endpoint lists."""
    return Asked(endpoint.operation, endpoint.admissions) if isinstance(endpoint.operation, List) else None


def indexes(asked: Asked, resource: Resource, rules: Rules) -> Iterator[Wanted]:
    """Those of one list, for each kind of its callers: one for each sort, and one for each filter with the order that
    holds where none is asked for."""
    for narrowed in dict.fromkeys(each for _, each in _by_caller(asked, resource, rules)):
        for keys in _sorts(asked):
            if (order := _ordered(keys, resource, narrowed.equal)) is not None:
                yield Wanted(narrowed.equal, order)
        usual = _sorts(asked)[0]
        for each in asked.list.filters:
            found = narrowed + says(each.condition, resource)
            if found.equal != narrowed.equal:
                yield Wanted(found.equal, _ordered(usual, resource, found.equal) or ())


def title(order: Order, resource: Resource) -> str:
    """What callers call an order: by its own name, or the names that they know its fields by."""
    if order.name is not None:
        return order.name
    names = ((resource.fields[field].called or field, descending) for field, descending in order.keys)
    return ",".join(f"-{name}" if descending else name for name, descending in names)


def growing(asked: Asked, resource: Resource, rules: Rules) -> tuple[str, ...]:
    """What makes a list cost the more, the more rows there are, each in a few words; empty: a page costs the same."""
    if resource.log:
        return ("which events a caller sees is judged one by one",)
    return tuple(dict.fromkeys(chain(_by_pages(asked), _by_rows(asked, resource, rules))))


def _by_pages(asked: Asked) -> Iterator[str]:
    if asked.list.total:
        yield "`page.total` counts every row"
    if asked.list.pages.by in ("offset", "page"):
        yield "what stands before a page is read as well"


def _by_rows(asked: Asked, resource: Resource, rules: Rules) -> Iterator[str]:
    if resource.machine is not None and resource.machine.gone:
        yield "rows that are gone are passed over"
    for who, narrowed in _by_caller(asked, resource, rules):
        if narrowed.more or (narrowed.ranged and not _is_in_order(narrowed.ranged, asked, resource, rules)):
            yield f"which rows `{who}` sees here is judged row by row"
        yield from _by_order(asked, resource, narrowed)
    finding, judged = list[str](), list[str]()
    for each in asked.list.filters:
        said = says(each.condition, resource)
        if said.more or not (said.equal or _is_in_order(said.ranged, asked, resource, rules)):
            judged.append(f"`{each.name}`")
        elif said.equal and not _is_one(said.equal, resource):
            finding.append(f"`{each.name}`")
    if judged:
        many, judge = ("s", "are") if len(judged) > 1 else ("", "is")
        yield f"the filter{many} {' and '.join(judged)} {judge} judged row by row"
    usual, *others = _sorts(asked)
    if finding and any(keys != usual and not _is_turned(keys, usual, resource) for keys in others):
        yield f"what is found by {' or '.join(finding)} is put into any other order than the usual one"
    if asked.list.sorts.several:
        yield "what is alike in the first of several orders is put into the next"
    if len(finding) > 1:
        yield f"of {' and '.join(finding)} at once, what one of them finds is judged row by row"


def _is_turned(keys: SortKeys, usual: SortKeys, resource: Resource) -> bool:
    """Whether an order is the usual one backwards. Rows that are alike in it come by their primary keys in either, and
    are put in that order by themselves: of the same time, to the microsecond, there are few."""
    return turned(keys) == usual and isinstance(resource.fields[usual[-1][0]].type, Timestamp)


def _is_one(equal: tuple[str, ...], resource: Resource) -> bool:
    """Whether at most one row has these values."""
    unique = [
        resource.primary_key,
        *resource.unique,
        *((each.name,) for each in resource.fields.values() if each.unique),
    ]
    return any(set(equal) >= set(names) for names in unique)


def _by_order(asked: Asked, resource: Resource, narrowed: Narrowed) -> Iterator[str]:
    for keys in _sorts(asked):
        order = _ordered(keys, resource, narrowed.equal)
        if order is None:
            field = next(each for name, _ in keys if not _is_ordered(each := resource.fields[name]))
            yield f"an order by `{field.called or field.name}` is made anew each time"
            continue
        for number, (field, descending) in enumerate((resource.fields[name], descending) for name, descending in order):
            by = f"an order by `{field.called or field.name}`, which may have no value,"
            if not field.type.nullable:
                continue
            if number > 0 and not descending:
                yield f"{by} is made anew each time"
            elif asked.list.pages.by == "cursor":
                yield f"in {by} what stands before a page is read as well"


def _is_in_order(ranged: tuple[str, ...], asked: Asked, resource: Resource, rules: Rules) -> bool:
    """Whether all orders in which the rows of a list come begin with the field that is less or greater than a value."""
    if len(set(ranged)) != 1:
        return False
    for _, narrowed in _by_caller(asked, resource, rules):
        for keys in _sorts(asked):
            order = _ordered(keys, resource, narrowed.equal)
            if not order or order[0][0] != ranged[0]:
                return False
    return True


def _sorts(asked: Asked) -> tuple[SortKeys, ...]:
    """The usual order first."""
    return tuple(dict.fromkeys(asked.list.sorts.every))


def _ordered(keys: SortKeys, resource: Resource, equal: tuple[str, ...]) -> SortKeys | None:
    """The order of rows that are alike in `equal`: the keys, and the primary key behind them, so that no two are alike.
    None: something of it is not stored."""
    if not all(_is_ordered(resource.fields[name]) for name, _ in keys):
        return None
    named = {name for name, _ in keys}
    whole = (*keys, *((name, False) for name in resource.primary_key if name not in named))
    return tuple((name, descending) for name, descending in whole if name not in equal)


def _is_ordered(field: Field) -> bool:
    return field.stored and isinstance(field.type, Boolean | Integer | Number | Row | Text | Timestamp)


def _by_caller(asked: Asked, resource: Resource, rules: Rules) -> Iterator[tuple[str, Narrowed]]:
    """What is always said of the rows, for each kind of caller: first by the row rule, which holds of most lists."""
    stated = ALL
    for name in asked.list.names:
        if len(name.through) == 1:
            stated += Narrowed((name.through[0],))
        else:
            stated += Narrowed((name.field,)) if not name.through else Narrowed(more=True)
    if asked.list.where is not None:
        stated += says(asked.list.where, resource)
    for admission in asked.admissions:
        rule = rules.get(resource.name, {}).get(admission.who)
        yield admission.who, (ALL if rule is None else says(rule, resource)) + stated


def says(condition: Typed, resource: Resource) -> Narrowed:
    """What a condition says of a row that goes by the resource's name."""
    found, there = ALL, list[str]()
    for each in conjuncts(plainly(condition, resource)):
        match each:
            case Call(function="has", arguments=[operand]) if (field := field_compared(operand, resource)) is not None:
                there.append(field)
            case _:
                found += _said(each, resource)
    # What equals a value has one.
    return found if set(there) <= set(found.equal) else found + Narrowed(more=True)


def plainly(condition: Typed, resource: Resource) -> Typed:
    """The same condition, in which truth values are compared with one, as an index knows them."""
    match condition:
        case Call(function="&&", arguments=arguments):
            return structs.replace(condition, arguments=[plainly(each, resource) for each in arguments])
        case Call(function="!", arguments=[operand]) if field_compared(operand, resource) is not None:
            return Call("==", [operand, Constant(False, Boolean())], Boolean())
        case Select() if field_compared(condition, resource) is not None:
            return Call("==", [condition, Constant(True, Boolean())], Boolean())
        case _:
            return condition


def _said(condition: Typed, resource: Resource) -> Narrowed:
    """What a condition says that is no conjunction."""
    if is_apart(condition, (resource.name,)):
        return ALL
    match condition:
        case Call(function="==" | "<" | "<=" | ">" | ">=" as operator, arguments=[left, right]):
            for one, other in ((left, right), (right, left)):
                field = field_compared(one, resource)
                if field is not None and is_apart(other, (resource.name,)):
                    return Narrowed(equal=(field,)) if operator == "==" else Narrowed(ranged=(field,))
    return Narrowed(more=True)


def field_compared(typed: Typed, resource: Resource) -> str | None:
    """The stored field of the row that an expression is, if it is nothing else: of the row itself, its primary key."""
    match typed:
        case Variable(name=name, type=Row()) if name == resource.name and len(resource.primary_key) == 1:
            return resource.primary_key[0]
        case Select(operand=Variable(name=name, type=Row()), name=field) if name == resource.name:
            found = resource.fields.get(field)
            return field if found is not None and _is_ordered(found) else None
        case _:
            return None


# ── Rows that a path leads through ─────────────────────────────────────────────────────────────────────────
#
# One each (`{project.id}` of tasks), whatever rows there are behind them. What a list says of `task.project` is the
# same for all of its tasks, also where it has none. So an expression that reads no more of them than that can be asked
# of the row which the path names; it is then a root of its own.


@dataclass(frozen=True)
class Way:
    """`number`: of the name in the path. `through`: the reference fields that lead to the row; `key`: the field by
    which others refer to it."""

    number: int
    through: tuple[str, ...]
    resource: str
    key: str

    def row(self, listed: str) -> Variable:
        """The row, as a root: `task.project`, which no name of a contract can be."""
        return Variable(".".join((listed, *self.through)), Row(resource=self.resource))


def ways(segments: tuple[Segment, ...], resources: Mapping[str, Resource]) -> tuple[Way, ...]:
    names = [each for each in segments if isinstance(each, PathName)]
    found = {
        each.through: Way(number, each.through, each.resource, resources[each.resource].primary_key[0])
        for number, each in enumerate(names)
        if each.through and resources[each.resource].primary_key
    }
    return tuple(found.values())


def by_way(typed: Typed, listed: str, known: tuple[Way, ...]) -> Typed:
    """The expression, with the rows that the path names in the place of what leads there from a row of `listed`."""
    found = {each.through: each for each in known}

    def change(node: Typed) -> Typed | None:
        if not isinstance(node, Select):
            return None
        way = found.get(_way(node.operand, listed) or ())
        if way is not None:
            return msgspec.structs.replace(node, operand=way.row(listed))
        way = found.get(_way(node, listed) or ())
        return None if way is None else Select(way.row(listed), way.key, node.type, "field")

    return rewrite(typed, change)


def _way(typed: Typed, listed: str) -> tuple[str, ...] | None:
    """The fields that lead to it from the row of `listed`; None: it does not begin there."""
    match typed:
        case Variable(name=name) if name == listed:
            return ()
        case Select(operand=operand, name=name, through="field"):
            before = _way(operand, listed)
            return None if before is None else (*before, name)
        case _:
            return None


def content_by_way(content: Content, listed: str, known: tuple[Way, ...]) -> Content:
    """The same of all that is shown beside the rows of a page."""
    return with_expressions(content, lambda typed: by_way(typed, listed, known), of_rows=False)


def beside_rows(response: Response) -> Iterator[Typed]:
    """The expressions of a list's response that stand beside its rows."""
    if response.content is not None:
        yield from expressions_of(response.content, of_rows=False)
    for _, leaf in response.headers:
        yield leaf.expression
