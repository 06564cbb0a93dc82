"""Part 2: what is well said, and cannot be kept or checked as it is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ninefold.checks.codes import SAME_BUT_FOR_CASE, SECOND_SERIAL, TYPE_IN_ITSELF
from ninefold.checks.findings import Findings
from ninefold.contract.fact import value_of
from ninefold.contract.resources import Field, SharedType
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Invocation

PREFIX = "#/types/"


def storable(contract: Contract, findings: Findings) -> None:
    """Says of names that a database does not tell apart, of second serial numbers and of types without an end."""
    resources = value_of(contract.resources.resources) or ()
    _case([(each.name, each.span) for each in resources], "", findings)
    for resource in resources:
        fields = value_of(resource.fields) or ()
        _case([(each.name, each.span) for each in fields], f"{resource.name}.", findings)
        serial = [each for each in fields if is_serial(each)]
        for each in serial[1:]:
            findings.say(
                SECOND_SERIAL,
                f"`{resource.name}` has two fields made by `serial()`",
                Label(each.span, "the second"),
                Label(serial[0].span, "the first"),
            )
    _endless({each.name: each for each in contract.resources.types}, findings)


def is_serial(field: Field) -> bool:
    made = value_of(field.on_create)
    return made is not None and isinstance(made.ast, Invocation) and made.ast.function == "serial"


def _case(names: Iterable[tuple[str, Span]], prefix: str, findings: Findings) -> None:
    first: dict[str, tuple[str, Span]] = {}
    for name, span in names:
        known, at = first.setdefault(name.lower(), (name, span))
        if known != name:
            findings.say(
                SAME_BUT_FOR_CASE,
                f"`{prefix}{known}` and `{prefix}{name}` differ in case alone",
                Label(span, "to a database the same"),
                Label(at, "first here"),
            )


def _endless(types: Mapping[str, SharedType], findings: Findings) -> None:
    """A type from which its own references lead back to it."""
    leads = {name: set(_references(each)) & types.keys() for name, each in types.items()}
    for name, each in types.items():
        reached: set[str] = set()
        ahead = set(leads[name])
        while ahead:
            reached |= ahead
            ahead = {further for one in ahead for further in leads[one]} - reached
        if name in reached:
            findings.say(
                TYPE_IN_ITSELF, f"the type `{name}` contains itself", Label(each.span, "has no greatest depth")
            )


def _references(shared: SharedType) -> Iterable[str]:
    for _, schema in value_of(shared.fields) or ():
        yield from _within(schema.json)


def _within(schema: Any) -> Iterable[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(PREFIX)
        for key, value in schema.items():
            if key not in ("enum", "const", "examples"):
                yield from _within(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _within(each)
