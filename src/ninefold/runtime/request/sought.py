"""A row that is sought: what is left of the steps of a read that waits for its row alone (`likewise.py`), or for that
together with what it was worked out by (`handed.py`). Mostly all is so, and the row is shown; the request as the steps
have it is made where it is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.operations.flow import Select, SelectAsOne, Wait
from ninefold.runtime.operations.read import Read
from ninefold.runtime.request.endpoints import Admission, Endpoint
from ninefold.runtime.request.exchange import call_of
from ninefold.runtime.request.handed import First, Handed, asked_by, asked_first
from ninefold.runtime.request.precedents import Precedent
from ninefold.runtime.request.routes import Version
from ninefold.runtime.request.schemes import Caller
from ninefold.runtime.request.service import Service
from ninefold.runtime.store.protocol import Row


class Alike(msgspec.Struct, frozen=True, eq=False):
    """What all requests have in common that seek a row as an earlier one did. `shown`: the response of a row; raises
    what a step may."""

    service: Service
    endpoint: Endpoint
    admission: Admission
    operation: Read
    shown: Callable[[Request, Environment, Row], Response]


class Sought(msgspec.Struct, eq=False):
    """`work`: its row, and before that what is asked `first`; None: nothing is."""

    alike: Alike
    request: Request
    version: Version
    values: Sequence[str]
    caller: Caller
    env: Environment
    work: Select | SelectAsOne
    first: First | None = None

    def rows(self, found: Any) -> Sequence[Row]:
        """Of what was found those that are its own, where all is so by which it was worked out."""
        first = self.first
        if first is None:
            return found  # type: ignore[no-any-return]
        return found[-1] if len(found) > len(first.reads) and first.otherwise(self.env["now"], found) is None else ()

    def handed(self) -> Handed:
        """The request as the steps have it that wait for the row."""
        service, endpoint = self.alike.service, self.alike.endpoint
        call = call_of(service, self.request, self.env, endpoint, self.caller)
        x = asked_by(service, call, self.version, endpoint, self.values, self.caller, self.alike.admission)
        step = self.alike.operation.perform(call)
        assert isinstance(step, Wait), "a row is read"
        return Handed(x, step) if self.first is None else asked_first(Handed(x, step), self.first)


Seeks: TypeAlias = Callable[[Request, bytes, Version, Sequence[str], Caller, Environment], Sought | None]


def seeking(service: Service, endpoint: Endpoint, admission: Admission, operation: Read, precedent: Precedent) -> Seeks:
    """What is left of a request that is permitted, where nothing is told with its row."""
    (text, binds), shown = operation.sought(precedent.env, precedent.conditional)
    alike = Alike(service, endpoint, admission, operation, shown)

    def sought(
        request: Request, content: bytes, version: Version, values: Sequence[str], caller: Caller, env: Environment
    ) -> Sought | None:
        return None if content else Sought(alike, request, version, values, caller, env, Select(text, binds(env)))

    return sought


def behind(sought: Sought, first: First) -> Sought:
    """The same once what it was worked out by is known to be so."""
    own = sought.work
    assert isinstance(own, Select), "nothing is asked before yet"
    sought.first, sought.work = first, SelectAsOne((*first.reads, (own.text, own.binds)))
    return sought
