"""Every contract that comes of changing another compiles, plans, explains and exports: no exception, no long wait.

A chain begins with a contract of `tests/cases` or `examples`; each of its links is one mutation, and a mutant without
errors is what the next link changes, so that chains lead far from what anybody wrote. `make mutations` tries 100,000
mutants, or `NINEFOLD_MUTATIONS`, and the long run fewer, from a seed that it prints, or from `NINEFOLD_SEED`; what
fails is written into `NINEFOLD_FOUND` with its traceback, once for each place where it was raised.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import pytest
from tests.contracts import ALL, EXAMPLES, OWN
from tests.mutations.judged import TooLong, bounded, judge
from tests.mutations.mutators import Stock, mutated
from tests.mutations.trees import literate_form, plain_form, tree_of
from tests.slices import many, new_seed, some

LINKS: Final = 12
"""Mutants of one chain."""

SAMPLE: Final = 20
"""Chains of the fixed sample."""

PIECES, MANY = many("MUTATIONS", 100_000, 400)


@cache
def stock() -> Stock:
    return Stock(tuple(tree_of(path.name, path.read_bytes()) for path in (*OWN, *EXAMPLES)))


def chain(seed: str) -> Generator[tuple[str, str, bool], bool, None]:
    """The mutants of a chain, each with a name that tells its form, and whether proposals are accepted. It is sent
    whether the mutant is without errors."""
    random = Random(seed)
    tree = random.choice(stock().contracts)
    for _ in range(LINKS):
        mutant = mutated(tree, random, stock())
        written = random.choice((plain_form, literate_form))(mutant)
        name = "mutant.md" if written.startswith("# ") else "mutant.yaml"
        accepts = random.random() < 0.3
        is_sound = yield name, written, accepts
        if is_sound or random.random() < 0.1:
            tree = mutant


def failures(seed: str) -> Iterator[tuple[str, str, BaseException]]:
    """What of a chain fails: the mutant's name, its text, and what was raised."""
    links = chain(seed)
    mutant = next(links)
    while True:
        name, written, accepts = mutant
        is_sound = False
        try:
            with bounded():
                is_sound = judge(name, written, accepts)
        except (Exception, TooLong) as error:  # whatever it is, it is a find
            yield name, written, error
        try:
            mutant = links.send(is_sound)
        except StopIteration:
            return


EACH_IN_CASES: Final = [path for path in OWN if path.parent.name == "effects-with-a-condition"]
"""What items are chosen by, which mutants seldom leave whole."""


@pytest.mark.long
@pytest.mark.parametrize(
    "path", dict.fromkeys((*EACH_IN_CASES, *some(ALL, 48))), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_what_is_not_changed_breaks_nothing(path: Path) -> None:
    judge(path.name, path.read_text("utf-8"), endpoints=1)


@pytest.mark.long
@pytest.mark.parametrize("number", some(range(SAMPLE), SAMPLE))
def test_a_mutant_breaks_nothing(number: int) -> None:
    for name, written, error in failures(f"sample {number}"):
        raise AssertionError(f"{name}\n\n{written}") from error


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("part", PIECES)
def test_no_mutant_breaks_anything_for_long(part: int, tmp_path: Path) -> None:
    seed = f"{os.environ.get('NINEFOLD_SEED') or new_seed()} {part}"
    found = Path(os.environ.get("NINEFOLD_FOUND") or tmp_path)
    print(f"seed {seed}; what fails is written into {found}", flush=True)
    seen: dict[str, int] = {}
    for number in range(-(-MANY // LINKS)):
        for name, written, error in failures(f"{seed} {number}"):
            place = _raised_at(error)
            seen[place] = seen.get(place, 0) + 1
            if seen[place] == 1:
                stem = found / f"{part:03}-{len(seen):03}"  # the parts share a folder
                stem.with_suffix(Path(name).suffix).write_text(written, encoding="utf-8")
                told = "".join(traceback.format_exception(error))
                stem.with_suffix(".txt").write_text(f"seed {seed} {number}\n{told}", encoding="utf-8")
                print(f"{stem}: {place}", flush=True)
    assert not seen, "\n".join(f"{count} times {place}" for place, count in seen.items())


def _raised_at(error: BaseException) -> str:
    """The kind of an error and the innermost line of ninefold's own that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if "ninefold" in each.filename and "tests" not in each.filename] or frames
    where = "long" if isinstance(error, TooLong) else f"{Path(own[-1].filename).name}:{own[-1].lineno}"
    return f"{type(error).__name__} at {where}: {str(error)[:100]}"
