"""Of much that waits together the halves go in turn: while PostgreSQL is at the one, the other is answered and asks
anew (decisions 0200 and 0206). Where all of it goes at once, PostgreSQL and this process wait for each other."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Sequence
from math import inf
from time import process_time
from typing import Final, TypeAlias

from ninefold.runtime.store.writer import IDLE, LEFT, Queue, Result, Waiting, answer

MANY: Final = 16
"""Of more than these the halves go in turn."""

Owed: TypeAlias = tuple[Sequence[Waiting], Sequence[Result]]

NOTHING: Final[Owed] = (), ()


def half(many: int) -> int:
    """How many of those go first."""
    return (many + 1) // 2 if many > MANY else many


class Turns:
    """The batches of a writer, on its thread. What came of the last one is owed to those who wait for it until the call
    of the next one is on its way, and no longer than until anything else is done. The halves go in turn where a COMMIT
    takes less time than all of it takes of this process: to wait for the disk twice is dearer else."""

    def __init__(self, queue: Queue, loop: AbstractEventLoop) -> None:
        self._queue, self._loop = queue, loop
        self._owed = NOTHING
        self._alone = True
        self._commit = inf
        self._spent, self._number = 0.0, 1
        """CPU of this process until the last batch, and how many works that had."""

    def batch(self) -> list[Waiting] | None:
        """What is done next. None: nothing came for IDLE seconds."""
        owed = len(self._owed[0])
        waiting = self._queue.gathered(0 if owed else IDLE)
        if not waiting:
            self.answer()
        if waiting is None:
            return [] if owed else None
        many, before, self._spent = owed + waiting, self._spent, process_time()
        is_short = self._commit < (self._spent - before) / self._number * many
        batch = self._queue.take(half(many) if is_short else many)
        self._alone, self._number = not owed, len(batch) or 1
        return batch

    def owe(self, batch: Sequence[Waiting], results: Sequence[Result]) -> None:
        """What came of works, which is answered after all that was owed before."""
        self.answer()
        self._owed = batch, results
        if LEFT in results:
            self.answer()  # what is left comes before all else that waits

    def answer(self, in_two: bool = False) -> None:
        """Answer what is owed. `in_two`: see `writer.answer`."""
        if self._owed is not NOTHING:
            owed, self._owed = self._owed, NOTHING
            answer(self._queue, *owed, in_two)

    def answer_behind(self) -> None:
        """Answer what is owed once what is asked now is on its way, which it is at the end of a turn of the loop; in
        two turns of who is answered, since what PostgreSQL says meanwhile is to be committed before the last of them
        has asked anew."""
        if self._owed is not NOTHING:
            self._loop.call_soon(self.answer, True)

    def committed(self, seconds: float) -> None:
        """A COMMIT took so long, and longer where this process had to answer meanwhile."""
        if self._alone:
            self._commit = seconds
