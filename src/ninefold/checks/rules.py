"""Where each rule stands that a value which a client gives has to keep; and what is well said, and cannot be kept or
checked as it is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ninefold.checked.resources import Rule
from ninefold.checks.codes import SAME_BUT_FOR_CASE, SECOND_SERIAL, TYPE_IN_ITSELF, VALUE_TOO_LARGE
from ninefold.checks.findings import Findings
from ninefold.checks.schemas import SAME_VALUE
from ninefold.contract.shared_types import DEEPEST, MOST_PARTS, PREFIX, types_in
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Invocation
from ninefold.language import resources as stated
from ninefold.language.fact import Shown, value_of
from ninefold.language.resources import Field
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import Entry, Node, Scalar, Sequence
from ninefold.syntax.nodes import Mapping as MappingNode

_EACH = frozenset({"items", "prefixItems", "contains", "additionalProperties", "unevaluatedItems", "propertyNames"})
"""The keywords whose schemas are those of elements, or of members whatever their names."""

_WEIGHING = frozenset({"anyOf", "oneOf", "not", "contains", "propertyNames"})


@dataclass(frozen=True)
class Rules:
    """The rules of fields and parameters, with the places of a contract."""

    findings: Findings

    def of_field(self, field: stated.Field, resource: stated.Resource) -> tuple[Rule, ...]:
        schema = value_of(field.schema)
        found = [] if schema is None else list(self._of_schema(schema.node, schema.json, ()))
        for names in (value_of(resource.required) or (), value_of(resource.identifier) or ()):
            found += [self._rule((), "required", each.span) for each in names if each.text == field.name]
        for keyword, fact in (
            ("unique", field.unique),
            ("immutable", field.immutable),
            ("refers to", field.refers_to),
        ):
            if isinstance(fact, Shown):
                found.append(self._rule((), keyword, fact.span))
        return tuple(found)

    def of_parameter(self, schema: Schema) -> tuple[Rule, ...]:
        return tuple(self._of_schema(schema.node, schema.json, ()))

    def _rule(self, path: tuple[str, ...], keyword: str, span: Span) -> Rule:
        return Rule(path, keyword, self.findings.place(span))

    def _of_schema(self, node: Node, schema: Any, path: tuple[str, ...]) -> Iterator[Rule]:
        """`schema`: what was read of the node. What is `none`, or cannot be read, is no rule."""
        for entry in node.entries if isinstance(node, MappingNode) and isinstance(schema, dict) else ():
            if entry.name in schema:
                yield self._rule(path, entry.name, entry.key.span)
                yield from self._of_keyword(entry, schema[entry.name], path)

    def _of_keyword(self, entry: Entry, read: Any, path: tuple[str, ...]) -> Iterator[Rule]:
        value = entry.value
        match value:
            case Scalar(text=text) if entry.name == "$ref":
                yield from self._of_type(text.removeprefix(PREFIX), path)
            case MappingNode(entries=entries) if entry.name == "properties":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), (*path, each.name))
            case MappingNode(entries=entries) if entry.name == "patternProperties":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), (*path, "*"))
            case Sequence(items=items) if entry.name == "required":
                for item in items:
                    if isinstance(item, Scalar):
                        yield self._rule((*path, item.text), "required", item.span)
            case MappingNode(entries=entries) if entry.name == "dependentSchemas":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), path)
            case MappingNode() | Sequence() if entry.name in _EACH or entry.name in SAME_VALUE:
                below = (*path, "*") if entry.name in _EACH else path
                items = value.items if isinstance(value, Sequence) else (value,)
                for node, schema in zip(items, read if isinstance(read, list) else (read,), strict=True):
                    for rule in self._of_schema(node, schema, below):
                        yield rule
                        # Of a keyword that weighs schemas it is told that it is not kept, and of them nothing.
                        if entry.name in _WEIGHING:
                            yield Rule(path, entry.name, rule.place)
            case _:
                pass

    def _of_type(self, name: str, path: tuple[str, ...]) -> Iterator[Rule]:
        shared = self.findings.contract.shared_types.bounded.get(name)
        if shared is not None:
            for field, schema in value_of(shared.fields) or ():
                yield from self._of_schema(schema.node, schema.json, (*path, field.text))
            for field in value_of(shared.required) or ():
                yield self._rule((*path, field.text), "required", field.span)


# ── What cannot be stored ────────────────────────────────────────────────────────────────────────────────────────────


def storable(findings: Findings) -> None:
    """Says of names that a database does not tell apart, of second serial numbers and of types without an end."""
    resources = findings.resources
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
    _unbounded(findings)


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


def _unbounded(findings: Findings) -> None:
    """Says of types from which their own references lead back to them, and of values with too much in them."""
    types = findings.contract.shared_types
    for each in findings.contract.resources.types:
        if each.name in types.endless:
            message = f"the type `{each.name}` contains itself"
            findings.say(TYPE_IN_ITSELF, message, Label(each.span, "has no greatest depth"))
    told = {each.name for each in findings.contract.resources.types if each.name not in types.bounded} - types.endless
    for each in findings.contract.resources.types:
        within = {name for _, schema in value_of(each.fields) or () for name in types_in(schema.json)}
        if each.name in told and not within & (told | types.endless):
            message = f"with the types that it refers to, a value of `{each.name}` is too large"
            at_most = f"{MOST_PARTS:,} schemas, and {DEEPEST} types within each other"
            findings.say(VALUE_TOO_LARGE, message, Label(each.span, f"at most {at_most}"))
    for resource in findings.resources:
        for field in value_of(resource.fields) or ():
            schema = value_of(field.schema)
            if schema is None or not all(name in types.bounded for name in types_in(schema.json)):
                continue
            extent = types.extent(schema.json)
            if extent is not None and not extent.is_bounded:
                message = f"with the types that it refers to, a value of `{resource.name}.{field.name}` is too large"
                findings.say(VALUE_TOO_LARGE, message, Label(field.span, f"at most {MOST_PARTS:,} schemas"))
