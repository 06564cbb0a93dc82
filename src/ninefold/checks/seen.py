"""Part 9: how callers of an older version see a field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninefold.checked.resources import Seen
from ninefold.checks.codes import LOSES
from ninefold.checks.findings import Findings, typed
from ninefold.checks.schemas import SharedSchemas
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.scope import Scope
from ninefold.language import resources as stated
from ninefold.values import Type, from_schema, optional, required


def seen(
    field: stated.Seen,
    resource: str,
    schema: Mapping[str, Any],
    type_: Type,
    schemas: SharedSchemas,
    findings: Findings,
) -> Seen:
    """`schema` and `type_` are those of what is stored."""
    older = None if field.schema is None else schemas.inlined(field.schema.json)
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
    return Seen(field.called, field.instead, older or (schema if stored is not None else None), given, stored)
