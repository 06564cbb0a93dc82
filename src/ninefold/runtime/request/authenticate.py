"""The steps that find out who calls: the schemes are asked one after another, whose credential it is that came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias, assert_never

import msgspec

from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations.credentials import UserAndPassword, basic, is_password
from ninefold.runtime.operations.flow import Compute, Fetch, Next, Select, Unreachable, Wait
from ninefold.runtime.request.admit import admit, count_it, counted
from ninefold.runtime.request.callers import is_clients
from ninefold.runtime.request.exchange import Exchange, refused_for, unavailable
from ninefold.runtime.request.issuers import Issuer, Verified
from ninefold.runtime.request.proofs import Certificate, read_certificate
from ninefold.runtime.request.schemes import (
    ANYONE,
    NOBODY,
    AnyCertificate,
    Caller,
    Certificates,
    Passwords,
    Scheme,
    Tokens,
)
from ninefold.runtime.store.protocol import Row, Stored

Pin: TypeAlias = Callable[["Recognition", Caller], Next]


class Recognition(msgspec.Struct, eq=False):
    """Whom schemes have recognised so far. `pin`: the step that takes the caller, where it depends on who calls of
    which version the request is: every scheme is asked then, whichever the endpoint admits. `callers`: what schemes
    have made of the credentials that came, by their places. `unreachable`: an issuer could not be asked for its keys.
    """

    pin: Pin | None = None
    callers: dict[int, Caller | None] = {}
    unreachable: bool = False


def authenticate(x: Exchange, known: Recognition, first: int = 0) -> Next:
    """Look up or verify the first, from `first` on, of the credentials that came."""
    # A rate counts a request whatever becomes of it, and may count it by its caller.
    if x.settled(x.endpoint.lowest.authentication) and not x.endpoint.rates:
        return x.answer()
    if x.endpoint.for_anyone:
        return admit(x)
    came = x.credentials()
    for index in range(first, len(came)):
        if index in known.callers:
            caller = known.callers[index]
            if caller is None:
                continue
            return _identified(x, known, index, caller)
        scheme, text = came[index].scheme, came[index].text
        if is_clients(x.endpoint, x.request, scheme):
            continue
        known_by, go_on = scheme.known_by, partial(_identified, x, known, index)
        match known_by:
            case Tokens():
                recall = came[index].recall(x.service, x.env)
                assert recall is not None, "it is found by its digest"
                return Wait(recall, go_on)
            case Passwords():
                given = basic(text)
                if given is not None:
                    found = partial(_check_password, x, scheme, known_by, given, go_on)
                    return Wait(Select(*known_by.named(given.user, x.env)), found)
            case Issuer():
                return _verify(x, known, scheme, known_by, text, go_on)
            case Certificates() | AnyCertificate():
                return _hold(x, scheme, known_by, text, go_on)
            case None:
                pass
            case _:
                assert_never(known_by)
    return _unidentified(x, known)


Identified: TypeAlias = Callable[[Caller | None], Next]
"""The step that goes on with the caller whom a scheme knows by a credential; None: it knows none."""


def _check_password(
    x: Exchange,
    scheme: Scheme,
    known_by: Passwords,
    given: UserAndPassword,
    identified: Identified,
    rows: Sequence[Row],
) -> Next:
    """Hold the password to the hash of the row's; where there is no row, to nobody's, which takes as long. A password
    is nothing that anybody reads, not even who sent it: there is no `caller.credential`."""

    def checked(is_right: bool) -> Next:
        if not is_right:
            return identified(None)
        proof = {"user": known_by.user(given.user), "hash": rows[0][0]}
        return identified(scheme.caller(rows[0][1:], x.env, proof=proof))

    return Wait(Compute(partial(is_password, rows[0][0] if rows else None, given.password)), checked)


def _hold(
    x: Exchange, scheme: Scheme, known_by: Certificates | AnyCertificate, pem: str, identified: Identified
) -> Next:
    """Read a certificate that the TLS handshake has verified, and look its row up where it has one."""
    certificate = read_certificate(pem)
    if certificate is None or certificate.until <= x.service.sources.clock().timestamp():
        return identified(None)
    if isinstance(known_by, AnyCertificate):
        return identified(scheme.holder(certificate, None, x.env, {}))
    proof = known_by.proof(certificate, x.env)
    if proof is None:
        return identified(None)
    return Wait(Select(*known_by.find(proof, x.env)), partial(_held, x, scheme, certificate, proof, identified))


def _held(
    x: Exchange,
    scheme: Scheme,
    certificate: Certificate,
    proof: Mapping[str, Stored],
    identified: Identified,
    rows: Sequence[Row],
) -> Next:
    return identified(scheme.holder(certificate, rows[0], x.env, proof) if rows else None)


def _verify(
    x: Exchange, known: Recognition, scheme: Scheme, issuer: Issuer, token: str, identified: Identified
) -> Next:
    """Verify a token that an issuer has signed; where something of the issuer's is needed first, wait for that."""
    outcome = issuer.verify(token, x.service.sources)
    match outcome:
        case Fetch():
            return Wait(outcome, lambda _: _verify(x, known, scheme, issuer, token, identified))
        case Unreachable():
            known.unreachable = True
            return identified(None)
        case Verified():
            return identified(scheme.bearer(token, outcome, x.env))
        case None:
            return identified(None)
        case _:
            assert_never(outcome)


def _identified(x: Exchange, known: Recognition, index: int, caller: Caller | None) -> Next:
    """Go on with the caller whom a scheme knows by the credential; None: it knows none, and the next one is asked."""
    known.callers[index] = caller
    if caller is None:
        return authenticate(x, known, index + 1)
    if known.pin is not None:
        return known.pin(known, caller)
    if caller.who in x.endpoint.admissions:
        x.caller = caller
        return admit(x)
    x.stranger = x.stranger or caller
    return authenticate(x, known, index + 1)


def _unidentified(x: Exchange, known: Recognition) -> Next:
    """No scheme that the endpoint admits accepted a credential."""
    if known.pin is not None:
        return unavailable(x) if known.unreachable else known.pin(known, NOBODY)
    if known.unreachable:
        # Whether the credential is good nobody can tell now: neither answer would be true.
        return count_it(x, lambda: x.answer() if refused_for(x.told) else unavailable(x))
    anyone = ANYONE in x.endpoint.admissions
    if x.stranger is not None and not anyone:
        x.refuse(Failure("forbidden", x.endpoint.resource))
    elif x.stranger is None and (not anyone or any(_presents(x))):
        x.refuse(Failure("unauthenticated", _bad(x)))
    else:
        return admit(x)
    return counted(x)


def _bad(x: Exchange) -> str | None:
    """Of which scheme the credential is that came and was not good: the first one that looks where it is, of those
    that the endpoint admits, or of all. None: no credential came."""
    names = [scheme.name for scheme in _presents(x)]
    return next((name for name in names if name in x.endpoint.admissions), next(iter(names), None))


def _presents(x: Exchange) -> Iterator[Scheme]:
    """The schemes that find something where they look for a credential."""
    found = (each for each in x.service.schemes if each.presented(x.request, x.query))
    return (each for each in found if not is_clients(x.endpoint, x.request, each))
