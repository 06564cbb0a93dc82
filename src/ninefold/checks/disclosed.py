"""What a contract gives away without a word about it: fields that edits tell, and rules that hold where nothing is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ninefold.checked.endpoints import Endpoint
from ninefold.checked.resources import Resource
from ninefold.checks.codes import BOTH_ABSENT, TOLD_BY_EDITS
from ninefold.checks.findings import Findings
from ninefold.checks.narrowed import Rules
from ninefold.checks.responses import all_expressions
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.tree import Call, Select, Typed, Variable, walk
from ninefold.language.authentication import Admission
from ninefold.language.expressions import Expression
from ninefold.language.fact import value_of
from ninefold.values import Row


def disclosed(
    contract: Contract,
    endpoints: Iterable[Endpoint],
    resources: Mapping[str, Resource],
    rules: Rules,
    findings: Findings,
) -> None:
    served = tuple(endpoints)
    _told_by_edits(contract, served, resources, findings)
    rows = value_of(contract.authentication.rows)
    lines = {each.resource.text: each for each in rows} if isinstance(rows, tuple) else {}
    for name, of_resource in rules.items():
        for who, holds in of_resource.items():
            if holds is not None and name in lines:
                _holds_of_nothing(holds, value_of(lines[name].admits) or (), who, findings)
    permissions = contract.permissions_by_endpoint
    for endpoint in served:
        line = permissions.get(endpoint.key) or permissions.get("all others")
        for admission in endpoint.admissions:
            if line is not None and admission.condition is not None:
                _holds_of_nothing(admission.condition, value_of(line.admits) or (), admission.who, findings)


# ── Edits ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _told_by_edits(
    contract: Contract, endpoints: tuple[Endpoint, ...], resources: Mapping[str, Resource], findings: Findings
) -> None:
    """A JSON Patch tests and copies whatever its body names, also what no response shows."""
    shown = {each for endpoint in endpoints for each in _shown(endpoint)}
    patches = {each.key: each.patch for each in value_of(contract.endpoints.endpoints) or ()}
    for endpoint in endpoints:
        patch = value_of(patches.get(endpoint.key))
        if patch is None or patch.text != "json-patch" or endpoint.resource is None:
            continue
        resource = resources[endpoint.resource]
        given = {leaf.field: resource.as_given(leaf.field) for leaf in endpoint.takes.body or ()}
        hidden = [
            f"`{resource.name}.{resource.fields[name].called}`"
            for name, field in given.items()
            if field.secret is None and (resource.name, field.name) not in shown
        ]
        if hidden:
            findings.say(
                TOLD_BY_EDITS,
                f"`{endpoint.key}` tells {' and '.join(hidden)}, which no response shows",
                Label(patch.span, "`test` and `copy` read what the body names"),
                help=("`patch: merge` tells nothing of what it changes",),
            )


def _shown(endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    """The fields that the responses of an endpoint read."""
    for response in endpoint.operation.ends_well:
        for typed in all_expressions(response):
            for node in walk(typed):
                match node:
                    case Select(operand=operand, name=name) if isinstance(operand.type, Row):
                        yield operand.type.resource, name
                    case _:
                        pass


# ── Rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _holds_of_nothing(holds: Typed, written: tuple[Admission, ...], who: str, findings: Findings) -> None:
    """Null is equal to null: who has no team would be let in to all that belongs to no team."""
    asked = [each.arguments for each in walk(holds) if isinstance(each, Call) and each.function in ("has", "!=")]
    for node in walk(holds):
        match node:
            case Call(function="==", arguments=[Select() as one, Select() as other]) if (
                _may_be_none(one)
                and _may_be_none(other)
                and _is_of_caller(one) != _is_of_caller(other)
                and not any(one in arguments or other in arguments for arguments in asked)
            ):
                expression = next((value_of(each.condition) for each in written if each.who.text == who), None)
                if isinstance(expression, Expression):
                    findings.say(
                        BOTH_ABSENT,
                        "this holds where neither has a value, too",
                        Label(expression.span, "null is equal to null"),
                        help=("say that there is one: `has(…) && …`",),
                    )
                return
            case _:
                pass


def _may_be_none(side: Select) -> bool:
    """Whether there may be no value. Nobody has to send a parameter; and without a member of `caller` a condition does
    not hold (fixed meaning 9)."""
    if isinstance(side.operand, Variable) and side.operand.name == "caller":
        return False
    return side.type.nullable or any(isinstance(each, Variable) and each.name == "request" for each in walk(side))


def _is_of_caller(side: Typed) -> bool:
    """Whether it is who calls, or the request, that has the value."""
    return any(isinstance(each, Variable) and each.name in ("caller", "request") for each in walk(side))
