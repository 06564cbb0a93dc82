"""What else an operation does: writes of other rows, in its transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from ninefold.expressions.evaluate import Env
from ninefold.plan import environment
from ninefold.plan import writes as plan
from ninefold.plan.environment import Environment, with_rows
from ninefold.runtime.store.protocol import Session
from ninefold.runtime.store.statements import Prepared, RowReader
from ninefold.values import Value

T = TypeVar("T")

Do: TypeAlias = Callable[[Session, T, Environment], None]
"""Does a write for a call, under the roots that it reads; raises what refuses it."""


class Effects(Generic[T]):
    """Those of a write, made ready. `make` makes one ready that is of one row, `several` one that is of several."""

    def __init__(
        self,
        planned: plan.Effects,
        make: Callable[[plan.Bulk], Do[T]],
        several: Callable[[plan.Effect], Do[T]],
    ) -> None:
        self._resource = planned.resource
        self._acted_on = Prepared(planned.acted_on)
        self._read = RowReader(planned.acted_on)
        self._effects = tuple(
            several(each) if each.write.several else _of_one(_Row(each), make(each.write)) for each in planned.effects
        )

    def acted_on(self, session: Session, env: Env) -> dict[str, Value] | None:
        """The row that the write acts on, as far as the effects read it. None: it is not there."""
        return next(iter(self.all_acted_on(session, env)), None)

    def all_acted_on(self, session: Session, env: Env) -> list[dict[str, Value]]:
        """The same of each row, where the write is of several."""
        return [self._read(row) for row in session.run(*self._acted_on.bound(env))]

    def take_place(self, session: Session, call: T, env: Environment, acted_on: dict[str, Value]) -> None:
        """One after another; what refuses one of them refuses the whole. What one of them issues, the whole does."""
        for do in self._effects:
            own = with_rows(env, {self._resource: acted_on, environment.THIS: acted_on})
            do(session, call, own)
            for name, secret in own.get("issued", {}).items():
                env.get("issued", {}).setdefault(name, secret)


def _of_one(row: _Row, do: Do[T]) -> Do[T]:
    def done(session: Session, call: T, env: Environment) -> None:
        if row.found(session, env):
            do(session, call, env)

    return done


class _Row:
    """Which row an effect acts on."""

    def __init__(self, effect: plan.Effect) -> None:
        self._find = None if effect.find is None else Prepared(effect.find)
        self._key = None if effect.find is None else RowReader(effect.find)

    def found(self, session: Session, env: Environment) -> bool:
        """Whether there is one; it goes to `$path`."""
        if self._find is None or self._key is None:
            return True
        rows = session.run(*self._find.bound(env))
        if rows:
            env[environment.PATH] = self._key(rows[0])
        return bool(rows)
