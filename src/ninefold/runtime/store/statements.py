"""A statement made ready: which of its pieces take part, and what they bind."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from ninefold.expressions.binds import Bind, binder, but_one, by_column, together, together_again
from ninefold.expressions.evaluate import Env
from ninefold.expressions.tree import Typed, free_variables
from ninefold.plan.statement import Statement
from ninefold.runtime.cache import Cache
from ninefold.runtime.store.protocol import REFUSING, BoundStatement, Database, Row, Session, Single, Stored, Unbound
from ninefold.values import Value
from ninefold.values.stored import sqlite_reader

Chosen: TypeAlias = tuple[str, Callable[[Env], list[Stored]]]
"""A text, and what gives its binds."""

NO_SWITCHES: frozenset[str] = frozenset()

_KEPT = 512
"""How many choices of a statement's pieces are kept joined. Their number is known before any request, but may be
two to the power of the switches, and a client chooses them."""


class Prepared:
    """A plan's statement whose binds are compiled. Its text depends on the names of the switches alone."""

    __slots__ = ("_pieces", "_unbound", "columns", "reads", "switches")

    def __init__(self, statement: Statement) -> None:
        self._pieces = tuple(
            (piece.when, piece.unless, piece.text, tuple((each, binder(each)) for each in piece.binds))
            for piece in statement.pieces
        )
        named = {name for piece in statement.pieces for name in (piece.when, piece.unless)}
        self.switches = frozenset(name for name in named if name is not None)
        self.columns = statement.columns
        binds = (bind for piece in statement.pieces for bind in piece.binds)
        self.reads = frozenset[str]().union(*map(free_variables, binds))
        """The roots that its binds read."""
        self._unbound: Cache[frozenset[str], Unbound] = Cache(_KEPT)

    def bound(self, env: Env, switches: frozenset[str] = NO_SWITCHES) -> tuple[str, list[Stored]]:
        """The text with these switches on, and its binds for one request."""
        of = self.unbound(switches)
        return of.text, of.binds(env)

    def chosen(self, switches: frozenset[str] = NO_SWITCHES) -> Chosen:
        """The text with these switches on."""
        of = self.unbound(switches)
        return of.text, of.binds

    def unbound(self, switches: frozenset[str] = NO_SWITCHES) -> Unbound:
        """The same for whoever asks for it together with others."""
        unbound = self._unbound.get(switches)
        if unbound is None:
            text, binds = self._taking_part(switches)
            unbound = Unbound(text, together(binds), by_column(binds))
            self._unbound.keep(switches, unbound)
        return unbound

    def of_one(self, root: str, switches: frozenset[str] = NO_SWITCHES) -> Chosen:
        """The same for whoever asks for it with one value of a root of the environment, time and again."""
        text, binds = self._taking_part(switches)
        return text, together_again(binds, root)

    def but_one(
        self, root: str, name: str, changing: Collection[str], switches: frozenset[str] = NO_SWITCHES
    ) -> tuple[str, Callable[[Env], Callable[[Stored], list[Stored]]]] | None:
        """The same for whoever asks for it with values of all roots that stay as they are, but for one member of one of
        those that are `changing`; None: more of these is read."""
        text, binds = self._taking_part(switches)
        bound = but_one(binds, root, name, changing)
        return None if bound is None else (text, bound)

    def _taking_part(self, switches: frozenset[str]) -> tuple[str, list[tuple[Typed, Bind]]]:
        taking_part = [
            (text, binds)
            for when, unless, text, binds in self._pieces
            if (when is None or when in switches) and (unless is None or unless not in switches)
        ]
        return "".join(text for text, _ in taking_part), [each for _, binds in taking_part for each in binds]


@lru_cache(_KEPT)
def stored(fields: tuple[str, ...]) -> frozenset[str]:
    """The switches of fields that are stored."""
    return frozenset(f"new {name}" for name in fields)


