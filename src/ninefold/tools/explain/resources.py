"""Part 2: resources, their fields, and what a schema asks of a value."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any

from ninefold.contract.shared_types import own_members, own_needed, types_in
from ninefold.diagnostics.source import Span
from ninefold.language.check import Check
from ninefold.language.fact import Fact, Name, Shown, value_of
from ninefold.language.json_schema import TELLING
from ninefold.language.resources import Field, Resource, SharedType
from ninefold.language.schemas import Schema
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import each_of, told


def rules(schema: Mapping[str, Any]) -> str:
    """What a JSON Schema asks of a value, keyword by keyword, the type first."""
    keywords = sorted(schema.items(), key=lambda pair: pair[0] != "type")
    return ", ".join(f"{keyword}: {_value(value)}" for keyword, value in keywords if keyword not in TELLING)


def asked(g: Grounds, schema: Schema, but: Collection[str] = ()) -> Iterator[Item]:
    """The rules of a schema, in one item for each line of them, without some of its keywords."""
    lines: dict[int, dict[str, Any]] = {}
    spans: dict[int, Span] = {}
    for entry in schema.node.entries:
        line = g.line(entry.value.span)
        spans.setdefault(line, entry.value.span)
        if entry.name in schema.json and entry.name not in TELLING and entry.name not in but:
            lines.setdefault(line, {})[entry.name] = schema.json[entry.name]
    for line, keywords in lines.items():
        yield g.item(rules(keywords), spans[line], meanings=("values",))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"({rules(value)})"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return " or ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def field(g: Grounds, resource: Resource, own: Field) -> Item:
    """A field with all that is said of it, and the shared types that its schema uses; in an older version, as callers
    of that see it."""
    seen = own.seen
    if seen is not None and seen.called is None:
        return g.item(f"`{own.name}`: not there in this version", own.span, meanings=("older fields",))
    shown = own if seen is None or seen.instead is None else g.fields(resource.name)[seen.instead]
    facts = [*_of_field(g, shown), *(told(g, own, "on_create", "on_change") if shown is not own else ())]
    if seen is not None and seen.stored is not None:
        facts.append(g.item(f"what is kept of it: `{seen.stored.text}`", seen.stored.span, meanings=("older fields",)))
    if seen is not None and seen.schema is not None and shown is own:
        facts += asked(g, seen.schema)
    facts += [g.item("required", name.span) for name in value_of(resource.required) or () if name.text == own.name]
    schema = value_of(shown.schema)
    types = [] if schema is None else list(_types_used(g, schema.json, set()))
    return g.together(f"`{own.called}`", own.span, [*facts, *types])


def fields(g: Grounds, resource: Resource, fact: Fact[tuple[Field, ...]]) -> list[Item]:
    """Those of a resource, each once: what is shown in the place of one is told there."""
    instead = {each.seen.instead for each in value_of(fact) or () if each.seen is not None}
    own = [each for each in value_of(fact) or () if each.name not in instead]
    return [field(g, resource, each) for each in own] or g.fact("fields", fact)


def _of_field(g: Grounds, own: Field) -> Iterator[Item]:
    schema = value_of(own.schema)
    yield from g.fact("schema", own.schema) if schema is None else asked(g, schema)
    yield from told(g, own, *MADE_AND_REFERRED_TO)
    yield from g.fact("secret", own.secret, lambda name: SECRETS.get(name.text, name.text))
    yield from told(g, own, but=(*MADE_AND_REFERRED_TO, "schema", "secret"))


MADE_AND_REFERRED_TO = ("references", "inverse", "on_delete", "on_create", "on_change", "computed", "normalise")

SECRETS = {
    "password": "password, kept as an Argon2id hash and never readable",
    "token": "token, kept as a SHA-256 digest and readable once, when it is made",
}


def _types_used(g: Grounds, schema: Any, told: set[str]) -> Iterator[Item]:
    """The shared types that a schema refers to, but those that are told already."""
    for name in dict.fromkeys(types_in(schema)):
        shared = g.contract.shared_types.by_name.get(name)
        if shared is not None and name not in told:
            yield shared_type(g, shared, told)


def shared_type(g: Grounds, shared: SharedType, told: set[str]) -> Item:
    """A shared type with those that it refers to, each where it comes first. `told`: those that are told already."""
    told.add(shared.name)
    own = value_of(shared.schema)
    if own is None:
        return g.item(f"the shared type `{shared.name}`", shared.span, g.fact("schema", shared.schema))
    required = {name.text: name for name in own_needed(own)}
    named = {name.text for name, *_ in own_members(own)}
    told_with_members = {"type", "properties", *(["required"] if required.keys() <= named else [])} if named else ()
    members = list(asked(g, own, told_with_members))
    for name, schema, _ in own_members(own):
        facts = list(asked(g, schema))
        facts += [g.item("required", required[name.text].span)] if name.text in required else []
        facts += _types_used(g, schema.json, told)
        members.append(g.together(f"`{name.text}`", name.span, facts))
    beside = {keyword: each for keyword, each in own.json.items() if keyword != "properties"}
    return g.item(f"the shared type `{shared.name}`", shared.span, [*members, *_types_used(g, beside, told)])


def resource(g: Grounds, own: Resource) -> Item:
    """A whole resource."""

    def each(called: str, tell: Callable[[Any], Item]) -> Callable[[Any], list[Item]]:
        return lambda fact: each_of(g, called, fact, tell)

    facts = told(
        g,
        own,
        fields=partial(fields, g, own),
        required=lambda fact: [] if isinstance(fact, Shown) else g.fact("required", fact),  # told at each field
        unique=each(
            "unique", lambda group: g.item(f"unique together: {listed(group)}", group[0].span, meanings=("values",))
        ),
        check=each("check", lambda one: invariant(g, one, "holds after every write", ("before and after",))),
        views=each(
            "views", lambda view: g.item(f"the view `{view.name}`: {g.written(_extent(view.template))}", view.span)
        ),
    )
    return g.item(f"`{own.name}`", own.span, facts)


def invariant(g: Grounds, own: Check, words: str, meanings: tuple[str, ...]) -> Item:
    """An invariant with its error, which has a line of its own where it is written on one."""
    text, otherwise = f"{words}: `{own.that.text}`", own.code
    if otherwise is None:
        return g.item(text, own.span, meanings=meanings)
    code = f"else `{g.codes.known_as(otherwise.text)}`"
    if g.place(otherwise.span).line == g.place(own.that.span).line:
        return g.item(f"{text}, {code}", own.span, meanings=meanings)
    return g.item(text, own.that.span, [g.item(code, otherwise.span)], meanings)


def _extent(template: Any) -> Any:
    return template.expression.span if hasattr(template, "expression") else template.span


def listed(names: tuple[Name, ...]) -> str:
    return ", ".join(f"`{name.text}`" for name in names)
