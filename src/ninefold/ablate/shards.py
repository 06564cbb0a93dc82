"""The same law in several processes: each compiles the contract for itself and takes its share of the facts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from multiprocessing import get_context

from ninefold.ablate.ablate import ablate
from ninefold.ablate.facts import written
from ninefold.ablate.fixed import Whole, rehearse, scripts
from ninefold.ablate.law import Found
from ninefold.ablate.removal import REMOVALS, Removal
from ninefold.pipeline import compile_document


@dataclass(frozen=True, slots=True)
class Work:
    """A contract by its name and text, its requests by file, and what the operator gives. `only`: a pattern of the
    addresses of facts."""

    name: str
    data: bytes
    files: tuple[tuple[str, str], ...]
    operator: Mapping[str, str]
    only: str = "*"
    removals: Sequence[Removal] = REMOVALS

    def whole(self) -> Whole:
        """Raises `ninefold.ablate.requests.Unreadable`."""
        return rehearse(compile_document(self.name, self.data), scripts(self.files), self.operator)

    def found(self, share: int = 0, of: int = 1) -> list[Found]:
        """What comes of every `of`-th fact, from the one with the number `share` on."""
        whole = self.whole()
        facts = [fact for fact in written(whole.loaded.document) if fnmatchcase(fact.address, self.only)]
        with _unlogged():
            return list(ablate(whole, facts[share::of], self.removals))


@contextmanager
def _unlogged() -> Iterator[None]:
    """What fails for want of a fact is a finding, not a line of a log."""
    log = logging.getLogger("ninefold.server")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


def found(work: Work, processes: int) -> list[Found]:
    """What comes of all facts, in the contract's order."""
    if processes == 1:
        return work.found()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        shares = [pool.submit(work.found, share, processes) for share in range(processes)]
        return sorted((each for share in shares for each in share.result()), key=_position)


def _position(each: Found) -> tuple[int, tuple[int, ...], int]:
    return each.fact.part, each.fact.route, REMOVALS.index(each.removal)
