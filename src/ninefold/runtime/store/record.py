"""What a database knows of itself: that it is ninefold's, the shape that made it, and a secret of its own.

The table is called `$ninefold`, a name that no resource can have, and holds a value a row:

| name    | value                                                        |
|---------|--------------------------------------------------------------|
| `shape` | the stored shape, JSON                                       |
| `key`   | 32 random bytes, from which keys are derived for one use each |
| `fit`   | which schemas the rows are known to fit, JSON (`ninefold.runtime.operator.audit`) |
| `contract` | the contract that it was last served with: its name, a NUL, and its text, compressed by zlib |
| `decided` | digests of the documents of upgrades that were done, JSON |
| `room`  | for a moment: bytes by which it is tried whether anything can be written |

and, once it has been upgraded, a row for each time in `$ninefold_upgrades`: when, where its backup is, and what tells
whether rows were written since.
"""

from __future__ import annotations

import hmac
import secrets
import zlib
from collections.abc import Sequence
from typing import TypeAlias

import apsw
import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store.protocol import Session
from ninefold.upgrade.shape import FORM, decode_shape

APPLICATION = int.from_bytes(b"9fol", "big")
"""The `application_id` in the header of our files."""

ROOM = 256 * 1024
"""Bytes without which a disk counts as full."""

TABLE = '"$ninefold"'
ANEW = "ON CONFLICT (name) DO UPDATE SET value = excluded.value"


@dataclass(frozen=True, slots=True)
class Empty:
    """A new file, or one whose creation was cut short: nothing is in it."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """The file is another program's, or a newer ninefold's; `words` say which."""

    words: str


@dataclass(frozen=True, slots=True)
class Record:
    shape: bytes
    key: bytes


def read(connection: apsw.Connection) -> Empty | Foreign | Record:
    """Read only: a file that is not ours is left as it was. Raises apsw.Error."""
    application = connection.pragma("application_id")
    form = connection.pragma("user_version")
    [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    if application != APPLICATION:
        if application or form or tables:
            return Foreign("it was made by another program")
        return Empty()
    if form != FORM:
        return Foreign(f"it was made by another ninefold (form {form}, and this one reads form {FORM})")
    value = f"SELECT value FROM {TABLE} WHERE name ="
    [values] = connection.execute(f"SELECT ({value} 'shape'), ({value} 'key')").fetchall()
    match values:
        case (bytes(shape), bytes(key)) if len(key) >= 32:
            return Record(shape, key)
    return Foreign("what ninefold notes in it is not there")


def create(connection: apsw.Connection, shape: bytes, key: bytes | None = None) -> Record:
    """Make the table, inside the transaction that makes all others. `key`: of a database that this one takes the place
    of. Raises apsw.Error."""
    connection.pragma("application_id", APPLICATION)
    connection.pragma("user_version", FORM)
    connection.execute(f"CREATE TABLE {TABLE} (name TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL) STRICT")
    record = Record(shape, key or secrets.token_bytes(32))
    connection.execute(f"INSERT INTO {TABLE} VALUES ('key', ?)", (record.key,))
    connection.execute(f"INSERT INTO {TABLE} VALUES ('shape', ?)", (record.shape,))
    return record


def update_shape(connection: apsw.Connection, shape: bytes) -> None:
    """Inside the transaction that changes the tables. Raises apsw.Error."""
    connection.execute(f"UPDATE {TABLE} SET value = ? WHERE name = 'shape'", (shape,))


@dataclass(frozen=True, slots=True)
class Upgrade:
    """`time`: RFC 3339. `written`: what was there then."""

    time: str
    backup: str
    written: str


@dataclass(frozen=True, slots=True)
class Written:
    """A digest of the revisions of rows, and how many of each resource there are; none: they were not counted."""

    digest: str
    rows: dict[str, int]


def encode_written(written: Written) -> str:
    return f"{written.digest} {msgspec.json.encode(written.rows).decode()}"


def decode_written(noted: str) -> Written:
    digest, _, rows = noted.partition(" ")
    return Written(digest, msgspec.json.decode(rows or "{}", type=dict[str, int]))


_UPGRADES = '"$ninefold_upgrades"'


def note_upgrade(connection: apsw.Connection, backup: str, written: str) -> None:
    """Inside the transaction that changes the tables. Raises apsw.Error."""
    [(now,)] = connection.execute("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')")
    note_upgrades(connection, (Upgrade(str(now), backup, written),))


def note_upgrades(connection: apsw.Connection, upgrades: Sequence[Upgrade]) -> None:
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {_UPGRADES}"
        " (time TEXT NOT NULL, backup TEXT NOT NULL, written TEXT NOT NULL) STRICT"
    )
    for each in upgrades:
        connection.execute(f"INSERT INTO {_UPGRADES} VALUES (?, ?, ?)", (each.time, each.backup, each.written))


def encode_upgrades(upgrades: Sequence[Upgrade]) -> bytes:
    """As they are noted where they have no table of their own."""
    return msgspec.json.encode(upgrades)


def decode_upgrades(noted: bytes | None) -> tuple[Upgrade, ...]:
    return () if noted is None else msgspec.json.decode(noted, type=tuple[Upgrade, ...])


def upgrades(connection: apsw.Connection) -> list[Upgrade]:
    """The oldest first. Raises apsw.Error."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = '$ninefold_upgrades'").fetchall():
        return []
    return [Upgrade(*map(str, found)) for found in connection.execute(f"SELECT * FROM {_UPGRADES} ORDER BY rowid")]


