"""A database in SQLite made one of another contract: rehearsed on a copy, done in one transaction behind a backup."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import apsw

from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.schema import Schema
from ninefold.runtime.store import record, steps
from ninefold.runtime.store.changing import (
    ONCE_MENDED,
    Broken,
    Dangling,
    Decide,
    NotUpgraded,
    Rehearsed,
    all_fit,
    judged,
    left_dangling,
    upgraded,
)
from ninefold.runtime.store.connections import words
from ninefold.runtime.store.premises import all_are_told, broken
from ninefold.runtime.store.protocol import Judge, Row
from ninefold.runtime.store.record import Written, encode_written
from ninefold.runtime.store.tables import endings, of_callers
from ninefold.runtime.store.whole import alone, beside, check_sound, connected, copy_of, flush, shape_of, there
from ninefold.runtime.store.writer import Transaction
from ninefold.sql.fragment import identifier
from ninefold.sql.sqlite import SQLITE
from ninefold.upgrade.changes import changes, nothing_decided
from ninefold.upgrade.shape import encode_shape
from ninefold.upgrade.steps import Premise, Step

_DANGLING = """
    SELECT broken."table", key."from", broken.parent, count(*) FROM pragma_foreign_key_check AS broken
    JOIN pragma_foreign_key_list(broken."table") AS key ON key.id = broken.fkid GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""


