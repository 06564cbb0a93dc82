"""Schemes: how a request's credential is found, and whose it is."""

from __future__ import annotations

from typing import Literal

import msgspec

from ninefold.expressions.tree import Typed
from ninefold.plan.places import Place
from ninefold.plan.statement import Statement


class Scheme(msgspec.Struct, frozen=True, omit_defaults=True):
    """`where`: the Authorization header with the auth-scheme `name` (RFC 9110 11.4), or a header, query parameter
    or cookie of that name. `lookup` binds the SHA-256 digest of the credential and gives the row of `resource`
    that it belongs to, which is `caller.RESOURCE`; a scheme without one accepts no credential in this build.
    `adds` are further members of `caller`."""

    scheme: str
    where: Literal["authorization", "header", "query", "cookie"]
    name: str
    challenge: str
    resource: str | None = None
    lookup: Statement | None = None
    adds: tuple[tuple[str, Typed], ...] = ()
    trace: tuple[Place, ...] = ()
