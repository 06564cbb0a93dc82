"""Whose the credentials are that come with a request. They are looked up or verified in the order of the schemes: by
the steps, which wait for that (`authenticate.py`), and here, where nothing has to be waited for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import msgspec

from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.parameters import Query
from ninefold.runtime.operations import credentials
from ninefold.runtime.operations.flow import Recall
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.runtime.request.issuers import Issuer, Verified
from ninefold.runtime.request.schemes import ANYONE, NOBODY, Caller, Scheme, Tokens
from ninefold.runtime.request.service import Service
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.statements import Kept

Recollect: TypeAlias = Callable[[Environment], Recall]
"""How a caller is found, of a request that begins with this environment."""

Recalled: TypeAlias = tuple[tuple[Recall, Caller | None], ...]
"""What was asked to find a caller, and whom each found."""


class Presented(msgspec.Struct, eq=False):
    """A credential that came, as one of a scheme that is in force. `recollect`: None: nobody has asked for it."""

    scheme: Scheme
    text: str
    recollect: Recollect | None = None

    def recall(self, service: Service, env: Environment) -> Recall | None:
        """How its caller is found; None: not by its digest."""
        if self.recollect is None:
            tokens = self.scheme.known_by
            if not isinstance(tokens, Tokens):
                return None
            self.recollect = _recollect(service.env, self.scheme, tokens, self.text)
        return self.recollect(env)


def presented(service: Service, request: Request, query: Query) -> tuple[Presented, ...]:
    """In the order of the schemes."""
    found = []
    for scheme in service.schemes:
        text = None if scheme.known_by is None else scheme.credential(request, query)
        if text is not None:
            found.append(Presented(scheme, text))
    return tuple(found)


def is_clients(endpoint: Endpoint, request: Request, scheme: Scheme) -> bool:
    """Whether what is where a scheme looks is no caller's credential, but says to which client a token is granted."""
    return endpoint.grants and scheme.where == "authorization" and credentials.is_clients(request)


def who_calls(
    service: Service,
    endpoint: Endpoint,
    request: Request,
    query: Query,
    came: Sequence[Presented],
    env: Environment,
    caller_of: Callable[[Recall], Caller | None],
) -> tuple[Caller, Recalled] | None:
    """As whom the steps admit a request to an endpoint whose credentials are these, and what was asked to find out, if
    `caller_of` is right. None: they refuse it, or have to wait for something else. `env`: what it begins with."""
    if endpoint.for_anyone:
        return NOBODY, ()
    recalled: Recalled = ()
    for each in came:
        scheme = each.scheme
        if is_clients(endpoint, request, scheme):
            continue
        recall = each.recall(service, env)
        if recall is not None:
            caller = caller_of(recall)
            recalled = (*recalled, (recall, caller))
        elif isinstance(scheme.known_by, Issuer):
            verified = scheme.known_by.verify(each.text, service.sources)
            if verified is not None and not isinstance(verified, Verified):
                return None
            caller = None if verified is None else scheme.bearer(each.text, verified, env)
        else:
            return None
        if caller is not None and caller.who in endpoint.admissions:
            return caller, recalled
    if came or ANYONE not in endpoint.admissions or any(each.presented(request, query) for each in service.schemes):
        return None
    return NOBODY, ()


def found_last(recall: Recall) -> Caller | None:
    """Whom it has found last, which has to be asked again."""
    return recall.last.get(recall.key)


def _recollect(constant: Environment, scheme: Scheme, tokens: Tokens, text: str) -> Recollect:
    proof = tokens.proof(text)

    def found(kept: Kept | None, env: Environment) -> Recall:
        make = partial(_known, env, scheme, tokens, text, proof)
        return Recall(kept, proof["digest"], partial(tokens.find, proof, env), make, tokens.last)

    if tokens.kept is None or scheme.adds_any:
        return partial(found, None)
    always = found(tokens.kept, constant)  # it depends on nothing else
    return lambda env: always


def _known(
    env: Environment, scheme: Scheme, tokens: Tokens, text: str, proof: Mapping[str, Stored], rows: Sequence[Row]
) -> Caller | None:
    caller = None
    if rows:
        row, scopes = tokens.granted(rows[0])
        caller = scheme.caller(row, env, text, proof, scopes)
    if caller is not None or proof["digest"] in tokens.last:  # whoever guesses has no room
        tokens.last.keep(proof["digest"], caller)
    return caller
