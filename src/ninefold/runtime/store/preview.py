"""A place beside a database for a copy of it that nobody needs afterwards: an open folder with a lock on it, so that
what a killed process leaves behind is taken away by the next one, and what is in use by none."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
