"""The service on a disk that takes its time to flush: `python -m tests.faults.slow serve …` is `ninefold serve …` on
it.

`NINEFOLD_FLUSH` says how many milliseconds each sync takes more than it does.
"""

from __future__ import annotations

import os
import sys
import time

import apsw


class File(apsw.VFSFile):
    def __init__(self, seconds: float, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._seconds = seconds

    def xSync(self, flags: int) -> None:
        time.sleep(self._seconds)
        super().xSync(flags)


class Files(apsw.VFS):
    def __init__(self, seconds: float) -> None:
        super().__init__("slow", "unix", makedefault=True)
        self._seconds = seconds

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> File:
        return File(self._seconds, name, flags)


def main() -> None:
    files = Files(float(os.environ["NINEFOLD_FLUSH"]) / 1000)
    # Whoever is imported has no connection yet, and opens its first one on this disk.
    from ninefold.cli import main as ninefold

    assert files is not None
    sys.exit(ninefold())


if __name__ == "__main__":
    main()
