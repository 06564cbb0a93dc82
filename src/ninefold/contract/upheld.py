"""The invariants that read other rows than their own, and which writes they have to be asked again after: what the
planner works out of types (`ninefold.expressions.rows`), worked out of what is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from ninefold.contract.reach import MACROS, Graph
from ninefold.contract.survey import Survey, actions
from ninefold.contract.writes import Change, changed_rows, of_effect
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.ast import (
    Ast,
    Binary,
    Conditional,
    Index,
    Invocation,
    ListLiteral,
    MapLiteral,
    Member,
    Name,
    Unary,
)
from ninefold.language.check import Check
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import value_of

Way: TypeAlias = Literal["own", "reference", "back", "all"]
"""How an expression comes to the rows that it reads: it is about them, follows a reference to them, goes back to those
that refer to a row, or reads all."""

_Rows: TypeAlias = frozenset[tuple[str, Way]]
_NONE: _Rows = frozenset()


@dataclass(frozen=True)
class Read:
    """The fields that an expression reads of the rows of a resource; of those that refer `back`, by which one."""

    resource: str
    way: Way
    fields: frozenset[str]
    back: frozenset[str] = frozenset()


def upheld_by(survey: Survey, endpoint: Endpoint) -> tuple[tuple[str, Check], ...]:
    """The invariants that a write of an endpoint may break of rows that it does not write: each with its resource."""
    found = list(_reading_others(survey))
    if not found:
        return ()
    written = tuple(_written(survey, endpoint))
    deleted = survey.deleted_by(endpoint)
    return tuple(
        (name, invariant)
        for name, invariant, reads in found
        if any(_is_changed(each, written) or _falls(survey, each, deleted) for each in reads)
    )


def _reading_others(survey: Survey) -> Iterator[tuple[str, Check, tuple[Read, ...]]]:
    for name, each in survey.graph.resources.items():
        for invariant in value_of(each.invariants) or ():
            reads = reads_of(invariant.when.ast, name, survey.graph)
            if any(read.way != "own" for read in reads):
                yield name, invariant, reads


def _written(survey: Survey, endpoint: Endpoint) -> Iterator[tuple[Change, frozenset[str]]]:
    """The rows that are made or changed, each with the fields that are given another value."""
    effects = (change for each in survey.effects(endpoint) if (change := of_effect(survey, each)) is not None)
    takes = any(each.is_transition for each in actions(endpoint)) or any(survey.effects(endpoint))
    for change in (*changed_rows(survey, endpoint), *effects):
        fields = survey.graph.fields.get(change.resource.name, {})
        made = {name for name, each in fields.items() if change.made(each) is not None}
        machine = survey.machine(change.resource.name)
        state = None if machine is None else value_of(machine.field)
        yield change, frozenset(made | change.body | ({state.text} if state is not None and takes else set()))


def _is_changed(read: Read, written: tuple[tuple[Change, frozenset[str]], ...]) -> bool:
    for change, fields in written:
        if change.resource.name == read.resource and read.way != "own":
            if (read.way in ("back", "all")) if change.inserts else bool(read.fields & fields):
                return True
    return False


def _falls(survey: Survey, read: Read, deleted: frozenset[str]) -> bool:
    """Whether a deletion takes rows that are read, or clears a field of theirs."""
    if read.resource in deleted and read.way in ("back", "all"):
        return True
    for target in deleted:
        for resource, field in survey.referring.get(target, ()):
            word = value_of(field.on_delete)
            if resource == read.resource and word is not None and word.text == "clear" and field.name in read.fields:
                if not (read.way == "back" and field.name in read.back):
                    return True
    return False


def reads_of(ast: Ast, resource: str, graph: Graph) -> tuple[Read, ...]:
    """What an expression over a row of `resource` reads."""
    reading = _Reading(graph)
    reading.rows(ast, {resource: frozenset({(resource, "own")})})
    back = {key: frozenset(names) for key, names in reading.back.items()}
    return tuple(
        Read(of, way, frozenset(names), back.get((of, way), frozenset())) for (of, way), names in reading.read.items()
    )


class _Reading:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.read: dict[tuple[str, Way], set[str]] = {}
        self.back: dict[tuple[str, Way], set[str]] = {}
        self._inside: list[tuple[str, str]] = []

    def rows(self, ast: Ast, scope: Mapping[str, _Rows]) -> _Rows:
        """Notes what an expression reads, and gives the rows that its value is, or holds."""
        match ast:
            case Name(name):
                return scope.get(name, _NONE)
            case Member(operand, name):
                found = self.rows(operand, scope)
                return frozenset().union(*(self._of_row(name, resource, way) for resource, way in found))
            case Index(operand, index):
                self.rows(index, scope)
                return self.rows(operand, scope)
            case Invocation("all", None, (Name(resource),)) if resource in self.graph.resources:
                self._note(resource, "all")
                return frozenset({(resource, "all")})
            case Invocation(macro, target, (Name(variable), *bodies)) if macro in MACROS and target is not None:
                items = self.rows(target, scope)
                made = [self.rows(each, {**scope, variable: items}) for each in bodies]
                kept = macro in ("filter", "sortBy")
                return items if kept else made[-1] if made and macro in ("map", "flatMap") else _NONE
            case Invocation(function, target, arguments):
                of_target = _NONE if target is None else self.rows(target, scope)
                for each in arguments:
                    self.rows(each, scope)
                return of_target if function in ("distinct", "sort", "reverse") else _NONE
            case Conditional(condition, yes, no):
                self.rows(condition, scope)
                return self.rows(yes, scope) | self.rows(no, scope)
            case ListLiteral(items):
                return frozenset().union(*(self.rows(each, scope) for each in items))
            case MapLiteral(entries):
                for _, each in entries:
                    self.rows(each, scope)
            case Unary(_, operand):
                self.rows(operand, scope)
            case Binary(_, left, right):
                self.rows(left, scope)
                self.rows(right, scope)
            case _:
                pass
        return _NONE

    def _of_row(self, name: str, resource: str, way: Way) -> _Rows:
        child = self.graph.back.get(resource, {}).get(name)
        if child is not None:
            further: Way = "all" if way == "all" else "back"
            referring = next(
                (
                    each.name
                    for each in self.graph.fields[child].values()
                    if (called := value_of(each.back)) is not None and called.text == name
                ),
                "",
            )
            self._note(child, further, referring)
            self.back.setdefault((child, further), set()).add(referring)
            return frozenset({(child, further)})
        field = self.graph.fields.get(resource, {}).get(name)
        if field is None:
            return _NONE
        if (computed := value_of(field.computed)) is not None:
            if (resource, name) in self._inside:
                return _NONE
            self._inside.append((resource, name))
            found = self.rows(computed.ast, {resource: frozenset({(resource, way)})})
            self._inside.pop()
            return found
        self._note(resource, way, name)
        target = value_of(field.refers_to)
        if target is None:
            return _NONE
        return frozenset({(target.text, "all" if way == "all" else "reference")})

    def _note(self, resource: str, way: Way, *fields: str) -> None:
        self.read.setdefault((resource, way), set()).update(fields)
