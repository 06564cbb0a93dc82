"""A PostgreSQL of the tests' own, of the version of `tests.postgresql.versions`: one for a run of the tests, whose
workers share it, with a database for whoever asks.

`python -m tests.postgresql.server DIRECTORY` makes it, runs it, and ends it when nobody holds the other end of the pipe
`users` any more, however they ended. It listens on a socket in its directory.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import hashlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from tests.postgresql import versions
from tests.postgresql.versions import VERSION

_NOBODY: Final = pwd.getpwnam("nobody")
UNPRIVILEGED: Final[dict[str, Any]] = (
    {"user": _NOBODY.pw_uid, "group": _NOBODY.pw_gid, "extra_groups": ()} if os.geteuid() == 0 else {}
)
"""The server refuses to be run by root."""

SETTINGS: Final = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "autovacuum": "off",
    "log_line_prefix": "%d ",
    # What its processes share is in its directory, and goes with it where they were killed.
    "dynamic_shared_memory_type": "mmap",
}
_numbers: Final = count()


@cache
def programs() -> Path:
    """Where initdb, postgres and pgbench are; where they are not, the test is skipped."""
    found = versions.programs(VERSION)
    return pytest.skip(f"PostgreSQL {VERSION} is not here") if found is None else _for_all(found)


def _for_all(path: Path) -> Path:
    """The same where whoever runs the server gets at it: a copy of 40 MB, which stays for the next run, where the house
    stands in a directory that is root's alone, as `/root` is."""
    if not UNPRIVILEGED or all(each.stat().st_mode & stat.S_IXOTH for each in path.parents):
        return path
    named = hashlib.sha256(f"{path} {path.stat().st_mtime_ns}".encode()).hexdigest()[:12]
    copy = Path(tempfile.gettempdir()) / f"ninefold-postgresql-{VERSION}-{named}"
    package = path.parents[1]
    with _locked(copy):
        if not copy.exists():
            with tempfile.TemporaryDirectory(dir=copy.parent) as made:
                # As they stand to one another: the programs find their libraries by that.
                for each in (path.parent, package.with_name(f"{package.name}.libs")):
                    shutil.copytree(each, Path(made) / "all" / each.relative_to(package.parent), symlinks=True)
                (Path(made) / "all").rename(copy)
    assert copy.stat().st_uid == 0, f"{copy} is somebody else's"
    return copy / path.relative_to(package.parent)


@cache
def directory() -> Path:
    """The directory of the server that runs for this run of the tests; where none can, the test is skipped."""
    programs()
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    where = Path(tempfile.gettempdir()) / f"ninefold-postgresql-{run[:12]}"
    with _locked(where):
        if not (where / "ready").exists():
            where.mkdir(mode=0o755, exist_ok=True)
            os.mkfifo(where / "users")
            command = [sys.executable, "-m", "tests.postgresql.server", str(where)]
            with (where / "log").open("wb") as log:
                begun = subprocess.run(
                    command, start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=_ROOT
                )
            assert begun.returncode == 0, (where / "log").read_text()
        # Held open until this process ends.
        os.open(where / "users", os.O_WRONLY)
    return where


_ROOT: Final = Path(__file__).parents[2]


