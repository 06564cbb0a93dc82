"""Part 9: the version of a request that names none, where an expression gives its name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ninefold.checks.codes import PINNED_TO_NOTHING
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.checks.schemas import SharedSchemas, schema_of
from ninefold.contract.expression import Expression
from ninefold.contract.fact import value_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.scope import Inferred, Scope
from ninefold.expressions.tree import Call, Constant, Select, Typed
from ninefold.values import Object, Row, Text, Timestamp, Type


def check_pinned(
    default: Expression, names: Collection[str], contract: Contract, vocabulary: Vocabulary, findings: Findings
) -> Typed | None:
    """The expression with its types. It reads who calls and the header fields as they come: which endpoint a request
    is for, and what that declares, depends on the version."""
    variables: dict[str, Type | Inferred] = {
        "caller": vocabulary.caller,
        "now": Timestamp(),
        "request": Object(members={"headers": Object()}),
    }
    scope = Scope(variables, vocabulary.model, request_only=True)
    found = typed(default, scope, Text(), findings)
    for each in () if found is None else _results(found):
        _held_to(each, names, default, contract, findings)
    return found


def _results(value: Typed) -> Iterator[Typed]:
    """What a value may come from."""
    match value:
        case Call(function="?:", arguments=[_, yes, no]):
            yield from _results(yes)
            yield from _results(no)
        case _:
            yield value


def _held_to(value: Typed, names: Collection[str], default: Expression, contract: Contract, findings: Findings) -> None:
    """Says which of the values that it may have are no versions, so far as anything says which it may have."""
    match value:
        case Constant(value=str() as text) if text not in names:
            label = Label(default.span, "may give this")
            findings.say(PINNED_TO_NOTHING, f"`{text}` is not a version", label, help=did_you_mean(text, names))
        case Select(operand=operand, name=name) if isinstance(operand.type, Row):
            _field(operand.type.resource, name, names, default, contract, findings)
        case _:
            pass


def _field(
    resource: str, name: str, names: Collection[str], default: Expression, contract: Contract, findings: Findings
) -> None:
    stated = next((each for each in value_of(contract.resources.resources) or () if each.name == resource), None)
    field = next((each for each in value_of(stated.fields) or () if each.name == name), None) if stated else None
    if field is None:
        return
    admitted = _admitted(schema_of(field, SharedSchemas(contract)))
    wrong = None if admitted is None else [each for each in admitted if each is not None and each not in names]
    if wrong == []:
        return
    called = ", ".join(f"`{each}`" for each in wrong or ())
    findings.say(
        PINNED_TO_NOTHING,
        f"`{resource}.{name}` may hold what is not a version" + (f": {called}" if called else ""),
        Label(default.span, "requests of such callers are `unknown version`"),
        Label(field.span, "holds any text" if wrong is None else "holds these"),
        help=("write its schema as `enum: [" + ", ".join(f'"{each}"' for each in names) + "]`",),
    )


def _admitted(schema: dict[str, Any]) -> list[Any] | None:
    """The values that a schema admits, where it lists them."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else None
