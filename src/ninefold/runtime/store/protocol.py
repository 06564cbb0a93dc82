"""What the server asks of a database."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import Env

Stored: TypeAlias = None | int | float | str | bytes
"""A value in its stored form (see `ninefold.values`)."""

Row: TypeAlias = tuple[Stored, ...]

BoundStatement: TypeAlias = tuple[str, Sequence[Stored]]
"""Its text, and its binds."""

T = TypeVar("T")


class Conflicting(Exception):
    """A unique constraint refused the statement. Which one, the judge says: database words never leave here."""


class NoValue(Exception):
    """A column that always has a value would have none: what the contract gives could not be made."""


class TooLong(Exception):
    """A text, or a row, would be longer than the database takes (meaning "too much"). Nothing was done."""


REFUSING: Final = (Conflicting, NoValue, TooLong)
"""With what a session refuses a statement."""


class Unavailable(Exception):
    """The database cannot take the work now: the disk is full, the file is read-only, the queue is full, the
    service is stopping. Nothing of the work was done."""


class Yielded(Unavailable):
    """The database has undone the work for the sake of another's: the same may succeed at once."""


class Session(Protocol):
    """A transaction in progress."""

    def run(self, text: str, binds: Sequence[Stored]) -> list[Row]:
        """Run one statement. Raises Conflicting, NoValue or TooLong."""


class Unbound(Struct, frozen=True, eq=False):
    """A statement, and what gives its binds of an environment. `columns`: those of several, a list for each bind."""

    text: str
    binds: Callable[[Env], list[Stored]]
    columns: Callable[[Sequence[Env]], list[list[Stored]]]


class Single(Struct, frozen=True):
    """A work that is one statement where that gives a row, of which `of` says what comes; where it gives none, or is
    not done together with its like, it is done as `work`. `known`: what it comes to of its environment and its binds
    where it is not refused, whose statement gives nothing then; None: its row says that."""

    statement: Unbound
    env: Env
    of: Callable[[Row], Any]
    work: Callable[[Session], Any]
    known: Callable[[Env, Sequence[Stored]], Row] | None = None

    def __call__(self, session: Session) -> Any:
        return self.work(session)

    def plainly(self, session: Session) -> Any:
        """The same of a session whose statements, where they are refused, leave all before them as it was."""
        binds = self.statement.binds(self.env)
        try:
            rows = session.run(self.statement.text, binds)
        except REFUSING:
            return self.work(session)
        if self.known is not None:
            return self.of(self.known(self.env, binds))
        return self.of(rows[0]) if rows else self.work(session)


