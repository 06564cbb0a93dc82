"""The command line: one file a command. `main` is what the program `ninefold` runs.

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

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from cyclopts import App, CycloptsError
from rich.console import Console

import ninefold
from ninefold.cli.terminal import Unusable, complain

HELP = """A service contract in, a running service out, and nothing invented in between.

A contract is one Markdown or YAML document in nine parts. What it shows is served; what it does not show is a gap,
and nothing that depends on a gap is served.
"""

EXAMPLES = """Start here:

    ninefold new contract.md      write a blank contract
    ninefold gaps contract.md     see what it does not say yet
    ninefold serve contract.md    serve what it says

`ninefold COMMAND --help` tells more. Exit status: 0 clean, 1 findings, 2 usage or an unreadable file, 3 our fault.
"""

COMMANDS = {
    "new": "Write a blank contract.",
    "check": "Say what is wrong with a contract.",
    "gaps": "Show what a contract leaves open.",
    "propose": "Propose what conventions say to its open questions.",
    "accept": "Turn proposals into facts.",
    "dev": "Serve a contract while it is written.",
    "serve": "Serve a contract.",
    "rows": "Look at the rows of a resource.",
    "add": "Add rows under the contract's own rules.",
    "events": "Look at events, and have them delivered again.",
    "plan": "Show what would be served, statements included.",
    "export": "Write what is served as an OpenAPI document.",
    "explain": "Explain an endpoint, a service, or a diagnostic.",
    "permissions": "Show who may do what.",
    "ablate": "Take away each fact, and see what is left of the service.",
    "schema": "Print a JSON Schema for editors.",
}

CLOSED_PIPE = 141
"""128 and the number of SIGPIPE: what a shell reports of a program whose reader went away."""


def application(called: str = "") -> App:
    """The program, of which `called` is the command that is wanted.

    A command is imported when it is called, for its docstring too: `check` needs no database, and runs where there
    can be none.
    """
    app = App(
        name="ninefold",
        help=HELP,
        help_epilogue=EXAMPLES,
        help_format="markdown",
        version=ninefold.__version__,
        console=Console(soft_wrap=False),
        error_console=Console(stderr=True),
        result_action="return_value",
    )
    for position, (name, help) in enumerate(COMMANDS.items()):
        app.command(
            f"ninefold.cli.{name}:{name}",
            name=name,
            help=None if name == called else help,
            help_epilogue="",
            sort_key=position,
        )
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with its arguments, those of the process unless others are given: its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        status = application(given[0] if given else "")(given, exit_on_error=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except CycloptsError:
        return 2
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


def _our_fault(error: Exception) -> int:
    """One line that a report needs. The text of an exception may hold what a contract or a row says: it stays out."""
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
