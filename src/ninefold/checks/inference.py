"""Part 2: the type of a computed field is that of its expression, where that has one and none is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary, known_to, shapes_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.tree import Typed
from ninefold.language import resources as stated
from ninefold.language.fact import Shown, value_of
from ninefold.values import Anything, Array, Boolean, Integer, Number, Object, Text, Timestamp, Type, required

Inferred: TypeAlias = dict[tuple[str, str], Type]
"""By resource and field."""


def with_types(contract: Contract) -> Contract:
    """The contract with the types of computed fields that none is written of. One may be made of another: they are
    found in turns, until a turn finds no more. Nothing is said here; `checks.model` reads the same expressions, those
    with which something is wrong too: they are of any type, so that this is told, and no type is asked for."""
    resources = value_of(contract.resources.resources) or ()
    open_ = [(each.name, field) for each in resources for field in value_of(each.fields) or () if _is_open(field)]
    found: Inferred = {}
    while open_:
        more = _turn(_with(contract, found, whole=False), open_)
        if not more:
            break
        found |= more
        open_ = [(name, field) for name, field in open_ if (name, field.name) not in found]
    found |= _wrong(contract, found, open_)
    return _with(contract, found) if found else contract


def _is_open(field: stated.Field) -> bool:
    return field.is_made_of_its_expression and field.type is None


def _wrong(contract: Contract, found: Inferred, open_: list[tuple[str, stated.Field]]) -> Inferred:
    """Those with whose expression something is wrong, whatever the types of the others are."""
    any_: Inferred = {(name, field.name): Anything() for name, field in open_}
    findings, vocabulary = _vocabulary(_with(contract, found | any_))
    wrong: Inferred = {}
    for name, field in open_:
        said = len(findings.diagnostics)
        _expression(name, field, vocabulary, findings)
        if len(findings.diagnostics) > said:
            wrong[name, field.name] = any_[name, field.name]
    return wrong


def _turn(contract: Contract, open_: list[tuple[str, stated.Field]]) -> Inferred:
    findings, vocabulary = _vocabulary(contract)
    found: Inferred = {}
    for name, field in open_:
        expression = _expression(name, field, vocabulary, findings)
        if expression is not None and _is_of_json(expression.type):
            found[name, field.name] = required(expression.type)
    return found


def _vocabulary(contract: Contract) -> tuple[Findings, Vocabulary]:
    findings = Findings(contract)
    return findings, Vocabulary(shapes_of(known_to(findings), findings.schemas), Object(), None)


def _expression(name: str, field: stated.Field, vocabulary: Vocabulary, findings: Findings) -> Typed | None:
    computed = value_of(field.computed)
    if name not in vocabulary.model or computed is None:
        return None
    return typed(computed, vocabulary.scope(name), None, findings, in_sql=False)


def _is_of_json(type_: Type) -> bool:
    """Whether it is a type that a schema can say, down to what it holds."""
    match type_:
        case Boolean() | Integer() | Number() | Text() | Timestamp():
            return True
        case Array(items=items):
            return _is_of_json(items)
        case Object(members=members):
            return bool(members) and all(map(_is_of_json, members.values()))
        case _:
            return False


def _with(contract: Contract, found: Mapping[tuple[str, str], Type], whole: bool = True) -> Contract:
    """With the types that were found. Not `whole`: without the fields of which none is."""

    def of(resource: stated.Resource) -> stated.Resource:
        if not isinstance(resource.fields, Shown):
            return resource
        fields = tuple(
            replace(each, type=found.get((resource.name, each.name), each.type))
            for each in resource.fields.value
            if whole or (resource.name, each.name) in found or not _is_open(each)
        )
        return replace(resource, fields=replace(resource.fields, value=fields))

    resources = contract.resources.resources
    if not isinstance(resources, Shown):
        return contract
    told = replace(resources, value=tuple(map(of, resources.value)))
    return replace(contract, resources=replace(contract.resources, resources=told))
