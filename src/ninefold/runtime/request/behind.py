"""Which requests may be answered from a replica, and what it has to know for that.

One whose operation only reads: that follows from the plan. Who calls, what is due and what rates count is asked of the
primary as of any other request; and so is where those have last written who may be this caller. What the primary has
answered the replica is asked again before it is read (`Replica.read`), so that a caller finds what it has written, is
who it is now, and finds nothing in a state that was over when it asked. Where the replica answers otherwise, or would
have the request refused, the primary is read: nobody is refused for what a replica says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final

import msgspec

from ninefold.runtime.operations.flow import Next, Recall, Select, Wait
from ninefold.runtime.request.schemes import NOBODY, Caller
from ninefold.runtime.store.protocol import BoundStatement, Known, Row, Stored
from ninefold.sql.nodes import WROTE

PLACES: Final = 65_536
"""How many there are for all who write: two who have the same one are each taken for the other."""


class Behind(msgspec.Struct, eq=False):
    """`known`: what the primary has answered for a request. `reads`: from now on the replica is asked."""

    known: list[Known] = []
    reads: bool = False

    def noting(self, step: Wait) -> Wait:
        """The same step, of which it is noted what the primary answers."""
        if self.reads:
            return step
        resume = step.resume
        match step.work:
            case Select(text, binds):
                return self._noting(text, binds, resume)
            case Recall(read=read, make=make):
                return self._noting(*read(), lambda rows: resume(make(rows)))
            case _:
                return step

    def _noting(self, text: str, binds: Sequence[Stored], resume: Callable[[list[Row]], Next]) -> Wait:
        def found(rows: list[Row]) -> Next:
            self.known.append((text, binds, rows))
            return resume(rows)

        return Wait(Select(text, binds), found)

    def reading(self, caller: Caller, address: str, then: Callable[[], Next]) -> Next:
        """The step `then`, with which the operation begins, that only reads."""

        def known(_: object) -> Next:
            self.reads = True
            return then()

        return Wait(Select(*wrote(caller, address)), known)


def wrote(caller: Caller, address: str) -> BoundStatement:
    """Where those have last written who may be this caller. One that is known may have written before it was, from its
    address; one that is not known may be anybody there."""
    if caller.identity is None:
        return WROTE, [_place(f"from {address}")] * 2
    return WROTE, [_place(caller.name), _place(NOBODY.named(address))]


def places(caller: Caller, address: str) -> tuple[int, ...]:
    """Where it is noted that a caller writes."""
    return _place(caller.named(address)), _place(f"from {address}")


def _place(name: str) -> int:
    digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=4).digest()
    return int.from_bytes(digest) % PLACES
