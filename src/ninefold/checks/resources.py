"""Part 2: the types of fields, their schemas, and the expressions in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ninefold.checked.resources import Field, Guard, Resource
from ninefold.checks.codes import COMPOSITE_TARGET, COMPUTED_CYCLE, DELETE_CLEARS_REQUIRED
from ninefold.checks.findings import Findings, condition, typed
from ninefold.contract import resources as stated
from ninefold.contract.expression import Expression
from ninefold.contract.fact import Fact, Gap, Proposal, Shown, is_stated, value_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.ast import Ast, Invocation, ListLiteral, Literal, Name, Unary
from ninefold.expressions.reads import computed_cycle
from ninefold.expressions.scope import Model, ResourceShape, Scope
from ninefold.expressions.tree import Call, Typed
from ninefold.values import Anything, Digest, Object, Row, Text, Timestamp, Type, from_schema, optional, required


@dataclass(frozen=True)
class Vocabulary:
    """What expressions may name, whatever they are in: the resources, and who calls."""

    model: Model
    caller: Object

    def scope(self, *rows: str, **more: Type) -> Scope:
        """A scope with rows of these resources under their own names."""
        variables: dict[str, Type] = {
            "caller": self.caller,
            "now": Timestamp(),
            "operator": Object(),
            "request": Object(),
        }
        variables |= {name: Row(resource=name) for name in rows}
        return Scope(variables | more, self.model)


def known_resources(contract: Contract) -> dict[str, stated.Resource]:
    """The resources whose identifier and fields are stated and whose references lead to such resources: the
    others cannot be stored, and their endpoints are blocked by the gap."""
    resources = {each.name: each for each in value_of(contract.resources.resources) or ()}
    open_types = {f"#/types/{each.name}" for each in contract.resources.types if _is_open(each)}
    known = {
        name: each
        for name, each in resources.items()
        if isinstance(each.identifier, Shown) and isinstance(each.fields, Shown)
        and all(_has_type(field, open_types) for field in each.fields.value)
        and {part.text for part in each.identifier.value} <= {field.name for field in each.fields.value}
    }  # fmt: skip
    while True:
        lost = [name for name, each in known.items() if any(t not in known for t in _targets(each))]
        if not lost:
            return known
        for name in lost:
            del known[name]


def _targets(resource: stated.Resource) -> Iterator[str]:
    for field in value_of(resource.fields) or ():
        target = value_of(field.refers_to)
        if target is not None:
            yield target.text


def _is_open(shared: stated.SharedType) -> bool:
    fields = value_of(shared.fields)
    return fields is None or isinstance(shared.required, Gap | Proposal)


def _has_type(field: stated.Field, open_types: set[str]) -> bool:
    """Whether it is all shown what the field is, and whether it is stored."""
    said = (field.refers_to, field.state, field.secret, field.computed, field.schema)
    if any(isinstance(fact, Gap | Proposal) for fact in said):
        return False
    schema = value_of(field.schema)
    if schema is not None and not open_types.isdisjoint(_references(schema.json)):
        return False
    return schema is not None or isinstance(field.refers_to, Shown) or is_stated(field.state)


def _references(schema: Any) -> Iterator[str]:
    """Every `$ref` in a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for each in schema.values():
            yield from _references(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _references(each)


def model(known: dict[str, stated.Resource], contract: Contract, caller: Object, findings: Findings) -> Vocabulary:
    """What expressions know of the resources, computed fields included. A resource with a computed field that
    reads a gap is taken out of `known`: it is not known either."""
    while True:
        said = len(findings.diagnostics)
        found = _model(known, contract, caller, findings)
        lost = _without_computed(known, found)
        if len(findings.diagnostics) > said or not lost:
            return found
        findings.unknown |= lost
        for name in lost:
            del known[name]


def _without_computed(known: Mapping[str, stated.Resource], found: Vocabulary) -> set[str]:
    """Resources of which an expression could not be judged, and those that refer to them."""
    lost = {name for name, shape in found.model.items() if set(shape.computed) < set(shape.computed_fields)}
    while more := {n for n, each in known.items() if n not in lost and lost & set(_targets(each))}:
        lost |= more
    return lost


def _model(known: Mapping[str, stated.Resource], contract: Contract, caller: Object, findings: Findings) -> Vocabulary:
    schemas = SharedSchemas(contract)
    shapes: dict[str, ResourceShape] = {}
    back: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in known}
    for name, resource in known.items():
        for field in value_of(resource.fields) or ():
            target, called = value_of(field.refers_to), value_of(field.back)
            if target is not None and called is not None:
                back[target.text][called.text] = (name, field.name)
    for name, resource in known.items():
        fields = value_of(resource.fields) or ()
        shapes[name] = ResourceShape(
            name=name,
            identifier=tuple(part.text for part in value_of(resource.identifier) or ()),
            fields={field.name: _type(field, resource, schemas) for field in fields},
            back=back[name],
            computed_fields=frozenset(field.name for field in fields if isinstance(field.computed, Shown)),
        )
    vocabulary = Vocabulary(shapes, caller)
    computed: dict[str, dict[str, Typed]] = {name: {} for name in known}
    for name, resource in known.items():
        for field in value_of(resource.fields) or ():
            if isinstance(field.computed, Shown):
                expected = optional(shapes[name].fields[field.name])
                found = typed(field.computed.value, vocabulary.scope(name), expected, findings, in_sql=False)
                if found is not None:
                    computed[name][field.name] = found
    whole = {name: replace(shape, computed=computed[name]) for name, shape in shapes.items()}
    circle = computed_cycle(whole)
    if circle:
        labels = []
        for name, field_name in circle:
            field = next(each for each in value_of(known[name].fields) or () if each.name == field_name)
            labels.append(Label(field.span, "is computed from the next"))
        names = ", ".join(f"`{name}.{field_name}`" for name, field_name in circle)
        findings.say(COMPUTED_CYCLE, f"{names} are computed from each other", *labels)
        return Vocabulary(whole, caller)
    complete = Vocabulary(whole, caller)
    for name, resource in known.items():
        for field in value_of(resource.fields) or ():
            # Now that every computed field is known: whether the database can answer each.
            if isinstance(field.computed, Shown) and field.name in computed[name]:
                typed(field.computed.value, complete.scope(name), optional(shapes[name].fields[field.name]), findings)
    return complete


