"""A service as a process of its own, for tests that kill it, and a look into its database."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
from tests.waiting import PATIENCE


@contextmanager
def process(
    contract: Path, database: Path, operator: str = "127.0.0.1:0", program: str = "ninefold", *options: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service and its URL. `program`: the module that is run, with what `ninefold` is told and these `options`."""
    command = [sys.executable, "-m", program, "serve", str(contract), "--database", str(database)]
    command += ["--listen", "127.0.0.1:0", "--operator", operator, "--allow-private", "127.0.0.0/8", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
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


def killed(running: subprocess.Popen[str]) -> None:
    running.send_signal(signal.SIGKILL)


@contextmanager
def killing(
    running: subprocess.Popen[str],
    moment: float,
    *more: tuple[Sized, int],
    how: Callable[[subprocess.Popen[str]], None] = killed,
) -> Iterator[None]:
    """Kill the service a moment after there is more of each of these than so many, and not before: how long that takes
    is the machine's to say."""

    def done() -> bool:
        return all(len(found) > count for found, count in more)

    def kill() -> None:
        end = time.monotonic() + PATIENCE
        while not done() and running.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(moment)
        how(running)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert done(), "it came to nothing"


def rows(database: Path, statement: str) -> list[tuple[Any, ...]]:
    """What a statement gives, run on the database beside the service."""
    connection = apsw.Connection(str(database))
    connection.set_busy_timeout(5_000)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()
