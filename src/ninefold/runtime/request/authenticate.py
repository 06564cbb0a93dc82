"""The steps that find out who calls: the schemes are asked one after another, whose credential it is that came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias, assert_never

import msgspec

from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations import credentials
from ninefold.runtime.operations.credentials import UserAndPassword, basic, is_password
from ninefold.runtime.operations.flow import Compute, Fetch, Next, Recall, Select, Unreachable, Wait
from ninefold.runtime.request.admit import admit, count_it, counted
from ninefold.runtime.request.exchange import TOO_MANY_REQUESTS, Exchange, Recollect, always, unavailable
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
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.statements import Kept

Pin: TypeAlias = Callable[["Recognition", Caller], Next]


class Recognition(msgspec.Struct, eq=False):
    """Whom schemes have recognised so far. `pin`: the step that takes the caller, where it depends on who calls of
    which version the request is: every scheme is asked then, whichever the endpoint admits. `callers`: what schemes
    have made of their credentials, by their numbers. `unreachable`: an issuer could not be asked for its keys."""

    pin: Pin | None = None
    callers: dict[int, Caller | None] = {}
    unreachable: bool = False


def authenticate(x: Exchange, known: Recognition, first: int = 0) -> Next:
    """Look up or verify the credential of the first scheme, from `first` on, that there is one of."""
    # A rate counts a request whatever becomes of it, and may count it by its caller.
    if x.settled(x.endpoint.lowest.authentication) and not x.endpoint.rates:
        return x.answer()
    if x.endpoint.for_anyone:
        return admit(x)
    schemes = x.service.schemes
    for index in range(first, len(schemes)):
        if index in known.callers:
            caller = known.callers[index]
            if caller is None:
                continue
            return _identified(x, known, index, caller)
        known_by = schemes[index].known_by
        credential = None if known_by is None else schemes[index].credential(x.request, x.query)
        if credential is None or _is_clients(x, schemes[index]):
            continue
        go_on = partial(_identified, x, known, index)
        match known_by:
            case Tokens():
                recall = _recall(x.service.env, schemes[index], known_by, credential)
                x.alone = _alone(schemes, index)
                by_request = partial(_recalled, x.service.env, schemes[index], known_by)
                x.recall = always(recall) if x.alone is None else by_request
                return Wait(recall(x.env), go_on)
            case Passwords():
                given = basic(credential)
                if given is not None:
                    found = partial(_check_password, x, schemes[index], known_by, given, go_on)
                    return Wait(Select(*known_by.named(given.user, x.env)), found)
            case Issuer():
                x.alone = _alone(schemes, index)
                x.bearer = partial(_bearer, schemes[index], known_by, x.service.sources)
                return _verify(x, known, schemes[index], known_by, credential, go_on)
            case Certificates() | AnyCertificate():
                return _hold(x, schemes[index], known_by, credential, go_on)
            case None:
                pass
            case _:
                assert_never(known_by)
    return _unidentified(x, known)


Identified: TypeAlias = Callable[[Caller | None], Next]
"""The step that goes on with the caller whom a scheme knows by a credential; None: it knows none."""


def _alone(schemes: Sequence[Scheme], index: int) -> str | None:
    """The header that alone says whom a scheme knows: no other scheme looks there before. None: more takes part."""
    header = schemes[index].header
    return None if header in (each.header for each in schemes[:index] if each.known_by is not None) else header


def _recalled(constant: Environment, scheme: Scheme, tokens: Tokens, request: Request) -> Recollect | None:
    credential = scheme.credential(request, {})
    return None if credential is None else _recall(constant, scheme, tokens, credential)


def _recall(constant: Environment, scheme: Scheme, tokens: Tokens, credential: str) -> Recollect:
    """How the caller is found whose credential it is, of a request that begins with this environment."""
    proof = tokens.proof(credential)

    def found(kept: Kept | None, env: Environment) -> Recall:
        make = partial(_known, env, scheme, tokens, credential, proof)
        return Recall(kept, proof["digest"], partial(tokens.find, proof, env), make, tokens.last)

    if tokens.kept is None or scheme.adds_any:
        return partial(found, None)
    always = found(tokens.kept, constant)  # it depends on nothing else
    return lambda env: always


def _known(
    env: Environment,
    scheme: Scheme,
    tokens: Tokens,
    credential: str,
    proof: Mapping[str, Stored],
    rows: Sequence[Row],
) -> Caller | None:
    caller = None
    if rows:
        row, scopes = tokens.granted(rows[0])
        caller = scheme.caller(row, env, credential, proof, scopes)
    if caller is not None or proof["digest"] in tokens.last:  # whoever guesses has no room
        tokens.last.keep(proof["digest"], caller)
    return caller


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


def _bearer(scheme: Scheme, issuer: Issuer, sources: Sources, request: Request, env: Environment) -> Caller | None:
    """Whom the token of a request is about; None: nobody, or something has to be fetched to tell."""
    token = scheme.credential(request, {})
    verified = None if token is None else issuer.verify(token, sources)
    return scheme.bearer(token, verified, env) if token is not None and isinstance(verified, Verified) else None


def _identified(x: Exchange, known: Recognition, index: int, caller: Caller | None) -> Next:
    """Go on with the caller whom a scheme knows by the credential; None: it knows none, and the next one is asked."""
    known.callers[index] = caller
    if caller is None:
        x.recall = x.bearer = None
        return authenticate(x, known, index + 1)
    if known.pin is not None:
        return known.pin(known, caller)
    if caller.who in x.endpoint.admissions:
        x.caller = caller
        return admit(x)
    x.stranger, x.recall, x.bearer = x.stranger or caller, None, None
    return authenticate(x, known, index + 1)


def _unidentified(x: Exchange, known: Recognition) -> Next:
    """No scheme that the endpoint admits accepted a credential."""
    if known.pin is not None:
        return unavailable(x) if known.unreachable else known.pin(known, NOBODY)
    if known.unreachable:
        # Whether the credential is good nobody can tell now: neither answer would be true.
        return count_it(x, lambda: x.answer() if TOO_MANY_REQUESTS in x.failures else unavailable(x))
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
    schemes = x.service.schemes
    return (each for each in schemes if each.presented(x.request, x.query) and not _is_clients(x, each))


def _is_clients(x: Exchange, scheme: Scheme) -> bool:
    """Whether what is where a scheme looks is no caller's credential, but says to which client a token is granted."""
    return x.endpoint.grants and scheme.where == "authorization" and credentials.is_clients(x.request)
