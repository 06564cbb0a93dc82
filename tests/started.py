"""Programs that a test starts and ends, each at a port of its own and with a folder of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.ports import free_port
from tests.waiting import begun

P = TypeVar("P", bound="Program")


class Program:
    """One that is started anew as often as a test says. `command`: what is run."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def command(self) -> Sequence[str]:
        raise NotImplementedError

    def start(self) -> None:
        self.process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begun(self.process, "127.0.0.1", self.port)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def started(program: P) -> Iterator[P]:
    """It ends with the test."""
    program.folder.mkdir(exist_ok=True)
    program.start()
    try:
        yield program
    finally:
        program.kill()
