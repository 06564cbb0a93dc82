"""Who calls (part 5): credentials that are looked up in a field, or were issued."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

from tests.reference import bodies, credentials
from tests.reference.asking import ANYONE, Asking, Caller
from tests.reference.expressions import Reading, at_hand, moment
from tests.reference.failures import Failure
from tests.reference.messages import Request
from tests.reference.rows import Row
from tests.reference.values import Broken

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.service import Issued, LookedUp, Password, Scheme


def presented(scheme: Scheme, request: Request, query: Mapping[str, Sequence[str]]) -> str | None:
    """The text where a scheme looks for its credential; None: there is nothing at all."""
    match scheme.where:
        case "authorization":
            return request.headers.get("authorization")
        case "header":
            return request.headers.get(scheme.parameter.lower())
        case "query":
            given = query.get(scheme.parameter)
            return None if given is None else given[0] if len(given) == 1 else ""
        case "cookie":
            pairs = [pair.strip().partition("=") for pair in request.headers.get("cookie", "").split(";")]
            return next((value for name, equals, value in pairs if equals and name == scheme.parameter), None)
        case _:
            return None


def credential(scheme: Scheme, request: Request, query: Mapping[str, Sequence[str]]) -> str | None:
    text = presented(scheme, request, query)
    if text is None or scheme.where != "authorization":
        return text or None
    word, _, rest = text.strip(" \t").partition(" ")
    return rest.strip(" ") or None if word.lower() == scheme.parameter.lower() else None


def recognised(scheme: Scheme, text: str, reading: Reading) -> Caller | None:
    """The caller whose credential it is. A row that is gone has none (meaning "gone rows")."""
    verified, rows, names = scheme.verified, reading.rows, dict[str, Any]()
    row: Row | None = None
    if isinstance(verified, LookedUp):
        row = next((each for each in rows.all(verified.resource) if each.fields[verified.field] == text), None)
    elif isinstance(verified, Password):
        row = _by_password(verified, text, reading)
    elif isinstance(verified, Issued):
        now = moment(reading.names["now"])
        issued = [each for each in rows.credentials if (each.text, each.scheme) == (text, scheme.name)]
        good = [each for each in issued if each.until is None or now < each.until]
        row = rows.find(verified.resource, good[0].key) if good else None
        if good and verified.scopes:
            names["scopes"] = [each for each in good[0].scopes if each in verified.scopes]
    if row is None or row.is_gone:
        return None
    names |= {row.resource.name: at_hand(row), "credential": text}
    for added, value in scheme.adds:
        names[added] = reading.also(caller=names).value_or_none(value)
    return Caller(scheme.name, row, names)


def _by_password(verified: Password, text: str, reading: Reading) -> Row | None:
    """The row that a user-id and a password name (RFC 7617), the user-id `normalise`d as its field is."""
    try:
        user, colon, password = b64decode(text, validate=True).decode().partition(":")
    except ValueError:
        return None
    field = reading.resources[verified.resource].fields[verified.user]
    try:
        known = bodies.of_text(user, field.type, field)
    except Broken:
        return None
    if not colon or known is None:
        return None
    found = (row for row in reading.rows.all(verified.resource) if row.fields[verified.user] == known)
    return next((row for row in found if row.fields[verified.password] == password), None)


def first(asking: Asking) -> Caller | None:
    """Whose credential the first scheme accepts, whatever is asked for (meaning "default versions")."""
    for scheme in asking.checked.schemes:
        text = credential(scheme, asking.request, asking.query)
        found = None if text is None else recognised(scheme, text, asking.all())
        if found is not None:
            return found
    return None


def headers_of(schemes: Sequence[Scheme]) -> list[str]:
    """The header fields that credentials come in."""
    named = {"authorization": "Authorization", "cookie": "Cookie"}
    carried = (each.parameter if each.where == "header" else named.get(each.where) for each in schemes)
    return list(dict.fromkeys(each for each in carried if each is not None))


def admission(asking: Asking, endpoint: Endpoint) -> Admission | None:
    """Meaning "credentials". None: the caller is not one whom the endpoint admits."""
    admitted = {each.who: each for each in endpoint.admissions}
    if list(admitted) == [ANYONE]:
        return admitted[ANYONE]  # no credential is read
    known: list[Caller] = []
    presents: list[str] = []
    for scheme in asking.checked.schemes:
        if scheme.where == "authorization" and credentials.is_client(asking):
            continue
        if presented(scheme, asking.request, asking.query) is not None:
            presents.append(scheme.name)
        text = credential(scheme, asking.request, asking.query)
        caller = None if text is None else recognised(scheme, text, asking.all())
        if caller is not None:
            known.append(caller)
    asking.caller = next((each for each in known if each.who in admitted), Caller())
    asking.names["caller"] = asking.caller.names
    asking.stranger = known[0] if known and asking.caller.who == ANYONE else None
    if asking.caller.who != ANYONE:
        return admitted[asking.caller.who]
    if ANYONE in admitted and (known or not presents):
        return admitted[ANYONE]
    bad = next((name for name in presents if name in admitted), next(iter(presents), None))
    asking.failures.append(Failure("forbidden", endpoint.resource) if known else Failure("unauthenticated", bad))
    return None
