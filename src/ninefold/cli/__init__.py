"""The command line. `main` is what the program `ninefold` runs.

| exit | means                                                          |
|------|----------------------------------------------------------------|
| 0    | clean                                                          |
| 1    | findings: errors in a contract, open questions, nothing to serve |
| 2    | the command was called wrongly, or a file cannot be used       |
| 3    | our fault                                                      |

A command returns its exit status. What it was asked for goes to standard output, what it has to remark beside
that to standard error.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import ninefold
from ninefold.cli.commands import COMMANDS, plainly
from ninefold.cli.terminal import HasErrors, Unusable, complain

CLOSED_PIPE = 141
"""128 and the number of SIGPIPE: what a shell reports of a program whose reader went away."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with its arguments, those of the process unless others are given: its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = _called(given, is_program=arguments is None)
        sys.stdout.flush()
        return status
    except HasErrors:
        return 1
    except Unusable as error:
        complain(str(error), *error.help, details=error.details)
        return 2
    except BrokenPipeError:
        # Python writes what is left when it ends, and would fail once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _our_fault(error)
    finally:
        if arguments is None:
            gc.freeze()  # what is left goes with the program, and no circle of objects has to be found any more


def _imported(name: str, is_program: bool) -> Callable[..., int | None]:
    """A command. No circles of objects are searched for meanwhile: what is imported stays. Nor later, where it does so
    as long as the program runs."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        command: Callable[..., int | None] = getattr(import_module(f"ninefold.cli.{COMMANDS[name].module}"), name)
    finally:
        if is_program:
            gc.freeze()
        if was_enabled:
            gc.enable()
    return command


def _called(tokens: Sequence[str], is_program: bool) -> int:
    """Call the command that is named first, which is imported now: `check` needs no database, and runs where there
    can be none."""
    name = tokens[0] if tokens else ""
    if name in COMMANDS:
        command = _imported(name, is_program)
        said = plainly(command, tokens[1:])
        if said is not None:
            given, named = said
            return command(*given, **named) or 0
    from ninefold.cli.application import run

    return run(tokens)


def _our_fault(error: Exception) -> int:
    """One line that a report needs. The text of an exception may hold what a contract or a row says: it stays out."""
    import traceback

    if os.environ.get("NINEFOLD_DEBUG"):
        traceback.print_exception(error)
    inside = [frame for frame in traceback.extract_tb(error.__traceback__) if "ninefold" in Path(frame.filename).parts]
    frame = inside[-1] if inside else None
    place = f" in {Path(frame.filename).name}, line {frame.lineno}" if frame else ""
    complain(
        f"ninefold {ninefold.__version__} failed: {type(error).__name__}{place}",
        "this is our fault: please report this line, and the document if you may; NINEFOLD_DEBUG=1 shows the traceback",
    )
    return 3
