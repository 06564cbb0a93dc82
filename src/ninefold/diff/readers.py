"""Which fields readers see, and what becomes of what they see where a schema is another."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final

from ninefold.contract.rows import PAGE, graph_of
from ninefold.contract.service import Contract
from ninefold.contract.writes import acted_on
from ninefold.diff.alone import Alone, Both
from ninefold.diff.changes import Change
from ninefold.diff.edges import AS_SETS
from ninefold.diff.schemas import steps
from ninefold.diff.shown import members_read
from ninefold.diff.sight import schemas
from ninefold.diff.verdicts import Effect, Promise
from ninefold.expressions import ast
from ninefold.language.expressions import Expression, Items, Leaf, Members, Template
from ninefold.language.fact import Name, text_of, value_of
from ninefold.language.json_schema import TYPES
from ninefold.values import (
    Array,
    Boolean,
    Digest,
    Duration,
    Integer,
    Number,
    Object,
    Text,
    Timestamp,
    required,
)

ALL: Final = tuple(sorted(TYPES))

WIDER = "values may come that never came"


def shown_fields(contract: Contract) -> frozenset[tuple[str, str]]:
    """The fields that a response, a view or a payload reads, or shows with the whole row."""
    return frozenset(_Shown(contract).fields())


class _Shown:
    def __init__(self, contract: Contract) -> None:
        self.contract, self.graph = contract, graph_of(contract)

    def fields(self) -> Iterator[tuple[str, str]]:
        rows = self.graph.rows
        for resource in value_of(self.contract.resources.resources) or ():
            for view in value_of(resource.views) or ():
                yield from self.template(view.template, dict(rows), resource.name)
        for endpoint in value_of(self.contract.endpoints.endpoints) or ():
            of = acted_on(endpoint)
            here = dict(rows) if of is None else {**rows, PAGE: of}
            for response in value_of(endpoint.responses) or ():
                content = value_of(response.content)
                if content is not None and not isinstance(content, Name):
                    yield from self.template(content, here, None)
            for header in value_of(endpoint.headers) or ():
                yield from self.expression(header.value, here, None)
        for kind in value_of(self.contract.events.kinds) or ():
            payload = value_of(kind.payload)
            if payload is not None:
                yield from self.template(payload, dict(rows), None)

    def template(self, said: Template, rows: dict[str, str], own: str | None) -> Iterator[tuple[str, str]]:
        match said:
            case Members(members):
                for each in members:
                    yield from self.template(each.value, rows, None)
            case Items(items):
                for item in items:
                    yield from self.template(item, rows, own)
            case Leaf(expression):
                yield from self.expression(expression, rows, own)

    def expression(self, said: Expression, rows: dict[str, str], own: str | None) -> Iterator[tuple[str, str]]:
        yield from self.read(said.ast, rows, own)

    def read(self, node: ast.Ast, rows: dict[str, str], own: str | None) -> Iterator[tuple[str, str]]:
        row = self.graph.row(node, rows)
        if row is not None:
            yield from ((row, name) for name in self.graph.fields.get(row, ()))
        match node:
            case ast.Member(operand=operand, name=name):
                of = self.graph.row(operand, rows)
                if of is not None:
                    yield of, name
                else:
                    yield from self.read(operand, rows, own)
            case ast.Name(name) if own is not None:
                yield own, name
            case ast.Invocation():
                within = dict(self.graph.within(node, rows))
                for part in node.arguments:
                    yield from self.read(part, within, own)
                if node.target is not None and self.graph.items(node.target, rows) is None:
                    yield from self.read(node.target, rows, own)
            case _:
                for part in ast.parts(node):
                    yield from self.read(part, rows, own)


def _shown_by_both(both: Both) -> frozenset[tuple[str, str]]:
    return shown_fields(both.old.contract) & shown_fields(both.new.contract)


def _schemas_of_both(both: Both) -> tuple[dict[tuple[str, str], Any], ...]:
    return schemas(both.old.contract), schemas(both.new.contract)


def of_schemas(change: Change, both: Both, promise: Promise) -> Iterator[Effect]:
    """What readers of a field, or of all that have a shared type, may be told that they were not."""
    if change.part != 2 or (change.names[1:2] != ("fields",) and change.names[:1] != ("types",)):
        return
    of_field = change.names[0], change.names[2] if len(change.names) > 2 else ""
    shown = both.once(_shown_by_both)
    is_shown = of_field in shown or _is_shown_by_references(of_field, shown, both)
    for resource, name in sorted(shown if change.names[0] == "types" else [of_field] * is_shown):
        was, now = (each.get((resource, name)) for each in both.once(_schemas_of_both))
        if was is None and now is None:
            yield from _of_types(resource, name, both)
        if was is None or now is None or was == now:
            continue
        if not _types(was) & _types(now):
            yield Effect("readers", "breaking", None, f"{resource}.{name} is of another type")
        for step in steps(was, now, f"{resource}.{name}"):
            match step.direction:
                case "more":
                    is_listed = promise.lists(step.word) and not (step.is_form and promise.words is None)
                    yield Effect("readers", "compatible" if is_listed else "look", step.word, f"{step.said}: {WIDER}")
                case "other":
                    yield Effect("readers", "breaking", None, step.said)
                case "unproved":
                    yield Effect("readers", "look", None, step.said)
                case _:
                    yield Effect("readers", "compatible", None, step.said)


def _is_shown_by_references(field: tuple[str, str], shown: Container[tuple[str, str]], both: Both) -> bool:
    """Whether it is the primary key of rows to which a field that is shown refers: it shows that."""
    resource, name = field
    for contract in (both.old.contract, both.new.contract):
        own = contract.resources_by_name.get(resource)
        if own is None or [each.text for each in value_of(own.primary_key) or ()] != [name]:
            continue
        for each in value_of(contract.resources.resources) or ():
            fields = (one for one in value_of(each.fields) or () if text_of(one.references) == resource)
            if any((each.name, one.name) in shown for one in fields):
                return True
    return False


def _of_types(resource: str, name: str, both: Both) -> Iterator[Effect]:
    """Of a value that is worked out, without a schema: of which type it is."""
    checked = [each.checked.resources[resource].fields for each in (both.old, both.new) if each.checked is not None]
    forms = [_FORMS.get(type(required(each[name].type))) for each in checked if name in each]
    if len(forms) > 1 and None not in forms and forms[0] != forms[1]:
        yield Effect("readers", "breaking", None, f"{resource}.{name} is of another type: {forms[1]}, was {forms[0]}")


_FORMS: Final[dict[type, str]] = {
    **dict.fromkeys((Text, Timestamp, Duration, Digest), "string"),
    **dict.fromkeys((Integer, Number), "number"),
    Boolean: "boolean", Array: "array", Object: "object",
}  # fmt: skip
"""The types of JSON that values of each type are shown as."""

_TOLD_BY_RULE: Final = frozenset(("rule", "message", "messages"))
"""Members by which an error tells the keyword that refused."""


def of_the_same_values(change: Change, alone: Alone, both: Both) -> Iterator[Effect]:
    """Of a keyword in the place of another one that refuses the same values: what an error tells of it."""
    if change.key.name not in AS_SETS or not alone.known or alone.met:
        return
    if change.part == 2:
        was, now = both.once(_schemas_of_both)
        own = [at for at in was if change.names[:1] == ("types",) or at == change.names[:3:2]]
        if not own or any([*steps(was[at], now.get(at))] for at in own):
            return
    elif change.part != 4:
        return
    read = {name for plan in (both.old_plan, both.new_plan) for _, name in members_read(plan)}
    if read & _TOLD_BY_RULE:
        yield Effect("readers", "look", None, "an error tells of another rule, which refuses the same values")
    else:
        yield Effect("readers", "compatible", None, "the same values are refused, by another rule")


def _types(schema: Any) -> frozenset[str]:
    """The types that it admits; an integer is a number."""
    said = schema.get("type", ALL) if isinstance(schema, dict) else ALL
    found = frozenset((said,) if isinstance(said, str) else said)
    return found | {"integer"} if "number" in found else found
