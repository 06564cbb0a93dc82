"""What follows a write that has touched its row, made ready: each a step in the transaction of the write."""

from __future__ import annotations

from functools import partial
from typing import Any

from ninefold.plan import environment
from ninefold.plan import writes as plan
from ninefold.plan.environment import Environment
from ninefold.runtime.operations import credentials
from ninefold.runtime.operations.events import Event, arise, subscribe
from ninefold.runtime.operations.read import Call
from ninefold.runtime.store.protocol import Row, Session
from ninefold.runtime.store.statements import Prepared


class Step:
    """What follows a write that has touched its row. `before`: something of it has to be found before the write."""

    before = False

    def found(self, session: Session, env: Environment) -> Any:
        """What is found before the write."""

    def take_place(self, session: Session, call: Call, env: Environment, found: Any) -> None:
        """Do it. `env` tells which row was written (`$row`)."""
        raise NotImplementedError


class Subscription(Step):
    def __init__(self, step: plan.Subscription) -> None:
        self._version = step.version

    def take_place(self, session: Session, call: Call, env: Environment, found: None) -> None:
        subscribe(session, list(env[environment.ROW].values()), call.who, env["caller"], self._version)


class Occurrences(Step):
    def __init__(self, step: plan.Occurrences) -> None:
        self._events, self.before = tuple(map(Event, step.events)), step.before

    def found(self, session: Session, env: Environment) -> list[Row | None]:
        return [event.found(session, env) for event in self._events]

    def take_place(self, session: Session, call: Call, env: Environment, found: list[Row | None] | None) -> None:
        rows = self.found(session, env) if found is None else found
        for event, row in zip(self._events, rows, strict=True):
            if row is not None:
                arise(env, partial(event.write, session, call.env, row, call.sources))


class Scopes(Step):
    def __init__(self, step: plan.Scopes) -> None:
        self._scopes = credentials.Scopes(step)

    def take_place(self, session: Session, call: Call, env: Environment, found: None) -> None:
        self._scopes.find(session, env)


class ReadBack(Step):
    def __init__(self, step: plan.ReadBack) -> None:
        self._select = Prepared(step.select)

    def row(self, session: Session, env: Environment) -> Row:
        return session.run(*self._select.bound(env))[0]


class Ending(Step):
    def __init__(self, step: plan.Ending) -> None:
        self._fields, self._statement = step.fields, Prepared(step.statement)

    def take_place(self, session: Session, call: Call, env: Environment, found: None) -> None:
        written = env[environment.NEW]
        if not self._fields or any(field in written for field in self._fields):
            session.run(*self._statement.bound(env))


class Issue(Step):
    def __init__(self, step: plan.Issue) -> None:
        self._statements = [Prepared(each) for each in (step.store, step.store_scopes, step.clean) if each is not None]

    def take_place(self, session: Session, call: Call, env: Environment, found: None) -> None:
        for statement in self._statements:
            session.run(*statement.bound(env))
