"""A database file: which one a URL means, and one process that serves it: a lock on the file itself, and one beside it
that says who.

A file may have several names: symbolic links, hard links, mounts. What SQLite keeps beside a database (the log, and who
reads how far) it finds by the name, so that two of them would not know of each other. The lock on the file itself is an
open file description's, on one byte that SQLite never locks (`fcntl`, F_OFD_SETLK; SQLite's are at 2^30 and the 512
behind it, https://sqlite.org/fileformat2.html#the_lock_byte_page). Where the system has no such locks, that beside it
is the only one.

Closing any handle of a file drops the POSIX locks that SQLite holds on it in the same process: ours is opened before
SQLite's, and closed after them.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from pathlib import Path
from urllib.parse import unquote

from ninefold.diagnostics.frozen import dataclass

BYTE = 2**62
"""The byte of a database file that is locked: behind all that a file has."""

_STRUCT = "hhqqi4x"
"""`struct flock` of 64-bit systems: type, whence, start, length, process."""


SERVED = "served"
WORKED_ON = "being upgraded or moved"
"""What is done to a file while it is locked."""


class Held(Exception):
    """Another process has the file; the message says which one, and what it does: `served by process 12`."""


@dataclass(frozen=True, slots=True)
class Lock:
    """Advisory locks: one on `PATH.ninefold-lock` (flock), and one on the database itself. They end with the process,
    however that ends."""

    path: Path
    descriptor: int
    database: int

    def release(self) -> None:
        """The file beside goes while the lock is still held, so nobody removes another's."""
        os.close(self.database)
        self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


def lock(database: Path, doing: str = SERVED) -> Lock:
    """Lock a database file for what is done to it. It is made if it is not there: what a service keeps is not for every
    user of the machine, and SQLite gives the files beside it the same mode. Raises Held, or OSError where the folder
    takes no file."""
    path, beside = _lock_beside(database, doing)
    try:
        file = os.open(database, os.O_RDWR | os.O_CREAT, 0o600)
    except BaseException:
        _give_back(path, beside)
        raise
    if not _lock_itself(file):
        os.close(file)
        _give_back(path, beside)
        raise Held(f"{SERVED} by another process, under another name of the file")
    return Lock(path, beside, file)


def is_held_by_another_name(database: Path) -> bool:
    """Whether somebody serves the file, and not by this name."""
    file = os.open(database, os.O_RDONLY)
    try:
        if not _is_held(file):
            return False
    finally:
        os.close(file)
    try:
        beside = os.open(_beside(database), os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(beside, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(beside)
    return True


def _lock_itself(file: int) -> bool:
    command = getattr(fcntl, "F_OFD_SETLK", None)
    if command is None:
        return True
    try:
        fcntl.fcntl(file, command, struct.pack(_STRUCT, fcntl.F_WRLCK, os.SEEK_SET, BYTE, 1, 0))
    except (BlockingIOError, PermissionError):
        return False
    return True


def _is_held(file: int) -> bool:
    command = getattr(fcntl, "F_OFD_GETLK", None)
    if command is None:
        return False
    asked = struct.pack(_STRUCT, fcntl.F_WRLCK, os.SEEK_SET, BYTE, 1, 0)
    kind: int = struct.unpack(_STRUCT, fcntl.fcntl(file, command, asked))[0]
    return kind != fcntl.F_UNLCK


def _beside(database: Path) -> Path:
    return database.with_name(database.name + ".ninefold-lock")


def _give_back(path: Path, descriptor: int) -> None:
    path.unlink(missing_ok=True)
    os.close(descriptor)


def _lock_beside(database: Path, doing: str) -> tuple[Path, int]:
    path = _beside(database)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder, _, what = os.pread(descriptor, 64, 0).decode("ascii", "replace").strip().partition("\n")
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                who = f"process {holder}" if holder else "another process"
                raise Held(f"{what or SERVED} by {who}") from None
            raise
        if _is_still(path, descriptor):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n{doing}\n".encode("ascii"), 0)
            return path, descriptor
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file that was locked is the one that has the name: its last holder may have removed it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


class NotBuilt(Exception):
    """A URL that names no database that this build can use; the message says which it can."""


def database_path(url: str) -> Path:
    """The file that `url` names: `sqlite:///PATH` (relative), `sqlite:////PATH` (absolute) or a bare path.

    In a URL, `%20` and the like are decoded (RFC 3986 2.1). Raises NotBuilt.
    """
    scheme = _SCHEME.match(url)
    if scheme is None:
        return _path(url, url)
    if scheme[1].lower() != "sqlite":
        raise NotBuilt(f"{scheme[1]}:// is not built yet: databases are SQLite files, sqlite:///PATH")
    authority, slash, path = url[scheme.end() :].partition("/")
    if authority or not slash:
        raise NotBuilt(f"{url} names no file: write sqlite:///PATH, with four slashes for an absolute path")
    if "?" in path or "#" in path:
        raise NotBuilt(f"{url} has parameters, and a SQLite file takes none")
    return _path(unquote(path), url)


def _path(path: str, url: str) -> Path:
    if path in ("", ".") or path.endswith("/") or "\0" in path:
        raise NotBuilt(f"{url!r} names no file: write a path, or sqlite:///PATH")
    if path.startswith(":"):
        raise NotBuilt(f"{path} is not a file, and a service without a file would forget what it acknowledged")
    return Path(path)
