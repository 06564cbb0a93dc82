"""What a contract gives the fields of a row: which of it has to be held to the field as the request is answered, and
where a request gives what it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import jsonschema_rs
from msgspec.structs import replace

from ninefold.checked.operations import Mutation, Parameter
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked
from ninefold.compile.endpoints.assignments import giver
from ninefold.compile.judge import Made, not_refused
from ninefold.compile.perspective import Perspective
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.reads import computed_of, fields_read, may_fail
from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable, parts
from ninefold.language.conditions import of_parameter, subject_of
from ninefold.plan import environment
from ninefold.plan.held import Held, HeldColumns, Origin
from ninefold.plan.problems import ITEM, Judge, location
from ninefold.plan.responses import In
from ninefold.sql.fragment import Fragment
from ninefold.values import Array, Boolean, Integer, Null, Number, Object, Row, Text, Timestamp, Type, optional, to_json
from ninefold.values.keywords import ANNOTATIONS

PLACES: Final[Mapping[str, In]] = {"query": "query", "headers": "header", "path": "path"}
"""Where errors say that a part of the request is."""

GIVING = frozenset({"request", "caller", environment.EACH, environment.RESULT})
"""The roots of which a member that is left out is no value, where it stands alone."""


def made_columns(made: Sequence[Made], held: Mapping[str, Held], judge: Judge) -> tuple[HeldColumns, ...]:
    """Where the judge says of each value that the statement makes whether it can be made, and what it is."""
    found, at = [], len(judge.conditions) + len(judge.details)
    for each in made:
        found.append(HeldColumns(held[each.field], at, at + 1 if each.is_held else None))
        at += 2 if each.is_held else 1
    return tuple(found)


def can_be_made(made: Sequence[Made]) -> list[Fragment]:
    """What the statement asks of what it makes."""
    return ["(" + each.fails + ") IS NOT TRUE" for each in made]


def left_out(typed: Typed) -> Typed:
    """What gives a value, so that a member which is left out is no value: `caller.user` of nobody, and a member of an
    object that is not there. What is made of it stays an error."""
    match typed:
        case Call(function="?:", arguments=[condition, yes, no]):
            sides = [left_out(yes), left_out(no)]
            type_ = optional(typed.type) if any(each.type.nullable for each in sides) else typed.type
            return Call("?:", [condition, *sides], type_)
        case Call(function="narrow", arguments=[operand]):
            return Call("narrow", [left_out(operand)], optional(typed.type))
        case Select() if _root(typed) in GIVING and may_fail(typed):
            absent = Call("fails", [typed], Boolean())
            nothing = Constant(None, Null(nullable=True))
            return Call("?:", [absent, nothing, typed], optional(typed.type))
        case _:
            return typed


def may_be_unmade(typed: Typed) -> bool:
    match typed:
        case Call(function="?:", arguments=[Call(function="fails"), Constant(value=None), _]):
            return False  # what is left out is no value
        case Call(function="?:", arguments=[condition, yes, no]):
            return condition.type.nullable or may_fail(condition) or may_be_unmade(yes) or may_be_unmade(no)
        case _:
            return may_fail(typed)


def _root(typed: Typed) -> str | None:
    match typed:
        case Select(operand=operand):
            return _root(operand)
        case Variable(name=name):
            return name
        case _:
            return None


def way_of(typed: Typed) -> tuple[str, ...] | None:
    """`a.b.c`, as names."""
    match typed:
        case Variable(name=name):
            return (name,)
        case Select(operand=operand, name=name):
            way = way_of(operand)
            return None if way is None else (*way, name)
        case _:
            return None


@dataclass(frozen=True)
class Making:
    """What gives the fields of a row their values in one write. `made`: by field, what the contract gives."""

    operation: Mutation
    resource: Resource
    made: Mapping[str, Typed]
    checked: Checked

    def held(self, field: Field, typed: Typed, sure: str | None = None) -> Held | None:
        """How a value is held to its field; None: it can always be made, and fits. `sure`: the field that the body
        gives where it is made."""
        schema = None if self._fits(field, typed) else dict(field.schema)
        if schema is None and not may_be_unmade(typed):
            return None
        found = (replace(each, given=None) if each.given == sure else each for each in self.origins(typed))
        origins = tuple(dict.fromkeys(found))
        given = giver(field.name, self.operation, self.resource, self.checked.places)
        reads = tuple(sorted(fields_read(typed, self.resource.name, self.checked.model) - {field.name}))
        trace = (*given, field.place)
        return Held(self.resource.name, field.name, field.type, schema, origins, reads, trace)

    def held_array(self, each: Typed) -> Held | None:
        """The same of the array for each item of which a row is made."""
        if not may_fail(each):
            return None
        origins = tuple(dict.fromkeys(self.origins(each)))
        return Held(self.resource.name, "", each.type, None, origins, trace=(self.operation.place,))

    def as_made(
        self,
        by_statement: Mapping[str, Typed],
        values: Mapping[str, tuple[Fragment, Fragment]],
        *asked: Fragment,
        sure: Mapping[str, str | None] | None = None,
    ) -> tuple[list[Made], dict[str, Held]]:
        """What a statement makes, each with its value and the condition under which it cannot be made. `asked`: where
        anything is made at all."""
        made, found = list[Made](), dict[str, Held]()
        for name, typed in by_statement.items():
            field = self.resource.fields[name]
            held = self.held(field, typed, (sure or {}).get(name))
            if held is not None:
                found[name] = held
                # All values are there only where nothing in the body is refused.
                known = not_refused({each.location.place for each in held.origins} - {"body"})
                made.append(Made(name, field.type, *values[name], held.schema is not None, (*known, *asked)))
        return made, found

    # ── Whether a value is as its field says ──────────────────────────────────────────────────────────────────

    def _fits(self, field: Field, typed: Typed) -> bool:
        machine = self.resource.machine
        if field.references is not None or (machine is not None and machine.field == field.name):
            return True  # that the row is there, or that there is such a state, is known otherwise
        return self._is_as(dict(field.schema), typed)

    def _is_as(self, schema: dict[str, Any], typed: Typed) -> bool:
        match typed:
            case Constant(value=None):
                return True
            case Constant(value=value):
                validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
                return validator.is_valid(to_json(typed.type, value))
            case Call(function="?:", arguments=[_, yes, no]):
                return self._is_as(schema, yes) and self._is_as(schema, no)
            case Call(function="uuid") if schema.get("format") == "uuid":
                schema = {name: value for name, value in schema.items() if name != "format"}
            case Select() if _plain(self._schema_of(typed)) == _plain(schema):
                return True
            case _:
                pass
        return says_no_more_than(schema, typed.type)

    def _schema_of(self, typed: Select) -> Mapping[str, Any] | None:
        """The schema that what an expression reads is as, because it was held to it: a field that is stored, a member
        of the body, a parameter."""
        operand = typed.operand
        if isinstance(operand.type, Row):
            of = self.checked.resources.get(operand.type.resource)
            read = None if of is None else of.fields.get(typed.name)
            return read.schema if read is not None and read.stored and read.secret is None else None
        way = way_of(typed)
        if way is None or way[0] != "request" or len(way) < 3:
            return None
        _, part, name, *within = way
        members = self._host.takes.members if part == "body" else ()
        stated: dict[str, Any] = {each.name: each.schema for each in members}
        stated |= {known: each.schema for each in self._parameters(part) for known in reversed(each.names)}
        schema = stated.get(name)
        for step in within:
            schema = schema.get("properties", {}).get(step) if isinstance(schema, Mapping) else None
        return schema if isinstance(schema, Mapping) else None

    # ── Where a request gives what a value is made of ─────────────────────────────────────────────────────────

    @property
    def _host(self) -> Mutation:
        """The endpoint that takes the request."""
        operation = self.operation
        while operation.host is not None:
            operation = operation.host
        return operation

    def _parameters(self, part: str) -> tuple[Parameter, ...]:
        takes = self._host.takes
        return {"query": takes.query, "headers": takes.headers, "path": takes.path}.get(part, ())

    @cached_property
    def _acting(self) -> Making | None:
        """What made the row that an effect follows from."""
        host = self.operation.host
        if host is None or host.resource is None:
            return None
        resource = self.checked.resources[host.resource]
        return Making(host, resource, stated_values(host, resource), self.checked)

    def origins(self, typed: Typed, beyond: frozenset[str] = frozenset()) -> Iterator[Origin]:
        """`beyond`: the fields through which it has been come to."""
        way = way_of(typed)
        if way is None:
            for part in parts(typed):
                yield from self.origins(part, beyond)
            return
        root, names = way[0], way[1:]
        if isinstance(typed, Select) and typed.through == "computed":
            computed = computed_of(typed, self.checked.model)
            if computed is not None and len(names) == 1 and typed.name not in beyond:
                yield from self.origins(computed[1], beyond | {typed.name})
        acting = self._acting
        if root == "request":
            yield of_request(names, self._host.resource)
        elif root == environment.PATH:
            yield Origin(location("path", names), subject=self.resource.name)
        elif root == environment.EACH and self.operation.each is not None:
            yield from self._of_items(self.operation.each, names, beyond)
        elif names and root == self.resource.name:
            yield from self._of_field(names[0], beyond)
            if self.operation.follows is not None and acting is not None:
                yield from acting._of_field(names[0], frozenset())
        elif names and acting is not None and root in (environment.THIS, acting.resource.name):
            yield from acting._of_field(names[0], frozenset())

    def _of_items(self, each: Typed, names: tuple[str, ...], beyond: frozenset[str]) -> Iterator[Origin]:
        array = way_of(each)
        if array is not None and array[:2] == ("request", "body"):
            yield Origin(location("body", (*array[2:], ITEM, *names)), subject=self._host.resource)
        elif self._acting is not None:
            yield from self.origins(each, beyond)  # through fields of the row acted on, too

    def _of_field(self, name: str, beyond: frozenset[str]) -> Iterator[Origin]:
        """Through a field of the row: what the request gives it, or what it is made of."""
        if name in beyond:
            return
        leaf = next((each for each in self.operation.takes.body or () if each.field == name), None)
        # What `put` changes is given by the body of its endpoint, as what it makes is.
        takes = self.operation.host is None or (self.operation.kind.changes and self.operation.kind.is_whole)
        if leaf is not None and takes:
            subject = subject_of("invalid", resource=self.resource.name, field=name)
            # What a whole row is not given has no value by that, unless the contract makes one.
            is_whole = self.operation.kind.is_whole and name not in self.made
            yield Origin(location("body", leaf.pointer), None if is_whole else name, subject)
        named = next((each for each in self.operation.names if each.field == name and not each.through), None)
        if named is not None and self.operation.kind.makes:
            yield Origin(location("path", (named.text,)), subject=self.resource.name)
        if name in self.made:
            yield from self.origins(self.made[name], beyond | {name})


def of_request(names: tuple[str, ...], resource: str | None) -> Origin:
    """Where the request gives `request.a.b`. `resource`: that of the endpoint that takes it."""
    part, names = (names[0], names[1:]) if names else ("body", ())
    if part == "body":
        return Origin(location("body", names), subject=resource)
    subject = of_parameter("invalid", PLACES[part], names[0]) if names else None
    return Origin(location(PLACES[part], names), subject=subject)


def making(operation: Mutation, resource: Resource, perspective: Perspective) -> Making:
    return Making(operation, resource, stated_values(operation, resource), perspective.checked)


def stated_values(operation: Mutation, resource: Resource) -> dict[str, Typed]:
    """What the contract gives the fields of a row in a write, whatever the body gives."""
    sets = dict(operation.sets) | dict(() if operation.transition is None else operation.transition.sets)
    creates = operation.kind.makes
    found = {
        field.name: made
        for field in resource.fields.values()
        if (made := (field.on_create if creates else None) or field.on_change) is not None
    }
    return found | sets


def _plain(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if schema is None else {name: each for name, each in schema.items() if name not in ANNOTATIONS}


def says_no_more_than(schema: object, type_: Type) -> bool:
    """Whether every value of a type is as a schema says."""
    if schema is True or schema == {}:
        return True
    if not isinstance(schema, dict):
        return False
    plain = _plain(schema) or {}
    said = plain.keys() - {"type"}
    kinds = plain.get("type", [])
    kinds = set(kinds if isinstance(kinds, list) else [kinds])
    match type_:
        case _ if not plain:
            return True
        case Boolean():
            return "boolean" in kinds and not said
        case Integer():
            return bool(kinds & {"integer", "number"}) and not said
        case Number():
            return "number" in kinds and not said
        case Timestamp():
            return "string" in kinds and said <= {"format"} and plain.get("format", "date-time") == "date-time"
        case Text():
            return "string" in kinds and not said
        case Object():
            return "object" in kinds and not said
        case Array(items=items):
            of_items = plain.get("items", True)
            return "array" in kinds and said <= {"items"} and not items.nullable and says_no_more_than(of_items, items)
        case _:
            return False
