"""What refuses an operation, and the judge that says why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ninefold.plan import environment, problems
from ninefold.plan.held import CANNOT_BE_MADE, HeldColumns
from ninefold.runtime.messages.problems import Failure, failed_condition
from ninefold.runtime.operations.constraints import Held, Unfit
from ninefold.runtime.operations.flow import Next, Select, Wait
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.runtime.store.statements import Prepared
from ninefold.values import sqlite_reader


class Refusal(Exception):
    """The operation is refused. `details` are those of the codes that read rows."""

    def __init__(self, failures: Sequence[Failure], details: Mapping[str, Any] | None = None) -> None:
        super().__init__(*failures)
        self.failures = tuple(failures)
        self.details = details or {}


class Taken(Refusal):
    """It is refused for values alone that are made at random, of these `anew`: others may do."""

    anew: frozenset[str] = frozenset()


MOST_ANEW: Final = 32
"""How often values are made at random, before it is told that they are taken."""


class NothingFound(Exception):
    """A statement found nothing, and the judge sees no reason: the rows changed in between, or values made at
    random were taken. Trying once more tells."""


class Judge:
    """The select that names why nothing was found or touched."""

    def __init__(self, judge: problems.Judge, made: Sequence[HeldColumns] = ()) -> None:
        self._statement = Prepared(judge.statement)
        self._anew = judge.anew
        self.failures = tuple(map(failed_condition, judge.conditions))
        columns = judge.statement.columns[len(self.failures) :]
        self._made = tuple(
            (
                each.fails,
                each.value,
                None if each.value is None else sqlite_reader(judge.statement.columns[each.value].type),
                Held(each.held),
            )
            for each in made
        )
        self.holds = any(each.value is not None for each in made)
        """Whether what a statement makes has to be held to a schema."""
        self._details = tuple(
            (code, sqlite_reader(columns[index].type) if index < len(columns) else None)
            for index, code in enumerate(judge.details)
        )

    def bound(
        self, env: Mapping[str, Any], values: bool, wrong: Collection[str] | None = None
    ) -> tuple[str, list[Stored]]:
        """`values`: all that the request gives is there. `wrong`: the fields of which that is not so; None: the body
        was not read."""
        judging = {
            "values": values,
            "read": values or wrong is not None,
            **{f"wrong {name}": True for name in wrong or ()},
        }
        return self._statement.bound({**env, environment.JUDGE: judging})

    def refusal(self, rows: Sequence[Row], env: Mapping[str, Any]) -> Refusal | None:
        """What the judge's row says; None: nothing stands in the way."""
        row = rows[0]
        failures = [failure for failure, failed in zip(self.failures, row, strict=False) if failed]
        # What is made of a value that is refused, or of a row that is not there, says nothing.
        if not any(each.condition in ("invalid", "conflict") for each in failures):
            failures += self._unfit(row, env)
        if not failures:
            return None
        details = {
            code: stored if read is None or stored is None else read(stored)
            for (code, read), stored in zip(self._details, row[len(self.failures) :], strict=False)
        }
        return self._taken(row, Refusal(failures, details))

    def _taken(self, row: Row, refusal: Refusal) -> Refusal:
        """The same, told apart where nothing but what is made at random stands in the way."""
        failed = [number for number in range(len(self.failures)) if row[number]]
        if len(failed) != len(refusal.failures) or not self._anew or not all(map(self._anew.__getitem__, failed)):
            return refusal
        taken = Taken(refusal.failures, refusal.details)
        taken.anew = frozenset(name for number in failed for name in self._anew[number])
        return taken

    def _unfit(self, row: Row, env: Mapping[str, Any]) -> list[Failure]:
        """What the statement cannot make, and what is not as its field says."""
        failures: list[Failure] = []
        refused: set[str] = set()
        for fails, at, read, held in self._made:
            value = None if at is None else row[at]
            try:
                if row[fails]:
                    raise Unfit(held.failure((), CANNOT_BE_MADE, env))
                held.fits(value if read is None or value is None else read(value), env)
            except Unfit as unfit:
                failures += [] if held.is_made_of(refused) else [unfit.failure]
                refused.add(held.field)
        return failures

    def raised(self, env: Mapping[str, Any], rows: Sequence[Row]) -> Next:
        """A step: nothing was found, and this is why."""
        raise self.refusal(rows, env) or NothingFound

    def asked(self, env: Mapping[str, Any]) -> Next:
        """Ask why nothing was found."""
        return Wait(Select(*self.bound(env, False)), partial(self.raised, env))
