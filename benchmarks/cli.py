"""What the program costs its user, beside what it cost at another commit: `make bench-cli BASE=REV`.

    python benchmarks/cli.py REV [--rounds N] [--sources]

Checks REV out beside this one, in a temporary directory and with an environment of its own from its own lock, and has
both do the same: `check` the example, `check` a contract of 300 resources, `propose` to a sketch of 300, `explain` a
code, and `serve` the example until its first answer has come. Each is done N times (9) by both in turn. Printed are the
medians of the CPU seconds that the operating system accounts to the program, user and system together, and their ratio.
`none` is a Python that does nothing, which no ratio can get below. What one of both cannot do, since it knows other
words or other commands, is said in its line.

Both run from bytecode, as an installed program does; with `--sources` neither finds nor keeps any (as with
PYTHONDONTWRITEBYTECODE=1), and every module that is imported is compiled anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final
from urllib.request import Request, urlopen

from families import business, sketch

HERE: Final = Path(__file__).resolve().parent.parent
EXAMPLE: Final = "examples/orders.md"
CUSTOMER: Final = b'{"email": "ann@shop.example", "name": "Ann"}'
LARGE: Final = 300


@dataclass(frozen=True)
class Side:
    """One of the two commits: its checkout, the Python of its environment, and what that is run with."""

    checkout: Path
    python: Path
    environment: Mapping[str, str]

    def start(self, *arguments: str, output: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        command = [str(self.python), *arguments]
        return subprocess.Popen(command, stdout=output, cwd=self.checkout, env=self.environment, text=True)


class Cannot(Exception):
    """What a commit does not do."""


def ended(process: subprocess.Popen[str], wanted: int | None = 0) -> float:
    """The CPU seconds, user and system, of a process that ends by itself, or has been killed (`wanted` None)."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if wanted is not None and process.returncode != wanted:
        raise Cannot(f"{process.args!r} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def ninefold(*arguments: str) -> Callable[[Side], float]:
    return lambda side: ended(side.start("-m", "ninefold", *arguments))


def served(side: Side) -> float:
    """Until the first customer is made, in a new database. Killed, so that its end costs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        process = side.start(
            *("-m", "ninefold", "serve", EXAMPLE, "--development-issuer", "--database", f"{folder}/orders.db"),
            *("--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0"),
            output=subprocess.PIPE,
        )
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("service "):
                    url = f"{line.split()[1]}/customers"
                    break
            else:
                raise Cannot("nothing is served")
            made = Request(url, CUSTOMER, {"Content-Type": "application/json", "Api-Version": "2026-06-01"})
            with urlopen(made, timeout=60) as answer:
                assert answer.status == 201
            process.send_signal(signal.SIGKILL)
            return ended(process, None)


def checkout(revision: str, folder: Path) -> Path:
    """The commit as it is, in a worktree, with the environment that its own lock and Makefile make."""
    where = folder / "base"
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", where, revision], cwd=HERE, check=True)
    subprocess.run(["make", "--silent", ".venv/.serve", f"PYTHON={sys.executable}"], cwd=where, check=True)
    return where


def compared(sides: tuple[Side, Side], task: Callable[[Side], float], rounds: int) -> tuple[float, float]:
    """The median of each, taken in turn; one round before them loads what is loaded once."""
    for side in sides:
        task(side)
    taken = [(task(sides[0]), task(sides[1])) for _ in range(rounds)]
    return median(first for first, _ in taken), median(second for _, second in taken)


def main() -> None:
    said = argparse.ArgumentParser(description="CPU seconds of commands, of this checkout and of another commit")
    said.add_argument("base", help="the commit to compare with")
    said.add_argument("--rounds", type=int, default=9)
    said.add_argument("--sources", action="store_true", help="without bytecode")
    asked = said.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        base = checkout(asked.base, folder)
        large = folder / "large.yaml"
        large.write_text(business(LARGE))
        drawn = folder / "sketch.yaml"
        drawn.write_text(sketch(LARGE))
        sides = tuple(
            Side(where, python, environment(folder / name, asked.sources))
            for name, where, python in (
                ("before", base, base / ".venv/bin/python"),
                ("now", HERE, Path(sys.executable)),
            )
        )
        tasks: Mapping[str, Callable[[Side], float]] = {
            "none": lambda side: ended(side.start("-c", "pass")),
            f"check {EXAMPLE}": ninefold("check", EXAMPLE),
            "explain NF0601": ninefold("explain", "NF0601"),
            f"check, {LARGE} resources": ninefold("check", str(large)),
            f"plan, {LARGE} resources": ninefold("plan", str(large)),
            f"propose, {LARGE} resources": ninefold("propose", str(drawn)),
            "serve until an answer": served,
        }
        print(f"{'CPU seconds, median':28} {asked.base[:12]:>12} {'now':>8} {'ratio':>6}")
        for name, task in tasks.items():
            try:
                before, now = compared((sides[0], sides[1]), task, asked.rounds)
            except Cannot as error:
                print(f"{name:28} {error}", flush=True)
            else:
                print(f"{name:28} {before:12.3f} {now:8.3f} {now / before:6.2f}", flush=True)
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", folder / "base"], cwd=HERE, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def environment(cache: Path, sources: bool) -> dict[str, str]:
    """What a program is run with: its bytecode in a place of its own, or none."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NINEFOLD"))}
    return kept | ({"PYTHONDONTWRITEBYTECODE": "1"} if sources else {"PYTHONPYCACHEPREFIX": str(cache)})


if __name__ == "__main__":
    main()
