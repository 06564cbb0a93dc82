"""Writes the generated stretches of docs/language.md and docs/reference: `python -m ninefold.docs [DIRECTORY]`."""

from __future__ import annotations

import sys
from pathlib import Path

from ninefold.tools.documents import PAGES, assemble

DOCS = Path("docs")


def main(arguments: list[str]) -> None:
    """Rewrites the documents in place."""
    for page in PAGES:
        path = Path(*arguments[:1] or (DOCS,)) / page
        path.write_text(assemble(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