@contextmanager
def _locked(where: Path) -> Iterator[None]:
    with Path(f"{where}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def database() -> str:
    """A new and empty database, as `--database` names it."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    assert not test or "postgresql" in test, f"{test}: `make test-postgresql` finds it by its name, which has to say so"
    name = f"test_{os.getpid()}_{next(_numbers)}"
    run(url("postgres"), f"CREATE DATABASE {name}")
    return url(name)


def url(name: str) -> str:
    return f"postgresql://ninefold@/{name}?host={directory()}"


_AS_USUAL: Final = {"default_transaction_read_only": "off", "statement_timeout": "0", "idle_session_timeout": "0"}
"""Settings by which a test looks at a database, whatever those are that it has set for others."""


def run(at: str, *statements: str) -> list[Sequence[Any]]:
    """The rows of the last of some statements, each by itself."""

    async def each() -> list[Sequence[Any]]:
        import asyncpg

        connection = await asyncpg.connect(at, server_settings=_AS_USUAL)
        try:
            rows: list[Sequence[Any]] = []
            for statement in statements:
                rows = await connection.fetch(statement)
            return rows
        finally:
            await connection.close()

    return asyncio.run(each())


class Asked:
    """A connection that is asked again and again."""

    def __init__(self, at: str) -> None:
        import asyncpg

        self._loop = asyncio.new_event_loop()
        self._connection = self._loop.run_until_complete(asyncpg.connect(at))

    def run(self, statement: str) -> list[Sequence[Any]]:
        rows: list[Sequence[Any]] = self._loop.run_until_complete(self._connection.fetch(statement))
        return rows

    def close(self) -> None:
        self._loop.run_until_complete(self._connection.close())
        self._loop.close()


# ── The server ────────────────────────────────────────────────────────────────────────────────────────────────


def main(where: Path) -> None:
    """Begin a process in which the server lives, and end when it is ready: nobody waits for the end of the other."""
    living = os.fork()
    if not living:
        _live(where)
        return
    while not (where / "ready").exists():
        if os.waitpid(living, os.WNOHANG)[0]:
            sys.exit("the server has ended")
        time.sleep(0.02)


def _live(where: Path) -> None:
    make(where)
    server = begin(where)
    (where / "ready").touch()
    while True:
        with (where / "users").open("rb") as users:
            users.read()
        with _locked(where):
            reading = os.open(where / "users", os.O_RDONLY | os.O_NONBLOCK)
            try:
                os.read(reading, 1)
            except BlockingIOError:
                continue
            finally:
                os.close(reading)
            # Immediately: nothing of it is needed any more.
            server.send_signal(signal.SIGQUIT)
            server.wait()
            shutil.rmtree(where)
            Path(f"{where}.lock").unlink()
            return


# ── Its programs ──────────────────────────────────────────────────────────────────────────────────────────────


def program(name: str) -> str:
    return str(programs() / name)


def hand_over(path: Path) -> None:
    """Let a file or a directory be of whoever runs the server."""
    if UNPRIVILEGED:
        shutil.chown(path, UNPRIVILEGED["user"], UNPRIVILEGED["group"])


def make(where: Path) -> None:
    """An empty cluster in a directory, for the user `ninefold`."""
    data = where / "data"
    data.mkdir(mode=0o700)
    hand_over(data)
    hand_over(where)
    # An order of texts that is the database's own may be any: what is by code point says so.
    locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if int(VERSION) > 16 else []
    options = ["-U", "ninefold", "-A", "trust", "-N", "-E", "UTF8", "--locale=C", *locale]
    subprocess.run([program("initdb"), "-D", str(data), *options], check=True, cwd="/", **UNPRIVILEGED)


def begin(where: Path, settings: Mapping[str, str] = SETTINGS, before: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    """Its server, once it takes connections. `before`: what comes before its command, such as `taskset`."""
    options = [f"--{name}={value}" for name, value in settings.items()]
    command = [*before, program("postgres"), "-D", str(where / "data"), "-k", str(where), *options]
    server = subprocess.Popen(command, cwd="/", **UNPRIVILEGED)
    asked = [program("pg_isready"), "-q", "-h", str(where)]
    while subprocess.run(asked).returncode != 0:
        assert server.poll() is None
        time.sleep(0.02)
    return server


def forget(where: Path) -> None:
    """Give back what a server that was killed holds of the machine, and the next one over its directory would: there is
    none, and a machine has few of them."""
    noted = where / "data" / "postmaster.pid"
    lines = noted.read_text().splitlines() if noted.exists() else []
    if len(lines) > _SHARED:
        _, id = lines[_SHARED].split()
        ctypes.CDLL(None).shmctl(int(id), _REMOVE, None)


_SHARED: Final = 6
"""The line of `postmaster.pid` that has the key and the identifier of a segment of shared memory."""
_REMOVE: Final = 0
"""`IPC_RMID`, of shmctl(2)."""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
