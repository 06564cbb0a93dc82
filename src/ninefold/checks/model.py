"""Part 2: what expressions may read: which resources are known at all, the types of their fields, and how computed
fields are made of others; and of a request, the parameters and headers that endpoints declare, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ninefold.checked.bodies import BodyMember
from ninefold.checks.findings import Findings, typed
from ninefold.checks.schemas import SharedSchemas, admits_null, schema_of
from ninefold.contract.questions.question import At
from ninefold.contract.questions.resources import unsaid
from ninefold.contract.service import Contract
from ninefold.contract.shared_types import types_in
from ninefold.diagnostics.codes import COMPUTED_CYCLE, NOT_IN_SQL, TOO_LARGE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Source
from ninefold.expressions.ast import Ast, Const, Invocation, ListLiteral, Literal, Name, Unary
from ninefold.expressions.functions import NEW_EACH_TIME
from ninefold.expressions.reads import (
    DEEPEST_COMPUTED,
    computed_cycle,
    depths,
    is_pure,
    needs_database,
    too_deep,
)
from ninefold.expressions.rows import BEFORE, before
from ninefold.expressions.scope import Model, ResourceShape, Scope
from ninefold.expressions.tree import Constant, Typed
from ninefold.language import resources as stated
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, Gap, Proposal, Shown, StatedNone, is_open, is_stated, value_of
from ninefold.language.parameters import Parameter
from ninefold.values import Anything, Array, Digest, Null, Object, Row, Text, Timestamp, Type, optional, required
from ninefold.values.of_schemas import from_schema


@dataclass(frozen=True)
class Vocabulary:
    """What expressions may name, whatever they are in: the resources, who calls, and what a request to any of the
    endpoints may carry (`request`; None: nothing)."""

    model: Model
    caller: Object
    request: Object | None
    result: Object | None = None
    """What the function gives that an endpoint calls, by its name."""

    def scope(self, /, *rows: str, **more: Type | None) -> Scope:
        """A scope with rows of these resources under their own names. What is None cannot be named."""
        variables: dict[str, Type | None] = {
            "caller": self.caller,
            "now": Timestamp(),
            "operator": Object(),
            "request": self.request,
            "result": self.result,
        }
        variables |= {name: Row(resource=name) for name in rows} | more
        return Scope({name: type_ for name, type_ in variables.items() if type_ is not None}, self.model)

    def scope_of_change(self, resource: str, /, **more: Type | None) -> Scope:
        """A scope with a row as it has become, and with `before`: as it was, if there was one."""
        return self.scope(resource, **{BEFORE: before(resource, maybe=True)}, **more)


def known_to(findings: Findings) -> dict[str, stated.Resource]:
    """The resources of which all is known, and what findings say of the others."""
    known = known_resources(findings.contract)
    findings.all_unknown = is_open(findings.contract.resources.resources)
    findings.unknown = frozenset(each.name for each in findings.resources) - known.keys()
    findings.more_back_references = any(
        isinstance(field.inverse, Gap | Proposal) for each in known.values() for field in value_of(each.fields) or ()
    )
    return known


def known_resources(contract: Contract) -> dict[str, stated.Resource]:
    """The resources whose primary key and fields are stated and whose references lead to such resources: the
    others cannot be stored, and their endpoints are blocked by the gap."""
    resources = {each.name: each for each in value_of(contract.resources.resources) or ()}
    open_types = {each.name for each in contract.resources.types if _is_open(each)}
    known = {
        name: each
        for name, each in resources.items()
        if _says_which(each) and isinstance(each.fields, Shown)
        and all(_has_type(field, open_types, contract.document.source) for field in each.fields.value)
        and {part.text for part in value_of(each.primary_key) or ()} <= {field.name for field in each.fields.value}
    }  # fmt: skip
    while True:
        lost = [name for name, each in known.items() if any(t not in known for t in _targets(each))]
        if not lost:
            return known
        for name in lost:
            del known[name]


def _says_which(resource: stated.Resource) -> bool:
    """Whether it is shown how a row is known, or that there is one."""
    identifier = resource.primary_key
    return isinstance(identifier, StatedNone) or (isinstance(identifier, Shown) and identifier.value != ())


def _targets(resource: stated.Resource) -> Iterator[str]:
    for field in value_of(resource.fields) or ():
        target = value_of(field.references)
        if target is not None:
            yield target.text


def _is_open(shared: stated.SharedType) -> bool:
    schema = value_of(shared.schema)
    return schema is None or unsaid(schema, At(shared.span)) is not None


def _has_type(field: stated.Field, open_types: set[str], source: Source) -> bool:
    """Whether it is all shown what the field is, and whether it is stored. An expression that cannot be read leaves
    that open too; but then nothing is served, and what reads the field can still be checked."""
    unread = isinstance(field.computed, Gap) and source.cut(field.computed.span) not in ("", "not shown")
    said = (field.references, field.state, field.secret, None if unread else field.computed, field.schema)
    if any(isinstance(fact, Gap | Proposal) for fact in said):
        return False
    schema = value_of(field.schema)
    if schema is not None and not open_types.isdisjoint(types_in(schema.json)):
        return False
    if isinstance(field.references, Shown) or is_stated(field.state) or field.type is not None:
        return True
    return schema is not None and unsaid(schema, At(field.span)) is None


def model(known: dict[str, stated.Resource], caller: Object, findings: Findings) -> Vocabulary:
    """What expressions know of the resources, computed fields included. A resource with a computed field that
    reads a gap is taken out of `known`: it is not known either."""
    while True:
        said = len(findings.diagnostics)
        found = _model(known, caller, findings)
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


def _model(known: Mapping[str, stated.Resource], caller: Object, findings: Findings) -> Vocabulary:
    shapes = shapes_of(known, findings.schemas)
    endpoints = value_of(findings.contract.endpoints.endpoints)
    request = Object() if endpoints is None else request_of_any(endpoints, findings.schemas)
    vocabulary = Vocabulary(shapes, caller, request)
    computed: dict[str, dict[str, Typed]] = {name: {} for name in known}
    for name, resource in known.items():
        for field in value_of(resource.fields) or ():
            if isinstance(field.computed, Shown):
                expected = optional(shapes[name].fields[field.name])
                found = typed(field.computed.value, vocabulary.scope(name), expected, findings, in_sql=False)
                if found is not None:
                    computed[name][field.name] = found
    whole = {name: replace(shape, computed=computed[name]) for name, shape in shapes.items()}
    while circle := computed_cycle(whole):
        labels = []
        for name, field_name in circle:
            field = next(each for each in value_of(known[name].fields) or () if each.name == field_name)
            labels.append(Label(field.span, "is computed from the next" if len(circle) > 1 else "reads itself"))
        names = ", ".join(f"`{name}.{field_name}`" for name, field_name in circle)
        how = "are computed from each other" if len(circle) > 1 else "is computed from itself"
        findings.say(COMPUTED_CYCLE, f"{names} {how}", *labels)
        for name, field_name in circle:
            computed[name][field_name] = Constant(None, type=Null())  # what reads it is judged without it
    for (name, field_name), is_first in too_deep(whole).items():
        if is_first:
            field = next(each for each in value_of(known[name].fields) or () if each.name == field_name)
            message = f"computed fields read each other at most {DEEPEST_COMPUTED} deep"
            findings.say(TOO_LARGE, message, Label(field.span, "reads another one too many"))
        computed[name][field_name] = Constant(None, type=Null())  # what reads it is judged without it
    complete = Vocabulary(whole, caller, request)
    # Now that every computed field is known: whether the database can answer each, those first that others read.
    depth = depths(whole)
    for name, field in sorted(
        ((name, each) for name, resource in known.items() for each in value_of(resource.fields) or ()),
        key=lambda each: depth.get((each[0], each[1].name), 0),
    ):
        if not isinstance(field.computed, Shown) or field.name not in computed[name]:
            continue
        expected = optional(shapes[name].fields[field.name])
        found = typed(field.computed.value, complete.scope(name), expected, findings)
        if found is None:
            del computed[name][field.name]  # what reads it is told nothing of that
        elif not is_pure(found) and not needs_database(found, (name,), complete.model):
            # Alone it would be a value of the request; but a field is always part of what a statement reads.
            said = Label(field.computed.value.span, "another value each time")
            help = ("`on create` makes it once, and keeps it",)
            findings.say(NOT_IN_SQL, "what a field is computed of is not made at random", said, help=help)
    return complete


def shapes_of(known: Mapping[str, stated.Resource], schemas: SharedSchemas) -> dict[str, ResourceShape]:
    """What expressions know of resources before it is known how computed fields are made."""
    inverse: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in known}
    for name, resource in known.items():
        for field in value_of(resource.fields) or ():
            target, called = value_of(field.references), value_of(field.inverse)
            if target is not None and called is not None and target.text in inverse:
                inverse[target.text][called.text] = (name, field.name)
    shapes = {}
    for name, resource in known.items():
        fields = value_of(resource.fields) or ()
        shapes[name] = ResourceShape(
            name=name,
            primary_key=tuple(part.text for part in value_of(resource.primary_key) or ()),
            fields={field.name: _type(field, resource, schemas) for field in fields},
            inverse=inverse[name],
            computed_fields=frozenset(field.name for field in fields if isinstance(field.computed, Shown)),
            views=tuple(view.name for view in value_of(resource.views) or ()),
        )
    return shapes


def _type(field: stated.Field, resource: stated.Resource, schemas: SharedSchemas) -> Type:
    """The type of a field's value; nullable where a row may be without one."""
    schema = schema_of(field, schemas)
    target = value_of(field.references)
    if target is not None:
        type_: Type = Row(resource=target.text)
    elif is_stated(field.state):
        type_ = Text()
    elif isinstance(field.secret, Shown):
        type_ = Digest()
    else:
        type_ = field.type or from_schema(schema)
    if _always_there(field, resource) and not admits_null(schema):
        return required(type_)
    return optional(type_)


