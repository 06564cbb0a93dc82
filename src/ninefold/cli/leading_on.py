"""The commands that lead on from a refusal, as they can be typed in the directory in which it was met."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final, TypeVar

from ninefold.cli.files import called_after
from ninefold.cli.terminal import Unusable
from ninefold.runtime import addresses
from ninefold.runtime.store.opening import kind_of
from ninefold.runtime.store.protocol import Command, Refused

T = TypeVar("T")

HIDDEN: Final = "what is secret in the URL is not shown: a password can be given as PGPASSWORD"


def typed(command: Command, file: str, url: str) -> str:
    """A command over a contract and a database. What is secret in its URL is left out."""
    words = ["ninefold", command.verb, file]
    if url != called_after(file):
        words += ["--database", _shown(url)]
    return shlex.join((*words, *command.more))


def leads_on(then: Sequence[Command], file: str, url: str) -> tuple[str, ...]:
    """Lines of advice: each command behind what it is for."""
    lines = [f"{each.to}: {typed(each, file, url)}" for each in then]
    return (*lines, HIDDEN) if lines and _shown(url) != url else tuple(lines)


def _shown(url: str) -> str:
    return url if kind_of(url) == "sqlite" else addresses.shown(url)


def usable(opening: T | Refused, file: str, url: str) -> T:
    """A database that was opened. Raises Unusable."""
    if not isinstance(opening, Refused):
        return opening
    then = leads_on(opening.then, file, url)
    raise Unusable(opening.message, *then, *opening.help, details=opening.details)
