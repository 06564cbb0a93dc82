"""What was found out of one request, and holds for the next that is like it.

A client says the same of itself each time: the same fields, often the same query. Whether it accepts what there is to
be had, where its credential stands, what its parameters are, follows from these alone, and from those of them that are
looked up; it is noted (`Request.notes`). Of whoever comes with them again it is not asked again; what depends on the
path, on the time, on rows or on what was counted is, by the same steps, and so is an idempotency key, which is each
time another. Where one header alone says who calls, it holds for all callers of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import msgspec
from msgspec.structs import replace

from ninefold.plan import environment
from ninefold.runtime.messages.conditional import is_asked
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.notes import Looked
from ninefold.runtime.messages.parameters import Page
from ninefold.runtime.operations.read import List
from ninefold.runtime.operations.stream import Stream
from ninefold.runtime.request.endpoints import Admission, Endpoint
from ninefold.runtime.request.exchange import Asked, Bearer, Exchange, Recollects, always

LONGEST_QUERY = 256
"""Bytes of a query of which a precedent is noted."""

_READ = ("request", environment.CHOSEN, environment.FILTER)
"""The roots that come of the query and of the fields."""


class Precedent(msgspec.Struct, eq=False):
    """`recall`: how the caller is found, `bearer`: where no row says it; None: the endpoint is for anyone. `alone`:
    the header in which those that are like it may each have a credential of its own; None: they have all the same.
    `env`: what its parameters gave; `page`: of a list. `path`: that of the request, where what was found depends on
    it. `conditional`: it has a condition on what it selects. `left`: what is left of the steps of those that are
    like it, once it has been asked for (`likewise.py`)."""

    endpoint: Endpoint
    admission: Admission
    recall: Recollects | None
    bearer: Bearer | None
    env: dict[str, Any]
    page: Page | None
    path: bytes | None
    conditional: bool
    alone: str | None
    left: Callable[..., Any] | None = None

    def is_of(self, endpoint: Endpoint, request: Request) -> bool:
        """Whether it is one for a request with its head and its query, to this endpoint."""
        return self.endpoint is endpoint and (self.path is None or self.path == request.path)

    def of_caller(self, request: Request) -> Precedent | None:
        """The same for those alone that have the credential of this request; None: it has none."""
        if self.bearer is not None:  # which says it of each request
            return replace(self, alone=None, left=None)
        recall = None if self.recall is None else self.recall(request)
        return None if recall is None else replace(self, recall=always(recall), alone=None, left=None)


def note(x: Exchange, asked: Asked) -> None:
    """Nothing was refused so far of a request whose parameters are read: it is one for those that are like it, unless
    more takes part in it than its fields and its query."""
    request, endpoint, admission, page = x.request, x.endpoint, x.admission, asked.call.page
    notes = request.notes
    if notes is None or admission is None or x.failures or not x.addressable or x.stranger is not None:
        return
    if endpoint.cases is not None or endpoint.path is not None or isinstance(admission.operation, Stream):
        return
    if (x.recall is None and x.bearer is None and not endpoint.for_anyone) or request.certificate is not None:
        return
    if (page is not None and page.cursor is not None) or len(request.query) > LONGEST_QUERY:
        return
    # A page tells of others by paths like the request's.
    path = request.path if isinstance(admission.operation, List) else None
    if _is_known(x, path):
        return
    env = {root: value for root, value in x.env.items() if root in _READ}
    fields, alone = request.headers, x.alone
    noted: Precedent | None
    noted = Precedent(endpoint, admission, x.recall, x.bearer, env, page, path, is_asked(request), alone)
    if isinstance(fields, Looked) and alone not in fields.names:
        fields.alone = alone
    elif alone is not None:  # what else it says may have been asked for
        noted = noted.of_caller(request)
    notes.keep(endpoint.scope, request.query, fields, noted)


def _is_known(x: Exchange, path: bytes | None) -> bool:
    """Whether the same is noted already of other callers."""
    notes, endpoint = x.request.notes, x.endpoint
    found: Precedent | None = None if notes is None else notes.find(endpoint.scope, x.request.query, x.request.headers)
    if found is None or found.alone is None or found.alone != x.alone:
        return False
    return found.endpoint is endpoint and found.admission is x.admission and found.path == path


def find(request: Request, scope: Hashable) -> Precedent | None:
    """That of requests to an endpoint with the head and the query of this one. Whose head is a client's own have its
    credential as well."""
    notes = request.notes
    found: Precedent | None = None if notes is None else notes.find(scope, request.query, request.headers)
    if notes is None or found is None or found.alone is None or found.alone in notes.own:
        return found
    found = found.of_caller(request)
    if found is not None:
        notes.narrow(scope, request.query, found)
    return found


def of(x: Exchange) -> Precedent | None:
    """That of a request of which the endpoint is known, and nothing refused; None: there is none, or its credential has
    found nobody yet."""
    request = x.request
    if request.certificate is not None:
        return None
    found = find(request, x.endpoint.scope)
    if found is None or not found.is_of(x.endpoint, request):
        return None
    if found.recall is not None:
        recall = found.recall(request)
        looking = None if recall is None else recall(x.env)
        if looking is None or looking.last.get(looking.key) is None:
            return None
    return found
