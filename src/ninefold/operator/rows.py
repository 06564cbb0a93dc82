"""Rows that the operator looks at and adds, or the contract states: operations of the plan, called without a request.

They are the operations that endpoints cause, made ready by the same code (`runtime.operations`), and taken to their
end inside a transaction that is open already: a file of rows is added whole or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import equal
from ninefold.plan import environment
from ninefold.plan.operator import Adding as AddingPlan
from ninefold.plan.operator import OperatorOperations, Record, Records
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.decode import Body
from ninefold.runtime.messages.message import Request, Response
from ninefold.runtime.messages.parameters import Page
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations.constraints import NOT_MADE, why_not_made
from ninefold.runtime.operations.execute import Call, List, Write
from ninefold.runtime.operations.flow import Next, at_once
from ninefold.runtime.operations.judge import NothingFound, Refusal
from ninefold.runtime.operations.pages import Cursors
from ninefold.runtime.request.service import constants
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Session
from ninefold.runtime.store.sqlite import Begin, NotBegun
from ninefold.values import Value, from_text

OPERATOR = "$operator"
"""Who calls. No cursor is made for the operator, and no scheme can be called so."""

_NO_REQUEST = Request("", b"", b"", {}, "")

ShownRow: TypeAlias = dict[str, Any]
"""A row as JSON shows it, by field."""


@dataclass(frozen=True, slots=True)
class Caller:
    """What operations are called with. `given`: the values that the contract calls `operator.NAME`. `key`: the
    service's secret, where subscriptions are made."""

    given: Mapping[str, object]
    sources: Sources = Sources()
    key: bytes | None = None

    def call(self, operations: OperatorOperations) -> Call:
        env = {
            **constants(self.sources, self.given, self.key),
            "now": self.sources.now(),
            "caller": {},
            "request": {"path": {}, "query": {}, "headers": {}},
        }
        return Call(_NO_REQUEST, env, self.sources, Cursors(bytes(32)), f"rows of {operations.resource}", OPERATOR)


# ── Looking ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Looked:
    """`total`: how many rows there are that meet the filters, of which these are the first."""

    rows: tuple[ShownRow, ...]
    total: int


def filters_of(operations: OperatorOperations, wanted: Mapping[str, str]) -> dict[str, Value]:
    """The values of filters from texts. The names are known. Raises `ninefold.values.Invalid`."""
    types = {each.name: each.type for each in operations.list.filters}
    return {name: from_text(types[name], text) for name, text in wanted.items()}


def look(
    operations: OperatorOperations,
    session: Session,
    caller: Caller,
    filters: Mapping[str, Value],
    sort: str,
    limit: int,
) -> Looked:
    """The first rows of a resource, in one of the orders of `operations.list.sorts`."""
    listing = List(operations.list)
    call = caller.call(operations)
    sorts = {each.name: each for each in operations.list.sorts}
    call.page = Page(sorts[sort], limit, filters=dict(filters))
    listing.prepare(call)
    shown = msgspec.json.decode(_finished(listing.perform(call), session).body)
    return Looked(tuple(shown["rows"]), shown["total"])


# ── Adding ────────────────────────────────────────────────────────────────────────────────────────────────────


class Adding:
    """`create R`, made ready for any number of rows."""

    def __init__(self, operations: OperatorOperations, adding: AddingPlan) -> None:
        self.resource = operations.resource
        self.key = adding.create.key
        self._operations = operations
        self._body = Body(adding.body)
        self._create = Write(adding.create)

    def read(self, document: Any) -> dict[str, Value] | Failure:
        """The values of a row that is given as JSON, or everything that is wrong with it."""
        return self._body.values(document)

    def prepared(self, values: Mapping[str, Value], caller: Caller) -> Call:
        """What will be stored, secrets included, before anything is. Raises EvaluationError for a value that the
        contract makes and that cannot be made."""
        call = caller.call(self._operations)
        call.body = dict(values)
        self._create.prepare(call)
        return call

    def add(self, values: Mapping[str, Value], session: Session, caller: Caller) -> ShownRow:
        """Add a row inside a transaction: the row as it has become, with the secrets that were made for it.

        Raises `Refusal` for a rule of the contract that only the database can tell, and EvaluationError.
        """
        try:
            return self.stored(self.prepared(values, caller), session)
        except NothingFound:
            # Values made at random were taken: others will do.
            return self.stored(self.prepared(values, caller), session)

    def stored(self, call: Call, session: Session) -> ShownRow:
        """Store what is prepared. Raises `Refusal` and NothingFound."""
        shown: ShownRow = msgspec.json.decode(_finished(self._create.perform(call), session).body)
        return shown

    @staticmethod
    def issued(call: Call) -> dict[str, str]:
        """The tokens that were made for a prepared row, by field."""
        issued: dict[str, str] = call.env.get("issued", {})
        return {name: value for name, value in issued.items() if name in call.env[environment.NEW]}


def _finished(step: Next, session: Session) -> Response:
    response = at_once(step, session)
    assert isinstance(response, Response)
    return response


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
        except (*NOT_MADE, NothingFound) as error:
            raise NotBegun(f"the record {called} cannot be made: {why_not_made(error)}") from None
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
