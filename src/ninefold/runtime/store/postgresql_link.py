"""Connections to PostgreSQL: their statements, the session of a work, and what errors mean to a request.

Whatever is asked of PostgreSQL is asked through a `Link`, which alone knows when a connection is lost: no error of the
driver says so reliably.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, TypeVar

import asyncpg
from asyncpg import exceptions

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.addresses import unreachable
from ninefold.runtime.store import postgresql_settings as settings
from ninefold.runtime.store.postgresql_tls import trust
from ninefold.runtime.store.protocol import Conflicting, NoValue, Row, Stored, TooLong, Unavailable, Yielded
from ninefold.sql.fragment import identifier
from ninefold.sql.postgresql import fitted, numbered
from ninefold.sql.postgresql_events import FORMS

T = TypeVar("T")

Kind: TypeAlias = Literal["primary", "standby"]

CONNECTING_SECONDS: Final = 5.0
"""How long a connection may take to be made, to end, or to say whether it is there."""

_PASSING = (
    exceptions.InsufficientResourcesError,
    exceptions.LockNotAvailableError,
    exceptions.OperatorInterventionError,
    exceptions.ReadOnlySQLTransactionError,
    exceptions.TransactionRollbackError,
)
"""What PostgreSQL says of itself and not of the work: the same work may succeed later."""


YIELDED: Final = (exceptions.SerializationError, exceptions.DeadlockDetectedError)
"""What PostgreSQL says of a transaction that it has ended for the sake of another."""

YIELDS: Final = 10
"""How often what yields is asked again."""


class Lost(Unavailable):
    """There is no connection any more, or none could be made. Nobody knows whether what was asked last was done."""


FAILED = (exceptions.PostgresError, Unavailable)
"""What is raised where something could not be done, and is not our own fault."""


class Broken(Exception):
    """A statement failed in a transaction that cannot go on: all of it is to be done again, with a savepoint each, but
    for the work that is `unavailable`; None: it is to be done as well."""

    def __init__(self, unavailable: Unavailable | None = None) -> None:
        super().__init__()
        self.unavailable: Final = unavailable


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
        case _ if isinstance(error, _PASSING):
            return Unavailable(words(error))
        case _:
            return error


def meaning_to_a_work(error: Exception) -> Exception:
    """The same of a transaction, which may have Yielded."""
    return Yielded(words(error)) if isinstance(error, YIELDED) else meaning(error)


def words(error: Exception) -> str:
    """What happened, for the operator. Texts of PostgreSQL that may hold values stay inside."""
    match error:
        case exceptions.DiskFullError():
            return "PostgreSQL's disk is full"
        case (
            exceptions.ReadOnlySQLTransactionError()
            | exceptions.TargetServerAttributeNotMatched()
            | exceptions.ObjectNotInPrerequisiteStateError()
        ):
            return "PostgreSQL takes no writes: it is a standby"
        case Unavailable():
            return str(error)
        case exceptions.TransactionRollbackError():
            return f"PostgreSQL has undone it for another transaction ({type(error).__name__})"
        case _ if _is_answer(error) and not isinstance(error, _PASSING):
            return f"PostgreSQL reports {type(error).__name__}"
        case _:
            return f"PostgreSQL cannot be reached ({unreachable(error)})"


def _is_answer(error: Exception) -> bool:
    """Whether PostgreSQL gave it, and goes on. Errors of its classes are raised by the driver too."""
    return getattr(error, "severity_en", None) == "ERROR"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement of asyncpg; the types of its binds; and those of its columns, as they are written."""

    statement: Any
    forms: tuple[str, ...]
    columns: tuple[str, ...]


_SILENT: Final = {
    "SO_KEEPALIVE": 1,
    "TCP_KEEPIDLE": 5,
    "TCP_KEEPINTVL": 2,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 10_000,
}
"""A machine that has left the network says nothing: its connections are lost after some ten seconds (tcp(7)), and not
when whatever is waited for would come."""


