"""Files of requests that a command is given, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ninefold.cli.files import read_bytes
from ninefold.cli.terminal import Unusable


def request_files(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The name and the text of each; of a directory, those of its `.http` files. Raises Unusable."""
    paths = [path for name in names for path in (sorted(Path(name).glob("*.http")) if Path(name).is_dir() else [name])]
    if not paths:
        raise Unusable("there are no requests", "name a file of requests, or a directory of .http files")
    found = []
    for path in paths:
        try:
            found.append((str(path), read_bytes(str(path)).decode("utf-8-sig")))
        except UnicodeDecodeError:
            raise Unusable(f"{path} is not UTF-8 text") from None
    return tuple(found)
