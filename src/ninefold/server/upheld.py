"""Invariants of other rows than the one that is written, asked in the transaction of the write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ninefold.database.protocol import Session, Stored
from ninefold.expressions.evaluate import Env
from ninefold.plan import operations as plan
from ninefold.server.problems import Failure, failed_condition
from ninefold.server.statements import Prepared, RowReader
from ninefold.values import Value


class Upheld:
    """One of the plan, made ready."""

    def __init__(self, planned: plan.Upheld) -> None:
        self.failure = failed_condition(planned.condition)
        self.details = planned.details
        self.failing = Prepared(planned.failing)
        self.before = None if planned.before is None else Prepared(planned.before)
        self.read = None if planned.before is None else RowReader(planned.before)


def before(upheld: Sequence[Upheld], session: Session, env: Env) -> dict[str, Value]:
    """The keys as they are before the write, by name: the root `$affected`. Where several rows are written, those of
    all of them."""
    keys: dict[str, list[Any]] = {}
    for each in upheld:
        if each.before is not None and each.read is not None:
            for row in session.run(*each.before.bound(env)):
                for name, found in each.read(row).items():
                    keys.setdefault(name, []).extend(found if isinstance(found, list) else ())
    return dict(keys)


def broken(upheld: Sequence[Upheld], session: Session, env: Env) -> Iterator[tuple[Failure, dict[str, Stored]]]:
    """Those that some row now fails, with the details of its codes."""
    for each in upheld:
        for row in session.run(*each.failing.bound(env)):
            yield each.failure, dict(zip(each.details, row, strict=False))
