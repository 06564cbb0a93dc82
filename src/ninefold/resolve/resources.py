"""Part 2: resources, their fields, and the schemas that they share."""

from __future__ import annotations

from ninefold.contract.expression import Expression, Items
from ninefold.contract.fact import Fact, Gap, Name
from ninefold.contract.resources import Field, Resource, Resources, SharedType, View
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import leaves
from ninefold.language.check import INVARIANTS
from ninefold.language.codes import WRONG_SHAPE
from ninefold.language.expressions import expression, template
from ninefold.language.identifiers import RESOURCE_NAMES, declare
from ninefold.language.reading import Level, Reading, Slot, collected, spoken
from ninefold.language.records import of_records
from ninefold.language.schemas import BESIDE_FIELDS, NOT_USED, Schema, is_a_name, json_value, only_keywords, schema
from ninefold.language.shapes import JSONSchema, Members, Names, Template
from ninefold.resolve.includes import taken_over
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Scalar, Sequence


def resources(r: Reading, part: Part) -> Resources:
    said = spoken(part)
    if said is not None:
        return Resources(said, ())
    level = r.level(part.facts, 2, "", "")
    shared = level.known.get("types")
    stated = Resources(
        collected(r, level.named, part.facts.span, lambda entry: resource(r, entry)),
        () if shared is None else types(r, shared),
    )
    return taken_over(r, stated)


def resource(r: Reading, entry: Entry) -> Resource:
    declare(r, entry.key, "a resource", RESOURCE_NAMES)
    level = r.level(entry.value, 2, "RESOURCE", entry.name)
    return Resource(
        name=entry.name,
        span=entry.key.span,
        includes=level.fact("includes", leaves.name_or_names),
        identifier=level.fact("identifier", leaves.name_or_names),
        fields=level.fact("fields", fields, main=True),
        required=level.fact("required", leaves.names),
        unique=level.fact("unique", together),
        invariants=level.fact("invariants", of_records(INVARIANTS)),
        records=level.fact("records", records),
        views=level.fact("views", views),
        expires=level.fact("expires", expires),
    )


def fields(r: Reading, node: Node, slot: Slot) -> tuple[Field, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    named = [entry for entry in node.entries if is_a_name(r, entry, "fields", BESIDE_FIELDS)]
    return r.each(named, lambda entry: field(r, entry))


def field(r: Reading, entry: Entry) -> Field:
    declare(r, entry.key, "a field", selected=True)
    level = r.level(entry.value, 2, "RESOURCE.fields.FIELD", entry.name, NOT_USED)
    return Field(
        name=entry.name,
        span=entry.key.span,
        schema=own_schema(r, level, entry),
        on_create=level.fact("on create", expression),
        on_change=level.fact("on change", expression),
        again_on=level.fact("again on", leaves.name_or_names),
        computed=level.fact("computed", expression),
        normalise=level.fact("normalise", expression),
        refers_to=level.fact("refers to", leaves.name),
        back=level.fact("back", back),
        on_delete=level.fact("on delete", on_delete),
        unique=level.fact("unique", leaves.boolean),
        immutable=level.fact("immutable", leaves.boolean),
        secret=level.fact("secret", leaves.word),
        sensitive=level.fact("sensitive", leaves.boolean),
        state=level.fact("state", leaves.only_true),
    )


def own_schema(r: Reading, level: Level, entry: Entry) -> Fact[Schema] | None:
    """What a field says in JSON Schema, as one fact."""
    if level.gap is not None:
        return Gap(level.gap)
    if not isinstance(entry.value, Mapping):
        return None
    keywords = only_keywords(entry.value)
    return r.fact(keywords, Slot(entry.name, JSONSchema()), schema) if keywords.entries else None


def expires(r: Reading, node: Node, slot: Slot) -> Expression | None:
    """`{at: …}`"""
    level = r.level(node, 2, "RESOURCE.expires", slot.called)
    if isinstance(node, Mapping) and node.get("at") is None:
        r.wrong_shape(node, slot, help=("write the time: `expires: {at: …}`",))
    return level.inner("at", expression)


def back(r: Reading, node: Node, slot: Slot) -> Name | None:
    """The name of a back-reference, which is read like a field."""
    found = leaves.name(r, node, slot)
    if found is not None and isinstance(node, Scalar):
        declare(r, node, "a back-reference", selected=True)
    return found


_ON_DELETE = {"set null": "clear", "nullify": "clear", "restrict": "refuse", "no action": "refuse", "delete": "cascade"}
"""What SQL and others call what a deletion does."""


def on_delete(r: Reading, node: Node, slot: Slot) -> Name | None:
    """A word of the closed list."""
    if isinstance(node, Scalar) and (meant := _ON_DELETE.get(node.text.casefold())) is not None:
        leaves.wrong_word(r, node, slot.called, leaves.words_of(slot.shape), meant)
        return None
    return leaves.word(r, node, slot)


def together(r: Reading, node: Node, slot: Slot) -> tuple[tuple[Name, ...], ...] | None:
    """`[[a, b]]`: fields that are unique together."""
    if isinstance(node, Sequence) and node.items and all(isinstance(item, Scalar) for item in node.items):
        written = ", ".join(item.text for item in node.items if isinstance(item, Scalar))
        r.say(
            WRONG_SHAPE,
            "`unique` is a list of fields, not a list of such lists",
            Label(node.span),
            help=(f"fields that are unique together are a list of their own: `[[{written}]]`",),
        )
        return None
    items = r.items(node, slot)
    if items is None:
        return None
    lists = (leaves.names(r, item, Slot(slot.called, Names("a field"))) for item in items)
    return tuple(each for each in lists if each)


def records(r: Reading, node: Node, slot: Slot) -> Node | None:
    """Rows, each a mapping from fields to values."""
    items = r.items(node, slot)
    for item in items or ():
        if isinstance(item, Mapping):
            json_value(r, item, slot)
        else:
            r.wrong_shape(item, Slot("a record", Members()))
    return None if items is None else node


def views(r: Reading, node: Node, slot: Slot) -> tuple[View, ...] | None:
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        declare(r, entry.key, "a view")
        shown = template(r, entry.value, Slot(entry.name, Template()))
        # One that cannot be read is still declared: its uses are not wrong.
        found.append(View(entry.name, entry.key.span, shown or Items((), entry.value.span)))
    return tuple(found)


def types(r: Reading, entry: Entry) -> tuple[SharedType, ...]:
    """The schemas below `types`. Where that is a gap, so is every schema that refers to one."""
    if isinstance(entry.value, Scalar) and entry.value.says("none"):
        return ()
    level = r.level(entry.value, 2, "types", "types")
    with r.proposing(entry.proposed or entry.value.proposed):
        return level.declared(lambda each: shared_type(r, each))


def shared_type(r: Reading, entry: Entry) -> SharedType:
    declare(r, entry.key, "a shared type")
    level = r.level(entry.value, 2, "types.TYPE", entry.name)
    return SharedType(
        name=entry.name,
        span=entry.key.span,
        fields=level.fact("fields", members, main=True),
        required=level.fact("required", leaves.names),
    )


def members(r: Reading, node: Node, slot: Slot) -> tuple[tuple[Name, Schema], ...] | None:
    entries = r.entries(node, slot)
    if entries is None:
        return None
    found = []
    for entry in entries:
        if not is_a_name(r, entry, "fields", BESIDE_FIELDS):
            continue
        member = schema(r, entry.value, Slot(entry.name, JSONSchema()))
        # As with views.
        found.append((Name(entry.name, entry.key.span), member or Schema({}, Mapping(entry.value.span, ()))))
    return tuple(found)
