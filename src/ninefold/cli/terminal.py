"""What is written where. Colour only where a person looks, and where NO_COLOR (no-color.org) is not set."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from ninefold.diagnostics.diagnostic import Diagnostic
from ninefold.diagnostics.render import WIDTH, render, summary, visible
from ninefold.diagnostics.source import Source


class Unusable(Exception):
    """The command cannot be carried out as it was given (exit 2): the message states the fact, `details` are its
    single points, `help` advises."""

    def __init__(self, message: str, *help: str, details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.help = help
        self.details = details


class HasErrors(Exception):
    """Nothing can be done for a contract, and why has been shown (exit 1)."""


def is_coloured(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say(text: str = "") -> None:
    """A line, or lines, of what was asked for."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def say_visibly(text: str) -> None:
    """Lines that hold text of the document, which a terminal is to show and not to obey."""
    say("\n".join(map(visible, text.rstrip("\n").split("\n"))))


def say_json(value: object) -> None:
    """A value as JSON, laid out for people as well."""
    from msgspec import json

    say(json.format(json.encode(value), indent=2).decode())


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be used, in the system's words."""
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else "it is no name of a file"


def remark(text: str) -> None:
    """A line beside what was asked for."""
    sys.stderr.write(text + "\n")


def complain(message: str, *help: str, details: Sequence[str] = ()) -> None:
    """Why the command was not carried out."""
    head = "\x1b[1;31merror\x1b[0m" if is_coloured(sys.stderr) else "error"
    remark(f"{head}: {visible(message)}")
    for line in details:
        remark(f"  - {visible(line)}")
    for line in help:
        remark(f"  = help: {visible(line)}")


def show(diagnostics: Iterable[Diagnostic], source: Source, stream: TextIO) -> None:
    """Diagnostics, and how many there are; nothing where there are none."""
    found = tuple(diagnostics)
    if found:
        stream.write(render(found, source, is_coloured(stream), width()))
        stream.write(f"{visible(source.name)}: {summary(found)}\n")


def width() -> int:
    """Columns of the terminal, as far as they help reading."""
    from shutil import get_terminal_size

    return min(max(get_terminal_size((WIDTH, 24)).columns, 60), WIDTH)
