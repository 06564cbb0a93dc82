"""Files that hold what comes, word for word: what is otherwise is to be read in the diff of a change."""

from __future__ import annotations

import os
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

BLESS: Final = bool(os.environ.get("NINEFOLD_BLESS"))
"""Whether such files are written anew with what comes."""

LINES: Final = 60
"""Lines of a difference that are shown: what comes may be too long to be read in a terminal."""


def is_golden(path: Path, came: str) -> None:
    """Fails where a file holds something else than what came."""
    if BLESS:
        path.write_text(came, encoding="utf-8", newline="\n")
    expected = path.read_text(encoding="utf-8") if path.exists() else ""
    if came != expected or not path.exists():
        told = [
            *islice(unified_diff(expected.splitlines(), came.splitlines(), "expected", "came", n=1, lineterm=""), LINES)
        ]
        pytest.fail("\n".join([*told, f"NINEFOLD_BLESS=1 writes {path.name} with what came"]), pytrace=False)