def last_upgrade(connection: apsw.Connection) -> Upgrade | None:
    """Raises apsw.Error."""
    return next(reversed(upgrades(connection)), None)


def fit(session: Session) -> bytes | None:
    """What is noted of how rows fit the contract; None: nothing yet."""
    return value(session, "fit")


def note_fit(session: Session, fit: bytes) -> None:
    note(session, "fit", fit)


def value(session: Session, name: str) -> bytes | None:
    found = session.run(f"SELECT value FROM {TABLE} WHERE name = ?", (name,))
    return bytes(found[0][0]) if found and isinstance(found[0][0], bytes) else None


def note(session: Session, name: str, value: bytes) -> None:
    session.run(f"INSERT INTO {TABLE} VALUES (?, ?) {ANEW}", (name, value))


DECIDED = "decided"


@dataclass(frozen=True, slots=True)
class Known:
    """What a database was served with last, and by their digests the documents of upgrades that were done. `is_empty`:
    no resource has a row."""

    contract: Contract | None
    decided: tuple[str, ...]
    is_empty: bool = False


def known(session: Session) -> Known:
    return Known(served_with(session), _decided(session))


def note_decided(session: Session, digest: str) -> None:
    note(session, DECIDED, msgspec.json.encode((*_decided(session), digest)))


def _decided(session: Session) -> tuple[str, ...]:
    kept = value(session, DECIDED)
    return () if kept is None else msgspec.json.decode(kept, type=tuple[str, ...])


Contract: TypeAlias = tuple[str, str]
"""The name and the text of a contract."""


def contract(connection: apsw.Connection) -> Contract | None:
    """The contract that the database was last served with; None: it was with none that is
    kept. Raises apsw.Error."""
    kept = kept_contract(connection)
    if kept is None:
        return None
    return _unpacked(kept)


def _unpacked(kept: bytes) -> tuple[str, str]:
    name, _, text = zlib.decompress(kept).decode().partition("\0")
    return name, text


def served_with(session: Session) -> Contract | None:
    """The same, in a transaction."""
    kept = value(session, "contract")
    return None if kept is None else _unpacked(kept)


def issued_to(session: Session) -> tuple[str, ...]:
    """The resources to whose rows credentials are issued, or were."""
    shape = value(session, "shape")
    return () if shape is None else decode_shape(shape).credentials


def kept_contract(connection: apsw.Connection) -> bytes | None:
    """The same as it is kept. Raises apsw.Error."""
    found = connection.execute(f"SELECT value FROM {TABLE} WHERE name = 'contract'").fetchall()
    return found[0][0] if found and isinstance(found[0][0], bytes) else None


def keep_contract(connection: apsw.Connection, kept: bytes) -> None:
    connection.execute(f"INSERT OR REPLACE INTO {TABLE} VALUES ('contract', ?)", (kept,))


def note_contract(session: Session, name: str, text: str) -> None:
    kept = zlib.compress(f"{name}\0{text}".encode())
    if not session.run(f"SELECT 1 FROM {TABLE} WHERE name = 'contract' AND value = ?", (kept,)):
        note(session, "contract", kept)


def derive(key: bytes, name: str) -> bytes:
    """32 bytes for one use: HMAC-SHA256 of its name, the last step of HKDF (RFC 5869 2.3)."""
    return hmac.digest(key, name.encode() + b"\x01", "sha256")


def take_room(session: Session) -> None:
    """Write as much as a request may. Raises Unavailable where it cannot be written."""
    session.run(f"INSERT OR REPLACE INTO {TABLE} VALUES ('room', zeroblob({ROOM}))", ())


def give_room_back(session: Session) -> None:
    session.run(f"DELETE FROM {TABLE} WHERE name = 'room'", ())
