"""Part 2: what is well said, and cannot be kept or checked as it is said."""

from __future__ import annotations

from collections.abc import Iterable

from ninefold.checks.codes import SAME_BUT_FOR_CASE, SECOND_SERIAL, TYPE_IN_ITSELF, VALUE_TOO_LARGE
from ninefold.checks.findings import Findings
from ninefold.contract.service import Contract
from ninefold.contract.shared_types import DEEPEST, MOST_PARTS, types_in
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Invocation
from ninefold.language.fact import value_of
from ninefold.language.resources import Field


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
    _unbounded(contract, findings)


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


def _unbounded(contract: Contract, findings: Findings) -> None:
    """Says of types from which their own references lead back to them, and of values with too much in them."""
    types = contract.shared_types
    for each in contract.resources.types:
        if each.name in types.endless:
            message = f"the type `{each.name}` contains itself"
            findings.say(TYPE_IN_ITSELF, message, Label(each.span, "has no greatest depth"))
    told = {each.name for each in contract.resources.types if each.name not in types.bounded} - types.endless
    for each in contract.resources.types:
        within = {name for _, schema in value_of(each.fields) or () for name in types_in(schema.json)}
        if each.name in told and not within & (told | types.endless):
            message = f"with the types that it refers to, a value of `{each.name}` is too large"
            at_most = f"{MOST_PARTS:,} schemas, and {DEEPEST} types within each other"
            findings.say(VALUE_TOO_LARGE, message, Label(each.span, f"at most {at_most}"))
    for resource in value_of(contract.resources.resources) or ():
        for field in value_of(resource.fields) or ():
            schema = value_of(field.schema)
            if schema is None or not all(name in types.bounded for name in types_in(schema.json)):
                continue
            extent = types.extent(schema.json)
            if extent is not None and not extent.is_bounded:
                message = f"with the types that it refers to, a value of `{resource.name}.{field.name}` is too large"
                findings.say(VALUE_TOO_LARGE, message, Label(field.span, f"at most {MOST_PARTS:,} schemas"))