def _always_there(field: stated.Field, resource: stated.Resource) -> bool:
    identifier = {part.text for part in value_of(resource.primary_key) or ()}
    needed = {part.text for part in value_of(resource.required) or ()}
    return field.name in identifier | needed or is_stated(field.state) or _never_empty(field)


def _never_empty(field: stated.Field) -> bool:
    """Whether `on create` or `on change` always gives a value: one made of nothing that a caller or a body may
    lack. It is asked before there are types, and so of the expression as it is written."""
    created, changed = value_of(field.on_create), value_of(field.on_change) or ()
    return any(
        given and all(_always_gives(each.ast) for each in given)
        for given in ([] if created is None else [created], [each.value for each in changed])
    )


def _always_gives(ast: Ast) -> bool:
    match ast:
        case Literal() | Const():
            return ast.value is not None
        case Name():
            return ast.name == "now"
        case Invocation(target=None):
            return ast.function in NEW_EACH_TIME
        case ListLiteral():
            return all(map(_always_gives, ast.items))
        case Unary():
            return _always_gives(ast.operand)
        case _:
            return False


# ── Requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def request_type(
    endpoint: Endpoint,
    schemas: SharedSchemas,
    members: Collection[BodyMember] | None = (),
    others: Object | None = None,
) -> Object | None:
    """The root `request` of an endpoint: its own parameters and headers, and the members of its body that are no
    fields, where the body has been read (`members` None: which there are is a gap); `others`: the body, where it has
    members without names of their own. None: there is nothing that could be read."""
    declared = {group: _one(group, fact, schemas) for group, fact in _declared(endpoint)}
    if members is None:
        return _of(declared | {"body": None})
    own: dict[str, Type] = {each.name: each.type if each.required else optional(each.type) for each in members}
    found = _of(declared | ({"body": own} if own else {}))
    if others is None:
        return found
    return Object(
        members={**({} if found is None else found.members), "body": Object(members=own, others=others.others)}
    )