class SharedSchemas:
    """JSON Schemas with the shared types of part 2 in the place of their `$ref`."""

    def __init__(self, contract: Contract) -> None:
        self._types = {each.name: each for each in contract.resources.types}
        exchange = value_of(contract.endpoints.requests)
        unknown = None if exchange is None else value_of(exchange.unknown_members)
        self._refused = unknown is not None and unknown.text == "refused"

    def inlined(self, schema: Any, within: tuple[str, ...] = ()) -> Any:
        """A schema with everything that it refers to inside it. Objects whose members are stated take no others
        where unknown members are refused."""
        if isinstance(schema, list):
            return [self.inlined(each, within) for each in schema]
        if not isinstance(schema, dict):
            return schema
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.removeprefix("#/types/")
            shared = self._types.get(name)
            rest = {key: self.inlined(value, within) for key, value in schema.items() if key != "$ref"}
            if shared is None or name in within:
                return rest
            return self._object(shared, (*within, name)) | rest
        result = {
            key: value if key in ("enum", "const", "examples") else self.inlined(value, within)
            for key, value in schema.items()
        }
        if self._refused and "properties" in result:
            result.setdefault("additionalProperties", False)
        return result

    def _object(self, shared: stated.SharedType, within: tuple[str, ...]) -> dict[str, Any]:
        properties = {name.text: self.inlined(each.json, within) for name, each in value_of(shared.fields) or ()}
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        needed = [name.text for name in value_of(shared.required) or ()]
        if needed:
            schema["required"] = needed
        if self._refused:
            schema["additionalProperties"] = False
        return schema


def _schema_of(field: stated.Field, schemas: SharedSchemas) -> dict[str, Any]:
    schema = value_of(field.schema)
    inlined: dict[str, Any] = {} if schema is None else schemas.inlined(schema.json)
    return inlined


def _type(field: stated.Field, resource: stated.Resource, schemas: SharedSchemas) -> Type:
    """The type of a field's value; nullable where a row may be without one."""
    schema = _schema_of(field, schemas)
    target = value_of(field.refers_to)
    if target is not None:
        type_: Type = Row(resource=target.text)
    elif is_stated(field.state):
        type_ = Text()
    elif isinstance(field.secret, Shown):
        type_ = Digest()
    else:
        type_ = from_schema(schema)
    if _always_there(field, resource) and not _admits_null(schema):
        return required(type_)
    return optional(type_)


def _always_there(field: stated.Field, resource: stated.Resource) -> bool:
    identifier = {part.text for part in value_of(resource.identifier) or ()}
    needed = {part.text for part in value_of(resource.required) or ()}
    return field.name in identifier | needed or is_stated(field.state) or _never_empty(field)


def _never_empty(field: stated.Field) -> bool:
    """Whether `on create` or `on change` always gives a value: one made of nothing that a caller or a body may
    lack. It is asked before there are types, and so of the expression as it is written."""
    stated_ones = (value_of(field.on_create), value_of(field.on_change))
    return any(each is not None and _always_gives(each.ast) for each in stated_ones)


def _always_gives(ast: Ast) -> bool:
    match ast:
        case Literal():
            return ast.value is not None
        case Name():
            return ast.name == "now"
        case Invocation(target=None):
            return ast.function in ("uuid", "token", "serial", "random")
        case ListLiteral():
            return all(map(_always_gives, ast.items))
        case Unary():
            return _always_gives(ast.operand)
        case _:
            return False


