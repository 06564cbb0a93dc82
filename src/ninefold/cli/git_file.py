"""A document as it was in a commit: `main:contract.md`, read by git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ninefold.cli.files import LARGEST, read_bytes
from ninefold.cli.terminal import Unusable


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


def _shown(object: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "cat-file", "blob", object], capture_output=True, check=False, timeout=60)
    except FileNotFoundError:
        raise Unusable(f"{object} cannot be read: there is no git", "write the contract of then to a file") from None
    except subprocess.TimeoutExpired:
        raise Unusable(f"{object} cannot be read: git does not answer") from None
