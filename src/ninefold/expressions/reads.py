"""What a typed expression reads, and whether it can be without a value: facts that SQL and Python both need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import inf
from typing import Final, TypeVar

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.ast import CONDITIONS
from ninefold.expressions.choices import choices
from ninefold.expressions.functions import NEW_EACH_TIME, resolve
from ninefold.expressions.operations import LONGEST_RANDOM
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import (
    All,
    Call,
    Comprehension,
    Constant,
    Select,
    Typed,
    Variable,
    free_variables,
    parts,
    walk,
)
from ninefold.values import Boolean, Row
from ninefold.values.patterns import longest

T = TypeVar("T")

NO_MODEL: Final[Model] = {}


def computed_of(select: Select, model: Model) -> tuple[str, Typed] | None:
    """The name of the row, and the expression over it, that a computed field stands for; `None` if unknown."""
    row = select.operand.type
    shape = model.get(row.resource) if isinstance(row, Row) else None
    if shape is None or select.name not in shape.computed:
        return None
    return shape.name, shape.computed[select.name]


def is_new_each_time(made: Typed) -> bool:
    """Whether it gives another value whenever it is asked, of the same request and the same rows."""
    at_random = any(isinstance(node, Call) and node.function in NEW_EACH_TIME for node in walk(made))
    return at_random or "now" in free_variables(made)


def is_identifier(select: Select, model: Model) -> bool:
    """Whether the field is the one primary key field of its row: what a reference to the row holds anyway."""
    row = select.operand.type
    shape = model.get(row.resource) if isinstance(row, Row) else None
    return shape is not None and shape.primary_key == (select.name,)


def needs_database(typed: Typed, rows: Collection[str] = (), model: Model = NO_MODEL) -> bool:
    """Whether an expression reads anything that is not in the request and not loaded with it.

    `rows` names the variables that are rows of tables. Besides them, `all(R)`, back-references, and fields
    behind a reference of a row (other than the primary key, which the reference itself is) are read from the
    database; so is a computed field whose expression reads such a thing, or is not in `model`.
    """
    return _needs_database(typed, frozenset(rows), model, {})


def _needs_database(typed: Typed, rows: frozenset[str], model: Model, known: dict[tuple[str, str], bool]) -> bool:
    """`known` holds the answers for computed fields; while one is being asked about, the answer is no."""
    match typed:
        case Constant():
            return False
        case Variable(name=name):
            return name in rows
        case All() | Select(through="back"):
            return True
        case Select(operand=operand, through=through):
            if _needs_database(operand, rows, model, known):
                return True
            if isinstance(operand.type, Row) and isinstance(operand, Select) and operand.through == "field":
                return not is_identifier(typed, model)
            if through != "computed":
                return False
            computed = computed_of(typed, model)
            if computed is None:
                return True
            key = (computed[0], typed.name)
            if key not in known:
                known[key] = False
                known[key] = _needs_database(computed[1], frozenset(), model, known)
            return known[key]
        case Comprehension(range=range_, variables=own):
            stored = _needs_database(range_, rows, model, known)
            inner = rows.union(own) if stored else rows.difference(own)
            return stored or any(
                _needs_database(part, inner, model, known) for part in parts(typed) if part is not range_
            )
        case _:
            return any(_needs_database(part, rows, model, known) for part in parts(typed))


def reads_beyond(typed: Typed, own: Collection[str], model: Model) -> bool:
    """Whether an expression over the rows `own` reads rows other than these: through a reference, a
    back-reference or `all`."""
    match typed:
        case All() | Select(through="back"):
            return True
        case Select(operand=operand) if isinstance(operand.type, Row):
            if not (isinstance(operand, Variable) and operand.name in own):
                if needs_database(typed, own):
                    return True
            elif typed.through == "computed":
                computed = computed_of(typed, model)
                if computed is not None and reads_beyond(computed[1], (operand.type.resource,), model):
                    return True
        case _:
            pass
    return any(reads_beyond(part, own, model) for part in parts(typed))


def may_fail(typed: Typed) -> bool:
    """Whether evaluating in Python may raise; `False` is a promise, `True` is none."""
    match typed:
        case Constant() | Variable():
            return False
        case Select(operand=Variable(name="caller")):
            return True
        case Select(through="computed"):
            return typed.type != Boolean() or may_fail(typed.operand)
        case Select(operand=operand, through=through):
            return (
                operand.type.nullable
                or may_fail(operand)
                or through == "back"
                or (isinstance(operand.type, Row) and isinstance(operand, Select) and operand.through == "field")
            )
        case Call(function="is true"):
            return False
        case Call(function="random", arguments=[Constant(value=int(size))]):
            return not 1 <= size <= LONGEST_RANDOM
        case Call(function="matches", arguments=[text, Constant(value=str(written))]) if longest(written) is None:
            return text.type.nullable or may_fail(text)
        case Call(function="==" | "!=", arguments=arguments):
            return any(map(may_fail, arguments))
        case Call(function="&&" | "||" | "!" | "has", arguments=arguments):
            return any(may_fail(argument) or argument.type.nullable for argument in arguments)
        case Call(function="?:", arguments=[condition, yes, no]):
            return condition.type.nullable or any(map(may_fail, (condition, yes, no)))
        case Call(function=function, arguments=arguments):
            overload = resolve(function, tuple(argument.type for argument in arguments))
            return (
                overload is None
                or overload.fails
                or bool(choices(function, tuple(argument.type for argument in arguments)))
                or any(argument.type.nullable or may_fail(argument) for argument in arguments)
            )
        case Comprehension(range=range_, body=body, condition=condition):
            conditions = [
                part for part in (condition, body) if part is not None and part.type == Boolean(nullable=True)
            ]
            return range_.type.nullable or bool(conditions) or any(map(may_fail, parts(typed)))
        case _:
            return any(map(may_fail, parts(typed)))


def as_shown(typed: Typed) -> Typed:
    """What is shown of a condition is whether it is true: where it is an error, it is false."""
    match typed:
        case Call(function=name) | Comprehension(macro=name) if name in CONDITIONS or name == "is of type":
            return Call("is true", [typed], Boolean()) if may_fail(typed) else typed
        case _:
            return typed


def of_request(typed: Typed) -> frozenset[str]:
    """Which parts of the request an expression reads: `body`, `query`, `headers`, `path`."""
    if isinstance(typed, Select) and isinstance(typed.operand, Variable) and typed.operand.name == "request":
        return frozenset((typed.name,))
    return frozenset().union(*map(of_request, parts(typed)))


def is_pure(typed: Typed) -> bool:
    """Whether evaluating it twice gives the same value."""
    if isinstance(typed, Call):
        overload = resolve(typed.function, tuple(argument.type for argument in typed.arguments))
        if overload is not None and not overload.pure:
            return False
    return all(map(is_pure, parts(typed)))


def references(typed: Typed) -> frozenset[tuple[str, str]]:
    """The (resource, field) pairs that an expression names, back-references included."""
    own = (
        {(typed.operand.type.resource, typed.name)}
        if isinstance(typed, Select) and isinstance(typed.operand.type, Row)
        else set()
    )
    return frozenset(own).union(*map(references, parts(typed)))


@dataclass(frozen=True, slots=True)
class Extent:
    """How large an expression is with computed fields in their places: how many nodes stand in each other, and
    how many there are. Infinite where computed fields read each other in a circle."""

    height: float
    nodes: float


ENDLESS: Final = Extent(inf, inf)


def extent(typed: Typed, model: Model = NO_MODEL) -> Extent:
    return _extent(typed, model, {})


def _extent(typed: Typed, model: Model, known: dict[tuple[str, str], Extent]) -> Extent:
    within = [_extent(part, model, known) for part in parts(typed)]
    if isinstance(typed, Select) and typed.through == "computed":
        computed = computed_of(typed, model)
        if computed is not None:
            key = (computed[0], typed.name)
            if key not in known:
                known[key] = ENDLESS
                known[key] = _extent(computed[1], model, known)
            within.append(known[key])
    return Extent(1 + max((part.height for part in within), default=0), 1 + sum(part.nodes for part in within))


DEEPEST_COMPUTED: Final = 8
"""Computed fields that read each other: each is put in the place of its name."""


def too_deep(model: Model) -> Mapping[tuple[str, str], bool]:
    """The computed fields that stand deeper in each other than they may; of each, whether it is the first of its kind:
    all that it reads may be read. The fields read each other in no circle."""
    return {field: depth == DEEPEST_COMPUTED + 1 for field, depth in depths(model).items() if depth > DEEPEST_COMPUTED}


def depths(model: Model) -> Mapping[tuple[str, str], int]:
    """Of each computed field one more than of those that it reads. The fields read each other in no circle."""
    edges = _reads(model)
    found: dict[tuple[str, str], int] = {}
    for field in in_order(edges):
        found[field] = 1 + max((found[each] for each in edges[field] if each in edges), default=0)
    return found


def in_order(edges: Mapping[T, Collection[T]]) -> Iterator[T]:
    """What leads to others, each after all that it leads to; what leads to a circle, or stands in one, not at all.
    `edges`: to what each leads; what is not in it leads nowhere."""
    waiting = {each: len({one for one in others if one in edges}) for each, others in edges.items()}
    users: dict[T, list[T]] = {}
    for each, others in edges.items():
        for one in dict.fromkeys(others):
            users.setdefault(one, []).append(each)
    ready = [each for each, count in waiting.items() if not count]
    while ready:
        yield (each := ready.pop())
        for user in users.get(each, ()):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)


def _reads(model: Model) -> Mapping[tuple[str, str], frozenset[tuple[str, str]]]:
    """What each computed field reads."""
    return {
        (shape.name, name): references(expression)
        for shape in model.values()
        for name, expression in shape.computed.items()
    }


def computed_cycle(model: Model) -> tuple[tuple[str, str], ...]:
    """The first computed fields found that read each other in a circle, in order; empty where none do."""
    edges = _reads(model)
    done: set[tuple[str, str]] = set()
    for start in edges:
        path: list[tuple[str, str]] = [start]
        ahead = [iter(sorted(edges[start]))]
        while path:
            field = next((field for field in ahead[-1] if field in edges and field not in done), None)
            if field is None:
                done.add(path.pop())
                ahead.pop()
            elif field in path:
                return tuple(path[path.index(field) :])
            else:
                path.append(field)
                ahead.append(iter(sorted(edges[field])))
    return ()


def in_statement(
    given: Mapping[str, Typed], resource: str, model: Model, besides: Collection[str] = ()
) -> dict[str, Typed]:
    """Of what the contract gives fields of a row, what the statement has to make: what reads other rows, or a computed
    field of its own one, or a field that the statement makes (such as those in `besides`)."""
    chosen = {
        name
        for name, typed in given.items()
        if needs_database(typed, (), model)
        or any(
            isinstance(node, Select) and _is_of(node, resource) and node.through == "computed" for node in walk(typed)
        )
    }
    reads = {name: fields_read(typed, resource, model) for name, typed in given.items()}
    while more := {name for name in given if name not in chosen and reads[name] & (chosen | set(besides))}:
        chosen |= more
    return {name: typed for name, typed in given.items() if name in chosen}


def fields_read(typed: Typed, resource: str, model: Model) -> frozenset[str]:
    """The fields of the row itself that an expression reads, also by way of computed ones."""
    found: set[str] = set()
    ahead = [typed]
    while ahead:
        for node in walk(ahead.pop()):
            if isinstance(node, Select) and _is_of(node, resource) and node.name not in found:
                found.add(node.name)
                computed = computed_of(node, model) if node.through == "computed" else None
                if computed is not None:
                    ahead.append(computed[1])
    return frozenset(found)


def computed_by(typed: Typed, model: Model) -> dict[str, Typed]:
    """What the computed fields that an expression reads stand for, also those that it reads by way of others."""
    found: dict[str, Typed] = {}
    ahead = [typed]
    while ahead:
        for node in walk(ahead.pop()):
            if isinstance(node, Select) and node.through == "computed":
                computed = computed_of(node, model)
                if computed is not None and (name := f"{computed[0]}.{node.name}") not in found:
                    found[name] = computed[1]
                    ahead.append(computed[1])
    return found


def _is_of(node: Select, resource: str) -> bool:
    return isinstance(node.operand, Variable) and node.operand.name == resource
