"""Part 4: by what the case of a request is chosen."""

from __future__ import annotations

from ninefold.checked.endpoints import Case
from ninefold.checked.resources import Resource
from ninefold.checks.codes import CHOSEN_BY
from ninefold.checks.findings import Findings, reads_database, typed
from ninefold.checks.model import Vocabulary
from ninefold.checks.requests import request_type
from ninefold.contract.endpoints import Endpoint
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.language.expressions import Expression
from ninefold.language.fact import Shown, value_of
from ninefold.values import Object, Text


def check_case(
    endpoint: Endpoint, resource: Resource | None, vocabulary: Vocabulary, findings: Findings
) -> Case | None:
    """The case that an endpoint is; None where it has none, or where it cannot be chosen, and that has been said."""
    case = endpoint.case
    by = None if case is None else value_of(case.by)
    if case is None or by is None:
        return None
    member = case.member
    if member is None:
        chosen = _by_request(by, endpoint, vocabulary, findings)
    else:
        chosen = _by_body(by, member, endpoint, findings)
    if chosen is None:
        return None
    if member is not None and resource is not None and member in resource.fields:
        # Callers of an older version may know the field by another name.
        member = resource.fields[member].called or member
    return Case(chosen, member, case.name, case.all, findings.place(case.span))


def _by_body(by: Expression, member: str, endpoint: Endpoint, findings: Findings) -> Typed | None:
    patch = value_of(endpoint.patch)
    edits = patch is not None and patch.text == "json-patch"
    if edits or not isinstance(endpoint.body, Shown):
        what = "is no member of a JSON Patch" if edits else "is in no body that it takes"
        message = f"the case of `{endpoint.key}` is chosen by a member that no request has"
        help = () if edits else ("every case takes a body that names a field",)
        findings.say(CHOSEN_BY, message, Label(by.span, what), help=help)
        return None
    body = Select(Variable("request", Object()), "body", Object(), "member")
    return Select(body, member, Text(nullable=True), "member")


def _by_request(by: Expression, endpoint: Endpoint, vocabulary: Vocabulary, findings: Findings) -> Typed | None:
    request = request_type(endpoint)
    subjects = (each.subject for each in value_of(endpoint.does) or ())
    rows = dict.fromkeys(each for each in subjects if each is not None and each in vocabulary.model)
    scope = vocabulary.scope(*rows, **({} if request is None else {"request": request}))
    found = typed(by, scope, Text(nullable=True), findings)
    if found is not None and reads_database(found, scope):
        message = f"the case of `{endpoint.key}` is chosen by a row"
        findings.say(CHOSEN_BY, message, Label(by.span, "is known only by a statement"))
        return None
    return found
