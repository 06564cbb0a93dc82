"""The service on a disk that loses its power: `python -m tests.faults.power serve …` is `ninefold serve …` on it.

What SQLite writes stays in memory until it is synced. A line on standard input, the seed of its chances, cuts the
power: of what was not synced some is written, some is not, some in parts, in any order, and the process is gone at
once. So only what was synced is sure to be there, as with a disk that loses its cache (SQLite, Atomic Commit, 2).
With `NINEFOLD_DISK=lies` a sync does nothing: what was acknowledged is lost, and whoever looks for losses sees it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from random import Random

import apsw

SECTOR = 512
"""Bytes that a disk writes whole or not at all."""


@dataclass(frozen=True)
class Written:
    """`data` at an offset; None: the file ends there."""

    offset: int
    data: bytes | None


@dataclass
class Content:
    """A file as programs see it, and what of that the disk has not been told yet, in order."""

    seen: bytearray
    waiting: list[Written] = field(default_factory=list)


class Disk:
    """All files that SQLite has open, by their paths. `lock` is held by whoever reads or writes one."""

    def __init__(self, lies: bool) -> None:
        self.lies = lies
        self.lock = threading.RLock()
        self.files: dict[str, Content] = {}

    def content(self, path: str) -> Content:
        if path not in self.files:
            with open(path, "rb") as file:
                self.files[path] = Content(bytearray(file.read()))
        return self.files[path]

    def cut(self, chance: Random) -> None:
        """Lose the power: never returns."""
        with self.lock:
            for path, content in self.files.items():
                descriptor = os.open(path, os.O_RDWR)
                for write in lost(content.waiting, chance):
                    if write.data is None:
                        os.ftruncate(descriptor, write.offset)
                    else:
                        os.pwrite(descriptor, write.data, write.offset)
            os.kill(os.getpid(), signal.SIGKILL)
            signal.pause()


def lost(waiting: list[Written], chance: Random) -> list[Written]:
    """What of it the disk has still written: all, none, or some sectors of some writes; in order, or in another."""
    share = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
    left: list[Written] = []
    for write in waiting:
        if write.data is None:
            left += [write] if chance.random() < share else []
            continue
        for at in range(0, len(write.data), SECTOR):
            if chance.random() < share:
                left.append(Written(write.offset + at, write.data[at : at + SECTOR]))
    if chance.random() < 0.5:
        chance.shuffle(left)
    return left


class File(apsw.VFSFile):
    """Locks and shared memory are the system's; what is read and written is the disk's content."""

    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        # A temporary file has no name, and nothing of it has to outlive anything.
        with disk.lock:
            self._content = None if path is None else disk.content(path)

    def xRead(self, amount: int, offset: int) -> bytes:
        if self._content is None:
            return super().xRead(amount, offset)
        with self._disk.lock:
            return bytes(self._content.seen[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._content is None:
            super().xWrite(data, offset)
            return
        with self._disk.lock:
            seen, end = self._content.seen, offset + len(data)
            seen.extend(bytes(max(0, end - len(seen))))
            seen[offset:end] = data
            self._content.waiting.append(Written(offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        if self._content is None:
            super().xTruncate(size)
            return
        with self._disk.lock:
            del self._content.seen[size:]
            self._content.waiting.append(Written(size, None))

    def xFileSize(self) -> int:
        return super().xFileSize() if self._content is None else len(self._content.seen)

    def xSync(self, flags: int) -> None:
        if self._content is None:
            super().xSync(flags)
            return
        with self._disk.lock:
            if self._disk.lies:
                return
            for write in self._content.waiting:
                if write.data is None:
                    super().xTruncate(write.offset)
                else:
                    super().xWrite(write.data, write.offset)
            self._content.waiting.clear()


class Files(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        super().__init__("power", "unix", makedefault=True)
        self._disk = disk

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> File:
        return File(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        with self._disk.lock:
            super().xDelete(filename, syncdir)
            self._disk.files.pop(filename, None)


def main() -> None:
    disk = Disk(os.environ.get("NINEFOLD_DISK") == "lies")
    files = Files(disk)

    def wait() -> None:
        seed = sys.stdin.readline()
        if seed:
            disk.cut(Random(seed))

    threading.Thread(target=wait, daemon=True).start()
    # Whoever is imported has no connection yet, and opens its first one on this disk.
    from ninefold.cli import main as ninefold

    assert files is not None
    sys.exit(ninefold())


if __name__ == "__main__":
    main()
