"""Fields that an older version calls otherwise, does not have, has besides, or shows differently."""

from __future__ import annotations

from ninefold.contract.versions.shown import Shows, called_so, in_templates
from ninefold.contract.versions.way import Way, each_in
from ninefold.diagnostics.codes import NO_SUCH_CHANGE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Literal, Member, Name, every
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Shown, is_stated, value_of
from ninefold.language.orders import Offered
from ninefold.language.parameters import Parameter
from ninefold.language.resources import Field, Resource, Seen
from ninefold.language.schemas import Schema
from ninefold.language.versioning import Change
from ninefold.syntax.nodes import Entry, Mapping, Scalar, Style


def change_field(way: Way, change: Change, resource: Resource, name: str) -> None:
    fields = value_of(resource.fields)
    if fields is None:
        return
    found = next((each for each in fields if each.called == name and _is_itself(each)), None)
    if change.verb == "add":
        if found is not None:
            way.taken(name, change.subject.span, f"a field of `{resource.name}` called", _place(found))
        else:
            _add(way, change, resource, name)
        return
    if found is None:
        names = [f"{resource.name}.{each.called}" for each in fields if each.called is not None]
        way.not_there(change, f"a field of `{resource.name}`", names)
        return
    match change.verb:
        case "rename":
            _rename(way, change, resource, found)
        case "remove":
            _remove(way, change, resource, found)
        case _:
            _change(way, change, resource, found)


def _is_itself(field: Field) -> bool:
    return field.seen is None or field.seen.place_of is None


def _place(field: Field) -> Span:
    return field.span if field.seen is None else field.seen.span


def _seen(field: Field, span: Span) -> Seen:
    return field.seen or Seen(field.name, span)


def _rename(way: Way, change: Change, resource: Resource, field: Field) -> None:
    if change.to is None:
        return
    older, fields = change.to.text, value_of(resource.fields) or ()
    other = next((each for each in fields if each.called == older), None)
    if other is not None:
        way.taken(older, change.to.span, f"a field of `{resource.name}` called", _place(other))
        return

    def renamed(each: Field) -> Field:
        if each is field or (each.seen is not None and each.seen.place_of == field.name):
            return replace(each, seen=replace(_seen(each, change.to.span), called=older))  # type: ignore[union-attr]
        return each

    called = field.called
    way.with_fields(resource.name, map(renamed, fields))
    _wherever_shown(way, resource.name, field.name, lambda name: older if name == called else name)
    _of_lists(way, resource.name, field.name, lambda name: older if name == called else name, keep_sorts=True)
    _of_choices(way, resource.name, called, lambda name: older)


def _remove(way: Way, change: Change, resource: Resource, field: Field) -> None:
    fields = value_of(resource.fields) or ()
    kept = [each for each in fields if each.seen is None or each.seen.place_of != field.name]
    if _is_added(field):
        way.with_fields(resource.name, [each for each in kept if each is not field])
        return
    hidden = replace(field, seen=Seen(None, change.subject.span), on_create=_on_create(change, field))
    way.with_fields(resource.name, [hidden if each is field else each for each in kept])
    _wherever_shown(way, resource.name, field.name, lambda name: None)
    _of_lists(way, resource.name, field.name, lambda name: None, keep_sorts=False)
    _of_choices(way, resource.name, field.called, lambda name: None)


def _on_create(change: Change, field: Field) -> Fact[Expression] | None:
    return field.on_create if change.on_create is None else Shown(change.on_create, change.on_create.span)


def _is_added(field: Field) -> bool:
    """Whether the older version has the field besides all others."""
    return field.is_older and _is_itself(field)


def _add(way: Way, change: Change, resource: Resource, name: str) -> None:
    if change.schema is None:
        help = ("write it beside: `was: {type: string}`",)
        way.refuse(change, f"the schema that `{change.subject.text}` had is not said", help)
        return
    if change.on_create is not None or change.stored is not None:
        way.only(change, ("is",), "a field that is only shown")
        return
    seen = Seen(name, change.subject.span)
    way.with_fields(resource.name, [*(value_of(resource.fields) or ()), _shown(way, change, name, change.schema, seen)])


def _shown(way: Way, change: Change, name: str, schema: Schema, seen: Seen) -> Field:
    """A field that is worked out and not stored. No field of a document can have its name."""
    value = change.value or _no_value(change.subject.span)
    return Field(
        name=f"{name} of {way.version.name}",
        span=change.subject.span,
        schema=Shown(schema, schema.node.span),
        computed=Shown(value, value.span),
        seen=seen,
    )


def _no_value(span: Span) -> Expression:
    return Expression(Literal(None, 0, 4), Scalar(span, "null", None, Style.PLAIN, range(span.start, span.start + 5)))


