"""What a request that is like an earlier one will read, read as one.

What is due, who calls and the row are asked for one after another, and where a database is a network away each of them
is a way there and back. A credential is mostly whose it was last: so what the steps will read is worked out beforehand
as if it were, and read in one snapshot. The steps are what they are for any other request. Where one of them waits for
just what was read, statement and values, it is there; what nobody waits for was read in vain. So nothing is decided by
what was foreseen, and a caller who has become another, or nobody, is who it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ninefold.plan import environment
from ninefold.plan.environment import Environment
from ninefold.runtime.operations.flow import Next, Recall, Select, SelectAsOne, Wait, Work
from ninefold.runtime.operations.read import Read
from ninefold.runtime.request.behind import wrote
from ninefold.runtime.request.callers import Recalled, found_last, who_calls
from ninefold.runtime.request.exchange import Exchange, call_of
from ninefold.runtime.request.precedents import Precedent
from ninefold.runtime.request.schemes import Caller
from ninefold.runtime.store.protocol import BoundStatement, Row
from ninefold.sql import nodes


def foresee(x: Exchange, then: Callable[[], Next]) -> Next:
    """The step `then`, once it is read what it will wait for; where reading does not wait, at once."""
    expected = _expected(x) if x.service.together else None
    if expected is None:
        return then()
    precedent, caller, recalled = expected
    reads: list[BoundStatement] = [] if x.service.timers is None else [(nodes.DUE, ())]
    reads += [recall.read() for recall, _ in recalled]
    operation = precedent.admission.operation
    if x.behind is not None and precedent.admission.only_reads:
        reads.append(wrote(caller, x.request.address))
    elif isinstance(operation, Read):
        reads += _of_row(x, precedent, operation, caller)
    if len(reads) < 2:
        return then()

    def found(rows: Sequence[list[Row]]) -> Next:
        x.foreseen = {(text, tuple(binds)): own for (text, binds), own in zip(reads, rows, strict=False)}
        return then()

    return Wait(SelectAsOne(tuple(reads)), found)


def _expected(x: Exchange) -> tuple[Precedent, Caller, Recalled] | None:
    """Who probably calls, found by what, and one who came with a request that is like this one; None: nobody knows."""
    if x.precedents is None:
        return None
    found = who_calls(x.service, x.endpoint, x.request, x.query, x.credentials(), x.env, found_last)
    precedent = None if found is None else x.precedents.by_kind.get(found[0].who)
    return None if found is None or precedent is None else (precedent, *found)


def _of_row(x: Exchange, precedent: Precedent, operation: Read, caller: Caller) -> list[BoundStatement]:
    env: Environment = {**x.env, "caller": caller.root, environment.CREDENTIAL: caller.proof}
    env.update(precedent.env)  # type: ignore[typeddict-item]  # its roots are those of an environment
    try:
        step = operation.perform(call_of(x.service, x.request, env, x.endpoint, caller))
    except Exception:
        return []  # the steps come to the same, and say what is to be said of it
    return [(step.work.text, step.work.binds)] if isinstance(step, Wait) and isinstance(step.work, Select) else []


def foreseen(x: Exchange, work: Work) -> Any:
    """What was read for a work already, once; None: nothing was."""
    if not x.foreseen:
        return None
    match work:
        case Select(text, binds):
            return x.foreseen.pop((text, tuple(binds)), None)
        case Recall(read=read, make=make):
            text, binds = read()
            rows = x.foreseen.pop((text, tuple(binds)), None)
            return None if rows is None else make(rows)
    return None