def request_of_any(endpoints: Collection[Endpoint], schemas: SharedSchemas) -> Object | None:
    """The root `request` where it may be that of any of these: what one of them declares has no value in a request to
    another. None: none declares anything."""
    groups: dict[str, dict[str, Type] | None] = {}
    for endpoint in endpoints:
        for name, fact in _declared(endpoint):
            known, own = groups.get(name, {}), _one(name, fact, schemas)
            groups[name] = None if known is None or own is None else _either(known, own)
    return _of(groups)


def _declared(endpoint: Endpoint) -> Iterator[tuple[str, Fact[tuple[Parameter, ...]] | None]]:
    yield "path", endpoint.path
    yield "query", endpoint.query
    yield "headers", endpoint.request_headers


def _one(group: str, fact: Fact[tuple[Parameter, ...]] | None, schemas: SharedSchemas) -> dict[str, Type] | None:
    """By name; None: which there are is a gap."""
    if fact is not None and is_open(fact):
        return None
    declared = value_of(fact) or ()
    types = {each.name: _as_given(each, group, schemas) for each in declared}
    # Expressions of all versions read it by the name of the document.
    return {each.origin: types[each.name] for each in declared if each.origin is not None} | types


def _as_given(parameter: Parameter, group: str, schemas: SharedSchemas) -> Type:
    """A request may leave out all but what stands in its path."""
    type_ = type_of(parameter, schemas)
    always = parameter.is_required or value_of(parameter.default) is not None or group == "path"
    return type_ if always else optional(type_)


def type_of(parameter: Parameter, schemas: SharedSchemas) -> Type:
    """The type of what a parameter gives, as far as its schema says, with the shared types that this refers to: that of
    a condition without a schema is the expression's."""
    if parameter.sorts is not None and not parameter.is_list:
        return Text()
    if parameter.sorts is not None or parameter.selects is not None or parameter.expands is not None:
        return Array(items=Text())
    return from_schema(schemas.inlined(parameter.schema.json))


def _either(known: dict[str, Type], own: dict[str, Type]) -> dict[str, Type]:
    either = {name: optional(type_) for name, type_ in known.items()}
    for name, type_ in own.items():
        same = either.get(name, optional(type_)) == optional(type_)
        either[name] = optional(type_) if same else Anything(nullable=True)
    return either


def _of(groups: dict[str, dict[str, Type] | None]) -> Object | None:
    """An object that is known to have no member has none that could be read, and is left out: one without members
    would admit any."""
    found: dict[str, Type] = {name: Object(members=own or {}) for name, own in groups.items() if own is None or own}
    return Object(members=found) if found else None
