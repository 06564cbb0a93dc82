"""Whether a response that goes on may go on: the same request is asked again, with its caller as of now.

A row may have changed, a credential may have ended, a permission may not hold any more. What a response that goes on
shows is what the same request would be shown that came now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import assert_never

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.environment import CREDENTIAL, Environment
from ninefold.runtime.operations.flow import Asks, Fetch, Follow, Holds, Over, Select, Standing, Unreachable
from ninefold.runtime.request.exchange import Exchange
from ninefold.runtime.request.issuers import Issuer, Verified
from ninefold.runtime.request.proofs import read_certificate
from ninefold.runtime.request.schemes import (
    ANYONE,
    AnyCertificate,
    Caller,
    Certificates,
    Passwords,
    Scheme,
    Tokens,
)
from ninefold.runtime.store.protocol import Row


def followed(x: Exchange, follow: Follow) -> Follow:
    """A response that goes on, for as long as the same request would be answered so."""
    caller = x.caller
    one = caller.who, (x.request.address if caller.identity is None else caller.identity)
    same = (
        x.endpoint.scope,
        caller.who,
        caller.identity,
        _presented(caller),
        repr(x.env["request"]),
        follow.head.status,
    )
    return replace(follow, standing=partial(standing, x, _Last()), audience=same, caller=one)


@dataclass(slots=True)
class _Last:
    """The row that a credential was found to belong to last, and the caller that it made."""

    row: Row | None = None
    caller: Caller | None = None


def _presented(caller: Caller) -> tuple[object, ...]:
    """What tells credentials of one caller apart: each may end by itself."""
    return (caller.credential, caller.until, *sorted(caller.proof.items()))


def standing(x: Exchange, last: _Last) -> Standing:
    """Whether the caller of a request is still known by its credential, and permitted."""
    env, caller = x.env.copy(), x.caller
    env["now"] = x.service.sources.now()
    if caller.who == ANYONE:
        return _permitted(x, caller, env)
    if caller.until is not None and x.service.sources.clock().timestamp() >= caller.until:
        return Over.ENDED
    scheme = next(each for each in x.service.schemes if each.name == caller.who)
    match scheme.known_by:
        case Tokens() | Passwords() | Certificates() as rows:
            return Asks(Select(*rows.find(caller.proof, env)), partial(_found, x, last, scheme, env))
        case AnyCertificate():
            return _permitted(x, caller, env)
        case Issuer() as issuer:
            return _verified(x, scheme, issuer, env)
        case None:
            return Over.ENDED
        case _:
            assert_never(scheme.known_by)


def _found(x: Exchange, last: _Last, scheme: Scheme, env: Environment, rows: Sequence[Row]) -> Standing:
    """The credential's row as it is now, if there is one."""
    if not rows:
        return Over.ENDED
    if last.caller is None or rows[0] != last.row or scheme.adds_any:
        last.row, last.caller = rows[0], _caller(x, scheme, env, rows[0])
    # A credential that has come to be another row's is that caller's, and this one's no more.
    same = last.caller is not None and last.caller.identity == x.caller.identity
    return _permitted(x, last.caller, env) if last.caller is not None and same else Over.ENDED


def _caller(x: Exchange, scheme: Scheme, env: Environment, row: Row) -> Caller | None:
    """The caller of a credential's row, as when the request came."""
    was = x.caller
    match scheme.known_by:
        case Tokens() as known_by:
            row, scopes = known_by.granted(row)
            return scheme.caller(row, env, was.credential, was.proof, scopes)
        case Passwords():
            return scheme.caller(row[1:], env, proof=was.proof)
        case _:
            certificate = read_certificate(x.request.certificate or "")
            return None if certificate is None else scheme.holder(certificate, row, env, was.proof)


def _verified(x: Exchange, scheme: Scheme, issuer: Issuer, env: Environment) -> Standing:
    token = x.caller.credential or ""
    outcome = issuer.verify(token, x.service.sources)
    match outcome:
        case Verified():
            return _permitted(x, scheme.bearer(token, outcome, env), env)
        case Fetch():
            return Asks(outcome, lambda _: _verified(x, scheme, issuer, env))
        case Unreachable():
            return Over.UNKNOWN
        case None:
            return Over.ENDED
        case _:
            assert_never(outcome)


def _permitted(x: Exchange, caller: Caller, env: Environment) -> Standing:
    """Whether the endpoint's permission holds of the caller."""
    assert x.admission is not None
    env = {**env, "caller": caller.root, CREDENTIAL: caller.proof}
    if x.admission.admits is not None and not x.admission.admits(env):
        return Over.ENDED
    judge = x.admission.operation.judge
    if judge is None:
        return Holds(env)
    return Asks(
        Select(*judge.bound(env, False)), lambda rows: Holds(env) if judge.refusal(rows, env) is None else Over.ENDED
    )
