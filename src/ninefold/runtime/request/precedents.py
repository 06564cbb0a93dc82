"""What was found out of one request, and holds for the next that is like it.

A client says the same of itself each time: the same fields, often the same query. Whether it accepts what there is to
be had, and what its parameters are, follows from these alone, and from those of them that are looked up; it is noted
(`Request.notes`), for each kind of caller. Of whoever comes with them again it is not asked again; what depends on the
path, on the time, on rows or on what was counted is, by the same steps, and so is an idempotency key, which is each
time another. So is who calls (`callers.py`): what is noted holds for all callers of a kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.notes import Looked
from ninefold.runtime.messages.parameters import Page
from ninefold.runtime.operations.read import List
from ninefold.runtime.request.endpoints import Admission, Endpoint

LONGEST_QUERY = 256
"""Bytes of a query of which a precedent is noted."""


class Precedent(msgspec.Struct, frozen=True, eq=False):
    """One for callers of one kind. `env`: what its parameters gave; `page`: of a list. `conditional`: it has a
    condition on what it selects."""

    admission: Admission
    env: dict[str, Any]
    page: Page | None
    conditional: bool


class Precedents(msgspec.Struct, eq=False):
    """Those for requests that are like one another, by who calls. `names`: the fields by which they are; None: by all.
    `path`: theirs, where what was found depends on it. `of_one`: they have the same credentials as well. `left`: what
    is left of the steps of theirs, once it has been asked for (`likewise.py`)."""

    endpoint: Endpoint
    path: bytes | None
    names: frozenset[str] | None
    by_kind: dict[str, Precedent]
    of_one: bool = False
    left: Callable[..., Any] | None = None


def note(request: Request, endpoint: Endpoint, precedent: Precedent) -> None:
    """There is one for requests like this one to an endpoint, of callers as this one has."""
    notes, fields, who = request.notes, request.headers, precedent.admission.who
    if notes is None or len(request.query) > LONGEST_QUERY:
        return
    names = frozenset(fields.names) if isinstance(fields, Looked) else None
    found = find(request, endpoint)
    if found is not None and (found.names is None or (names is not None and names <= found.names)):
        found.by_kind[who] = precedent
        return
    # A page tells of others by paths like the request's.
    path = request.path if isinstance(endpoint.any_operation, List) else None
    notes.keep(endpoint.scope, request.query, fields, Precedents(endpoint, path, names, {who: precedent}))


def find(request: Request, endpoint: Endpoint) -> Precedents | None:
    """Those for requests to an endpoint with the head and the query of this one."""
    notes = request.notes
    found: Precedents | None = None if notes is None else notes.find(endpoint.scope, request.query, request.headers)
    if found is None or found.endpoint is not endpoint:
        return None
    return found if found.path is None or found.path == request.path else None


def of_one(request: Request, found: Precedents) -> Precedents:
    """The same for those alone that have the very same fields, and so the same credentials."""
    notes = request.notes
    assert notes is not None, "they are in its notes"
    narrowed = replace(found, of_one=True, left=None)
    notes.narrow(found.endpoint.scope, request.query, narrowed)
    return narrowed
