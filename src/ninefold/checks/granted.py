"""What comes with a credential that is made: how long it lasts, and which scopes were granted."""

from __future__ import annotations

from ninefold.contract.endpoints import Endpoint
from ninefold.contract.service import Contract
from ninefold.language.authentication import Scheme
from ninefold.language.fact import StatedNone, value_of
from ninefold.values import Array, Integer, Object, Text, Type


def issued_scheme(endpoint: Endpoint, contract: Contract) -> Scheme | None:
    """The scheme of which an endpoint makes a credential."""
    named = value_of(endpoint.issues)
    schemes = value_of(contract.authentication.schemes) or ()
    return next((each for each in schemes if named is not None and each.name == named.text), None)


def granted_type(endpoint: Endpoint, contract: Contract) -> Object | None:
    """The root `granted` of a response: what comes with a credential that was just made. None: there is none."""
    scheme = issued_scheme(endpoint, contract)
    if scheme is None or scheme.issued_to is None:
        return None
    members: dict[str, Type] = {"expires_in": Integer(nullable=isinstance(scheme.lasts, StatedNone))}
    if scheme.scopes is not None:
        members |= {"scope": Text(nullable=True), "scopes": Array(items=Text())}
    return Object(members=members)
