"""Part 6: the resource `subscription`, which the language has itself: its fields, and in an older version its kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ninefold.checked.resources import Field, Resource, Seen
from ninefold.checks.event_log import a_kind, kinds_of, own_fields
from ninefold.checks.findings import Findings
from ninefold.checks.model import Vocabulary
from ninefold.contract.service import Contract, KindsInVersion
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.check import check
from ninefold.expressions.scope import ResourceShape, Scope
from ninefold.expressions.tree import Call, Typed
from ninefold.language.expressions import Expression
from ninefold.language.fact import value_of
from ninefold.plan.events import SECRET, SUBSCRIPTION
from ninefold.values import Array, Digest, Row, Text, Type

URL: Mapping[str, Any] = {
    "type": "string",
    "format": "uri",
    "maxLength": 2048,
    "pattern": r"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\\s]+([/?#][^\s\\]*)?$",
}
"""Where a subscription is delivered: http or https, a host, and nobody's name or password before it."""

_KINDS = Array(items=Text())

_TYPES: Mapping[str, Type] = {"id": Text(), "url": Text(), "kinds": _KINDS, SECRET: Digest()}


def has_subscriptions(contract: Contract) -> Span | None:
    """Where the contract first makes, ends or shows subscriptions; None: it has none, or it has a `subscription` of
    its own."""
    if any(each.name == SUBSCRIPTION for each in value_of(contract.resources.resources) or ()):
        return None
    for endpoint in value_of(contract.endpoints.endpoints) or ():
        for action in value_of(endpoint.does) or ():
            if action.subject == SUBSCRIPTION:
                return action.span
    return None


def _types(contract: Contract) -> Mapping[str, Type]:
    """Its fields; where deliveries are not signed, nobody has a secret for it."""
    return {name: each for name, each in _TYPES.items() if name != SECRET or contract.events.are_signed}


def with_subscriptions(vocabulary: Vocabulary, contract: Contract) -> Vocabulary:
    """Expressions may read `subscription`."""
    shape, own = ResourceShape(SUBSCRIPTION, ("id",), _types(contract)), contract.subscribed
    if own is not None:
        row = Scope({SUBSCRIPTION: Row(resource=SUBSCRIPTION)}, {SUBSCRIPTION: shape})
        shape = replace(
            shape,
            fields={**shape.fields, own.field: _KINDS},
            computed={own.field: _typed_kinds(own.shown, row)},
            computed_fields=frozenset([own.field]),
        )
    return replace(vocabulary, model={**vocabulary.model, SUBSCRIPTION: shape})


def _typed_kinds(expression: Expression, scope: Scope) -> Typed:
    found = check(expression.ast, scope, _KINDS).typed
    assert found is not None, expression.text
    return found


def subscription(span: Span, findings: Findings) -> Resource:
    """The built-in resource. Its kinds are those that the contract has; its secret is made of the database's own when
    it is needed, and is never stored."""
    called = kinds_of(findings.contract)
    own = findings.contract.subscribed
    schemas: Mapping[str, Mapping[str, Any]] = {
        "id": {"type": "string", "format": "uuid"},
        "url": URL,
        "kinds": _some_of(called if own is None else own.stored),
        SECRET: {"type": "string"},
    }
    place = findings.place(span)
    fields = own_fields(_types(findings.contract), schemas, place)
    fields["id"] = replace(fields["id"], on_create=Call("uuid", [], Text()))
    fields |= {name: replace(fields[name], required=True) for name in ("url", "kinds")}
    if SECRET in fields:
        fields[SECRET] = replace(fields[SECRET], stored=False, secret="token")
    if own is not None:
        fields = _in_version(fields, own, called)
    return Resource(SUBSCRIPTION, place, ("id",), fields, subscriptions=True)


def _some_of(kinds: Sequence[str], least: int = 1) -> dict[str, Any]:
    return {"type": "array", "items": a_kind(kinds), **({"minItems": least} if least else {}), "uniqueItems": True}


def _in_version(fields: Mapping[str, Field], own: KindsInVersion, called: Sequence[str]) -> dict[str, Field]:
    """The fields, with the kinds as a version has them. One that does not have all of them may show none."""
    kinds = fields["kinds"]
    shape = ResourceShape(SUBSCRIPTION, ("id",), {"kinds": _KINDS})
    stored = _typed_kinds(own.given, Scope({"value": _KINDS}))
    row = Scope({SUBSCRIPTION: Row(resource=SUBSCRIPTION)}, {SUBSCRIPTION: shape})
    shown = Field(
        name=own.field,
        type=_KINDS,
        schema=_some_of(called, least=0 if len(called) < len(own.stored) else 1),
        place=kinds.place,
        null_shown=False,
        required=False,
        stored=False,
        computed=_typed_kinds(own.shown, row),
        seen=Seen(kinds.name),
    )
    seen = Seen(kinds.name, own.field, _some_of(called), _KINDS, stored)
    return {**fields, kinds.name: replace(kinds, seen=seen), own.field: shown}
