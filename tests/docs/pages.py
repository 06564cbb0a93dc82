"""A page of the documentation as what a reader is to do with it, one step after another.

| fenced as  | means                                                                                          |
|------------|------------------------------------------------------------------------------------------------|
| `console`  | commands, each after `$ `, with what they say under them; a line with `…` stands for any lines |
| `log`      | lines that the service in the other terminal has written by now                                |
| `markdown` | parts of the reader's contract, as they are to be from now on                                  |
| `diff`     | lines of it to be exchanged, `-` for `+`                                                       |

Other blocks are for reading alone. The reader's contract is the file that `ninefold new` was last told to write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_HEADING = re.compile(r"^## (\d)\. ", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """`start`, `end`: where its output stands on the page."""

    command: str
    output: str
    start: int
    end: int


@dataclass(frozen=True)
class Log:
    """Lines that the service has written."""

    lines: str
    start: int
    end: int


@dataclass(frozen=True)
class Parts:
    """Parts of the contract, each with its heading."""

    text: str


@dataclass(frozen=True)
class Exchange:
    """Lines that give way to others."""

    old: str
    new: str


Step: TypeAlias = Command | Log | Parts | Exchange


def steps(page: str) -> list[Step]:
    """The steps of a page, in order. Raises ValueError where a block cannot be one."""
    found: list[Step] = []
    for block in _BLOCK.finditer(page):
        text, at = block["text"], block.start("text")
        match block["info"].strip():
            case "console":
                found += _commands(text, at)
            case "log":
                found.append(Log(text, at, block.end("text")))
            case "markdown":
                found.append(Parts(text))
            case "diff":
                found.append(_exchange(text))
    return found


def with_parts(contract: str, parts: str) -> str:
    """The contract, with these parts in the place of its own. Raises ValueError where it has no such part."""
    for part in _parts(parts):
        number = _HEADING.match(part)
        if number is None:
            raise ValueError("a block of parts begins with a heading such as `## 2. Resources and their fields`")
        [old] = [each for each in _parts(contract) if each.startswith(f"## {number[1]}. ")]
        last = contract.endswith(old)
        contract = contract.replace(old, part.rstrip("\n") + ("\n" if last else "\n\n"))
    return contract


def exchanged(contract: str, exchange: Exchange) -> str:
    """The contract with lines exchanged. Raises ValueError unless the old ones are there, once."""
    if contract.count(exchange.old) != 1:
        raise ValueError(f"the contract has not once:\n{exchange.old}")
    return contract.replace(exchange.old, exchange.new)


def _commands(text: str, at: int) -> list[Step]:
    first = _COMMAND.search(text)
    if first is None or first.start() != 0:
        raise ValueError(f"a console block begins with something else than a command: {text[:60]!r}")
    return [
        Command(found["command"], found["output"], at + found.start("output"), at + found.end("output"))
        for found in _COMMAND.finditer(text)
    ]


def _parts(text: str) -> list[str]:
    """What begins with a heading of the second level, up to the next."""
    starts = [found.start() for found in _HEADING.finditer(text)]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _exchange(text: str) -> Exchange:
    """Lines that begin with neither sign count for both."""
    lines = [line if line.strip() else " \n" for line in text.splitlines(keepends=True)]
    old = "".join(line[1:] for line in lines if line[0] in "- ")
    return Exchange(old, "".join(line[1:] for line in lines if line[0] in "+ "))
