"""Whether a document was saved since it was last looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from ninefold.diagnostics.frozen import dataclass

SECONDS = 0.2
"""How often a file is looked at: soon enough for whoever saved it, seldom enough to cost nothing."""

Stamp: TypeAlias = tuple[int, int, int]
"""Time of the last change in nanoseconds, size in bytes, number of the file: an editor may write a new one."""


@dataclass
class Watch:
    """Looks at a file when asked. A change counts once it has been the same for two looks, so that what is still being
    written is not read; a file that is away for a moment has not changed."""

    path: Path
    _taken: Stamp | None = None
    _seen: Stamp | None = None

    def __post_init__(self) -> None:
        self._taken = self._seen = self._stamp()

    def saved(self) -> bool:
        """Whether the file was saved since it was last said to be."""
        now = self._stamp()
        settled, self._seen = now == self._seen, now
        if now is None or now == self._taken or not settled:
            return False
        self._taken = now
        return True

    def _stamp(self) -> Stamp | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
