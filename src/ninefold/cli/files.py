"""Files that a command reads, and the one that it takes for its database."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from ninefold.cli.terminal import Unusable, reason

LARGEST: Final = 64 * 1024 * 1024
"""Bytes that are read of whatever it is: a document is refused long before, and a device has no end."""

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


def read_bytes(file: str) -> bytes:
    """What a document holds. Raises Unusable where it cannot be read."""
    try:
        if file == "-":
            return sys.stdin.buffer.read(LARGEST)
        with opened(file) as found:
            return found.read(LARGEST)
    except (OSError, ValueError) as error:
        raise Unusable(f"{file or 'a file without a name'} cannot be read: {reason(error)}") from None


def database_of(file: str, named: str | None) -> str:
    """The URL or path that is named, else a file in the working directory that is called after the document.
    Raises Unusable for a document without a name."""
    if named is not None:
        return named
    if file == "-":
        raise Unusable("a contract from standard input has no name for its database", "--database names the file")
    return called_after(file)


def called_after(file: str) -> str:
    """The database of a document where none is named."""
    return f"{Path(file).stem}.db"


# Files of requests that a command is given, by their names.


def request_files(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The name and the text of each; of a directory, those of its `.http` files. Raises Unusable."""
    paths = [path for name in names for path in (sorted(Path(name).glob("*.http")) if Path(name).is_dir() else [name])]
    if not paths:
        raise Unusable("there are no requests", "name a file of requests, or a directory of .http files")
    found = []
    for path in paths:
        try:
            found.append((str(path), read_bytes(str(path)).decode("utf-8-sig")))
        except UnicodeDecodeError:
            raise Unusable(f"{path} is not UTF-8 text") from None
    return tuple(found)
