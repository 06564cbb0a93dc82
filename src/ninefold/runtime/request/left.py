"""What the functions have in common that are left of the steps (`likewise.py`), of reads and of writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from ninefold.plan.environment import Environment
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.operations.flow import Ask, Recall, Share, Work
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.runtime.request.handed import Handed
from ninefold.runtime.request.rates import Asking, Told, counter
from ninefold.runtime.request.routes import Version
from ninefold.runtime.request.schemes import Caller
from ninefold.runtime.request.service import Service
from ninefold.runtime.request.sought import Sought
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.statements import Again


class AtOnce(Protocol):
    """Does what a step waits for, where nothing has to be waited for. Raises whatever it likes where it has to be."""

    def at_once(self, work: Work) -> Any: ...

    def again(self, work: Recall) -> Again: ...

    def recalled_at_once(self, work: Recall) -> Any: ...

    def rows_at_once(self, text: str, binds: Sequence[Stored]) -> list[Row]: ...


class Given(msgspec.Struct, frozen=True):
    """An answer, with what the log says of its request. `now`: when it came."""

    response: Response
    endpoint: Endpoint
    caller: Caller
    now: str


Waits: TypeAlias = Handed | Sought
"""A request of which something is waited for."""

Asks: TypeAlias = Callable[[Request, bytes, Version, Sequence[str], Caller, Environment], Given | Waits | None]
"""What is left of a request that is permitted."""


def counting(
    service: Service, endpoint: Endpoint
) -> Callable[[Caller, Request, Environment], tuple[Told, ...] | Share | Ask | None]:
    """The rates count it (`count_it`): from here on it is done. None: one refuses it, and has not counted it."""
    counted_by, rates = service.counted, endpoint.rates
    if not rates:
        return lambda caller, request, env: ()
    if service.counter is None and not service.together:
        return counter(rates, service.sources.elapsed)

    def counted(caller: Caller, request: Request, env: Environment) -> tuple[Told, ...] | Share | Ask | None:
        told = counted_by(rates, Asking(caller, request.address, env))
        return told if not isinstance(told, tuple) or not any(each.refused for each in told) else None

    return counted
