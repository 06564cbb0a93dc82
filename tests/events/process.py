"""A service as a process of its own, for tests that kill it, and a look into its database."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw


@contextmanager
def process(
    contract: Path, database: Path, operator: str = "127.0.0.1:0"
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service and its URL."""
    command = [sys.executable, "-m", "ninefold", "serve", str(contract), "--database", str(database)]
    command += ["--listen", "127.0.0.1:0", "--operator", operator, "--allow-private", "127.0.0.0/8"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            for line in running.stdout:
                if found := re.match(r"service\s+(\S+)", line):
                    break
            else:
                raise AssertionError("the service did not start")
            threading.Thread(target=running.stdout.read, daemon=True).start()
            yield running, found[1]
        finally:
            running.kill()


def rows(database: Path, statement: str) -> list[tuple[Any, ...]]:
    """What a statement gives, run on the database beside the service."""
    connection = apsw.Connection(str(database))
    connection.set_busy_timeout(5_000)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()
