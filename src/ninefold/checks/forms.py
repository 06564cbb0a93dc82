"""How the requests of an endpoint are read, where it says so itself; and what a form cannot give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ninefold.checked.endpoints import Requests
from ninefold.checked.operations import BodyLeaf, BodyMember
from ninefold.checked.resources import Resource
from ninefold.checks.codes import NOT_IN_A_FORM
from ninefold.checks.findings import Findings
from ninefold.contract.endpoints import Endpoint
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.language.fact import Fact, Name, Shown, value_of
from ninefold.language.shapes import FORM
from ninefold.values import Array, Object, Type


def check_own_requests(endpoint: Endpoint, contract: Contract) -> Requests | None:
    """What an endpoint says of its own requests, with what is said of all where it says nothing; None: it says
    nothing at all."""
    if endpoint.requests is None:
        return None
    stated = contract.endpoints.requests_of(endpoint)
    return Requests(
        tuple(each.text for each in value_of(stated.media_types) or ()),
        _word(stated.unknown_members),
        _word(stated.unknown_parameters),
        isinstance(stated.texts, Shown),
    )


def _word(fact: Fact[Name] | None) -> Literal["refused", "ignored"]:
    """Where it is a gap, the endpoint is blocked, and which word stands here is never seen."""
    return "ignored" if (word := value_of(fact)) is not None and word.text == "ignored" else "refused"


def is_form(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() == FORM


def check_form(
    endpoint: Endpoint,
    resource: Resource | None,
    body: Sequence[BodyLeaf] | None,
    members: Sequence[BodyMember],
    contract: Contract,
    findings: Findings,
) -> bool:
    """Whether a form can give all that a body names, where bodies are forms: each member is a text, or several."""
    stated = value_of(contract.endpoints.requests_of(endpoint).media_types) or ()
    named = next((each for each in stated if is_form(each.text)), None)
    if named is None or not isinstance(endpoint.body, Shown):
        return True
    patch = value_of(endpoint.patch)
    if patch is not None and patch.text == "json-patch":
        findings.say(
            NOT_IN_A_FORM,
            f"the body of `{endpoint.key}` is a list of edits, and its media type that of forms",
            Label(patch.span, "edits are JSON"),
            Label(named.span, "a form has members alone"),
        )
        return False
    wrong = []
    for leaf in body or ():
        if len(leaf.pointer) > 1:
            wrong.append(f"`{'/'.join(('', *leaf.pointer))}` is a member of another")
        elif resource is not None and not _can_be_given(resource.fields[leaf.field].type):
            wrong.append(f"`{resource.name}.{leaf.field}` is no text, number or truth value, nor a list of these")
    wrong += [
        f"`{each.name}` is no text, number or truth value, nor a list of these"
        for each in members
        if not _can_be_given(each.type)
    ]
    for why in wrong:
        findings.say(
            NOT_IN_A_FORM,
            f"{why}: `{endpoint.key}`",
            Label(endpoint.body.span, "no form can give it"),
            Label(named.span, "bodies are forms"),
        )
    return not wrong


def _can_be_given(type_: Type) -> bool:
    match type_:
        case Array(items=items):
            return not isinstance(items, Array | Object)
        case Object():
            return False
        case _:
            return True
