"""One process serves a file: the lock beside it.

The database file itself cannot carry this lock: closing any handle of a file drops the POSIX locks that SQLite
holds on it in the same process.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path


class Held(Exception):
    """Another process serves the file; the message says which."""


@dataclass(frozen=True, slots=True)
class Lock:
    """An advisory lock (flock) on `PATH.ninefold-lock`. It ends with the process, however that ends."""

    path: Path
    descriptor: int

    def release(self) -> None:
        """The file goes while the lock is still held, so nobody removes another's."""
        self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


def lock(database: Path) -> Lock:
    """Lock a database file, which need not exist yet. Raises Held, or OSError where the folder takes no file."""
    path = database.with_name(database.name + ".ninefold-lock")
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                raise Held(f"process {holder}" if holder else "another process") from None
            raise
        if _is_still(path, descriptor):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
            return Lock(path, descriptor)
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file that was locked is the one that has the name: its last holder may have removed it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
