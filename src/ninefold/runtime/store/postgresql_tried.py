"""The works of a batch, in the transaction of all (`postgresql_writer.py`)."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Sequence
from time import monotonic

from ninefold.runtime.store.postgresql_link import Broken, Link, Lost, Transaction
from ninefold.runtime.store.protocol import Yielded
from ninefold.runtime.store.writer import LEFT, Result, Waiting


def in_one(
    link: Link,
    loop: AbstractEventLoop,
    longest: int,
    batch: Sequence[Waiting],
    done: dict[int, Result],
    known: dict[int, Result],
    end: float,
) -> list[Result] | None:
    """The results, in the order of the works, which nobody else has: what is not `done` and can be done once more
    comes first, without savepoints. None: what they did has to be undone; of those that are not to be done again
    for it, the results are `known` then, by their numbers. `longest`: bytes of a value. `end`: of the monotonic
    clock. Raises Lost."""
    if len(done) == len(batch):
        return [*map(done.__getitem__, range(len(batch)))]
    if len(batch) == 1 and batch[0].again and not done:
        return by_itself(link, loop, longest, batch[0])
    left = [number for number, each in enumerate(batch) if each.again and number not in done]
    for number in left:
        if number != left[0] and monotonic() > end:
            done[number] = LEFT
            continue
        session = Transaction(link, loop, longest, guarded=False)
        result = tried(link, batch[number], session)
        if isinstance(result, Broken):
            if result.unavailable is not None and not isinstance(result.unavailable, Yielded):
                known[number] = None, result.unavailable
            return None
        if result[1] is not None and session.changed:
            return None
        done[number] = result
    return each_alone(link, loop, longest, batch, done, end)


def tried(link: Link, waiting: Waiting, session: Transaction) -> Result | Broken:
    """Broken: it left a transaction that cannot go on. Raises Lost."""
    try:
        return waiting.work(session), None
    except Broken as error:
        return error
    except BaseException as error:
        if link.is_lost:
            raise Lost("the connection was lost") from error
        return None, error


def by_itself(link: Link, loop: AbstractEventLoop, longest: int, waiting: Waiting) -> list[Result] | None:
    """The result of one that has the transaction alone: where it is refused, that is undone. None: it is to be done
    once more. `longest`: bytes of a value. Raises Lost."""
    result = tried(link, waiting, Transaction(link, loop, longest, guarded=False))
    if isinstance(result, Broken):
        return None if result.unavailable is None else [(None, result.unavailable)]
    return [result]


def each_alone(
    link: Link, loop: AbstractEventLoop, longest: int, batch: Sequence[Waiting], done: dict[int, Result], end: float
) -> list[Result]:
    """The results: of those that are `done`, and of the others one by one. `end`: of the monotonic clock. Raises
    Lost."""
    first = next((number for number in range(len(batch)) if number not in done), None)
    for number, each in enumerate(batch):
        if number not in done:
            left = number != first and monotonic() >= end
            done[number] = LEFT if left else _alone(link, loop, longest, each)
    return [done[number] for number in range(len(batch))]


def _alone(link: Link, loop: AbstractEventLoop, longest: int, waiting: Waiting) -> Result:
    """One in its savepoint; and where a statement of it fails, done once more with one for each of them."""
    result: Result = None, None
    loop.run_until_complete(link.execute("SAVEPOINT work"))
    for guarded in (False, True) if waiting.again else (True,):
        try:
            result = waiting.work(Transaction(link, loop, longest, guarded)), None
            break
        except BaseException as error:
            if link.is_lost:
                raise Lost("the connection was lost") from error
            loop.run_until_complete(link.execute("ROLLBACK TO work"))
            if not isinstance(error, Broken):
                result = None, error
                break
            if error.unavailable is not None:
                result = None, error.unavailable
                break
    loop.run_until_complete(link.execute("RELEASE work"))
    return result