class Known(Prepared):
    """A statement that stores a row of which all is known before it is asked (`ninefold.plan.statement.Plainly`)."""

    __slots__ = ("_others", "_places")

    def __init__(self, statement: Statement, row: Sequence[Typed]) -> None:
        super().__init__(statement)
        bound = [each for each, _ in self._taking_part(NO_SWITCHES)[1]]
        others = [each for each in row if each not in bound]
        self._others = together([(each, binder(each)) for each in others])
        known = [*bound, *others]
        self._places = [known.index(each) for each in row]

    def row(self, env: Env, binds: Sequence[Stored]) -> Row:
        """`binds`: what was bound of the same environment. Most of the row is of that."""
        known = [*binds, *self._others(env)]
        return tuple(map(known.__getitem__, self._places))

    def single(self, env: Env, of: Callable[[Row], Any], work: Callable[[Session], Any]) -> Single:
        """The work that is this statement, where it is not refused."""
        return Single(self.unbound(), env, of, work, self.row)

    def stored(self, session: Session, env: Env) -> Row | None:
        """The row, which is stored; None: that is refused."""
        text, binds = self.bound(env)
        try:
            session.run(text, binds)
        except REFUSING:
            return None
        return self.row(env, binds)


class Kept:
    """What was made of rows, by a key: for as long as the same rows would be read. Where it is None that is kept
    elsewhere: whoever asks for what is not there takes no room of others."""

    __slots__ = ("_found", "_nothing", "_tables")

    def __init__(self, most: int) -> None:
        self._tables: dict[str, frozenset[str]] = {}
        self._found: Cache[Hashable, tuple[int, frozenset[str], object]] = Cache(most)
        self._nothing: Cache[Hashable, tuple[int, frozenset[str], object]] = Cache(most)

    def recalled(
        self,
        database: Database,
        key: Hashable,
        read: Callable[[], BoundStatement],
        make: Callable[[list[Row]], object | None],
    ) -> object | None | Future[list[Row]]:
        """What is made of the rows of a statement. Where reading them takes long they are yet to come, and nothing is
        kept of them. Raises Unavailable."""
        found = self._found.get(key) or self._nothing.get(key)
        # While a commit goes on nobody can say whether what is kept is as it was: it is read then.
        if found is not None and database.state(found[1]) == found[0]:
            return found[2]
        text, binds = read()
        tables = self._tables.get(text)
        if tables is None:
            tables = self._tables[text] = database.tables(text, binds)
        # Before the rows are read: what is changed while they are makes it another one.
        state = database.state(tables)
        rows = database.select(text, binds)
        if isinstance(rows, Future):
            return rows
        made = make(rows)
        if state is not None:
            room = self._nothing if made is None and key not in self._found else self._found
            room.keep(key, (state, tables, made))
        return made


class Again:
    """What was made of rows under one key, for whoever asks for that time and again."""

    __slots__ = ("_at", "_commits", "_database", "_found", "_kept", "_key")

    def __init__(self, kept: Kept, key: Hashable, database: Database) -> None:
        self._kept, self._key, self._database = kept, key, database
        self._commits = database.commits
        self._at: int | None = None
        self._found: tuple[int, frozenset[str], object] | None = None

    def found(self, made: object) -> None:
        """This was made of the rows, or had been."""
        found = self._kept._found.get(self._key)
        self._at, self._found = None, found if found is not None and found[2] is made else None

    def holds(self) -> bool:
        """Whether the same would be made now: nothing was committed since it held, or nothing that it is made of."""
        at = self._commits()
        if at is None or at != self._at:
            found = self._found
            # What is committed after the first look makes it another number, whatever the second one says.
            if found is None or at is None or self._database.state(found[1]) != found[0]:
                return False
            self._at = at
        return True


class RowReader:
    """The rows of a statement as the rows of a resource that expressions read: its fields by name."""

    __slots__ = ("_columns",)

    def __init__(self, statement: Statement) -> None:
        self._columns = tuple((column.name, sqlite_reader(column.type)) for column in statement.columns)

    def __call__(self, row: Row) -> dict[str, Value]:
        return {
            name: stored if read is None else read(stored)
            for (name, read), stored in zip(self._columns, row, strict=False)
        }
