"""Credentials that the service makes (meanings "issued credentials", "ended credentials", "granted scopes"), who signs
in by a password or a client's secret, and who signs out."""

from __future__ import annotations

import binascii
from base64 import b64decode
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import unquote_to_bytes

from tests.reference import writes
from tests.reference.asking import Asking
from tests.reference.bodies import Given, normalise
from tests.reference.expressions import at_hand, moment, same
from tests.reference.failures import Broken, Failure
from tests.reference.messages import Request
from tests.reference.rows import Credential, Row

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.operations import Create, SignIn, SignOut, Update
from ninefold.checked.resources import Resource
from ninefold.checked.service import Issued
from ninefold.language.verbs import GRANT, KINDS

SIGNING = ("sign in", GRANT, "sign out")
"""The verbs by which somebody signs in or out."""

# ── Who signs in and out ──────────────────────────────────────────────────────────────────────────────────────────


def is_by_itself(endpoint: Endpoint) -> bool:
    """Whether neither path nor `where` says which row, but a secret or the credential that came."""
    operation = endpoint.operation
    is_out = isinstance(operation, SignOut) and not endpoint.names and operation.where is None
    return is_out or isinstance(operation, SignIn)


def found(asking: Asking, work: writes.Work, admission: Admission, given: Given) -> writes.Work:
    """The row that signs in or out, and what it changes; `presence` says that there is none."""
    endpoint, operation = work.endpoint, work.endpoint.operation
    assert endpoint.resource is not None
    if not is_by_itself(endpoint):
        return work
    if isinstance(operation, SignOut):
        row = asking.caller.row  # row rules take no part
        work = replace(work, row=row, presence=[] if row else [Failure("unauthenticated", endpoint.resource)])
    elif isinstance(operation, SignIn):
        rows = asking.rows.all(endpoint.resource) if given.is_valid else []
        row = next((each for each in rows if not each.is_gone and _is_known(each, work, given)), None)
        refused = [Failure("sign in refused", endpoint.resource)] if given.is_valid and row is None else []
        work = replace(work, row=row, presence=refused, endpoint=_changing(endpoint, operation))
    if work.row is None:
        return work
    condition = None if admission.of_request else admission.condition
    holds = condition is None or work.reading.also(**{work.row.resource.name: at_hand(work.row)}).holds(condition)
    return replace(work, forbidden=not holds, told_of=work.row)


def refusals(asking: Asking, work: writes.Work, given: Given) -> list[Failure]:
    """What refuses who signs in or out. Of the row itself only its secret opens anything."""
    if work.row is None:
        return [*work.on_the_way, *work.presence]
    if not is_by_itself(work.endpoint) and work.endpoint.verb == "sign out":
        presence = [*work.on_the_way, *work.presence]
        presence += [Failure("gone", work.resource.name)] if work.row.is_gone and not presence else []
        if presence:
            return presence
    failures = [Failure("forbidden", work.row.resource.name)] if work.forbidden else []
    if work.endpoint.verb == "update":
        nobody = replace(asking.request, headers={})
        return [*failures, *replace(work, forbidden=False).refusals(work.endpoint.admissions[0], Given(), nobody)]
    about = work.reading.also(**{work.row.resource.name: at_hand(work.row)})
    guards = work.endpoint.operation.guards
    return [
        *failures,
        *(Failure("check", work.resource.name, each.code) for each in guards if not about.holds(each.that)),
    ]


def _is_known(row: Row, work: writes.Work, given: Given) -> bool:
    """Whether it is the row that path and body name, and the secret is its own. What is not there is equal to
    nothing."""
    values = {leaf.field: given.values.get(leaf.field) for leaf in work.endpoint.takes.body or ()}
    values |= {name.field: (work.values or {})[name.text] for name in work.endpoint.names}
    return all(value is not None and same(row.fields[name], value) for name, value in values.items())


def _changing(endpoint: Endpoint, operation: SignIn) -> Endpoint:
    """What signing in makes of the row: what the endpoint sets, if anything, and nothing of the body."""
    if not operation.sets:
        return endpoint
    own = Update(
        operation.key, operation.place, KINDS["update"], operation.resource, operation.response,
        guards=operation.guards, errors=operation.errors, takes=replace(operation.takes, body=()), also=operation.also,
        sets=operation.sets, issues=operation.issues, ends=operation.ends, further=operation.further,
    )  # fmt: skip
    return replace(endpoint, operation=own)


# ── By grant ──────────────────────────────────────────────────────────────────────────────────────────────────────


def is_client(asking: Asking) -> bool:
    """What a client says of itself is no credential here."""
    return asking.endpoint is not None and asking.endpoint.verb == GRANT and _basic(asking.request) is not None


def _basic(request: Request) -> str | None:
    word, _, rest = request.headers.get("authorization", "").strip(" \t").partition(" ")
    return rest.strip() if word.lower() == "basic" else None


