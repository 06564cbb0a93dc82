"""What a service says while it is served, written behind it by a thread: whoever does not take it, a full pipe above
all (pipe(7): `write` waits), holds up nobody who asks the service for something."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from threading import Condition, Thread
from typing import Final, TextIO

MOST_BYTES: Final = 1024 * 1024
"""Bytes that wait to be written; what comes beyond them is not written, and the next line says how much that was."""

ENDING_SECONDS: Final = 2.0
"""How long what still waits is written at the end."""


@contextmanager
def written_behind() -> Iterator[None]:
    """Standard output and error are written behind until the block ends. Where both are one file, what is said keeps
    its order; what has no descriptor stays as it is."""
    with ExitStack() as stack:
        found: list[Behind] = []
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            if (descriptor := _descriptor(stream)) is None:
                continue
            stream.flush()
            behind = next((each for each in found if each.writes_to(descriptor)), None)
            if behind is None:
                behind = Behind(descriptor)
                found.append(behind)
                stack.callback(behind.drain, ENDING_SECONDS)
            text = io.TextIOWrapper(behind, stream.encoding, stream.errors, write_through=True)  # type: ignore[type-var]
            stack.enter_context(redirect(text))
        yield


def drain() -> None:
    """To be called where a process ends at once: what was said until then is written."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(behind := getattr(stream, "buffer", None), Behind):
            behind.drain(ENDING_SECONDS)


def _descriptor(stream: TextIO) -> int | None:
    with suppress(AttributeError, OSError, ValueError):  # a stream that was replaced, that is none, or that is closed
        return stream.fileno()
    return None


class Behind(io.BufferedIOBase):
    """Takes bytes at once, and writes them to a descriptor as they are taken there. Where nobody is there any more to
    take them, they are dropped: a service does not end because nobody reads what it says."""

    def __init__(self, descriptor: int, most: int = MOST_BYTES) -> None:
        self._descriptor = descriptor
        self._most = most
        self._waiting: list[bytes] = []
        self._size = 0
        """Bytes that wait, and those that are being written."""
        self._missed = 0
        self._changed = Condition()
        Thread(target=self._write_on, name="what is said", daemon=True).start()

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def writes_to(self, descriptor: int) -> bool:
        return os.path.samestat(os.fstat(self._descriptor), os.fstat(descriptor))

    def write(self, data: bytes, /) -> int:  # type: ignore[override]
        with self._changed:
            if not self._size or self._size + len(data) <= self._most:
                self._add(bytes(data))
            else:
                self._missed += data.count(b"\n")
        return len(data)

    def drain(self, seconds: float) -> None:
        """Wait so long until all is written."""
        with self._changed:
            self._changed.wait_for(lambda: not self._size, seconds)

    def _add(self, data: bytes) -> None:
        self._waiting.append(data)
        self._size += len(data)
        self._changed.notify_all()

    def _write_on(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                data = b"".join(self._waiting)
                self._waiting.clear()
            with suppress(OSError):
                _write(self._descriptor, data)
            with self._changed:
                self._size -= len(data)
                if self._missed:
                    self._add(b"(%d lines were not taken in time, and are not here)\n" % self._missed)
                    self._missed = 0
                self._changed.notify_all()


def _write(descriptor: int, data: bytes) -> None:
    """All of it, however long that takes. Raises OSError where nobody takes it any more."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # whoever has the same pipe may have said that it does not block
            select.select((), (descriptor,), ())
