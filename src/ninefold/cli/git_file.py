"""A document as it was in a commit: `main:contract.md`, read by git; and what git gives to a driver of differences."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from os import devnull
from pathlib import Path
from typing import Final

from ninefold.cli.files import LARGEST, read_bytes
from ninefold.cli.terminal import Unusable

DRIVER: Final = 'git config diff.ninefold.command "ninefold diff --seek 0 --git-driver"'
"""What makes it git's driver of differences."""


def bytes_of(name: str) -> bytes:
    """What a file holds, or, of `REF:PATH` where no file has that name, what it held in a commit. A path counts from
    the working directory, as everywhere, else from the top of the working tree. Raises Unusable."""
    ref, colon, path = name.partition(":")
    if not (colon and ref and path) or name == "-" or Path(name).exists():
        return read_bytes(name)
    if ref.startswith("-"):
        raise Unusable(f"{ref} is no commit")
    first = _shown(f"{ref}:./{path}") if not path.startswith(("/", ".")) else None
    found = first if first is not None and first.returncode == 0 else _shown(name)
    if found.returncode == 0:
        return found.stdout[:LARGEST]
    said = found.stderr.decode("utf-8", "replace").strip().splitlines() or ["git says nothing"]
    reason = said[0].removeprefix("fatal: ").removeprefix("error: ")
    raise Unusable(f"{name} cannot be read: {reason}", "OLD and NEW are files, or REF:PATH in a working tree of git")


def given_to_driver(words: Sequence[str]) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    """What a file was and is called in the working tree, each with the file that has what it held; None: it was not, or
    is no more. Git gives seven words, two more where the name is another one, and one where it is not merged
    (GIT_EXTERNAL_DIFF in git(1)). Raises Unusable."""
    if len(words) not in (1, 7, 9):
        raise Unusable(
            "git gives seven words to its driver, and nobody else calls it so",
            DRIVER,
        )
    name, now = words[0], words[7] if len(words) == 9 else words[0]
    old, new = (None if each == devnull else each for each in (words[1], words[4])) if len(words) > 1 else (None, None)
    return (name, old), (now, new)


def _shown(object: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "cat-file", "blob", object], capture_output=True, check=False, timeout=60)
    except FileNotFoundError:
        raise Unusable(f"{object} cannot be read: there is no git", "write the contract of then to a file") from None
    except subprocess.TimeoutExpired:
        raise Unusable(f"{object} cannot be read: git does not answer") from None