def with_client(request: Request, document: Any) -> Any:
    """The body with the client in it, wherever it came (RFC 6749, section 2.3.1); or the list of what is wrong."""
    if not isinstance(document, dict):
        return document
    parameters = ("grant_type", "scope", "client_id", "client_secret")
    given = {name: value for name, value in document.items() if value != "" or name not in parameters}
    basic = _basic(request)
    if basic is not None:
        client, secret = _written(basic)
        twice = ["client_id"] if given.get("client_id", client) != client else []
        twice += ["client_secret"] if "client_secret" in given else []
        if twice:
            return [Failure("invalid", fields=(Broken("body", (name,), "repeated"),)) for name in twice]
        given |= {"client_id": client, "client_secret": secret}
    return {"client_id": "", "client_secret": "", **given}


def _written(basic: str) -> tuple[str, str]:
    try:
        client, colon, secret = b64decode(basic, validate=True).partition(b":")
        if not colon:
            return "", ""
        one, other = (unquote_to_bytes(each.replace(b"+", b" ")).decode() for each in (client, secret))
    except (binascii.Error, ValueError):
        return "", ""
    return one, other


def given(document: Any, endpoint: Endpoint, resource: Resource, unknown: str) -> Given:
    """What a request for a token gives, whatever the rules of the fields say."""
    found = Given()
    if not isinstance(document, dict):
        found.failures.append(Failure("invalid", fields=(Broken("body", (), "type"),)))
        return found
    texts = ["grant_type", "scope", "client_id", "client_secret"]
    for name in texts:
        if name in document and not isinstance(document[name], str):
            found.failures.append(Failure("invalid", fields=(Broken("body", (name,), "type"),)))
    if "grant_type" not in document:
        found.failures.append(Failure("invalid", fields=(Broken("body", ("grant_type",), "required"),)))
    elif document["grant_type"] != "client_credentials":
        found.failures.append(Failure("invalid", "grant_type", fields=(Broken("body", ("grant_type",), "const"),)))
    if unknown == "refused":
        others = [name for name in document if name not in texts]
        found.failures += [Failure("invalid", fields=(Broken("body", (name,), "unknown"),)) for name in others]
    leaves = endpoint.takes.body or ()
    unmade = [leaf.pointer for leaf in leaves if not normalise(document, leaf, resource.fields[leaf.field])]
    found.failures += [Failure("invalid", fields=(Broken("body", place, "stored"),)) for place in unmade]
    found.values = {leaf.field: document[leaf.pointer[0]] for leaf in leaves}
    return found


def not_granted(asking: Asking, work: writes.Work, document: Any) -> list[Failure]:
    """A scope that the row may not have."""
    if work.row is None or not isinstance(document, dict) or not isinstance(document.get("scope"), str):
        return []
    may = set(_scopes(asking, work.endpoint, work.row))
    if set(document["scope"].split(" ")) <= may:
        return []
    return [Failure("invalid", "scope", fields=(Broken("body", ("scope",), "enum"),))]


# ── What was issued ───────────────────────────────────────────────────────────────────────────────────────────────


def written(asking: Asking, endpoint: Endpoint, row: Row, given: Given, asked: Any = None) -> None:
    """What a write of a row does with its credentials: some end, and one may be made. `asked`: the scopes that are."""
    operation = endpoint.mutation
    presented, rows = asking.caller.names.get("credential"), asking.rows
    new_password = any(row.resource.fields[name].secret == "password" for name in given.values)
    ends = [getattr(operation, "ends", None), "others" if new_password else None]

    def has_ended(each: Credential) -> bool:
        if (each.resource, each.key) != (row.resource.name, row.key):
            return False
        is_presented = each.text == presented
        return "all" in ends or ("others" in ends and not is_presented) or ("presented" in ends and is_presented)

    rows.credentials = [each for each in rows.credentials if not has_ended(each)]
    issues = operation.issues if isinstance(operation, Create | Update | SignIn) else None
    if issues is None:
        return
    scheme = next(each for each in asking.checked.schemes if each.name == issues)
    lasts = scheme.said.get("lasts")
    text = asking.chance.token()
    until = None if lasts is None else moment(asking.now) + timedelta(microseconds=int(lasts))
    scopes = [each for each in _scopes(asking, endpoint, row) if asked is None or each in asked]
    rows.credentials.append(Credential(text, issues, row.resource.name, row.key, until, tuple(scopes)))
    seconds = None if lasts is None else int(lasts) // 1_000_000
    asking.names["caller"] = {**asking.names["caller"], "credential": text}
    asking.names["granted"] = {"scopes": scopes, "scope": " ".join(scopes) or None, "expires_in": seconds}


def _scopes(asking: Asking, endpoint: Endpoint, row: Row) -> list[str]:
    """Which a row may have: of those that it is granted, those that the scheme lists, in its order."""
    operation = endpoint.mutation
    issues = None if operation is None else operation.issues
    issued = next(each.verified for each in asking.checked.schemes if each.name == issues)
    assert isinstance(issued, Issued)
    if issued.granted is None:
        return []
    value = asking.all().also(**{row.resource.name: at_hand(row)}).value_or_none(issued.granted)
    return [each for each in issued.scopes if each in (value or [])]