class Guest(Session, Protocol):
    """A transaction beside those who serve a database, to be used in a `with`; undone where the block raises."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def key(self, name: str) -> bytes:
        """What `Store.key` gives."""


@dataclass(frozen=True, slots=True)
class Unfit:
    """Rows do not fit a field (`order.note`) as the contract has it now, or break a `check`, or it is not known whether
    they do: a sentence says how many, and which."""

    name: str
    words: str
    is_field: bool


Judge: TypeAlias = Callable[[Session, Collection[str]], tuple[Unfit, ...]]
"""What says which rows are not as the contract has them now, but for the fields (`order.note`) whose rows are left as
they are. It notes what it found in the same transaction."""


Answered: TypeAlias = Callable[[Any, BaseException | None], None]
"""Is told what a work gave, or what it raised."""


def settling(future: Future[Any]) -> Answered:
    """Has a future give or raise it, unless nobody waits for that any more."""

    def done(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    return done


class Told(Protocol):
    """Who is told what a read gave; a future is one."""

    def done(self) -> bool:
        """Whether it waits no more."""

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, error: BaseException, /) -> None: ...


@runtime_checkable
class Telling(Protocol):
    """A database whose reads are waited for."""

    def tell(self, reads: Sequence[BoundStatement], told: Told) -> None:
        """What `Database.select` gives of one read, or `select_as_one` of several. Raises Unavailable."""


Changes: TypeAlias = Callable[[Mapping[bytes, bytes | None], int], tuple[Mapping[bytes, tuple[bytes, int]], T]]
"""What changes states: is given those of its names (None: there is none) and the time, in nanoseconds since 1970, and
gives those that it changes, each with the time from which on it is as if there were none; and what comes of it. It may
be asked again, of states that others have changed."""


class States(Protocol):
    """States that several processes count on. To be used on an event loop."""

    def change(self, names: Sequence[bytes], work: Changes[T]) -> Future[T]:
        """Change states of all of them. They are not kept where what holds them crashes. What cannot be had now raises
        Unavailable."""


class Counts(States, Protocol):
    """The same, elsewhere than in the database. `name`: where, without what is secret."""

    name: str

    async def close(self) -> None:
        """Once nobody counts any more."""


class Nodes(States, Protocol):
    """What the processes that serve one database have together beside its rows. To be used on an event loop. What
    cannot be had now raises Unavailable."""

    async def share(
        self, ring: Callable[[], None], jobs: Mapping[str, Callable[[], Coroutine[Any, Any, None]]]
    ) -> None:
        """Do each job while no other node does, until cancelled; `ring` is called when the log may have grown."""

    async def hold(self, name: bytes, patient: bool = False) -> Callable[[], None] | None:
        """Hold a name until what is given is called, or this node ends. None: another node holds it, where `patient`
        for longer than it takes to hear that it does no more."""


Known: TypeAlias = tuple[str, Sequence[Stored], list[Row]]
"""A read, its text and its binds, and what it gave."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a replica stands. `is_near`: it is read from. `seconds`, `bytes`: what it lags behind; None: it is not known
    to follow. `reads`: those that it has answered; `others`: those that the primary has answered in its place."""

    is_near: bool
    seconds: float | None
    bytes: int | None
    reads: int
    others: int


class Replica(Protocol):
    """A copy of a database that follows it, some way behind. To be used on an event loop. `name`: where it is, without
    what is secret."""

    name: str

    async def read(self, known: Sequence[Known], text: str, binds: Sequence[Stored]) -> list[Row] | None:
        """Rows of a moment at which other reads, of one row at most, give what the database gave. None: the copy is
        behind that, too far behind, or away."""

    async def follow(self) -> None:
        """Look how far behind it is, until cancelled: only meanwhile it is read from."""

    def standing(self) -> Standing: ...


class Database(Protocol):
    @property
    def nodes(self) -> Nodes | None:
        """None: this process has the database alone."""

    @property
    def replica(self) -> Replica | None:
        """None: all is read where it is written."""

    def select(self, text: str, binds: Sequence[Stored]) -> list[Row] | Future[list[Row]]:
        """Read in a snapshot of what is committed. Gives the rows at once where reading does not wait; a future that is
        cancelled ends the read. Raises Unavailable, as the future does."""

    def select_as_one(self, reads: Sequence[BoundStatement]) -> Future[list[list[Row]]] | None:
        """Read several, each of which gives one row at most, in one snapshot. Gives nothing for any of them where that
        cannot be done; None where reading does not wait, so that nothing comes of it. Raises Unavailable, as the future
        does."""

    def transact(self, work: Callable[[Session], T]) -> Future[T]:
        """Run `work` in a transaction of its own: if it raises, nothing of it remains, and the exception is the
        future's. Where it was undone it is done once more. The future is done once the commit is durable. Must be
        called on the event loop's thread."""

    def write(
        self,
        work: Callable[[Session], Any],
        done: Answered,
        again: bool = False,
        due: str | None = None,
        places: tuple[int, ...] = (),
    ) -> None:
        """The same, where `done` is told once the commit is durable, on the event loop's thread. `again`: where it was
        undone it can be done once more, and what it does is then the same; else Yielded may come. `due`: the time
        before which nothing of what it writes is due, where the processes that serve a database have to tell each
        other. `places`: where those who write are found in a replica (`ninefold.sql.nodes`). Raises Unavailable."""

    def admit(self, size: int) -> None:
        """A value or a row of so many bytes can be written, if that is more than usual."""

    def tables(self, text: str, binds: Sequence[Stored]) -> frozenset[str]:
        """The tables that a statement reads. Raises Unavailable."""

    def state(self, tables: Collection[str]) -> int | None:
        """A number that is another one once a row of one of these tables has changed, and what was changed can be read;
        taken before a read, it says of a later moment whether the same would be read then. None: nobody can say now."""

    def commits(self) -> int | None:
        """How many transactions were ever committed, by whatever program, whose rows can be read: the same of all
        tables together, at the cost of a look. None: nobody can say."""

    def close(self) -> None:
        """Finish what was accepted, then close."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """`waiting`: works in the queue. `batches`, `works`: committed since the start. `bytes`: the file and its log.
    `reading`: long reads that go on now; `long_reads`: those since the start."""

    waiting: int
    batches: int
    works: int
    bytes: int
    reading: int
    long_reads: int


@dataclass(frozen=True, slots=True)
class Pool:
    """The connections of one process of several that serve a database. `busy`, `idle`: those that read; `waiting`:
    reads that wait for one. `undone`: works that were undone for another's sake since the start, and are done again.
    `lease`: seconds for which what it holds without a session still lasts; None: its sessions hold it."""

    busy: int
    idle: int
    waiting: int
    undone: int
    lease: float | None


class Store(Database, Protocol):
    """A database that a service is served from, and what its operator asks of it."""

    def key(self, name: str) -> bytes:
        """32 secret bytes for one use, the same as long as the database lives."""

    @property
    def clock(self) -> Callable[[], datetime] | None:
        """That of all processes that serve it; None: this process has it alone, and the machine's will do."""

    def reachable(self) -> bool:
        """Whether it can be read."""

    async def unwritable(self) -> str | None:
        """Why nothing can be written now, in words; None: it can."""

    def statistics(self) -> Statistics:
        """What it has done, and what waits for it."""

    def pool(self) -> Pool | None:
        """None: this process has it alone, and no connections."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that leads on, over the same contract and the same database: `to` which end, and its words. Whoever was
    called with the two says them with it (`ninefold.runtime.store.opening.typed`)."""

    to: str
    verb: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """The file was left as it was. `message` states why, `details` are its single points, `help` advises, `then` leads
    on. `held`: another process has it, and that is all."""

    message: str
    details: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    held: bool = False
    then: tuple[Command, ...] = ()


class NotDone(Exception):
    """The message says why, `details` are its single points, `help` advises, `then` leads on."""

    def __init__(
        self, message: str, details: Sequence[str] = (), help: Sequence[str] = (), then: Sequence[Command] = ()
    ) -> None:
        super().__init__(message)
        self.details = tuple(details)
        self.help = tuple(help)
        self.then = tuple(then)


class NotBegun(Exception):
    """A database cannot be begun with; the message says why."""


Begin: TypeAlias = Callable[[Session], tuple[str, ...]]
"""What is done to the rows in a transaction when a database is opened; says in words what has changed. May raise
NotBegun, and then nothing has."""


@dataclass(frozen=True, slots=True)
class Opened:
    """`path`: what it is called, without a password. `created`: it was empty. `additions`: what the operator is told of
    it, such as what was added to one that was there; `began`: what was done to its rows to begin with; `hidden`:
    what was set aside in it before, by its names."""

    database: Store
    path: str
    created: bool
    additions: tuple[str, ...] = ()
    began: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
