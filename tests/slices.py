"""How much of what tests repeat a run takes. What is asserted is the same in every run; contracts and seeds differ.

`make test` takes a sample, the same in every commit. `make test-long` takes all: every contract, fact and law; what
goes through very many of them in PIECES pieces, each of which is a test of its own. What is drawn by chance (requests,
mutants, kills) it does a SHARE-th as often as `make agreement`, `make mutations` and `make durability`, which set
NINEFOLD_WHOLE; so does `make honesty`, which takes away every fact, where the long run takes one of those that are
alike (`tests/facts.py`). Each test of the long run belongs to one of SLICES slices, by its name: `SLICE=tree` takes the
slice that follows from the tree that is checked out (`git rev-parse HEAD^{tree}`), so that commits take turns and a
commit has always the same one; `SLICE=7` asks for one by its number, and so does NINEFOLD_SLICE.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar
from zlib import crc32

SLICES: Final = 200
PIECES: Final = 24
SHARE: Final = 200
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


def _asked() -> int | None:
    """None: all of them. Raises ValueError: NINEFOLD_SLICE is neither `all`, `tree`, nor the number of a slice."""
    asked = os.environ.get("NINEFOLD_SLICE", str(SAMPLE))
    if asked == "all":
        return None
    number = of_tree() if asked == "tree" else int(asked)
    if number not in range(SLICES):
        raise ValueError(f"NINEFOLD_SLICE={asked}: slices are numbered from 0 to {SLICES - 1}")
    return number


LONG: Final = bool(os.environ.get("NINEFOLD_LONG"))
"""Whether this is the long run."""

WHOLE: Final = bool(os.environ.get("NINEFOLD_WHOLE"))
"""Whether what is drawn by chance is drawn as often as it ever is, and what is alike is tried each time."""

SLICE: Final = _asked()
"""The slice that is taken; a worker of pytest-xdist has it from the environment of the one that started it."""

OF: Final = SAMPLE if SLICE is None else SLICE
"""Which sample is taken, where one is."""

PARTS: Final = range(PIECES) if LONG else (OF % PIECES,)
"""The pieces of a test that has some: in a sample it is one."""


def is_of_the_slice(test: str) -> bool:
    """Whether a test of the long run, by its place and name, is one of those that are taken."""
    return SLICE is None or crc32(test.encode()) % SLICES == SLICE


DEAR: Final = frozenset((_ROOT / "tests" / "dear.txt").read_text(encoding="utf-8").split())
"""The tests that cost a second of CPU or more, or three with all that they are tried with: `make test-costs` says which
these are. They take turns, of which `make test` takes one, and `.ci/run` some, which follow from the tree."""

TURNS: Final = 16
LEFT_OUT: Final = 12


def _turns() -> Sequence[int]:
    """Those that are taken. Raises ValueError: NINEFOLD_DEAR is neither `all`, `most` nor `some`."""
    asked = "all" if LONG else os.environ.get("NINEFOLD_DEAR", "all")
    if asked == "some":
        return (OF % TURNS,)
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
    """What is taken, and how to ask for the same again."""
    if LONG and SLICE is None:
        return f"all {SLICES} slices"
    if LONG:
        return f"slice {SLICE} of {SLICES} (`SLICE={SLICE}` takes the same again)"
    if len(TURNS_TAKEN) == TURNS:
        return f"sample {OF}, and all {len(DEAR)} dear tests"
    turns = f"{len(TURNS_TAKEN)} of {TURNS} turns, from {TURNS_TAKEN[0]} on"
    return f"sample {OF}, and of {len(DEAR)} dear tests {turns} (`DEAR=all` takes all of them)"


def some(items: Sequence[T], one_of: int) -> list[T]:
    """What the run takes of the items: all, or in a sample every `one_of`-th."""
    return list(items) if LONG else list(items[OF % one_of :: one_of]) or list(items[:1])


def by_name(items: Sequence[Path], one_of: int) -> list[Path]:
    """`some` of contracts, by what they are called: one that comes moves none that was there into the sample."""
    if LONG:
        return list(items)
    return [item for item in items if crc32(item.name.encode()) % one_of == OF % one_of] or list(items[:1])


def piece(items: Sequence[T], part: int, one_of: int) -> list[T]:
    """The same of one of the PIECES of a test."""
    return list(items[part::PIECES]) if LONG else some(items, one_of)


def seldom(items: Sequence[T], one_of: int, sample: int) -> list[T]:
    """Of what repeats much of what other tests do the long run takes every `one_of`-th, or all with NINEFOLD_WHOLE."""
    return list(items[SAMPLE % one_of :: one_of]) if LONG and not WHOLE else some(items, sample)


def many(name: str, whole: int, each: int, sample: int = 0) -> tuple[Sequence[int], int]:
    """The pieces of what is drawn by chance, and how many each does. In a sample one does `sample`, or there is none.
    In the long run each does `each`, a minute of CPU or less, and there are as many as its share of the whole needs, or
    the number that the environment says (`NINEFOLD_KILLS=1000 make durability`)."""
    if not LONG:
        return (PARTS if sample else ()), sample
    count = int(os.environ.get(f"NINEFOLD_{name}", whole if WHOLE else whole // SHARE))
    return range(max(-(-count // each), 1)), each


def new_seed() -> int:
    """Nanoseconds, so that each run tries something else; under CI always the same, as of Hypothesis."""
    return 0 if os.environ.get("CI") else time.time_ns()


def examples(count: int) -> int:
    """How many examples of `count` Hypothesis makes."""
    return count if LONG else max(count // 5, 10)