class _Connection(asyncpg.Connection):  # type: ignore[misc]
    __slots__ = ()

    def __init__(self, protocol: Any, transport: Any, *rest: Any) -> None:
        super().__init__(protocol, transport, *rest)
        own = transport.get_extra_info("socket")
        if own.family != socket.AF_UNIX:
            for name, value in _SILENT.items():
                if hasattr(socket, name):
                    level = socket.SOL_SOCKET if name.startswith("SO_") else socket.IPPROTO_TCP
                    own.setsockopt(level, getattr(socket, name), value)


class Link:
    """A connection, and the statements that it has prepared. What is asked of it raises Lost, an error that PostgreSQL
    gives it for an answer (`asyncpg.PostgresError`), or our own fault."""

    def __init__(self, connection: Any, local: str | None = None) -> None:
        """`local`: what a transaction begins with for its settings, where those of the session are not its own: a
        pooler stands before PostgreSQL, and nothing is left in a session. None: it is."""
        self._connection = connection
        self.pooled = local is not None
        self.local = local or ""
        self._prepared: dict[str, Prepared] = {}
        self._numbers = count()
        self.held: frozenset[str] = frozenset()
        """What is demanded for the sake of another contract: fields, indexes and checks by their names."""
        self.series: dict[str, Any] = {}
        """What its session does one after another in one call, by the statement (`postgresql_series.py`)."""

    @classmethod
    async def open(
        cls,
        url: str,
        bounds: Mapping[str, str] = MappingProxyType({}),
        kind: Kind = "primary",
        pooled: bool = False,
    ) -> Link:
        """`bounds`: settings of its session, or of each transaction of a pooled one that begins with `local`. `kind`:
        of the server. Raises Lost, caused by what the driver raised."""
        try:
            connection = await asyncpg.connect(
                url,
                timeout=CONNECTING_SECONDS,
                statement_cache_size=0,
                server_settings=settings.POOLED if pooled else settings.of_session(bounds, url),
                # What the pooler says of a server is what it was told by the first that it knew.
                target_session_attrs="any" if pooled else kind,
                connection_class=_Connection,
                **trust(url),
            )
            if pooled:
                return cls(connection, settings.of_transaction(bounds, connection))
            await settings.set_later(connection, CONNECTING_SECONDS)
            return cls(connection)
        except exceptions.TargetServerAttributeNotMatched as error:
            raise Lost(words(error) if kind == "primary" else "PostgreSQL is no standby") from error
        except Exception as error:
            raise Lost(words(error)) from error

    async def _told(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What comes of what is asked. An error that is not PostgreSQL's answer may be of any type where a connection
        is lost, raised before anything is awaited too, and ours where it is not: the connection is asked."""
        try:
            return await ask()
        except Exception as error:
            if _is_answer(error) or await self._answers():
                raise
            found = error
        self.drop()
        raise Lost(words(found)) from found

    async def _insisted(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The same of one statement; outside of a transaction it is asked again where it yields."""
        for _ in range(YIELDS):
            try:
                return await self._told(ask)
            except YIELDED:
                if self._connection.is_in_transaction():
                    raise
        return await self._told(ask)

    async def _answers(self) -> bool:
        if self.is_lost:
            return False
        try:
            async with self.within(CONNECTING_SECONDS):
                await self._connection.execute("SELECT 1")
        except Exception as error:
            return _is_answer(error)
        return True

    async def prepare(self, text: str) -> Prepared:
        found = self._prepared.get(text)
        if found is None:
            # Without a name it is read and planned at each call, as what belongs to no session has to be.
            name = "" if self.pooled else f"ninefold {next(self._numbers)}"
            found = self._prepared[text] = await self.takes(numbered(FORMS.get(text, text)), name)
        return found

    async def takes(self, text: str, name: str = "") -> Prepared:
        """A statement that PostgreSQL has read, and that is not kept where it has no name."""

        async def ask() -> Prepared:
            statement = await self._taken(text, name)
            columns = [each.type for each in statement.get_attributes()]
            return Prepared(
                statement,
                tuple(each.name for each in statement.get_parameters()),
                tuple(f"{identifier(each.schema)}.{identifier(each.name)}" for each in columns),
            )

        return await self._told(ask)

    async def _taken(self, text: str, name: str) -> Any:
        if not self.pooled:
            return await self._connection.prepare(text, name=name)
        # It ends in no Sync, without which a pooler waits for more; and where it meets new types, asyncpg sets `jit`.
        inner = self._connection.is_in_transaction()
        await self._connection.execute("SAVEPOINT taken" if inner else f"BEGIN{self.local}")
        try:
            return await self._connection.prepare(text, name=name)
        finally:
            await self.execute("ROLLBACK TO taken; RELEASE taken" if inner else "ROLLBACK")

    async def _plain(self, text: str) -> Any:
        """The statement of a text that is asked as it is."""
        found = self._prepared.get(text)
        if found is None:
            found = self._prepared[text] = await self.takes(text)
        return found.statement

    async def run(self, text: str, binds: Sequence[Stored]) -> tuple[list[Row], bool]:
        """The rows, and whether any was changed."""
        prepared = await self.prepare(text)
        fit = fitted(binds, prepared.forms)

        async def ask() -> tuple[list[Row], bool]:
            rows = await prepared.statement.fetch(*fit)
            return [tuple(row) for row in rows], _has_changed(prepared.statement.get_statusmsg())

        return await self._insisted(ask)

    async def records(self, text: str, *binds: Any) -> list[Any]:
        """The same of a statement whose binds have their forms already, with the names of columns."""
        prepared = await self.prepare(text)
        return list(await self._insisted(lambda: prepared.statement.fetch(*binds)))

    async def fetch(self, text: str, *binds: Any) -> list[Any]:
        """The same of a statement that is not kept."""
        if self.pooled:
            statement = await self._plain(text)
            return list(await self._told(lambda: statement.fetch(*binds)))
        return list(await self._told(lambda: self._connection.fetch(text, *binds)))

    async def value(self, text: str, *binds: Any) -> Any:
        """The first of the first row."""
        if self.pooled:
            statement = await self._plain(text)
            return await self._insisted(lambda: statement.fetchval(*binds))
        return await self._insisted(lambda: self._connection.fetchval(text, *binds))

    async def execute(self, text: str, *binds: Any) -> str:
        """What the last of its commands says of itself."""
        try:
            return str(await self._told(lambda: self._connection.execute(text, *binds)))
        except BaseException:
            if text == "ROLLBACK":
                self.drop()  # whoever asks next would ask inside of what was to be undone
            raise

    async def copy(self, table: str, columns: Sequence[str], records: Sequence[Any]) -> None:
        copy = self._connection.copy_records_to_table
        await self._told(lambda: copy(table, columns=list(columns), records=records))

    async def listen(self, channel: str, told: Callable[[], None]) -> None:
        await self._told(lambda: self._connection.add_listener(channel, lambda *_: told()))

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[None]:
        """Where what is asked takes longer, the connection is lost."""
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            self.drop()
            raise Lost(words(error)) from error

    @property
    def is_lost(self) -> bool:
        return bool(self._connection.is_closed())

    def drop(self) -> None:
        """End it at once."""
        self._connection.terminate()

    async def close(self) -> None:
        try:
            await self._connection.close(timeout=CONNECTING_SECONDS)
        except Exception:
            # However it was lost, it is not there.
            self.drop()


def _is_held(error: Exception, held: frozenset[str]) -> bool:
    match error:
        case exceptions.NotNullViolationError():
            return f"{error.table_name}.{error.column_name}" in held
        case exceptions.UniqueViolationError() | exceptions.CheckViolationError():
            return error.constraint_name in held
        case _:
            return False


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
            found = meaning_to_a_work(error)
            if _is_held(error, self._link.held):
                found = Unavailable("nodes of the contract before do not know of it yet")
            if self._guarded or isinstance(found, Lost):
                raise found from error
            raise Broken(found if isinstance(found, Unavailable) else None) from error
        self.changed = self.changed or changed
        return rows

    async def _run(self, text: str, binds: Sequence[Stored]) -> tuple[list[Row], bool]:
        if not self._guarded:
            return await self._link.run(text, binds)
        execute, saved = self._link.execute, self._saved
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
