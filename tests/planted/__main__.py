"""Forty defects of the compiler, chosen by chance: which of them the tests find (`make planted`).

The defects are those of `operators.py` in the packages that make a plan of a document, each as likely as any other; the
seed was fixed before the first run, and none is left out. Each is judged by tests that are quick and concern the
compiler, stage after stage, until one fails. What no stage finds is written into `survivors.txt`, with its place.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Final

from tests.planted.operators import OPERATORS, Defect, defects, told

SEED: Final = int(os.environ.get("NINEFOLD_SEED", "33"))
COUNT: Final = int(os.environ.get("NINEFOLD_PLANTED_COUNT", "40"))

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src"
PACKAGES: Final = ("checks", "language", "compile", "contract/resolve")
SURVIVORS: Final = Path(__file__).with_name("survivors.txt")

STAGES: Final[tuple[Sequence[str], ...]] = (
    ("tests/test_cases.py", "-k", "compiler or plan"),
    ("tests/fix", "tests/language"),
    ("tests/resolve", "tests/diagnostics", "tests/gaps", "tests/questions", "tests/explain", "tests/permissions"),
    ("tests/laws", "tests/versions", "tests/openapi", "-m", "not slow"),
    ("tests/test_cases.py", "tests/server", "tests/events", "-m", "serves"),
)
"""What judges a defect, the quickest first."""

SECONDS: Final = 600
"""CPU seconds after which a stage does not end: so a defect is found as well."""


RED: Final[set[str]] = set()
"""Tests that fail without any defect."""


def chosen() -> list[Defect]:
    every = [
        defect
        for package in PACKAGES
        for path in sorted((SOURCE / "ninefold" / package).rglob("*.py"))
        for defect in defects(path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
    ]
    return Random(SEED).sample(every, COUNT)


def judged(defect: Defect) -> str | None:
    """The test that finds a defect, or why nothing more can be asked; None: it survives."""
    for stage in STAGES:
        while (found := _failing(stage, defect)) is not None:
            # What fails without the defect as well says nothing about it.
            if "::" not in found or _failing((found,), None) is None:
                return found
            RED.add(found)
    return None


def _failing(tests: Sequence[str], defect: Defect | None) -> str | None:
    """The first of some tests that fails with a defect."""
    environment = {**os.environ, "NINEFOLD_SLICE": "0", "CI": "true"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.progress",
        *tests,
    ]
    command += [word for each in sorted(RED) if each not in tests for word in ("--deselect", each)]
    if defect is not None:
        environment["NINEFOLD_PLANTED"] = json.dumps(asdict(defect))
        command += ["-p", "tests.planted.planting"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
    )
    if not done.returncode:
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    return failed[0].removeprefix("FAILED ") if failed else f"status {done.returncode} of {' '.join(tests)}"


def text(defect: Defect) -> str:
    return told(ast.parse((SOURCE / defect.module).read_text(encoding="utf-8")), defect)


def main() -> int:
    """The number of survivors."""
    print(f"seed {SEED}; {COUNT} defects by {', '.join(each.__name__.replace('_', ' ') for each in OPERATORS)}")
    survivors = []
    found = chosen()
    with ThreadPoolExecutor(int(os.environ.get("WORKERS") or os.cpu_count() or 1)) as pool:
        for number, (defect, by) in enumerate(zip(found, pool.map(judged, found), strict=True), 1):
            print(f"{number:3} {text(defect)}\n      {by or 'SURVIVES'}", flush=True)
            if by is None:
                survivors.append(text(defect))
    head = f"# Of {COUNT} defects of seed {SEED}, those that no test finds (`make planted`).\n"
    SURVIVORS.write_text(head + "".join(f"{each}\n" for each in survivors), encoding="utf-8")
    print(f"{COUNT - len(survivors)} of {COUNT} are found; without a defect fail {', '.join(sorted(RED)) or 'none'}")
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
