"""A change of all rows that are found: judged one by one, and written together, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from ninefold.expressions.scope import COUNT
from ninefold.plan import environment
from ninefold.plan import operations as plan
from ninefold.plan.environment import Environment
from ninefold.plan.writes import Delete, Effects
from ninefold.runtime.messages.encode import NO_ROW, Shape
from ninefold.runtime.operations.bulk import Asking, Several
from ninefold.runtime.operations.constraints import Judge, gives
from ninefold.runtime.operations.flow import Next, Transact, Wait
from ninefold.runtime.operations.read import Call
from ninefold.runtime.operations.write import Write, effects
from ninefold.runtime.store.protocol import Row, Session
from ninefold.runtime.store.statements import Prepared
from ninefold.values import Value


class Sweep:
    """All rows, by one request."""

    def __init__(self, operation: plan.Sweep) -> None:
        write = operation.change.write
        self.resource: str | None = operation.resource
        self.judge = None if operation.judge is None else Judge(operation.judge)
        self.filters = operation.filters
        self._deletes = isinstance(write, Delete)
        self._write = Write(write)
        then = write.step(Effects)
        self._several: Several[Call] = Several(operation.change, self._values, None if then is None else effects(then))
        self._items = None if operation.items is None else Prepared(operation.items)
        self._head = None if operation.head is None else Prepared(operation.head)
        beside = () if operation.head is None else operation.head.columns
        of_rows = () if operation.items is None else operation.items.columns
        self._shape = Shape(operation.response, beside, of_rows)

    def prepare(self, call: Call) -> None:
        """What the body gives, each row is given; what the contract makes, is made for each."""
        gives(call.env, call.body or {})

    def _values(self, call: Call, env: Environment, current: dict[str, Value]) -> dict[str, Any]:
        self._write.prepare(replace(call, env=env, current=current, on_current=False))
        new: dict[str, Any] = env[environment.NEW]
        return new

    def perform(self, call: Call) -> Next:
        switches = frozenset(f"filter {name}" for name in call.env[environment.FILTER])
        return Wait(Transact(partial(self._work, call, switches)), lambda shown: self._shown(call, *shown))

    def _work(self, call: Call, switches: frozenset[str], session: Session) -> tuple[Sequence[Row], Row]:
        """The rows that are shown, and what is shown beside them."""
        env, items = call.env, list[Row]()
        asking = Asking(call.sources, call.who)
        wanted, own = self._several.settled(session, call, asking, env, switches)
        if wanted.rows:
            if self._items is not None and self._deletes:
                items = session.run(*self._items.bound(own))
            self._several.write(session, call, asking, own, wanted)
            if self._items is not None and not self._deletes:
                items = session.run(*self._items.bound(own))
        elif self.judge is not None:
            refusal = self.judge.refusal(session.run(*self.judge.bound(env, False)), env)
            if refusal is not None:
                raise refusal
        env["page"] = {COUNT: len(wanted.rows), "total": len(wanted.rows)}
        return items, NO_ROW if self._head is None else session.run(*self._head.bound(env))[0]

    def _shown(self, call: Call, items: Sequence[Row], head: Row) -> Next:
        return self._shape.filled(head, items, call.env)