def _admits_null(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return True
    return kinds is None and (None in schema.get("enum", ()) or ("const" in schema and schema["const"] is None))


def check_resources(
    known: Mapping[str, stated.Resource], contract: Contract, vocabulary: Vocabulary, findings: Findings
) -> dict[str, Resource]:
    schemas = SharedSchemas(contract)
    found: dict[str, Resource] = {}
    for name, resource in known.items():
        fields = {
            field.name: _field(field, resource, known, schemas, vocabulary, findings)
            for field in value_of(resource.fields) or ()
        }
        found[name] = Resource(
            name=name,
            place=findings.place(resource.span),
            identifier=vocabulary.model[name].identifier,
            fields=fields,
            unique=tuple(tuple(part.text for part in group) for group in value_of(resource.unique) or ()),
            invariants=tuple(_invariants(resource, vocabulary, findings)),
        )
        if isinstance(resource.records, Shown):
            findings.left_for_later(
                f"`records` of `{name}`", "the database starts without these rows", resource.records.span
            )
    return found


def _invariants(resource: stated.Resource, vocabulary: Vocabulary, findings: Findings) -> Iterator[Guard]:
    for each in value_of(resource.invariants) or ():
        holds = condition(each.when, vocabulary.scope(resource.name), findings)
        if holds is not None:
            code = None if each.otherwise is None else each.otherwise.text
            yield Guard(holds, code, findings.place(each.span))


def _field(
    field: stated.Field,
    resource: stated.Resource,
    known: Mapping[str, stated.Resource],
    schemas: SharedSchemas,
    vocabulary: Vocabulary,
    findings: Findings,
) -> Field:
    shape = vocabulary.model[resource.name]
    type_ = shape.fields[field.name]
    schema = _schema_of(field, schemas)
    target = value_of(field.refers_to)
    secret = value_of(field.secret)
    null_shown = _admits_null(schema)
    if target is not None:
        schema = _identifier_schema(known[target.text], known, schemas) | (
            {"type": ["null", *_kinds(known[target.text], known, schemas)]} if null_shown else {}
        )
        if len(vocabulary.model[target.text].identifier) > 1:
            findings.say(
                COMPOSITE_TARGET,
                f"`{resource.name}.{field.name}` refers to `{target.text}`, whose identifier has several fields",
                Label(target.span, "has several identifier fields"),
            )
    scope = vocabulary.scope(resource.name)
    given = Text() if secret is not None else required(type_)
    on_create = _given(field.on_create, replace(scope, serial=True), optional(given), findings)
    on_change = _given(field.on_change, scope, optional(given), findings)
    value_scope = replace(scope, variables={**scope.variables, "value": Anything(nullable=True)})
    needed = {part.text for part in value_of(resource.required) or ()}
    on_delete = value_of(field.on_delete)
    if on_delete is not None and on_delete.text == "clear" and field.name in needed:
        findings.say(
            DELETE_CLEARS_REQUIRED,
            f"`{resource.name}.{field.name}` is required and would be cleared",
            Label(on_delete.span, "takes the value away"),
        )
    serial = isinstance(on_create, Call) and on_create.function == "serial"
    return Field(
        name=field.name,
        type=type_,
        schema=schema,
        place=findings.place(field.span),
        null_shown=null_shown,
        required=field.name in needed or field.name in shape.identifier,
        stored=not isinstance(field.computed, Shown),
        on_create=None if serial else on_create,
        on_change=on_change,
        again_on=tuple(part.text for part in value_of(field.again_on) or ()),
        computed=shape.computed.get(field.name),
        normalise=_given(field.normalise, value_scope, None, findings),
        refers_to=None if target is None else target.text,
        back=None if (called := value_of(field.back)) is None else called.text,
        on_delete=on_delete.text if on_delete is not None else "refuse",  # type: ignore[arg-type]
        unique=is_stated(field.unique),
        immutable=is_stated(field.immutable),
        secret=None if secret is None else secret.text,  # type: ignore[arg-type]
        serial=serial,
    )


def _given(fact: Fact[Expression] | None, scope: Scope, expected: Type | None, findings: Findings) -> Typed | None:
    expression = value_of(fact)
    return None if expression is None else typed(expression, scope, expected, findings, in_sql=False)


def _identifier_schema(
    target: stated.Resource, known: Mapping[str, stated.Resource], schemas: SharedSchemas
) -> dict[str, Any]:
    """What a reference to a row must look like: as the row's identifier."""
    identifier = (value_of(target.identifier) or ())[0].text
    field = next(each for each in value_of(target.fields) or () if each.name == identifier)
    further = value_of(field.refers_to)
    if further is not None and further.text in known and further.text != target.name:
        return _identifier_schema(known[further.text], known, schemas)
    return _schema_of(field, schemas)


def _kinds(target: stated.Resource, known: Mapping[str, stated.Resource], schemas: SharedSchemas) -> list[str]:
    kinds = _identifier_schema(target, known, schemas).get("type", "string")
    return kinds if isinstance(kinds, list) else [kinds]
