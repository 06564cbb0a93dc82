"""A document that a command changes: what it would become is shown as a diff, or written."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, TypeAlias

from ninefold.cli.contract_file import read_bytes
from ninefold.cli.parameter import Parameter
from ninefold.cli.terminal import Unusable, say
from ninefold.syntax.parser import BYTE_ORDER_MARK
from ninefold.tools.propose.edits import unified_diff

Write: TypeAlias = Annotated[
    bool,
    Parameter(
        help="Change the file itself; of `-`, print the document. Without it a unified diff is printed.",
        negative=(),
        show_default=False,
    ),
]


def rewrite(file: str, data: bytes, before: str, after: str, write: bool) -> None:
    """Show or write what a document becomes. `data` is what was read of it, `before` its text. Raises Unusable where
    the file cannot be written, or is not any more what was read."""
    mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
    if not write:
        sys.stdout.flush()
        sys.stdout.buffer.write(unified_diff(file, before, after).encode())
    elif file == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(mark + after.encode())
    elif after != before:
        if read_bytes(file) != data:
            raise Unusable(f"{file} has been changed meanwhile, and is left as it is", "run the command again")
        _replace(Path(file).resolve(), mark + after.encode())
        say(f"{file} is written")


def _replace(path: Path, data: bytes) -> None:
    """Put a file in the place of another: whoever reads it meanwhile sees the one or the other, never half of it."""
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as opened:
            temporary = opened.name
            opened.write(data)
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise Unusable(f"{path.name} cannot be written: {(error.strerror or str(error)).lower()}") from None
