"""What SQLite's errors mean to a request."""

from __future__ import annotations

import apsw

from ninefold.runtime.store.protocol import Conflicting, NoValue, TooLong, Unavailable

CONSTRAINTS = frozenset(
    (
        apsw.SQLITE_CONSTRAINT_UNIQUE,
        apsw.SQLITE_CONSTRAINT_PRIMARYKEY,
        apsw.SQLITE_CONSTRAINT_ROWID,
        apsw.SQLITE_CONSTRAINT_FOREIGNKEY,
        # ON DELETE RESTRICT is kept by a trigger of SQLite's own, and ours are the only tables here.
        apsw.SQLITE_CONSTRAINT_TRIGGER,
    )
)
"""The constraints that other rows can make a statement break: another has the value, another refers to it."""

PASSING = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.BusyError, apsw.LockedError)
"""Errors of the machine and not of the work: the same work may succeed later."""


def meaning(error: apsw.Error) -> Exception:
    """Conflicting, NoValue, TooLong, Unavailable, or the error itself, which is then our fault."""
    if isinstance(error, apsw.ConstraintError):
        match getattr(error, "extendedresult", None):
            case apsw.SQLITE_CONSTRAINT_NOTNULL:
                return NoValue("a field that has to have a value would have none")
            case constraint if constraint in CONSTRAINTS:
                return Conflicting()
    if isinstance(error, apsw.TooBigError):
        return TooLong()
    if isinstance(error, PASSING):
        return Unavailable(words(error))
    return error


def words(error: apsw.Error) -> str:
    """What happened to the file, for the operator. Texts of SQLite that may hold names or values stay inside."""
    match error:
        case apsw.FullError():
            return "the disk is full"
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return "it may not be written"
        case apsw.CantOpenError():
            return "it cannot be opened"
        case apsw.BusyError() | apsw.LockedError():
            return "another program has it locked"
        case apsw.NotADBError():
            return "it is not a SQLite database"
        case apsw.CorruptError() | apsw.FormatError():
            return "it is damaged"
        case apsw.IOError():
            return "it cannot be read or written (input/output error)"
        case _:
            return f"SQLite reports {type(error).__name__}"
