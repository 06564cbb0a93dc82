"""An upgrade taken back, and what one has set aside ended."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.schema import Schema
from ninefold.runtime.store import record
from ninefold.runtime.store.changing import NotUpgraded, ended
from ninefold.runtime.store.connections import words
from ninefold.runtime.store.protocol import Command
from ninefold.runtime.store.upgrade import Changing, written
from ninefold.runtime.store.whole import alone, beside, connected, flush, shape_of, there
from ninefold.sql.credentials import DIGEST, table_name, table_of
from ninefold.sql.fragment import identifier
from ninefold.upgrade.words import rows

_LOSE: Final = ("--undo", "--lose-writes")


def undo(url: str, lose_writes: bool = False) -> tuple[Path, Path]:
    """Put the backup of the last upgrade back: where it was, and where what was there is now. Raises NotUpgraded, also
    where something was written since and `lose_writes` is not said."""
    path = there(url)
    with alone(path):
        try:
            with connected(path) as connection:
                stored = shape_of(connection, path)
                last = record.last_upgrade(connection)
                if last is None:
                    raise NotUpgraded(f"the database {path} was not upgraded")
                backup = Path(last.backup)
                if not backup.is_file():
                    raise NotUpgraded(f"the backup {backup} of the last upgrade is not there")
                connection.execute("ATTACH ? AS before", (f"file:{quote(str(backup))}?mode=ro&immutable=1",))
                issued = tuple(_issued(connection, stored))
                then, now = record.decode_written(last.written), written(connection, stored)
                if (issued or now.digest != then.digest) and not lose_writes:
                    raise NotUpgraded(
                        f"rows of {path} were written since the upgrade, and would be lost",
                        (*_since(connection, then.rows, now.rows), *issued),
                        then=(Command("to lose them, and keep what is there beside it", "upgrade", _LOSE),),
                    )
                connection.execute("DETACH before")
                connection.pragma("journal_mode", "delete")
            aside = beside(path, "undone")
            again = path.with_name(f".{path.name}.again")
            shutil.copy2(backup, again)
            flush(again)
            _beside(path, aside)
            os.replace(again, path)
            flush(path)
        except apsw.Error as error:
            raise NotUpgraded(f"the database {path} cannot be used: {words(error)}") from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise NotUpgraded(f"the backup of {path} cannot be put back: {reason}") from None
    return backup, aside


def _beside(path: Path, aside: Path) -> None:
    """A second name for what is there, so that there is a database at every moment: a service that starts where there
    is none begins with nothing."""
    try:
        os.link(path, aside)
    except OSError:  # a file system without links
        shutil.copy2(path, aside)


def _since(connection: apsw.Connection, then: Mapping[str, int], now: Mapping[str, int]) -> Iterator[str]:
    """How many rows of each resource were written or deleted since the upgrade, of how many there were then and are
    now. A row that was not has a revision that the backup has, which is attached, whatever its resource was called."""
    having = (
        "SELECT of.name FROM before.sqlite_schema AS of, pragma_table_info(of.name, 'before') AS has"
        " WHERE of.type = 'table' AND has.name = ?"
    )
    revision = identifier(REVISION_COLUMN)
    tables = [identifier(str(name)) for (name,) in connection.execute(having, (REVISION_COLUMN,))]
    known = " UNION ALL ".join(f"SELECT rtrim({revision}, '~') FROM before.{each}" for each in tables)
    for name, count in now.items():
        new = f"SELECT count(*) FROM main.{identifier(name)} WHERE rtrim({revision}, '~') NOT IN ({known})"
        [(more,)] = connection.execute(new).fetchall()
        less = then.get(name, 0) - (count - int(str(more)))
        if more or less > 0:
            yield f"{rows(int(str(more)))} of `{name}` written or changed, {max(less, 0):,} as they were gone"


def _issued(connection: apsw.Connection, stored: Schema) -> Iterator[str]:
    """Credentials that were issued since, to whatever their resource was called: whoever has one would have none."""
    tables = [each for each in _of_backup(connection) if each.startswith(table_name(""))]
    old = (
        " UNION ".join(f"SELECT {DIGEST} FROM before.{identifier(each)}" for each in tables)
        or "SELECT NULL WHERE FALSE"
    )
    for resource in stored.credentials:
        new = f"SELECT {DIGEST} FROM main.{table_of(resource)} WHERE {DIGEST} NOT IN ({old})"
        [(count,)] = connection.execute(f"SELECT count(*) FROM ({new})").fetchall()
        if count:
            yield f"{'1 credential' if count == 1 else f'{int(str(count)):,} credentials'} of `{resource}` issued"


def _of_backup(connection: apsw.Connection) -> set[str]:
    return {str(name) for (name,) in connection.execute("SELECT name FROM before.sqlite_schema WHERE type = 'table'")}


def drop(url: str, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """`ninefold.runtime.store.changing.ended`, while nobody serves the database."""
    path = there(url)
    with alone(path):
        try:
            with connected(path) as connection:
                stored = shape_of(connection, path)
                connection.execute("BEGIN IMMEDIATE")
                try:
                    gone = ended(Changing(connection), stored, names, str(path))
                    connection.execute("COMMIT")
                    return gone
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        except apsw.Error as error:
            raise NotUpgraded(f"the database {path} cannot be used: {words(error)}") from None