def _change(way: Way, change: Change, resource: Resource, field: Field) -> None:
    if change.schema is None and change.value is None and change.on_create is None and change.stored is None:
        help = ("say what was different: `was`, `is` or `on create`",)
        way.refuse(change, f"how `{change.subject.text}` was different is not said", help)
        return
    if change.stored is not None and change.value is None:
        help = ("say what was shown of the stored value: `is: …`",)
        message = "`stored` stands without `is`"
        way.say(NO_SUCH_CHANGE, message, Label(change.said("stored")), help=help)
        return
    if change.schema is not None and change.value is None and not _is_added(field) and (why := _of_nobody(field)):
        message = f"`was` is asked of what clients give, and `{change.subject.text}` {why}"
        help = ("say what was shown of it: `is: …`",)
        way.say(NO_SUCH_CHANGE, message, Label(change.said("was"), "says nothing"), help=help)
        return
    fields = value_of(resource.fields) or ()
    if _is_added(field):
        schema = change.schema or value_of(field.schema)
        value = field.computed if change.value is None else Shown(change.value, change.value.span)
        assert schema is not None
        changed = replace(field, schema=Shown(schema, schema.node.span), computed=value)
        way.with_fields(resource.name, [changed if each is field else each for each in fields])
        return
    seen = _seen(field, change.subject.span)
    if change.schema is not None:
        seen = replace(seen, schema=change.schema)
    kept = [each for each in fields if each.seen is None or each.seen.place_of != field.name or change.value is None]
    instead: tuple[Field, ...] = ()
    if change.value is not None:
        schema = seen.schema or value_of(field.schema) or _any_text(field, change)
        if schema is None:
            help = ("write it beside: `was: {type: string}`",)
            way.refuse(change, f"the schema that `{change.subject.text}` had is not said", help)
            return
        place_of = Seen(seen.called, change.subject.span, place_of=field.name)
        instead = (_shown(way, change, field.name, schema, place_of),)
        seen = replace(seen, instead=instead[0].name, stored=change.stored)
    changed = replace(field, seen=seen, on_create=_on_create(change, field))
    at = next(index for index, each in enumerate(kept) if each is field)
    way.with_fields(resource.name, [*kept[:at], changed, *instead, *kept[at + 1 :]])


def _of_nobody(field: Field) -> str | None:
    """Why no client gives a field; None: one may."""
    if is_stated(field.state):
        return "is the state"
    return None if value_of(field.computed) is None else "is computed"


_TEXT = ("type", "string")


def _any_text(field: Field, change: Change) -> Schema | None:
    """The schema of what is shown in the place of a state, which has none of its own."""
    if not is_stated(field.state):
        return None
    at = change.subject.span
    key, word = (Scalar(at, text, text, Style.PLAIN, range(at.start, at.start + len(text) + 1)) for text in _TEXT)
    return Schema({"type": "string"}, Mapping(at, (Entry(key, word),)))


# ── Where it is shown under its name ──────────────────────────────────────────────────────────────────────────


def _wherever_shown(way: Way, resource: str, field: str, called: Shows) -> None:
    """Members of templates that show the field alone."""
    way.contract = in_templates(way.contract, (resource, field), called)


def _of_lists(way: Way, resource: str, field: str, called: Shows, keep_sorts: bool) -> None:
    """Filters on the field that have its name, or, where it is removed, all; and the orders by it."""

    def one(endpoint: Endpoint) -> Endpoint:
        if resource not in {action.subject for action in value_of(endpoint.does) or ()}:
            return endpoint
        query = each_in(endpoint.query, lambda each: _filter(each, resource, field, called))
        if not keep_sorts:
            query = each_in(query, lambda each: _ordering(each, field))
        return replace(endpoint, query=query)

    way.with_endpoints(map(one, way.endpoints()))


def _of_choices(way: Way, resource: str, own: str | None, called: Shows) -> None:
    """What requests choose by the name that the field has, where rows of its resource are shown."""

    def one(endpoint: Endpoint) -> Endpoint:
        of_it = resource in {action.subject for action in value_of(endpoint.does) or ()}
        return called_so(endpoint, own, called) if of_it and own is not None else endpoint

    way.with_endpoints(map(one, way.endpoints()))


def _ordering(each: Parameter, field: str) -> Parameter:
    def without(order: Offered) -> Offered | None:
        return None if any(key.field == field for key in order.keys) else order

    return replace(each, sorts=each_in(each.sorts, without))


def _filter(each: Parameter, resource: str, field: str, called: Shows) -> Parameter | None:
    condition = value_of(each.where)
    if condition is None or not _reads(condition, resource, field):
        return each
    name = called(each.name)
    return None if name is None else each.renamed(name)


def _reads(expression: Expression, resource: str, field: str) -> bool:
    return any(
        isinstance(node, Member) and node.name == field
        and isinstance(node.operand, Name) and node.operand.name == resource
        for node in every(expression.ast)
    )  # fmt: skip
