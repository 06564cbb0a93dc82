"""What a contract gives fields that may not fit them: told before anything has a type, and so rather too often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninefold.contract.survey import Survey
from ninefold.expressions.ast import (
    Ast,
    Binary,
    Conditional,
    Invocation,
    ListLiteral,
    Literal,
    MapLiteral,
    Member,
    Name,
    Unary,
    every,
)
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.language.expressions import Expression
from ninefold.language.fact import value_of
from ninefold.language.resources import Field, Resource

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
"""The keywords of JSON Schema that no value breaks."""

TOTAL = frozenset({"slug", "lowerAscii", "upperAscii", "trim", "string", "size"})
"""The functions that give a value of every value that they take."""

TEXTS = frozenset({"slug", "lowerAscii", "upperAscii", "trim", "string", "uuid", "token", "random"})

NEVER_FAILING = frozenset({"==", "!=", "&&", "||"})


def may_break(
    survey: Survey,
    resource: str,
    sets: dict[str, Expression],
    inserts: bool,
    changed: frozenset[str] = frozenset(),
    requested: frozenset[tuple[str, str]] = frozenset(),
) -> bool:
    """Whether a write may be refused for what the contract gives a field, and not the request. `sets`: what its
    endpoint or effect gives; `changed`: the fields that its body gives; `requested`: fields of other rows, each with
    its resource, that the request gives as well."""
    own = survey.graph.resources.get(resource)
    if own is None:
        return False
    for name, field in survey.graph.fields.get(resource, {}).items():
        given = sets.get(name) or next(_stated(field, inserts, changed), None)
        if given is None or _reads_request(given.ast, requested) or _fits(survey, own, field, given.ast):
            continue
        # What the body gives, or leaves out of a new row, is the request's.
        again = {each.text for each in value_of(field.again_on) or ()} if name not in sets else set()
        answers_for = (
            {each for each in changed if _is_from_body(survey, resource, each)} if inserts else again & changed
        )
        if answers_for.isdisjoint(_fields_read(resource, given.ast)):
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


def _stated(field: Field, inserts: bool, changed: frozenset[str]) -> Iterator[Expression]:
    again = {each.text for each in value_of(field.again_on) or ()} & changed
    facts = (field.on_create if inserts or again else None, field.on_change)
    yield from (each for each in map(value_of, facts) if isinstance(each, Expression))


def _reads_request(ast: Ast, requested: frozenset[tuple[str, str]]) -> bool:
    for node in every(ast):
        match node:
            case Name("request"):
                return True
            case Member(Name(resource), name) if (resource, name) in requested:
                return True
    return False


def _fits(survey: Survey, own: Resource, field: Field, ast: Ast) -> bool:
    if isinstance(ast, Conditional):
        sides = _fits(survey, own, field, ast.yes) and _fits(survey, own, field, ast.no)
        return sides and _never_fails(survey, ast.condition)
    if all(isinstance(node, Literal | ListLiteral | MapLiteral) for node in every(ast)):
        return True  # it is held to the schema before anything is served
    schema = value_of(field.schema)
    result = _schema_of_result(survey, ast)
    if result is not None and schema is not None and all(result.get(key) == each for key, each in schema.json.items()):
        return True
    if not _never_fails(survey, ast):
        return False
    if field.refers_to is not None or field.state is not None:
        return True
    stated = None if schema is None else {name: each for name, each in schema.json.items() if name not in ANNOTATIONS}
    if isinstance(ast, Member) and isinstance(ast.operand, Name):
        read = survey.graph.fields.get(ast.operand.name, {}).get(ast.name)
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


def _schema_of_result(survey: Survey, ast: Ast) -> Mapping[str, Any] | None:
    """The schema of a member of what a function gives: it is held to that where it comes from."""
    match ast:
        case Member(Member(Name("result"), function), name):
            pass
        case _:
            return None
    for each in value_of(survey.contract.endpoints.functions) or ():
        gives = value_of(each.gives) if each.name == function else None
        shared = None if gives is None else survey.contract.shared_types.by_name.get(_type_named(gives.json))
        for member, schema in (value_of(shared.fields) or ()) if shared is not None else ():
            if member.text == name:
                return schema.json
    return None


def _type_named(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).removeprefix("#/types/")


def _never_fails(survey: Survey, ast: Ast) -> bool:
    match ast:
        case Literal() | Name():
            return True
        case Member(operand=Name()):
            return True  # a member that is left out is no value
        case Invocation(function="has"):
            return True
        case Invocation(function=function, target=None, arguments=()) if function in NEW_EACH_TIME:
            return True
        case Invocation(function="random", target=None, arguments=(Literal(),)):
            return True
        case Invocation(function=function, target=target, arguments=arguments) if function in TOTAL:
            return all(always_gives(survey, each) for each in (*arguments, *(() if target is None else (target,))))
        case Binary(operator="+") if _is_text(ast):
            return always_gives(survey, ast.left) and always_gives(survey, ast.right)
        case Unary(operator="!"):
            return _never_fails(survey, ast.operand)
        case Binary(operator=operator) if operator in NEVER_FAILING:
            return _never_fails(survey, ast.left) and _never_fails(survey, ast.right)
        case _:
            return False


def always_gives(survey: Survey, ast: Ast) -> bool:
    """Whether it always has a value."""
    match ast:
        case Literal() | Name():
            return True
        case Member(operand=Name(name=resource), name=name):
            own = survey.graph.resources.get(resource)
            needed = {each.text for each in (value_of(own.required) if own is not None else None) or ()}
            identifier = {each.text for each in (value_of(own.identifier) if own is not None else None) or ()}
            machine = survey.machine(resource)
            state = None if machine is None else value_of(machine.field)
            return name in needed | identifier or (state is not None and state.text == name)
        case Invocation() | Binary():
            return _never_fails(survey, ast)
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
