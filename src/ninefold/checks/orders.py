"""The orders of a list: what a request can choose, by which names, and what turns an order round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninefold.checked.operations import Order, Reverse, SortKeys, Sorts
from ninefold.checked.resources import Resource
from ninefold.checks.constants import validator
from ninefold.checks.findings import Findings
from ninefold.checks.model import type_of
from ninefold.checks.resources import is_key
from ninefold.diagnostics.codes import NEVER_SENT, NOT_A_DEFAULT, NOT_A_SORT_KEY, SAYS_NOTHING
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import endpoints as stated
from ninefold.language.fact import is_open, value_of
from ninefold.language.orders import Offered, SortKey
from ninefold.language.parameters import Parameter
from ninefold.values import Boolean, Integer, Invalid, Number, Row, Text, Timestamp, required
from ninefold.values.texts import from_text


def check_sorts(endpoint: stated.Endpoint, resource: Resource, findings: Findings) -> Sorts | None:
    if endpoint.sort is None or is_open(endpoint.sort):
        return None
    parameter, reverse = endpoint.by("sorts"), endpoint.by("reverses")
    offered = () if parameter is None else value_of(parameter.sorts) or ()
    found = tuple(order for each in offered if (order := _order(each, resource, findings)) is not None)
    several = parameter is not None and parameter.is_list
    if parameter is not None:
        _called(parameter, offered, findings)
    stated_keys = value_of(endpoint.sort) or ()
    if reverse is not None and not stated_keys and not offered:
        why = "no order is chosen, and the list's own names no field"
        findings.say(SAYS_NOTHING, f"`reverses` of `{reverse.name}` says nothing", Label(reverse.span, why))
    return Sorts(
        None if parameter is None else parameter.name,
        _keys(stated_keys, resource, findings),
        found,
        several,
        None if reverse is None else _reverse(reverse, findings),
    )


def _order(offered: Offered, resource: Resource, findings: Findings) -> Order | None:
    """None: something is no key, which is said."""
    keys = _keys(offered.keys, resource, findings)
    return Order(offered.name, keys) if len(keys) == len(offered.keys) else None


def _keys(keys: tuple[SortKey, ...], resource: Resource, findings: Findings) -> SortKeys:
    found = []
    for key in keys:
        field = resource.fields.get(key.field)
        if field is None:
            continue  # that it is none has been said where names are resolved
        if field.name in resource.primary_key and not is_key(field):
            continue  # nor is it a primary key, which has been said of the resource
        if field.secret is not None or not isinstance(field.type, Boolean | Integer | Number | Row | Text | Timestamp):
            findings.say(
                NOT_A_SORT_KEY,
                f"`{resource.name}.{key.field}` has no order",
                Label(key.span, "neither text, a number, a truth value nor a time"),
            )
        else:
            found.append((key.field, key.descending))
    return tuple(found)


def _called(parameter: Parameter, offered: tuple[Offered, ...], findings: Findings) -> None:
    """Whether each name can be given."""
    with_commas = parameter.is_list and value_of(parameter.explode) is False
    for each in offered:
        if with_commas and each.name is not None and "," in each.name:
            message = f"no request can give `{each.name}`"
            findings.say(NEVER_SENT, message, Label(each.span, "what is given is cut at its commas"))


def held_to(orders: Mapping[str, SortKeys], several: bool) -> tuple[dict[str, Any], dict[tuple[str, ...], str]]:
    """The schema of what chooses among `orders`, which are by their names, and of its rules by which one it is refused,
    by where they are broken. Of several no field is sorted by twice."""
    named = {"type": "string", "enum": list(orders)}
    if not several:
        return named, {(): "enum"}
    by_field: dict[str, list[str]] = {}
    for name, keys in orders.items():
        for field, _ in keys:
            by_field.setdefault(field, []).append(name)
    once = {tuple(names) for names in by_field.values()}
    once = {names for names in once if not any(set(names) < set(others) for others in once)}
    schema = {"type": "array", "items": named, "minItems": 1}
    if all(len(names) == 1 for names in once):
        return schema | {"uniqueItems": True}, {("*",): "enum", (): "uniqueItems"}
    among = [{"contains": {"enum": list(names)}, "minContains": 0, "maxContains": 1} for names in sorted(once)]
    return schema | {"allOf": among}, {("*",): "enum", (): "maxContains"}


def _reverse(parameter: Parameter, findings: Findings) -> Reverse:
    """The values with which a parameter turns an order round, each held to its schema."""
    type_ = required(type_of(parameter, findings.schemas))
    schema = findings.schemas.inlined(parameter.schema.json)
    values = []
    for each in value_of(parameter.reverses) or ():
        try:
            value = from_text(type_, each.text)
            why = next((broken.message for broken in validator(schema).iter_errors(value)), None)
        except Invalid:
            why = "no request could give it"
        if why is None:
            values.append(each.text)
        else:
            message = f"`{each.text}` is not as the schema of `{parameter.name}` says"
            findings.say(NOT_A_DEFAULT, message, Label(each.span, why))
    return Reverse(parameter.name, type_, tuple(values))
