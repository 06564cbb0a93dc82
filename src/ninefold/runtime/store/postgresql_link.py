"""Connections to PostgreSQL: their statements, the session of a work, and what errors mean to a request."""

from __future__ import annotations

import os
from asyncio import AbstractEventLoop
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import asyncpg
from asyncpg import exceptions

from ninefold.runtime.store.protocol import Conflicting, NoValue, Row, Stored, TooLong, Unavailable
from ninefold.sql.fragment import identifier
from ninefold.sql.postgresql import fitted, numbered
from ninefold.sql.postgresql_events import FORMS

CONNECTING_SECONDS: Final = 5.0
"""How long a connection may take to be made, or to end."""

LOST = (
    exceptions.PostgresConnectionError,
    exceptions.InterfaceError,
    exceptions.InternalClientError,  # of a connection that was cut off, and does not say so
    OSError,
    TimeoutError,
)
PASSING = (
    *LOST,
    exceptions.CannotConnectNowError,
    exceptions.AdminShutdownError,
    exceptions.CrashShutdownError,
    exceptions.InsufficientResourcesError,
    exceptions.LockNotAvailableError,
    exceptions.OperatorInterventionError,
    exceptions.ReadOnlySQLTransactionError,
    exceptions.TransactionRollbackError,
)
"""Errors of the machine and not of the work: the same work may succeed later."""


class Broken(Exception):
    """A statement failed in a transaction that cannot go on: all of it is to be done again, with a savepoint each."""


def meaning(error: Exception) -> Exception:
    """Conflicting, NoValue, TooLong, Unavailable, or the error itself, which is then our fault."""
    match error:
        case exceptions.UniqueViolationError() | exceptions.ForeignKeyViolationError():
            return Conflicting()
        case exceptions.RestrictViolationError():
            return Conflicting()
        case exceptions.NotNullViolationError():
            return NoValue("a field that has to have a value would have none")
        case exceptions.ProgramLimitExceededError():
            return TooLong()
        case _ if isinstance(error, PASSING):
            return Unavailable(words(error))
        case _:
            return error


def words(error: Exception) -> str:
    """What happened, for the operator. Texts of PostgreSQL that may hold values stay inside."""
    match error:
        case exceptions.DiskFullError():
            return "PostgreSQL's disk is full"
        case exceptions.ReadOnlySQLTransactionError():
            return "PostgreSQL takes no writes: it is a standby"
        case _ if isinstance(error, PASSING):
            return f"PostgreSQL cannot be reached ({type(error).__name__})"
        case _:
            return f"PostgreSQL reports {type(error).__name__}"


class Link:
    """A connection, and the statements that it has prepared."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._prepared: dict[str, tuple[Any, tuple[str, ...]]] = {}
        self.series: dict[str, Any] = {}
        """What its session does one after another in one call, by the statement (`postgresql_series.py`)."""

    @classmethod
    async def open(cls, url: str, bounds: Mapping[str, str] = MappingProxyType({})) -> Link:
        """`bounds`: settings of its session."""
        settings = {
            "application_name": f"ninefold {os.getpid()}",
            "standard_conforming_strings": "on",
            # A snapshot is a statement's: whoever has waited for a lock sees what was done before.
            "default_transaction_isolation": "read committed",
            **bounds,
        }
        connection = await asyncpg.connect(
            url, timeout=CONNECTING_SECONDS, statement_cache_size=0, server_settings=settings
        )
        return cls(connection)

    async def prepare(self, text: str) -> tuple[Any, tuple[str, ...]]:
        found = self._prepared.get(text)
        if found is None:
            statement = await self.connection.prepare(numbered(FORMS.get(text, text)))
            found = self._prepared[text] = statement, tuple(each.name for each in statement.get_parameters())
        return found

    async def run(self, text: str, binds: Sequence[Stored]) -> tuple[list[Row], bool]:
        """The rows, and whether any was changed."""
        try:
            statement, forms = await self.prepare(text)
            rows = [tuple(row) for row in await statement.fetch(*fitted(binds, forms))]
            return rows, _has_changed(statement.get_statusmsg())
        except exceptions.InternalClientError:
            self.connection.terminate()
            raise

    @property
    def is_lost(self) -> bool:
        return bool(self.connection.is_closed())

    async def close(self) -> None:
        try:
            await self.connection.close(timeout=CONNECTING_SECONDS)
        except LOST:
            self.connection.terminate()


def column_types(statement: Any) -> list[str]:
    """The types of the columns of what was prepared, as they are written."""
    types = [each.type for each in statement.get_attributes()]
    return [f"{identifier(each.schema)}.{identifier(each.name)}" for each in types]


def _has_changed(status: str) -> bool:
    """What a command says of itself: `INSERT 0 1`, `UPDATE 3`, `SELECT 1`."""
    command, *rest = status.split()
    return command in ("INSERT", "UPDATE", "DELETE") and rest[-1] != "0"


class Transaction:
    """The session of works, on the writer's thread. `guarded`: a statement that fails undoes itself alone."""

    def __init__(self, link: Link, loop: AbstractEventLoop, longest: int, guarded: bool) -> None:
        self.changed = False
        self._saved = False
        self._link, self._loop, self._longest, self._guarded = link, loop, longest, guarded

    def run(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        if any(isinstance(each, str | bytes) and len(each) > self._longest for each in binds):
            raise TooLong
        try:
            rows, changed = self._loop.run_until_complete(self._run(text, binds))
        except Exception as error:
            found = meaning(error)
            if not self._guarded and not isinstance(found, Unavailable):
                raise Broken from error
            raise found from error
        self.changed = self.changed or changed
        return rows

    async def _run(self, text: str, binds: Sequence[Stored]) -> tuple[list[Row], bool]:
        if not self._guarded:
            return await self._link.run(text, binds)
        execute, saved = self._link.connection.execute, self._saved
        if text.startswith(("SAVEPOINT", "ROLLBACK", "RELEASE")):
            # One within another: what is undone to the outer one takes the inner one along.
            self._saved = False
            if saved:
                await execute("RELEASE each")
            return await self._link.run(text, binds)
        await execute("RELEASE each; SAVEPOINT each" if saved else "SAVEPOINT each")
        self._saved = True
        try:
            return await self._link.run(text, binds)
        except exceptions.PostgresError:
            await execute("ROLLBACK TO each")
            raise
