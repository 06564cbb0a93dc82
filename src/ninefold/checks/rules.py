"""Where each rule stands that a value which a client gives has to keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ninefold.checked.resources import Rule
from ninefold.checks.findings import Findings
from ninefold.checks.schemas import SAME_VALUE
from ninefold.contract.service import Contract
from ninefold.contract.shared_types import PREFIX
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import resources as stated
from ninefold.language.fact import Shown, value_of
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence

_EACH = frozenset({"items", "prefixItems", "contains", "additionalProperties", "unevaluatedItems", "propertyNames"})
"""The keywords whose schemas are those of elements, or of members whatever their names."""

_WEIGHING = frozenset({"anyOf", "oneOf", "not", "contains", "propertyNames"})


@dataclass(frozen=True)
class Rules:
    """The rules of fields and parameters, with the places of a contract."""

    contract: Contract
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
        for entry in node.entries if isinstance(node, Mapping) and isinstance(schema, dict) else ():
            if entry.name in schema:
                yield self._rule(path, entry.name, entry.key.span)
                yield from self._of_keyword(entry, schema[entry.name], path)

    def _of_keyword(self, entry: Entry, read: Any, path: tuple[str, ...]) -> Iterator[Rule]:
        value = entry.value
        match value:
            case Scalar(text=text) if entry.name == "$ref":
                yield from self._of_type(text.removeprefix(PREFIX), path)
            case Mapping(entries=entries) if entry.name == "properties":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), (*path, each.name))
            case Mapping(entries=entries) if entry.name == "patternProperties":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), (*path, "*"))
            case Sequence(items=items) if entry.name == "required":
                for item in items:
                    if isinstance(item, Scalar):
                        yield self._rule((*path, item.text), "required", item.span)
            case Mapping(entries=entries) if entry.name == "dependentSchemas":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), path)
            case Mapping() | Sequence() if entry.name in _EACH or entry.name in SAME_VALUE:
                below = (*path, "*") if entry.name in _EACH else path
                items = value.items if isinstance(value, Sequence) else (value,)
                for node, schema in zip(items, read if isinstance(read, list) else (read,), strict=False):
                    for rule in self._of_schema(node, schema, below):
                        yield rule
                        # Of a keyword that weighs schemas it is told that it is not kept, and of them nothing.
                        if entry.name in _WEIGHING:
                            yield Rule(path, entry.name, rule.place)
            case _:
                pass

    def _of_type(self, name: str, path: tuple[str, ...]) -> Iterator[Rule]:
        shared = self.contract.shared_types.bounded.get(name)
        if shared is not None:
            for field, schema in value_of(shared.fields) or ():
                yield from self._of_schema(schema.node, schema.json, (*path, field.text))
            for field in value_of(shared.required) or ():
                yield self._rule((*path, field.text), "required", field.span)
