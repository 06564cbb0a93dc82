"""`grant token R`: who the clients are, and what a token is granted (RFC 6749, sections 3.2 and 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ninefold.checked.operations import BodyLeaf, Segment
from ninefold.checked.resources import Resource
from ninefold.checks.codes import NOT_GRANTED
from ninefold.checks.credentials import known_by_these
from ninefold.checks.findings import Findings
from ninefold.checks.granted import issued_scheme
from ninefold.contract.endpoints import Endpoint
from ninefold.contract.service import Contract
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.source import Span
from ninefold.language.fact import Shown, StatedNone, value_of
from ninefold.plan.authentication import CLIENT, SECRET
from ninefold.values import Text

SECRETS = frozenset({"password", "token"})
"""What a client can be held to."""


def check_grant(
    endpoint: Endpoint,
    resource: Resource,
    body: Sequence[BodyLeaf] | None,
    segments: Sequence[Segment],
    contract: Contract,
    findings: Findings,
) -> tuple[BodyLeaf, ...] | None:
    """The client's identifier and its secret, as the body names them; None: that is open or wrong."""
    if body is None:
        return None
    place = endpoint.body.span if isinstance(endpoint.body, Shown | StatedNone) else endpoint.span
    found = _found(endpoint, resource, body, segments, place, findings)
    if endpoint.method and endpoint.method != "POST":
        _say(f"`{endpoint.key}` grants tokens", endpoint.span, "clients ask for one by POST", endpoint, findings)
        found = None
    if endpoint.issues is None:
        help = f"name the scheme: `issues: …`, which is `issued to: {resource.name}`"
        _say(f"`{endpoint.key}` grants no token", endpoint.span, "issues nothing", endpoint, findings, help)
        return None
    scheme = issued_scheme(endpoint, contract)
    return None if scheme is None or value_of(scheme.type) is None else found


def _found(
    endpoint: Endpoint,
    resource: Resource,
    body: Sequence[BodyLeaf],
    segments: Sequence[Segment],
    place: Span,
    findings: Findings,
) -> tuple[BodyLeaf, ...] | None:
    secrets = [leaf for leaf in body if resource.fields[leaf.field].secret in SECRETS]
    others = [leaf for leaf in body if leaf not in secrets]
    help = f"write `body: {{{CLIENT}: …, {SECRET}: …}}`"
    if len(secrets) != 1 or len(others) != 1:
        label = "names neither" if not body else f"names {len(others)} and {len(secrets)} of these"
        message = f"a client of `{endpoint.key}` has one identifier and one secret"
        _say(message, place, label, endpoint, findings, help)
        return None
    [secret], [client] = secrets, others
    field = resource.fields[client.field]
    called = {"/".join(client.pointer): CLIENT, "/".join(secret.pointer): SECRET}
    if not isinstance(field.type, Text) or field.secret is not None:
        _say(f"`{resource.name}.{field.name}` is no text", place, f"`{CLIENT}` is one", endpoint, findings)
        return None
    if not known_by_these([field.name], segments, resource):
        message = f"a `{resource.name}` is not known by `{field.name}`"
        _say(message, place, "may be the same in several rows", endpoint, findings)
        return None
    wrong = [written for written, meant in called.items() if written != meant]
    if wrong and resource.fields[client.field].seen is None and resource.fields[secret.field].seen is None:
        message = f"clients of `{endpoint.key}` call it otherwise than `{wrong[0]}`"
        _say(message, place, f"it is called `{called[wrong[0]]}`", endpoint, findings, help)
        return None
    return (replace(client, pointer=(CLIENT,)), replace(secret, pointer=(SECRET,)))


def _say(message: str, place: Span, label: str, endpoint: Endpoint, findings: Findings, help: str = "") -> None:
    findings.say(NOT_GRANTED, message, Label(place, label), help=(help,) if help else ())
