"""A database in PostgreSQL that nodes may serve, used beside them, as `ninefold.runtime.store.guests` uses a file."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final

from ninefold.plan.schema import Schema
from ninefold.runtime.store import record
from ninefold.runtime.store.guests import why_not
from ninefold.runtime.store.postgresql_between import NotServed
from ninefold.runtime.store.postgresql_link import FAILED, Link, Transaction, meaning
from ninefold.runtime.store.postgresql_marks import WRITE
from ninefold.runtime.store.postgresql_opening import asking, examine, known
from ninefold.runtime.store.postgresql_servers import Servers, why
from ninefold.runtime.store.protocol import Refused, Row, Stored
from ninefold.values import LONGEST_SUM

_READING: Final = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",)
_WRITING: Final = ("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", WRITE)


class Guest:
    """One transaction (`protocol.Session`), which has begun; to be used in a `with`, and undone where the block raises.
    Whoever writes keeps nodes from it meanwhile."""

    def __init__(self, link: Link, loop: AbstractEventLoop, secret: bytes, ends: ExitStack) -> None:
        """`ends`: what is to be closed with it."""
        self._secret, self._ends = secret, ends
        self._ask = asking(link, loop)
        self._session = Transaction(link, loop, LONGEST_SUM, guarded=True)

    def run(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        return self._session.run(text, binds)

    def key(self, name: str) -> bytes:
        """What `Store.key` gives."""
        return record.derive(self._secret, name)

    def __enter__(self) -> Guest:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._ends:
            if kind is None:
                try:
                    self._ask("COMMIT")
                except Exception as failed:
                    raise meaning(failed) from failed


def open_guest(url: str, schema: Schema, writes: bool) -> Guest | Refused:
    """Open a database that was made for a schema. Nothing is made and nothing is added."""
    servers = Servers(url)
    name = servers.name
    with ExitStack() as undo:
        runner = undo.enter_context(asyncio.Runner())
        try:
            link = runner.run(servers.open())
            undo.callback(lambda: runner.run(link.close()))
            ask = asking(link, runner.get_loop())
            examine(ask, name)
            found = known(ask, name)
            if found is None:
                return Refused(f"the database {name} is empty", help=("`serve` makes its tables when it starts",))
            if (refused := why_not(found.shape, schema, name)) is not None:
                return refused
            for statement in _WRITING if writes else _READING:
                ask(statement)
            return Guest(link, runner.get_loop(), found.key, undo.pop_all())
        except NotServed as error:
            return error.refused
        except FAILED as error:
            return Refused(f"the database {name} cannot be used: {why(error)}")
