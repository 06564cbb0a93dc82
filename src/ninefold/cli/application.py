"""The program as cyclopts reads its command lines: its help, what is wrong with a line, and whatever is not plain."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import cyclopts
from cyclopts import App, CycloptsError
from rich.console import Console

import ninefold
from ninefold.cli.commands import COMMANDS, Parameter

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


def run(tokens: Sequence[str]) -> int:
    """Call the command of a line: its exit status, 2 where the line is wrong, which has been said."""
    try:
        status = application(tokens[0] if tokens else "")(tokens, exit_on_error=False)
        return status if isinstance(status, int) else 0
    except CycloptsError:
        return 2


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
    for position, (name, command) in enumerate(COMMANDS.items()):
        app.command(
            _told(name) if name == called else f"ninefold.cli.{command.module}:{name}",
            name=name,
            help=None if name == called else command.help,
            help_epilogue="",
            sort_key=position,
        )
    return app


def _told(name: str) -> Any:
    """A command, what is said of its parameters in the words of cyclopts."""
    command = getattr(import_module(f"ninefold.cli.{COMMANDS[name].module}"), name)

    def told(*given: Any, **named: Any) -> Any:
        return command(*given, **named)

    hints = {each: _as_cyclopts(hint) for each, hint in get_type_hints(command, include_extras=True).items()}
    signature = inspect.signature(command)
    parameters = [each.replace(annotation=hints[name]) for name, each in signature.parameters.items()]
    told.__name__, told.__doc__, told.__annotations__ = command.__name__, command.__doc__, hints
    told.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return told


def _as_cyclopts(hint: Any) -> Any:
    if get_origin(hint) is not Annotated:
        return hint
    of, *extras = get_args(hint)
    said = (_parameter(each) if isinstance(each, Parameter) else each for each in extras)
    return Annotated[(of, *said)]


def _parameter(said: Parameter) -> cyclopts.Parameter:
    stated = {each.name: getattr(said, each.name) for each in fields(said)}
    return cyclopts.Parameter(**{name: value for name, value in stated.items() if value is not None})
