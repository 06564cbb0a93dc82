"""Processes that a command begins of this same program."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from ninefold.plan.pickled import dumps

P = ParamSpec("P")
R = TypeVar("R")

_BEGIN: Final = (
    "import signal\n"
    "for each in ('SIGINT', 'SIGTERM', 'SIGHUP'):\n"
    "    if hasattr(signal, each):\n"
    "        signal.signal(getattr(signal, each), signal.SIG_IGN)\n"
    "from {} import main\n"
    "main()"
)
"""Signals that come to all processes are for the first, from the beginning on."""

_THREADS: Final = Path("/proc/self/task")
"""Of this process, on Linux (proc(5))."""


def command(module: str, *arguments: str) -> tuple[Sequence[str], Mapping[str, str]]:
    """What calls `main` of a module in a process of its own, as a command line and an environment."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return [sys.executable, "-P", "-c", _BEGIN.format(module), *arguments], environment


def apart(work: Callable[P, R], *given: P.args, **named: P.kwargs) -> R:
    """What a function of a module gives, done by a process that ends then: what it imports and makes on the way is not
    kept by this one. Function, arguments and result can be pickled. Where no process can be had, or it comes to
    nothing, it is done here, and whatever it raises is raised here."""
    try:
        said = (_forked if _has_one_thread() else _begun)(lambda: work(*given, **named), (work, given, named))
    except OSError:
        said = None
    if said is None:
        return work(*given, **named)
    result: R = pickle.loads(said)  # of the process that was begun, by its pipe
    return result


def _has_one_thread() -> bool:
    """Then a copy of this process is as sound as it is: it lacks no thread that holds a lock."""
    return sys.platform == "linux" and len(os.listdir(_THREADS)) == 1


def _forked(work: Callable[[], object], _: object) -> bytes | None:
    """By a copy of this process, which has imported already what both need. Raises OSError."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        status = 1
        gc.disable()  # it ends soon, and has all that the other one has to look through
        try:
            os.close(reading)
            with open(writing, "wb") as answer:
                answer.write(dumps(work()))
            status = 0
        finally:
            # Whatever is raised is met again by the process that waits, which says it.
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as answer:
        said = answer.read()
    _, ended = os.waitpid(process, 0)
    return said if ended == 0 else None


def _begun(_: object, work: object) -> bytes | None:
    """By a process that begins anew. Raises OSError."""
    line, environment = command(__name__)
    ended = subprocess.run(
        line,
        env=environment,
        input=dumps(work),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return ended.stdout if ended.returncode == 0 else None


def main() -> None:
    """What standard input asks for, to standard output."""
    work, given, named = pickle.load(sys.stdin.buffer)  # of the process that began this one
    sys.stdout.buffer.write(dumps(work(*given, **named)))
