"""Files that a command reads."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

_HANDED_OVER: Final = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Where a pipe is that whoever calls has begun to fill (`check <(git show main:contract.md)`)."""


def opened(file: str | Path) -> BinaryIO:
    """A file, to be read. Raises OSError, also of a pipe that has a name (mkfifo(3)): until somebody writes into it,
    nothing else would happen, a stop among it; ValueError where it is no name of a file."""
    return open(file, "rb", opener=_at_once)


def _at_once(path: str, flags: int) -> int:
    # To open a pipe waits for whoever writes, unless it is asked not to.
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode) and not path.startswith(_HANDED_OVER):
        os.close(descriptor)
        raise OSError(errno.ESPIPE, "it is a pipe, and no file")
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(descriptor, True)
    return descriptor
