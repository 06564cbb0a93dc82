"""The write of the row that is there, in the place of one that would make it: as what it is called, and what it cannot
make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, Protocol, TypeAlias, TypeVar

from msgspec.structs import replace

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan import environment
from ninefold.plan import writes as plan
from ninefold.runtime.operations.constraints import Refusal
from ninefold.runtime.operations.flow import Next, Select, Wait
from ninefold.runtime.operations.read import Call
from ninefold.runtime.store.protocol import Row
from ninefold.runtime.store.statements import Prepared, RowReader

Goes: TypeAlias = Callable[[Refusal | None], Next]
"""Goes on with what refuses a request; None: nothing does."""


class Prepares(Protocol):
    """A write, as far as it makes its values."""

    def wanted(self, call: Call, given: frozenset[str] = ..., merging: bool = ...) -> Select | None: ...

    def found(self, call: Call, rows: Sequence[Row]) -> None: ...

    def prepare(self, call: Call) -> None: ...


W = TypeVar("W", bound=Prepares)


@dataclass(frozen=True, slots=True)
class Other:
    """The primary key of a row that is there with other values, and what refuses to change it."""

    row: Row
    refusal: Refusal | None


class Instead(Generic[W]):
    """That write, and how the row is found, made ready."""

    def __init__(self, planned: plan.Instead, write: W) -> None:
        self.write = write
        self.find = Prepared(planned.find)
        self._read = RowReader(planned.find)

    def call(self, call: Call, row: Row) -> Call:
        """The same of that row, by its primary key."""
        return replace(call, env={**call.env, environment.PATH: {**call.env[environment.PATH], **self._read(row)}})

    def unfit_too(self, call: Call, refusal: Refusal | None, lacks: Refusal | None, then: Goes) -> Next:
        """Go on with what refuses it, and, beside that, with what cannot be made of the row that is there; where none
        is, with `lacks`."""

        def found(rows: Sequence[Row]) -> Next:
            if not rows:
                return then(lacks)
            own = self.call(call, rows[0])
            wanted = self.write.wanted(own, frozenset(call.body or ()))
            prepared = partial(self._prepared, own, refusal, then)
            return prepared(None) if wanted is None else Wait(wanted, prepared)

        return Wait(Select(*self.find.bound(call.env)), found)

    def _prepared(self, own: Call, refusal: Refusal | None, then: Goes, current: Sequence[Row] | None) -> Next:
        if current is not None:
            self.write.found(own, current)
        try:
            self.write.prepare(own)
        except Refusal as unfit:
            return then(unfit.beside(refusal))
        return then(Refusal(own.unfit).beside(refusal) if own.unfit else refusal)
