"""Lines that are written together: a system call for each line of the access log would cost as much as a read."""

from __future__ import annotations

import asyncio
from typing import TextIO

SECONDS = 0.05
"""How long a line waits for others."""


class Lines:
    """To be used on the event loop's thread. When the reader has gone away, what is written is dropped: a service
    does not end because nobody reads its log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting: list[str] = []

    def write(self, line: str) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_later(SECONDS, self.flush)
        self._waiting.append(line)

    def flush(self) -> None:
        text = "".join(self._waiting)
        self._waiting.clear()
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            pass
