"""Requests for tokens by the client credentials grant (RFC 6749, section 4.4): who the client says it is, and what it
asks for."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from ninefold.plan import grants
from ninefold.server.forms import decoded
from ninefold.server.messages import Request
from ninefold.server.problems import Failure, FieldFailure, field_failure


def is_clients(request: Request) -> bool:
    """Whether a request carries a client's own credentials, and not those of a caller."""
    return request.headers.get("authorization", "").lstrip(" \t").lower().startswith("basic ")


def with_client(document: Any, request: Request) -> Any:
    """The body with the client's identifier and secret in it, wherever they came; a Failure where they came in two
    ways. A parameter without a value counts as left out (RFC 6749, section 3.1), and who says nothing of itself is
    nobody: that is for the secret to be found wrong."""
    if type(document) is not dict:
        return document
    given = {name: value for name, value in document.items() if value != "" or name not in grants.PARAMETERS}
    if is_clients(request):
        client, secret = _of_basic(request.headers["authorization"])
        wrong = [grants.SECRET] if grants.SECRET in given else []
        wrong += [grants.CLIENT] if given.get(grants.CLIENT, client) != client else []
        if wrong:
            return Failure("invalid", fields=tuple(field_failure("body", (name,), "repeated") for name in wrong))
        given |= {grants.CLIENT: client, grants.SECRET: secret}
    return {grants.CLIENT: "", grants.SECRET: "", **given}


def _of_basic(authorization: str) -> tuple[str, str]:
    """Both are written as in a form before they are joined (RFC 6749, section 2.3.1). What is not so is nobody's."""
    try:
        client, colon, secret = b64decode(authorization.split(None, 1)[1].strip(), validate=True).partition(b":")
        return (decoded(client), decoded(secret)) if colon else ("", "")
    except (binascii.Error, ValueError, IndexError):
        return "", ""


def narrowed(failure: Failure) -> tuple[Failure, ...]:
    """What is wrong with the body, with that apart which has a condition of its own: another kind of grant."""
    of_type = FieldFailure("body", f"/{grants.GRANT_TYPE}", grants.GRANT_TYPE, "const")
    if of_type not in failure.fields:
        return (failure,)
    others = tuple(each for each in failure.fields if each != of_type)
    unsupported = Failure("invalid", grants.GRANT_TYPE, fields=(of_type,))
    return (unsupported, *((Failure("invalid", fields=others),) if others else ()))


def asked(body: Mapping[str, Any]) -> dict[str, Any]:
    """The root `$asked`: the scopes that are asked for, which a space tells apart (RFC 6749, section 3.3)."""
    scope = body.get(grants.ASKED_FIELD)
    return {"scopes": list(dict.fromkeys(scope.split(" "))) if isinstance(scope, str) else None}
