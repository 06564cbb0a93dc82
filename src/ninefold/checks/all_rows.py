"""Part 4: operations on all rows (`delete all todo`): what only one row has, and what says which rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ninefold.checked.operations import BodyLeaf
from ninefold.checked.resources import Resource
from ninefold.checks.codes import OF_ALL_ROWS
from ninefold.checks.findings import Findings
from ninefold.contract import endpoints as stated
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.expressions.tree import Typed
from ninefold.language.fact import Fact, Shown, value_of
from ninefold.values import Anything, Object

OF_ONE_ROW: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "row": ("row", "says one row", ("which rows are changed is said by `where`",)),
    "validators": ("validators", "an entity tag is of one row", ()),
    "issues": ("issues", "a credential is made for one row", ()),
    "ends": ("ends", "ends credentials of one row", ("credentials of rows that are deleted end with them",)),
}
"""What an endpoint may state of one row alone: what it is called, why, and what to do instead."""


def check_all_rows(
    endpoint: stated.Endpoint,
    verb: str,
    resource: Resource,
    body: tuple[BodyLeaf, ...] | None,
    sets: Mapping[str, Typed],
    findings: Findings,
) -> bool:
    """Whether all that is stated can be done to many rows at once."""
    complete = True
    for key, (written, why, help) in OF_ONE_ROW.items():
        fact: Fact[Any] | None = getattr(endpoint, key)
        if isinstance(fact, Shown):
            _say(endpoint, f"`{written}` says nothing of all rows", fact.span, why, findings, help)
            complete = False
    patch = value_of(endpoint.patch)
    if patch is not None and patch.text == "json-patch":
        why, help = "edits are made of one row as it is", ("`patch: merge` gives each row the same values",)
        _say(endpoint, "a JSON Patch is of one row", patch.span, why, findings, help)
        complete = False
    stated_body = value_of(endpoint.body)
    span = endpoint.span if stated_body is None else stated_body.span
    for name, why in _of_body(verb, resource, body or ()):
        _say(endpoint, f"a body cannot give `{resource.name}.{name}` to all rows", span, why, findings)
        complete = False
    for assignment in value_of(endpoint.sets) or ():
        field = resource.fields.get(assignment.name)
        if assignment.name in sets and field is not None and field.secret is not None:
            message = f"`sets` cannot give `{resource.name}.{field.name}` to all rows"
            _say(endpoint, message, assignment.span, "a secret is of one row", findings)
            complete = False
    return complete


def _of_body(verb: str, resource: Resource, body: tuple[BodyLeaf, ...]) -> Iterator[tuple[str, str]]:
    """The fields that a body gives and that cannot be given to many rows, each with the reason."""
    for leaf in body:
        field = resource.as_given(leaf.field)
        if verb == "delete":
            yield leaf.field, "the rows are deleted"
        elif leaf.field in resource.identifier:
            yield leaf.field, "an identifier is of one row"
        elif field.secret is not None:
            yield leaf.field, "a secret is of one row"
        elif isinstance(field.type, Anything | Object) and verb == "update":
            yield leaf.field, "an object is merged into that of one row"


def _say(
    endpoint: stated.Endpoint, message: str, span: Span, why: str, findings: Findings, help: tuple[str, ...] = ()
) -> None:
    action = next(each for each in value_of(endpoint.does) or () if each.all)
    labels = (Label(span, why), Label(action.span, "acts on all rows"))
    findings.say(OF_ALL_ROWS, message, *labels, help=help)
