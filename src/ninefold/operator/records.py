"""Rows that the contract itself states, brought about when a database is opened and before anything is served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninefold.database.protocol import Session
from ninefold.database.sqlite import Begin, NotBegun
from ninefold.expressions.evaluate import EvaluationError, equal
from ninefold.operator.rows import Adding, Caller, look
from ninefold.plan import environment
from ninefold.plan.operator import OperatorOperations, Record, Records
from ninefold.plan.service import ServicePlan
from ninefold.server.execute import Write
from ninefold.server.flow import at_once
from ninefold.server.judge import NothingFound, Refusal
from ninefold.server.problems import Failure
from ninefold.values import Value


def stated_rows(plan: ServicePlan, caller: Caller) -> Begin | None:
    """How the rows that a contract states come about; None: it states none."""
    records = plan.records
    return None if records is None else lambda session: _Stated(plan, records, caller).brought_about(session)


class _Stated:
    def __init__(self, plan: ServicePlan, records: Records, caller: Caller) -> None:
        self._caller = caller
        self._rows = records.rows
        wanted = {each.resource for each in self._rows}
        self._operations = {each.resource: each for each in plan.operator_operations if each.resource in wanted}
        self._adding = {
            name: Adding(operations, adding)
            for name, operations in self._operations.items()
            if (adding := records.adding.get(name, operations.adding)) is not None
        }
        self._changes = {name: Write(change) for name, change in records.changes.items()}

    def brought_about(self, session: Session) -> tuple[str, ...]:
        """Raises NotBegun for a row that the contract states and its own rules refuse."""
        return tuple(words for row in self._rows if (words := self._row(row, session)) is not None)

    def _row(self, row: Record, session: Session) -> str | None:
        operations, adding = self._operations[row.resource], self._adding.get(row.resource)
        if adding is None:
            return None  # a gap keeps rows of this resource from being made, and says so itself
        values = adding.read(dict(row.values))
        key = {name: row.values[name] for name in adding.key}
        called = f"`{row.resource}` {'/'.join(map(str, key.values()))}"
        if isinstance(values, Failure):
            raise NotBegun(f"the record {called} is refused: {_words((values,))}")
        try:
            found = look(operations, session, self._caller, key, "", 1).rows
            if not found:
                adding.add(values, session, self._caller)
                return f"the record {called}"
            changed = [name for name, value in values.items() if not equal(found[0].get(name), value)]
            if changed:
                self._change(operations, values, key, session)
                return f"the record {called}: {', '.join(changed)}"
        except Refusal as refusal:
            raise NotBegun(f"the record {called} is refused: {_words(refusal.failures)}") from None
        except (EvaluationError, NothingFound) as error:
            raise NotBegun(f"the record {called} cannot be made: {error}") from None
        return None

    def _change(
        self, operations: OperatorOperations, values: Mapping[str, Value], key: dict[str, Any], session: Session
    ) -> None:
        change = self._changes[operations.resource]
        call = self._caller.call(operations)
        call.env[environment.PATH] = key
        call.body = {name: value for name, value in values.items() if name not in key}
        wanted = change.wanted(call, frozenset(call.body), False)
        if wanted is not None:
            change.found(call, session.run(wanted.text, wanted.binds))
        change.prepare(call)
        at_once(change.perform(call), session)


def _words(failures: tuple[Failure, ...]) -> str:
    told = []
    for failure in failures:
        fields = [f"{each.name} ({each.rule})" for each in failure.fields]
        told.append(" ".join(filter(None, (failure.code or failure.condition, failure.subject, *fields))))
    return "; ".join(told)
