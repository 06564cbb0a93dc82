"""How much of what tests repeat a run takes. What is asserted is the same in every run; contracts and seeds differ.

`make test` takes a sample. `make test-long` takes all of it, in SLICES slices that have about as much to do: each has
every SLICES-th contract, fact or law, or its share of the requests, mutants and kills. Samples go by slices, too, and
are those of SAMPLE, so that `make test` tries the same in every commit. Of the long run `SLICE=tree` takes the slice
that follows from the tree that is checked out (`git rev-parse HEAD^{tree}`), so that commits take turns and a commit
has always the same one; `SLICE=7` asks for one by its number, and so does NINEFOLD_SLICE.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar
from zlib import crc32

SLICES: Final = 24
SAMPLE: Final = 21

_ROOT: Final = Path(__file__).parents[1]
T = TypeVar("T")


def of_tree() -> int:
    """The slice of the tree that is checked out; 0 where there is no git, or no commit."""
    try:
        said = subprocess.run(
            ["git", "rev-parse", "HEAD^{tree}"], cwd=_ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(said.stdout, 16) % SLICES


def _asked() -> Sequence[int]:
    """Raises ValueError: NINEFOLD_SLICE is neither `all`, `tree`, nor the number of a slice."""
    asked = os.environ.get("NINEFOLD_SLICE", str(SAMPLE))
    if asked == "all":
        return range(SLICES)
    number = of_tree() if asked == "tree" else int(asked)
    if number not in range(SLICES):
        raise ValueError(f"NINEFOLD_SLICE={asked}: slices are numbered from 0 to {SLICES - 1}")
    return (number,)


LONG: Final = bool(os.environ.get("NINEFOLD_LONG"))
"""Whether this is the long run."""

TAKEN: Final = _asked()
"""The slices that are taken; a worker of pytest-xdist has them from the environment of the one that started it."""

PARTS: Final = TAKEN if LONG else ()
"""The slices of a test that only the long run has: it is one test for each."""


DEAR: Final = frozenset((_ROOT / "tests" / "dear.txt").read_text(encoding="utf-8").split())
"""The tests that cost a second of CPU or more, or three with all that they are tried with: `make test-costs` says which
these are. They take turns, of which `make test` takes one, and `.ci/run` half, which follow from the tree."""

TURNS: Final = 8
LEFT_OUT: Final = 4


def _turns() -> Sequence[int]:
    """Those that are taken. Raises ValueError: NINEFOLD_DEAR is neither `all`, `most` nor `some`."""
    asked = "all" if LONG else os.environ.get("NINEFOLD_DEAR", "all")
    if asked == "some":
        return (TAKEN[0] % TURNS,)
    if asked not in ("all", "most"):
        raise ValueError(f"NINEFOLD_DEAR={asked}: it is all, most or some")
    first = 0 if asked == "all" else of_tree() + LEFT_OUT
    return [(first + turn) % TURNS for turn in range(TURNS if asked == "all" else TURNS - LEFT_OUT)]


TURNS_TAKEN: Final = _turns()


def is_taken(test: str) -> bool:
    """Whether a test, by its place and name, is none of those that wait for another turn."""
    return test.partition("[")[0] not in DEAR or crc32(test.encode()) % TURNS in TURNS_TAKEN


def dear_first(items: Sequence[T], tests: Sequence[str], workers: int) -> list[T]:
    """The same items, so that each of so many workers, which begin with a part each, one after another, has as many of
    the dear tests, and has them first: none goes on alone at the end. Those of one file stay beside one another, since
    what they share is made in each worker that has one of them, and is often dearer than they are."""
    dear, others = list[T](), list[T]()
    for item, test in zip(items, tests, strict=True):
        (dear if test.partition("[")[0] in DEAR else others).append(item)
    parts = zip(_parts(dear, workers), _parts(others, workers), strict=True)
    return [item for part in parts for of in part for item in of]


def _parts(items: Sequence[T], count: int) -> list[Sequence[T]]:
    size = -(-len(items) // count)
    return [items[each * size : (each + 1) * size] for each in range(count)]


def told() -> str:
    """Which slices these are, and how to ask for the same again."""
    if len(TURNS_TAKEN) < TURNS:
        turns = f"{len(TURNS_TAKEN)} of {TURNS} turns, from {TURNS_TAKEN[0]} on"
        return f"slice {TAKEN[0]} of {SLICES}, and of {len(DEAR)} dear tests {turns} (`DEAR=all` takes all of them)"
    if len(TAKEN) == SLICES:
        return f"all {SLICES} slices"
    return f"slice {TAKEN[0]} of {SLICES} (`SLICE={TAKEN[0]}` takes the same again)"


def some(items: Sequence[T], one_of: int) -> list[T]:
    """What the run takes of the items: in the long run those of its slices, otherwise every `one_of`-th, others in each
    slice."""
    if LONG:
        return [item for index, item in enumerate(items) if index % SLICES in TAKEN]
    return list(items[TAKEN[0] % one_of :: one_of]) or list(items[:1])


def by_name(items: Sequence[Path], one_of: int) -> list[Path]:
    """`some` of contracts, by what they are called: one that comes moves none that was there into the sample."""
    if LONG:
        return some(items, one_of)
    return [item for item in items if crc32(item.name.encode()) % one_of == TAKEN[0] % one_of] or list(items[:1])


def share(count: int) -> int:
    """How many of `count` one slice has to do."""
    return -(-count // SLICES)


def many(name: str, sample: int, whole: int) -> int:
    """How many one slice does of what is counted: in the long run its share of the whole, which the environment may say
    (`NINEFOLD_KILLS=1000 make durability`)."""
    return share(int(os.environ.get(f"NINEFOLD_{name}", whole))) if LONG else sample


def examples(count: int) -> int:
    """How many examples of `count` Hypothesis makes."""
    return count if LONG else max(count // 5, 10)
