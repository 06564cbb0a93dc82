"""Part 2: resources and their fields, with the expressions in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ninefold.checked.resources import Anew, Expiry, Field, Guard, Resource, Seen
from ninefold.checks.assignments import Rules, check_made, time_of_row
from ninefold.checks.constants import check_given, check_held
from ninefold.checks.findings import Findings, condition, typed
from ninefold.checks.model import Vocabulary
from ninefold.checks.schemas import admits_null, identifier_schema, kinds_of_identifier, known_by, schema_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import (
    COMPOSITE_TARGET,
    DELETE_CLEARS_REQUIRED,
    LOSES,
    NO_CHANGE,
    NOT_AN_IDENTIFIER,
    ONE_ROW,
    TOO_MANY_FIELDS,
    WAS_MADE_OF_OTHERS,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.reads import reads_beyond
from ninefold.expressions.rows import fields_as_they_were
from ninefold.expressions.scope import ResourceShape, Scope
from ninefold.expressions.tree import Call, Typed
from ninefold.language import resources as stated
from ninefold.language.declaration import said
from ninefold.language.expressions import Expression, OnChange
from ninefold.language.fact import Fact, Name, Shown, is_stated, text_of, value_of
from ninefold.language.schemas import Schema
from ninefold.syntax.nodes import is_word
from ninefold.values import (
    MOST_COLUMNS,
    Anything,
    Boolean,
    Integer,
    Number,
    Row,
    Text,
    Timestamp,
    Type,
    optional,
    required,
)
from ninefold.values.of_schemas import from_schema


def check_resources(
    known: Mapping[str, stated.Resource], vocabulary: Vocabulary, findings: Findings
) -> dict[str, Resource]:
    referring = _referring(findings.contract)
    found: dict[str, Resource] = {}
    for name, resource in known.items():
        fields = {
            field.name: _field(field, resource, known, vocabulary, findings)
            for field in value_of(resource.fields) or ()
        }
        found[name] = Resource(
            name=name,
            place=findings.place(resource.span),
            primary_key=vocabulary.model[name].primary_key,
            fields=fields,
            unique=tuple(_together(resource, fields)),
            invariants=tuple(_invariants(resource, vocabulary, findings)),
            expiry=_expiry(resource, referring, vocabulary, findings),
            said=said(resource),
        )
        _columns(found[name], resource, findings)
        _identifier(found[name], resource, known, findings)
        check_made(found[name], resource, vocabulary, findings)
    return {name: _as_what_it_refers_to(each, found) for name, each in found.items()}


def _as_what_it_refers_to(resource: Resource, resources: Mapping[str, Resource]) -> Resource:
    """The same, where a reference that says nothing of it itself is normalised as the key that it holds."""
    normal = {
        name: _normalised(field, resources)
        for name, field in resource.fields.items()
        if field.references is not None and field.normalise is None
    }
    if not any(normal.values()):
        return resource
    fields = {name: replace(each, normalise=normal.get(name, each.normalise)) for name, each in resource.fields.items()}
    return replace(resource, fields=fields)


def _normalised(field: Field, resources: Mapping[str, Resource]) -> Typed | None:
    for _ in resources:  # a key may be a reference itself
        target = None if field.references is None else resources.get(field.references)
        if field.normalise is not None or target is None or len(target.primary_key) != 1:
            break
        field = target.fields[target.primary_key[0]]
    return field.normalise


def _together(resource: stated.Resource, fields: Collection[str]) -> Iterator[tuple[str, ...]]:
    """The fields that are unique together. One that the resource has not has been told, and nothing goes by it."""
    for group in value_of(resource.unique) or ():
        if {part.text for part in group} <= {*fields}:
            yield tuple(part.text for part in group)


def _columns(resource: Resource, declared: stated.Resource, findings: Findings) -> None:
    """A row has a column for each of its fields that is stored, and a table so many and no more."""
    stored = [each for each in value_of(declared.fields) or () if resource.fields[each.name].stored]
    if len(stored) > MOST_COLUMNS:
        findings.say(
            TOO_MANY_FIELDS,
            f"`{resource.name}` stores {len(stored):,} fields, and a row holds {MOST_COLUMNS:,}",
            Label(stored[MOST_COLUMNS].span, "one more than there is room for"),
            help=(
                "put fields that belong together into one, whose type is an object, or into a resource of their own",
            ),
        )


def _referring(contract: Contract) -> Mapping[str, Sequence[tuple[str, stated.Field]]]:
    """By resource, the fields that refer to it, with whose they are."""
    found: dict[str, list[tuple[str, stated.Field]]] = {}
    for each in value_of(contract.resources.resources) or ():
        for field in value_of(each.fields) or ():
            if (target := value_of(field.references)) is not None:
                found.setdefault(target.text, []).append((each.name, field))
    return found


def _expiry(
    resource: stated.Resource,
    referring: Mapping[str, Sequence[tuple[str, stated.Field]]],
    vocabulary: Vocabulary,
    findings: Findings,
) -> Expiry | None:
    """None also where it is not shown what a deletion does to a row that refers to one of these."""
    if not isinstance(resource.expires, Shown):
        return None
    at = time_of_row(resource.expires.value, resource.name, (Timestamp(),), vocabulary, findings)
    reached, falls, last = {resource.name}, True, [resource.name]
    while last:
        for name, field in referring.get(last.pop(), ()):
            what = value_of(field.on_delete)
            falls = falls and what is not None
            if what is not None and what.text == "cascade" and name not in reached:
                reached.add(name)
                last.append(name)
    return Expiry(at, findings.place(resource.expires.span)) if at is not None and falls else None


PLAIN = (Boolean, Integer, Number, Row, Text, Timestamp)
"""The types of values that a row can be known by, and that can stand in a path."""


def is_key(field: Field) -> bool:
    return field.computed is None and field.secret is None and isinstance(field.type, PLAIN)


def _identifier(
    resource: Resource, declared: stated.Resource, known: Mapping[str, stated.Resource], findings: Findings
) -> None:
    """A row is known by what is stored with it and can be told to others."""
    for each in value_of(declared.fields) or ():
        field = resource.fields[each.name]
        target = known.get(field.references or "")
        if each.name in resource.primary_key and target is not None:
            if value_of(target.primary_key) and known_by(target, known) is None:
                message = f"no `{resource.name}` can be known by its `{each.name}`"
                findings.say(NOT_AN_IDENTIFIER, message, Label(each.span, "leads from row to row, and back"))
                continue
        if each.name in resource.primary_key and not is_key(field) and not _mistyped(value_of(each.schema)):
            reason = "is not of one type of text, numbers, truth values or times"
            if field.computed is not None:
                reason = "is computed, and not stored"
            elif field.secret is not None:
                reason = "is a secret"
            findings.say(
                NOT_AN_IDENTIFIER, f"no `{resource.name}` can be known by its `{each.name}`", Label(each.span, reason)
            )


def _mistyped(schema: Schema | None) -> bool:
    """Whether a type is written that is none, which has been said; the type `none` says that there is none."""
    entry = None if schema is None else schema.node.get("type")
    is_none = entry is not None and is_word(entry.value, "none")
    return schema is not None and entry is not None and not is_none and "type" not in schema.json


def _invariants(resource: stated.Resource, vocabulary: Vocabulary, findings: Findings) -> Iterator[Guard]:
    for each in value_of(resource.check) or ():
        holds = condition(each.that, vocabulary.scope_of_change(resource.name), findings)
        if holds is not None and not _was_alone(holds, each.that, resource.name, vocabulary, findings):
            continue
        if holds is not None:
            code = None if each.code is None else each.code.text
            yield Guard(holds, code, findings.place(each.that.span))


def _was_alone(holds: Typed, stated_one: Expression, resource: str, vocabulary: Vocabulary, findings: Findings) -> bool:
    """Whether what a check reads of the row as it was, is of that row alone. It is asked, too, when other rows are
    written that it reads; what such a value was before these were, nobody knows then."""
    for each in fields_as_they_were(holds, resource):
        if each.through == "computed":
            computed = vocabulary.model[resource].computed.get(each.name)
            if computed is not None and reads_beyond(computed, (resource,), vocabulary.model):
                message = f"a check reads what `{resource}.{each.name}` was, which is made of other rows"
                label = Label(stated_one.span, "asked when those are written, too")
                findings.say(WAS_MADE_OF_OTHERS, message, label, help=("compare fields that are stored",))
                return False
    return True


def _field(
    field: stated.Field,
    resource: stated.Resource,
    known: Mapping[str, stated.Resource],
    vocabulary: Vocabulary,
    findings: Findings,
) -> Field:
    shape = vocabulary.model[resource.name]
    type_ = shape.fields[field.name]
    schema, schemas = schema_of(field, findings.schemas), _in_bodies(field.schema, findings)
    target, secret = value_of(field.references), value_of(field.secret)
    null_shown = admits_null(schema)
    if target is not None:
        schema = identifier_schema(known[target.text], known, findings.schemas) | (
            {"type": ["null", *kinds_of_identifier(known[target.text], known, findings.schemas)]} if null_shown else {}
        )
        _refers(f"{resource.name}.{field.name}", target, vocabulary.model[target.text], findings)
    scope = vocabulary.scope(resource.name)
    given = Text() if secret is not None else required(type_)
    on_create = _given(field.on_create, replace(scope, serial=True), optional(given), findings)
    changes = list(_changes(field, resource, scope, optional(given), findings))
    anew = tuple(Anew(names, made) for _, names, made in changes if names and made is not None)
    # What is normalised is of the field's type: what is not is left to its schema.
    value = Anything(nullable=True) if target is not None else optional(given) if null_shown else given
    value_scope = replace(scope, variables={"value": value}, request_only=True)
    needed, on_delete = {part.text for part in value_of(resource.required) or ()}, value_of(field.on_delete)
    if on_delete is not None and on_delete.text == "set null" and field.name in {*needed, *shape.primary_key}:
        _cleared(f"{resource.name}.{field.name}", on_delete, field.name in needed, findings)
    serial = isinstance(on_create, Call) and on_create.function == "serial"
    checked = Field(
        name=field.name,
        type=type_,
        schema=schema,
        schemas=schemas,
        place=findings.place(field.span),
        null_shown=null_shown,
        required=field.name in needed or field.name in shape.primary_key,
        stored=not isinstance(field.computed, Shown),
        on_create=None if serial else on_create or next((each.value for each in anew), None),
        on_change=next((made for _, names, made in changes if names is None), None),
        anew=anew,
        computed=shape.computed.get(field.name),
        normalise=_given(field.normalise, value_scope, None, findings),
        references=None if target is None else target.text,
        inverse=text_of(field.inverse),
        on_delete=on_delete.text if on_delete is not None else "restrict",  # type: ignore[arg-type]
        unique=is_stated(field.unique),
        immutable=is_stated(field.immutable),
        secret=None if secret is None else secret.text,  # type: ignore[arg-type]
        # What is left open may be sensitive, and is taken to be.
        sensitive=field.sensitive is not None and value_of(field.sensitive) is not False,
        serial=serial,
        seen=None if field.seen is None else seen(field.seen, resource.name, (schema, schemas), type_, findings),
        rules=Rules(findings).of_field(field, resource),
        said=said(field),
    )
    gives = [(value_of(field.on_create), on_create), *((each, made) for each, _, made in changes)]
    _check_constants(field, resource.name, checked, gives, findings)
    return checked


def _check_constants(
    field: stated.Field,
    resource: str,
    checked: Field,
    gives: Sequence[tuple[Expression | None, Typed | None]],
    findings: Findings,
) -> None:
    """Says of the constants that a field is given, worked out to be, or normalised to, that it does not admit them."""
    for written, made in gives:
        if written is not None and made is not None:
            check_given(resource, checked, made, written.span, findings)
    called = f"{resource}.{field.called or field.name}"
    for fact, made in ((field.computed, checked.computed), (field.normalise, checked.normalise)):
        if (written := value_of(fact)) is not None:
            check_held(called, made, checked.schema, written.span, findings)


def _cleared(called: str, on_delete: Name, needed: bool, findings: Findings) -> None:
    message = f"`{called}` {'is required' if needed else 'is part of the primary key'} and would be cleared"
    findings.say(DELETE_CLEARS_REQUIRED, message, Label(on_delete.span, "takes the value away"))


def _changes(
    field: stated.Field, resource: stated.Resource, scope: Scope, expected: Type, findings: Findings
) -> Iterator[tuple[Expression, tuple[str, ...] | None, Typed | None]]:
    """What `on change` gives, each with the fields on whose change it does; None: it is at every write."""
    for each in value_of(field.on_change) or ():
        yield each.value, _watched(each, field, resource, findings), _typed(each.value, scope, expected, findings)


def _watched(
    change: OnChange, field: stated.Field, resource: stated.Resource, findings: Findings
) -> tuple[str, ...] | None:
    """The fields on whose change a value is given; None: it is at every write."""
    if not change.fields:
        return None
    stored = {each.name for each in value_of(resource.fields) or () if not isinstance(each.computed, Shown)}
    for each in change.fields:
        if each.text == field.name or each.text not in stored:
            reason = "is the field itself" if each.text == field.name else "is worked out, and no write changes it"
            if each.text in {known.name for known in value_of(resource.fields) or ()}:
                message = f"`{resource.name}.{field.name}` is given on a change of `{each.text}`"
                findings.say(NO_CHANGE, message, Label(each.span, reason))
    return tuple(each.text for each in change.fields if each.text in stored and each.text != field.name)


def _refers(called: str, target: Name, shape: ResourceShape, findings: Findings) -> None:
    """A row is referred to by one field."""
    identifier = shape.primary_key
    if not identifier:
        message = f"`{called}` refers to `{target.text}`, of which there is one row"
        findings.say(ONE_ROW, message, Label(target.span, "there is no other to refer to"))
    if len(identifier) > 1:
        own = next((each for each in ("id", "key", "number") if each not in shape.fields), f"{target.text}_id")
        findings.say(
            COMPOSITE_TARGET,
            f"`{called}` refers to `{target.text}`, whose primary key has several fields",
            Label(target.span, "has several primary key fields"),
            help=(
                f"identify `{target.text}` by one field of its own, such as `{own}`, and keep the others apart by "
                f"`unique: [[{', '.join(identifier)}]]`",
            ),
        )


def _given(fact: Fact[Expression] | None, scope: Scope, expected: Type | None, findings: Findings) -> Typed | None:
    expression = value_of(fact)
    return None if expression is None else _typed(expression, scope, expected, findings)


def _typed(expression: Expression, scope: Scope, expected: Type | None, findings: Findings) -> Typed | None:
    return typed(expression, scope, expected, findings, in_sql=False)


def seen(
    field: stated.Seen,
    resource: str,
    own: tuple[dict[str, Any], dict[str, dict[str, Any]]],
    type_: Type,
    findings: Findings,
) -> Seen:
    """`own`, the schema and what it is in bodies, and `type_` are those of what is stored."""
    older = None if field.schema is None else findings.schemas.inlined(field.schema.json)
    given = required(type_) if older is None else required(from_schema(older))
    if field.instead is None and older is not None and type(given) is not type(required(type_)):
        assert field.schema is not None
        findings.say(
            LOSES,
            f"`{resource}.{field.called}` had values of another type than what is stored",
            Label(field.schema.node.span, "of another type"),
            help=("say what it was of the stored value: `is: …`; and what is stored of a value that is given: "
                  "`stored: …`",),
        )  # fmt: skip
    stored = None
    if field.stored is not None:
        stored = typed(field.stored, Scope({"value": given}), optional(type_), findings, in_sql=False)
        check_held(f"{resource}.{field.called}", stored, own[0], field.stored.span, findings)
    if older:
        schema, schemas = older, _in_bodies(field.schema, findings)
    else:
        schema, schemas = own if stored is not None else (None, {})
    return Seen(field.called, field.instead, schema, given, stored, schemas)


def _in_bodies(schema: Fact[Schema] | Schema | None, findings: Findings) -> dict[str, dict[str, Any]]:
    """What a schema asks of bodies of whose unknown members something else is said than for all, by the word."""
    written = schema if isinstance(schema, Schema) else value_of(schema)
    return {} if written is None else findings.schemas.apart(written.json)
