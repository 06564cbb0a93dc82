"""Commands of `ninefold`, each in a process of its own, which halts at one of the statements that it asks of a database
of either kind, so that something may happen meanwhile."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from ninefold.cli import main
from ninefold.runtime.store.postgresql_link import Link


class Process:
    """`ninefold` with some arguments. `at`: the number of the statement at which it halts, from 0, over all of its
    connections: before SQLite does it, or once PostgreSQL has, and before that is known; None: at none."""

    def __init__(self, folder: Path, *arguments: str, at: int | None = None) -> None:
        # No file, which may not be let grow. What is said is less than a pipe holds.
        self._said, saying = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            status = 70
            try:
                os.chdir(folder)
                sys.stdout = sys.stderr = os.fdopen(saying, "w", encoding="utf-8")
                statements = _halting(at)
                status = main(list(arguments))
                print(f"{_COUNTED}{next(statements)}", flush=True)
            except BaseException as error:
                print(f"Traceback: {error!r}", flush=True)
            finally:
                sys.stdout.flush()
                os._exit(status)
        os.close(saying)
        self.halts = at is not None and self._halts()

    def _halts(self) -> bool:
        """Whether it halts, once it does; it has ended otherwise."""
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        self._status = status
        return os.WIFSTOPPED(status)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._said)

    def ended(self) -> tuple[int, str]:
        """Its exit status and what it said; where it halted it goes on before."""
        if self.halts:
            os.kill(self.pid, signal.SIGCONT)
        if self.halts or not hasattr(self, "_status"):
            _, self._status = os.waitpid(self.pid, 0)
        with os.fdopen(self._said, encoding="utf-8") as stream:
            said, _, statements = stream.read().partition(_COUNTED)
        self.statements = int(statements or 0)
        assert "Traceback" not in said, said
        return os.waitstatus_to_exitcode(self._status), said


_COUNTED = "statements: "


def _halting(at: int | None) -> count[int]:
    """Halt at a statement of this process. What counts them."""
    statements = count()

    def halt() -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def before(*_: object) -> bool:
        if next(statements) == at:
            halt()
        return True

    told = Link._told

    async def asked(self: Link, ask: Callable[[], Awaitable[Any]]) -> Any:
        async def halted() -> Any:
            found = await ask()
            halt()
            await self._connection.fetch("SELECT")
            return found

        return await told(self, halted if next(statements) == at else ask)

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", before))
    Link._told = asked  # type: ignore[method-assign]
    return statements