class Changing:
    """`ninefold.runtime.store.changing.Changing`. Foreign keys are off from before the transaction where a step needs
    it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.session = Transaction(connection)
        self._connection = connection
        self._unguarded = False
        self.emptied = Counter[str]()

    def ask(self, text: str) -> list[Row]:
        return self._connection.execute(text).fetchall()

    def take(self, every: Iterable[Step], wanted: Schema) -> None:
        for step in every:
            self._unguarded |= isinstance(step, steps.UNGUARDED)
            steps.take(step, wanted, self._connection, self.emptied)

    def refer(self, wanted: Schema) -> None:
        callers = (each for name in wanted.callers for each in of_callers(name, wanted))
        for statement in (*steps.untold(self._connection), *endings(wanted), *callers):
            self.ask(statement)
        for statement in steps.unsubscribed(self._connection):
            self.ask(statement)
        all_are_told(self.ask, wanted, SQLITE)
        if not self._unguarded:
            return
        found = self.ask(_DANGLING)
        if found:
            raise left_dangling([Dangling(str(of), str(by), str(to), int(str(count))) for of, by, to, count in found])

    def broken(self, premise: Premise) -> Broken | None:
        return broken(premise, steps.Asking(self._connection))

    def note_shape(self, shape: Schema) -> None:
        record.update_shape(self._connection, encode_shape(shape))

    def note_upgrade(self, shape: Schema, backup: Path | None) -> None:
        noted = encode_written(written(self._connection, shape))
        record.note_upgrade(self._connection, str(backup or ""), noted)


def preview(url: str, wanted: Schema, decide: Decide = nothing_decided, judge: Judge = all_fit) -> Rehearsed:
    """Do the whole upgrade on a consistent copy, which is thrown away. A service may run meanwhile. Raises
    NotUpgraded."""
    path = there(url)
    try:
        with folder_beside(path) as folder:
            copy = folder / path.name
            copy_of(path, copy)
            with connected(copy) as connection:
                return _upgraded(connection, path, wanted, decide, judge)
    except apsw.Error as error:
        raise NotUpgraded(f"the database {path} cannot be used: {words(error)}") from None
    except OSError as error:
        raise NotUpgraded(f"the database {path} cannot be copied: {(error.strerror or str(error)).lower()}") from None


def in_the_way(url: str, wanted: Schema) -> tuple[str, ...]:
    """What has to be decided before `serve` can serve a schema, also while the database is served: sentences. Raises
    NotUpgraded."""
    path = there(url)
    try:
        with connected(path) as connection:
            found = judged(changes(shape_of(connection, path), wanted), Changing(connection), "serve")
            return tuple(why for each in found for why in each.why)
    except apsw.Error as error:
        raise NotUpgraded(f"the database {path} cannot be read: {words(error)}") from None


def upgrade(
    url: str,
    wanted: Schema,
    backup: Path | None = None,
    decide: Decide = nothing_decided,
    judge: Judge = all_fit,
) -> Rehearsed:
    """Upgrade behind a backup, which is beside the database unless another place is given. Raises NotUpgraded, and the
    database is then as it was."""
    path = there(url)
    with alone(path):
        try:
            with connected(path) as connection:
                check_sound(connection, path)
                before = beside(path, "before") if backup is None else backup.absolute()
                _back_up(path, before)
                made = False
                try:
                    flush(before)
                    done = _upgraded(connection, path, wanted, decide, judge, before)
                    made = done.made
                finally:
                    if not made:
                        before.unlink()
                return replace(done, backup=before) if made else done
        except apsw.Error as error:
            raise NotUpgraded(f"the database {path} cannot be upgraded: {words(error)}", then=(ONCE_MENDED,)) from None
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise NotUpgraded(f"{path} cannot be backed up: {why}", then=(ONCE_MENDED,)) from None


def _back_up(path: Path, backup: Path) -> None:
    try:
        copy_of(path, backup)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise NotUpgraded(f"{path} cannot be backed up as {backup}: {why}", then=(ONCE_MENDED,)) from None


def _upgraded(
    connection: apsw.Connection,
    path: Path,
    wanted: Schema,
    decide: Decide,
    judge: Judge,
    backup: Path | None = None,
) -> Rehearsed:
    """In one transaction, where nothing stands in the way. Raises NotUpgraded."""
    before = shape_of(connection, path)
    # Inside a transaction this is not heeded.
    connection.pragma("foreign_keys", False)
    connection.execute("BEGIN IMMEDIATE")
    try:
        done, keeps = upgraded(Changing(connection), str(path), before, wanted, decide, judge, backup)
        if keeps:
            connection.execute("COMMIT")
        return done
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.pragma("foreign_keys", True)


def written(connection: apsw.Connection, stored: Schema) -> Written:
    """What tells whether anything was written since: a digest of the revisions of all rows, and how many there are."""
    digest, rows = sha256(), dict.fromkeys((table.name for table in stored.tables), 0)
    for table in sorted(rows):
        revisions = f"SELECT {identifier(REVISION_COLUMN)} FROM {identifier(table)} ORDER BY rowid"
        for rows[table], (one,) in enumerate(connection.execute(revisions), 1):
            digest.update(f"{table}\0{one}\n".encode())
    return Written(digest.hexdigest(), rows)


# A place beside a database for a copy of it that nobody needs afterwards: an open folder with a lock on it, so that
# what a killed process leaves behind is taken away by the next one, and what is in use by none.


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """A folder in that of the database, and none that others have left there. Raises OSError."""
    prefix = f".{path.name}.preview-"
    for left in path.parent.iterdir():
        if left.name.startswith(prefix):
            _take_away(left)
    folder, lock = _locked(prefix, path.parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked(prefix: str, parent: Path) -> tuple[Path, int]:
    """A new folder, and the file descriptor that holds its lock until it is closed."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = _lock(folder)
        except (BlockingIOError, FileNotFoundError):
            continue  # before it was locked, somebody took it for what was left behind
        except OSError:
            folder.rmdir()
            raise
        if folder.exists():
            return folder, lock
        os.close(lock)


def _lock(folder: Path) -> int:
    """Raises BlockingIOError where another process uses it, and other OSError."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        raise
    return opened


def _take_away(folder: Path) -> None:
    """Unless it is in use; what may not be removed stays."""
    try:
        lock = _lock(folder)
    except OSError:
        return
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
