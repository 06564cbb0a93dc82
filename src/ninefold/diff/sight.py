"""A contract as its callers see it, in pieces that can be compared: each fact under its address, without its place.

What an older version calls otherwise is called so in all that reads it; a field that is not there for callers is in no
piece. Two contracts with equal pieces answer alike, whatever they call what they store. A rule that reads what is
stored where callers are shown something else says so: it is not the rule that they read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from ninefold.contract.rows import PAGE, ReadAs, Rows, graph_of
from ninefold.contract.service import Contract
from ninefold.contract.writes import acted_on
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.diff.normal import expression
from ninefold.diff.plain import without_words
from ninefold.language import shapes
from ninefold.language.authentication import RowRule
from ninefold.language.declaration import Declared, members
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import ErrorCode
from ninefold.language.events import EventKind
from ninefold.language.expressions import Assignment, Expression, Items, Leaf, Template
from ninefold.language.expressions import Members as Object
from ninefold.language.fact import Gap, Name, Proposal, Shown, StatedNone, value_of
from ninefold.language.key import Kind
from ninefold.language.orders import Offered, SortKey
from ninefold.language.parameters import Parameter
from ninefold.language.requests import Body
from ninefold.language.resources import Field, Resource, View
from ninefold.language.routes import Literal, Segment
from ninefold.language.schemas import TYPE_REFERENCE, Schema
from ninefold.language.states import ResourceStates
from ninefold.syntax.nodes import Mapping as MappingNode
from ninefold.syntax.nodes import Node, Scalar, Sequence

Address: TypeAlias = tuple[str, ...]
"""A part, and the names that lead to a fact there, as they are written."""


@dataclass(frozen=True, slots=True)
class Piece:
    """`said` is equal for what says the same; `span` is where it stands."""

    said: Any
    span: Span


Sight: TypeAlias = dict[Address, Piece]


def sight(contract: Contract) -> Sight:
    """Everything but words for people, and versions themselves."""
    return dict(_Seeing(contract).pieces())


def schemas(contract: Contract) -> dict[tuple[str, str], Any]:
    """The schema of each field by its resource and what callers know it by; None where it says none."""
    seeing = _Seeing(contract)
    found = (each for one in value_of(contract.resources.resources) or () for each in seeing.of_fields(one))
    return {(at[1], at[3]): piece.said for at, piece in found if at[4:] == ("schema",)}


VALUE = "shown instead"
"""The last name of an address: what is shown in the place of a stored value."""


def as_stored(name: str) -> str:
    """What a rule reads where callers are shown something else by this name."""
    return f"{name}, as it is stored"


OF_VERSIONS: Final = frozenset(("unknown version", "retired version"))
"""Conditions that no request meets which names its version."""

_PLACES: Final = frozenset(("span", "written", "terms", "seen", "called", "origin", "type"))
"""Attributes that say where something stands, or what follows from it, where no key is read into them."""

_OF_FIELD: Final = frozenset(("seen", "type", "schema", "name", "span", "computed"))


class _Seeing:
    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.graph = graph_of(contract)
        self.fields: dict[tuple[str, str], str] = {}
        self.hidden: set[tuple[str, str]] = set()
        for resource in value_of(contract.resources.resources) or ():
            for each in value_of(resource.fields) or ():
                self.fields[resource.name, each.name] = self._name(each)
                if each.called is None:
                    self.hidden.add((resource.name, each.name))
        reading = {
            **self.fields,
            **{
                (resource.name, each.name): as_stored(each.called or "")
                for resource in value_of(contract.resources.resources) or ()
                for each in value_of(resource.fields) or ()
                if each.seen is not None and each.seen.instead is not None
            },
        }
        self.reading = ReadAs(self.graph, reading)
        self.giving = ReadAs(self.graph, self.fields)
        self.codes = {each.name: each.called or each.name for each in value_of(contract.errors.codes) or ()}
        self.types = {each.name: value_of(each.schema) for each in contract.resources.types}

    def _name(self, field: Field) -> str:
        return f"{field.name}, which is not shown" if field.called is None else field.called

    def pieces(self) -> Iterator[tuple[Address, Piece]]:
        contract = self.contract
        yield from self._of_part(2, contract.resources, skip=("types", "terms"))
        for resource in value_of(contract.resources.resources) or ():
            yield from self._of_resource(resource)
        for each in value_of(contract.states.machines) or ():
            yield from self._of_states(each)
        yield from self._of_part(4, contract.endpoints)
        for endpoint in value_of(contract.endpoints.endpoints) or ():
            yield from self._of_endpoint(endpoint)
        yield from self._of_part(5, contract.authentication, skip=("permissions",))
        yield from self._of_part(6, contract.events)
        for kind in value_of(contract.events.kinds) or ():
            yield from self._of_record(("6", "kinds", kind.name), kind, kind.span)
        yield from self._of_part(7, contract.errors)
        for code in value_of(contract.errors.codes) or ():
            conditions = {each.condition for each in value_of(code.conditions) or ()}
            if not conditions or not conditions <= OF_VERSIONS:
                yield from self._of_record(("7", "codes", code.called or code.name), code, code.span)
        yield from self._of_part(8, contract.limits)

    def _of_part(self, number: int, part: Any, skip: tuple[str, ...] = ()) -> Iterator[tuple[Address, Piece]]:
        """What a part says beside what it holds by names that are looked at apart."""
        for each in members(type(part)):
            fact = getattr(part, each.attribute)
            if each.name in skip or each.key.kind is Kind.TELLS or not each.name:
                continue
            of = value_of(fact) if isinstance(fact, Shown) else None
            if isinstance(of, tuple) and of and isinstance(of[0], EventKind | ErrorCode):
                continue
            if fact is not None:
                yield (str(number), each.name), Piece(self.plain(fact, each), _span(fact))

    def _of_record(
        self, at: Address, record: Any, span: Span, row: str | None = None, rows: Rows | None = None
    ) -> Iterator[tuple[Address, Piece]]:
        for each in members(type(record)):
            fact = getattr(record, each.attribute)
            if fact is None or each.key.kind is Kind.TELLS or each.attribute in ("fields", "views", "cases", "schema"):
                continue
            yield (*at, each.name), Piece(self.plain(fact, each, row, rows), _span(fact) or span)

    def _of_resource(self, resource: Resource) -> Iterator[tuple[Address, Piece]]:
        at: Address = ("2", resource.name)
        for address, piece in self._of_record(at, resource, resource.span, resource.name):
            if address[2:] not in (("required",), ("includes",)):
                yield address, piece
        yield from self.of_fields(resource)
        for view in value_of(resource.views) or ():
            yield (*at, "views", view.name), Piece(self.view(resource.name, view), view.span)

    def of_fields(self, resource: Resource) -> Iterator[tuple[Address, Piece]]:
        own = value_of(resource.fields) or ()
        required = {each.text for each in value_of(resource.required) or ()}
        for field in own:
            if field.called is not None and (field.seen is None or field.seen.place_of is None):
                at: Address = ("2", resource.name, "fields", field.called)
                yield from self._of_field(at, resource.name, field, own, required)

    def _of_field(
        self, at: Address, resource: str, field: Field, among: tuple[Field, ...], required: set[str]
    ) -> Iterator[tuple[Address, Piece]]:
        seen, span = field.seen, field.span if field.seen is None else field.seen.span
        said = seen.schema if seen is not None and seen.schema is not None else value_of(field.schema)
        yield at, Piece(field.name in required, span)
        yield (*at, "schema"), Piece(None if said is None else self.schema(said.json), span)
        for each in members(Field):
            fact = getattr(field, each.attribute)
            if fact is not None and each.attribute not in _OF_FIELD and each.key.kind is not Kind.TELLS:
                yield (*at, each.name), Piece(self.plain(fact, each, resource), _span(fact))
        if field.computed is not None:
            yield (*at, "computed"), Piece(self.plain(field.computed, None, resource), _span(field.computed))
        instead = None if seen is None else seen.instead
        if seen is not None and instead is not None:
            shown = next(each for each in among if each.name == instead)
            stored = None if seen.stored is None else self.plain(seen.stored, None, resource)
            yield (*at, VALUE), Piece((self.plain(shown.computed, None, resource), stored), seen.span)

    def _of_states(self, each: ResourceStates) -> Iterator[tuple[Address, Piece]]:
        at: Address = ("3", each.resource.text)
        machine = value_of(each.machine)
        if machine is None:
            yield at, Piece(self.plain(each.machine), each.resource.span)
            return
        for address, piece in self._of_record(at, machine, each.resource.span, each.resource.text):
            if address[2:] != ("transitions",):
                yield address, piece
        for one in value_of(machine.transitions) or ():
            yield from self._of_record((*at, "transitions", one.name), one, one.span, each.resource.text)

    def _of_endpoint(self, endpoint: Endpoint) -> Iterator[tuple[Address, Piece]]:
        of = acted_on(endpoint)
        at: Address = ("4", endpoint.key)
        if endpoint.case is not None:
            at = ("4", endpoint.key, "cases", str(endpoint.called))
        rows = self.graph.rows if of is None else {**self.graph.rows, PAGE: of}
        path = [self.segment(each, of) for each in endpoint.segments]
        yield at, Piece((path, self.plain(endpoint.case), self.plain(endpoint.call)), endpoint.span)
        yield from self._of_record(at, endpoint, endpoint.span, of, rows)
        found = self.contract.permission(endpoint.key)
        if found is not None:
            said = self.plain(found.admits, None, None, rows)
            yield ("5", "permissions", endpoint.key), Piece(said, found.endpoint.span)

    def segment(self, segment: Segment, of: str | None) -> Any:
        if isinstance(segment, Literal):
            return segment.text
        names = getattr(segment, "names", None) or (segment.name,)  # type: ignore[union-attr]
        return (*(self.fields.get((of or "", each), each) for each in names), segment.after)

    # Values

    def plain(self, said: Any, key: Declared | None = None, row: str | None = None, rows: Rows | None = None) -> Any:
        """`row`: the resource whose fields names are; `rows`: what names of rows mean."""
        rows = self.graph.rows if rows is None else rows
        match said:
            case Shown(value):
                return self.plain(value, key, row, rows)
            case StatedNone():
                return "none"
            case Gap() | Proposal():
                return "not shown"
            case Expression():
                return expression(self.reading.expression(said, rows).ast)
            case Schema():
                return self.schema(said.json)
            case Scalar() | MappingNode() | Sequence():
                return self.records(said, row)
            case Object() | Items() | Leaf():
                return self.template(said, row, rows)
            case Body():
                own = None if said.template is None else self.body(said.template, row, rows)
                return (own, None if said.reference is None else said.reference.text)
            case Name():
                return self.named(said.text, key, row)
            case SortKey():
                return (self.fields.get((row or "", said.field), said.field), said.descending)
            case Assignment():
                name = self.fields.get((row or "", said.name), said.name) if key and key.name == "sets" else said.name
                return (name, self.plain(said.value, None, row, rows))
            case Parameter():
                inner = {each.name: self._member(said, each, row, rows) for each in members(Parameter)}
                return (said.name, self.schema(said.schema.json), {k: v for k, v in inner.items() if v is not None})
            case RowRule():
                return (said.resource.text, self.plain(said.admits, None, None, rows))
            case tuple():
                return self._several(said, key, row, rows)
            case Span() | None:
                return None
            case _ if is_dataclass(said):
                by = {each.attribute: each for each in members(type(said))}
                row = said.subject if hasattr(said, "subject") and hasattr(said, "sets") else row
                return {
                    each.name: self.plain(getattr(said, each.name), by.get(each.name), row, rows)
                    for each in fields(said)
                    if (each.name in by or each.name not in _PLACES) and getattr(said, each.name) is not None
                }
            case _:
                return said

    def _member(self, said: Any, each: Declared, row: str | None, rows: Rows) -> Any:
        return self.plain(getattr(said, each.attribute), each, row, rows)

    def _several(self, said: tuple[Any, ...], key: Declared | None, row: str | None, rows: Rows) -> Any:
        if key is not None and key.name == "errors" and said and isinstance(said[0], tuple):
            return sorted((one.text, self.codes.get(code.text, code.text)) for one, code in said)
        hidden = {name for of, name in self.hidden if of == row}
        kept = [each for each in said if not (isinstance(each, Name) and each.text in hidden and _is_field(key))]
        found = [self.plain(each, key, row, rows) for each in kept]
        ordered = key is not None and (key.key.order in ("sequence", "steps", "words") or key.name == "sort")
        is_set = all(isinstance(each, Name | Offered | Parameter | SortKey) for each in said) and not ordered
        return sorted(found, key=repr) if is_set else found

    def named(self, text: str, key: Declared | None, row: str | None) -> str:
        shape = None if key is None else key.key.shape
        if isinstance(shape, shapes.Name) and shape.of == "an error code":
            return self.codes.get(text, text)
        return self.fields.get((row or "", text), text) if _is_field(key) else text

    def template(self, said: Template, row: str | None, rows: Rows) -> Any:
        match said:
            case Object(own):
                return {each.name: self.template(each.value, row, rows) for each in own}
            case Items(items):
                return [self.template(each, row, rows) for each in items if not self._is_hidden(each, row)]
            case Leaf(leaf):
                bare = self.fields.get((row or "", leaf.text))
                return ("field", bare) if bare is not None else self.plain(leaf, None, row, rows)

    def body(self, said: Template, row: str | None, rows: Rows) -> Any:
        """A template read backwards: what is given is turned into what is stored."""
        match said:
            case Object(own):
                return {each.name: self.body(each.value, row, rows) for each in own}
            case Items(items):
                shown = [each for each in items if not self._is_hidden(each, row)]
                return {repr(self.body(each, row, rows)): None for each in shown}
            case Leaf(leaf):
                bare = self.fields.get((row or "", leaf.text))
                return ("field", bare) if bare is not None else expression(self.giving.expression(leaf, rows).ast)

    def _is_hidden(self, said: Template, row: str | None) -> bool:
        return isinstance(said, Leaf) and (row or "", said.expression.text) in self.hidden

    def view(self, resource: str, view: View) -> Any:
        """A list of fields shows what a mapping with their names shows."""
        shown: dict[str, Any] = {}
        if not isinstance(view.template, Items):
            return self.template(view.template, None, self.graph.rows)
        for each in view.template.items:
            match each:
                case Leaf(leaf) if (resource, leaf.text) in self.fields:
                    if not self._is_hidden(each, resource):
                        called = self.fields[resource, leaf.text]
                        shown[called] = f"{resource}.{called}"
                case Object(own):
                    shown |= {one.name: self.template(one.value, None, self.graph.rows) for one in own}
                case _:
                    shown[repr(self.template(each, None, self.graph.rows))] = None
        return shown

    def schema(self, said: Any, within: tuple[str, ...] = ()) -> Any:
        """Without words, and with what it refers to in its place."""
        if not isinstance(said, dict):
            return said
        reference = TYPE_REFERENCE.fullmatch(str(said.get("$ref", "")))
        if reference is not None and reference[1] not in within:
            found = self.types.get(reference[1])
            rest = {name: each for name, each in said.items() if name != "$ref"}
            if found is not None:
                return {**self.schema(found.json, (*within, reference[1])), **self.schema(rest, within)}
        return without_words(said, partial(self.schema, within=within))

    def records(self, node: Node, row: str | None) -> Any:
        match node:
            case Scalar():
                return node.value
            case Sequence(items=items):
                return [self.records(each, row) for each in items]
            case MappingNode(entries=entries):
                found = ((self.fields.get((row or "", each.name), each.name), each) for each in entries)
                return {name: self.records(each.value, None) for name, each in found}


def _is_field(key: Declared | None) -> bool:
    shape = None if key is None else key.key.shape
    inner = shape.item if isinstance(shape, shapes.ListOf) else shape
    return isinstance(inner, shapes.Name | shapes.Names) and inner.of == "a field"


def _span(fact: Any) -> Span:
    found = getattr(fact, "span", None)
    if found is None and isinstance(fact, tuple) and fact:
        found = getattr(fact[0], "span", None)
    return found if isinstance(found, Span) else Span(0, 0)


def differing(one: Sight, other: Sight) -> tuple[Address, ...]:
    """Where two contracts do not say the same."""
    return tuple(
        at for at in dict.fromkeys((*one, *other)) if at not in one or at not in other or one[at].said != other[at].said
    )


def distance(one: Sight, other: Sight) -> int:
    """How much the two say otherwise, counted in leaves."""
    return sum(apart(one, other, at) for at in differing(one, other))


def apart(one: Sight, other: Sight, at: Address) -> int:
    was, now = (Counter(_leaves(each[at].said, ())) if at in each else Counter[Any]() for each in (one, other))
    return max(1, (was - now).total() + (now - was).total())


def _leaves(said: Any, at: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    match said:
        case dict():
            for name, each in said.items():
                yield from _leaves(each, (*at, str(name)))
        case list():
            for each in said:
                yield from _leaves(each, at)
        case _:
            yield (*at, repr(said))
