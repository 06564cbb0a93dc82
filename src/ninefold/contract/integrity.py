"""What a write may break, as far as it is written: invariants that read other rows than their own, and have to be asked
again after it, which the planner works out of types (`ninefold.expressions.rows`); and the schemas of fields that the
contract gives values, which is told before anything has a type, and so rather too often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias
from typing import Literal as Words

from ninefold.contract.reach import SAME_ITEMS, Graph
from ninefold.contract.shared_types import PREFIX
from ninefold.contract.survey import Survey, actions
from ninefold.contract.writes import Change, changed_rows, of_effect
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.ast import (
    MAKING_ARRAYS,
    Ast,
    Binary,
    Conditional,
    Const,
    Index,
    Invocation,
    ListLiteral,
    Literal,
    MapLiteral,
    Member,
    Name,
    Unary,
    every,
    parts,
    variables_of,
)
from ninefold.expressions.functions import NEW_EACH_TIME, TABLE, overloads
from ninefold.expressions.operations import LONGEST_RANDOM
from ninefold.language.check import Check
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression
from ninefold.language.fact import text_of, value_of
from ninefold.language.resources import Field
from ninefold.values import Text
from ninefold.values.keywords import ANNOTATIONS

Way: TypeAlias = Words["own", "reference", "back", "all"]
"""How an expression comes to the rows that it reads: it is about them, follows a reference to them, goes back to those
that refer to a row, or reads all."""

_Rows: TypeAlias = frozenset[tuple[str, Way]]
_NONE: _Rows = frozenset()


@dataclass(frozen=True)
class Read:
    """The fields that an expression reads of the rows of a resource; of those that are its `inverse`, by which one."""

    resource: str
    way: Way
    fields: frozenset[str]
    inverse: frozenset[str] = frozenset()


def upheld_by(survey: Survey, endpoint: Endpoint) -> tuple[tuple[str, Check], ...]:
    """The invariants that a write of an endpoint may break of rows that it does not write: each with its resource."""
    found = list(_invariants(survey))
    if not found:
        return ()
    written = tuple(_written(survey, endpoint))
    deleted = survey.deleted_by(endpoint)
    return tuple(
        (name, invariant)
        for name, invariant, reads in found
        if any(_is_changed(each, written) or _falls(survey, each, deleted) for each in reads)
    )


def _invariants(survey: Survey) -> Iterator[tuple[str, Check, tuple[Read, ...]]]:
    for name, each in survey.graph.resources.items():
        for invariant in value_of(each.check) or ():
            yield name, invariant, reads_of(invariant.that.ast, name, survey.graph)


def _written(survey: Survey, endpoint: Endpoint) -> Iterator[tuple[Change, frozenset[str]]]:
    """The rows that are made or changed, each with the fields that are given another value."""
    effects = (it for each in survey.effects(endpoint).items() if (it := of_effect(survey, *each)) is not None)
    takes = any(each.is_transition for each in actions(endpoint)) or any(survey.effects(endpoint))
    for change in (*changed_rows(survey, endpoint), *effects):
        fields = survey.graph.fields.get(change.resource.name, {})
        made = {name for name, each in fields.items() if change.made(each) is not None}
        state = None if survey.contract.machine(change.resource.name) is None else change.resource.state
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
        for resource, field in survey.graph.referring.get(target, ()):
            word = text_of(field.on_delete)
            if resource == read.resource and word == "set null" and field.name in read.fields:
                if not (read.way == "back" and field.name in read.inverse):
                    return True
    return False


def reads_of(ast: Ast, resource: str, graph: Graph) -> tuple[Read, ...]:
    """What an expression over a row of `resource` reads."""
    reading = _Reading(graph)
    reading.rows(ast, {resource: frozenset({(resource, "own")})})
    inverse = {key: frozenset(names) for key, names in reading.inverse.items()}
    return tuple(
        Read(of, way, frozenset(names), inverse.get((of, way), frozenset()))
        for (of, way), names in reading.read.items()
    )


class _Reading:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.read: dict[tuple[str, Way], set[str]] = {}
        self.inverse: dict[tuple[str, Way], set[str]] = {}
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
            case Invocation(macro, target) if target is not None and (variables := variables_of(ast)):
                items = self.rows(target, scope)
                inner = {**scope, **{each.name: _NONE for each in variables}, variables[-1].name: items}
                made = [self.rows(each, inner) for each in ast.arguments[len(variables) :]]
                kept = macro in ("filter", "sortBy")
                return items if kept else made[-1] if made and macro in MAKING_ARRAYS else _NONE
            case Invocation(function, target, arguments):
                of_target = _NONE if target is None else self.rows(target, scope)
                for each in arguments:
                    self.rows(each, scope)
                return of_target if function in SAME_ITEMS else _NONE
            case Conditional(condition, yes, no):
                self.rows(condition, scope)
                return self.rows(yes, scope) | self.rows(no, scope)
            case Binary("+"):
                return self.rows(ast.left, scope) | self.rows(ast.right, scope)
            case ListLiteral(items):
                return frozenset().union(*(self.rows(each, scope) for each in items))
            case MapLiteral(entries):
                for _, each in entries:
                    self.rows(each, scope)
            case _:
                for each in parts(ast):
                    self.rows(each, scope)
        return _NONE

    def _of_row(self, name: str, resource: str, way: Way) -> _Rows:
        child = self.graph.inverse.get(resource, {}).get(name)
        if child is not None:
            further: Way = "all" if way == "all" else "back"
            referring = next(
                (each.name for each in self.graph.fields[child].values() if text_of(each.inverse) == name),
                "",
            )
            self._note(child, further, referring)
            self.inverse.setdefault((child, further), set()).add(referring)
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
        target = value_of(field.references)
        if target is None:
            return _NONE
        return frozenset({(target.text, "all" if way == "all" else "reference")})

    def _note(self, resource: str, way: Way, *fields: str) -> None:
        self.read.setdefault((resource, way), set()).update(fields)


_NAMES: Final = {each.name for each in TABLE}

TOTAL: Final = frozenset(
    name for name in _NAMES if not any(each.fails or each.gives(each.parameters).nullable for each in overloads(name))
)
"""The functions that give a value of every value that they take."""

TEXTS: Final = frozenset(name for name in _NAMES if all(each.result == Text() for each in overloads(name)))

NEVER_FAILING = frozenset({"==", "!=", "&&", "||"})


def may_break(survey: Survey, change: Change, requested: frozenset[tuple[str, str]] = frozenset()) -> bool:
    """Whether a write may be refused for what the contract gives a field, and not the request. `requested`: fields of
    other rows, each with its resource, that the request gives as well."""
    resource = change.resource.name
    body = change.body.union(
        change.of_request, (name for name, each in change.sets.items() if _reads_request(change, each.ast, requested))
    )
    from_body = {each for each in body if change.inserts and _is_from_body(survey, resource, each)}
    for name, field in survey.graph.fields.get(resource, {}).items():
        for given, watched in _given(change, name, field):
            if _reads_request(change, given.ast, requested) or _fits(survey, change, field, given.ast):
                continue
            # What the body gives, or leaves out of a new row, is the request's.
            if (from_body | (watched & body)).isdisjoint(_fields_read(resource, given.ast)):
                return True
    return False


def _is_from_body(survey: Survey, resource: str, name: str) -> bool:
    """Whether nothing but the body gives a field of a new row its value."""
    field = survey.graph.fields[resource].get(name)
    return field is not None and value_of(field.on_create) is None and value_of(field.on_change) is None


def _fields_read(resource: str, ast: Ast) -> set[str]:
    return {
        node.name
        for node in every(ast)
        if isinstance(node, Member) and isinstance(node.operand, Name) and node.operand.name == resource
    }


def _given(change: Change, name: str, field: Field) -> Iterator[tuple[Expression, frozenset[str]]]:
    """What the contract gives a field, each with the fields whose change it is given on."""
    stated = None if name in change.of_request else change.sets.get(name)
    always = stated or (field.at_creation if change.inserts else field.at_every_write)
    if always is not None:
        yield always, frozenset()
    else:
        yield from ((each.value, frozenset(part.text for part in each.fields)) for each in change.anew(field))


def _reads_request(change: Change, ast: Ast, requested: frozenset[tuple[str, str]]) -> bool:
    for node in every(ast):
        match node:
            case Name("request"):
                return True
            case Name("each") if change.each_of_request:
                return True
            case Member(Name("this"), name) if (change.acting, name) in requested:
                return True
    return False


def _fits(survey: Survey, change: Change, field: Field, ast: Ast) -> bool:
    if isinstance(ast, Conditional):
        sides = _fits(survey, change, field, ast.yes) and _fits(survey, change, field, ast.no)
        return sides and _never_fails(survey, change, ast.condition)
    if is_constant(ast):
        return True  # it is held to the schema before anything is served
    schema = value_of(field.schema)
    result = _schema_of_result(survey, ast)
    if result is not None and schema is not None and all(result.get(key) == each for key, each in schema.json.items()):
        return True
    if not _never_fails(survey, change, ast):
        return False
    if field.references is not None or field.state is not None:
        return True
    stated = None if schema is None else {name: each for name, each in schema.json.items() if name not in ANNOTATIONS}
    if isinstance(ast, Member):
        read = survey.graph.fields.get(_row_of(survey, change, ast.operand) or "", {}).get(ast.name)
        if read is not None and read.schema is not None and read.computed is None:
            of_read = value_of(read.schema)
            if of_read is not None and schema is not None and of_read.json == schema.json:
                return True
    said = set(stated or ()) - {"type"}
    if isinstance(ast, Name) and ast.name == "now" and stated is not None:
        return stated.get("format", "date-time") == "date-time" and said <= {"format"}
    if isinstance(ast, Invocation) and ast.function == "uuid" and stated is not None:
        return said <= {"format"} and stated.get("format", "uuid") == "uuid"
    return not said


def is_constant(ast: Ast) -> bool:
    """Whether it is written out."""
    return all(isinstance(node, Literal | Const | ListLiteral | MapLiteral) for node in every(ast))


def _schema_of_result(survey: Survey, ast: Ast) -> Mapping[str, Any] | None:
    """The schema of a member of what a function gives: it is held to that where it comes from."""
    match ast:
        case Member(Member(Name("result"), function), name):
            pass
        case _:
            return None
    for each in value_of(survey.contract.endpoints.functions) or ():
        gives = value_of(each.gives) if each.name == function else None
        for member in () if gives is None else survey.contract.shared_types.members(_type_named(gives.json)):
            if member.always and member.name.text == name:
                return member.schema.json
    return None


def _type_named(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).removeprefix(PREFIX)


def _never_fails(survey: Survey, change: Change, ast: Ast) -> bool:
    match ast:
        case Literal() | Const() | Name():
            return True
        case Member(operand=operand) if isinstance(operand, Name) or _row_of(survey, change, operand) is not None:
            return True  # a member that is left out is no value
        case Invocation(function="has"):
            return True
        case Invocation(function=function, target=None, arguments=()) if function in NEW_EACH_TIME:
            return True
        case Invocation(function="random", target=None, arguments=(Literal(value=int(size)),)):
            return 1 <= size <= LONGEST_RANDOM
        case Invocation(function=function, target=target, arguments=arguments) if function in TOTAL:
            return all(
                always_gives(survey, change, each) for each in (*arguments, *(() if target is None else (target,)))
            )
        case Binary(operator="+") if _is_text(ast):
            return always_gives(survey, change, ast.left) and always_gives(survey, change, ast.right)
        case Unary(operator="!"):
            return _never_fails(survey, change, ast.operand)
        case Binary(operator=operator) if operator in NEVER_FAILING:
            return _never_fails(survey, change, ast.left) and _never_fails(survey, change, ast.right)
        case _:
            return False


def _row_of(survey: Survey, change: Change, ast: Ast) -> str | None:
    """The resource of the row that an expression is, or that references lead it to."""
    match ast:
        case Name("this"):
            return change.acting
        case Name(name):
            return name if name in survey.graph.resources else None
        case Member(operand, name):
            field = survey.graph.fields.get(_row_of(survey, change, operand) or "", {}).get(name)
            target = None if field is None else value_of(field.references)
            return None if target is None else target.text
        case _:
            return None


def always_gives(survey: Survey, change: Change, ast: Ast) -> bool:
    """Whether it always has a value, where it gives the row of a change one."""
    match ast:
        case Literal() | Const() | Name():
            return True
        case Member(operand=operand, name=name):
            own = survey.graph.resources.get(_row_of(survey, change, operand) or "")
            needed = {each.text for each in (value_of(own.required) if own is not None else None) or ()}
            identifier = {each.text for each in (value_of(own.primary_key) if own is not None else None) or ()}
            state = None if own is None or survey.contract.machine(own.name) is None else own.state
            is_there = name in needed | identifier or (state is not None and state.text == name)
            # A reference is its row's identifier; for all else the row is looked for, and no plan relies on it.
            is_at_hand = not isinstance(operand, Member) or identifier == {name}
            return is_there and is_at_hand and always_gives(survey, change, operand)
        case Invocation() | Binary():
            return _never_fails(survey, change, ast)
        case _:
            return False


def _is_text(ast: Ast) -> bool:
    """Whether it is surely a text, which has no bound to run over."""
    match ast:
        case Literal(value=value):
            return isinstance(value, str)
        case Invocation(function=function):
            return function in TEXTS
        case Binary(operator="+"):
            return _is_text(ast.left) or _is_text(ast.right)
        case _:
            return False
