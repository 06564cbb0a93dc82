"""Rows that the operator looks at and adds, or the contract states: operations of the plan, called without a request;
and the event log, whose events the operator has delivered again.

The operations are those that endpoints cause, made ready by the same code (`runtime.operations`), and taken to their
end inside a transaction that is open already: a file of rows is added whole or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import equal
from ninefold.plan import environment
from ninefold.plan.environment import Environment
from ninefold.plan.operator import Adding as AddingPlan
from ninefold.plan.operator import OperatorOperations, Record, Records
from ninefold.plan.service import ServicePlan
from ninefold.runtime.messages.decode import Body
from ninefold.runtime.messages.message import Response
from ninefold.runtime.messages.orders import Orders
from ninefold.runtime.messages.parameters import Page
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations import signing
from ninefold.runtime.operations.constraints import NOT_MADE, NothingFound, Refusal, why_not_made
from ninefold.runtime.operations.cursors import Cursors
from ninefold.runtime.operations.events import Logged, Position, Tell
from ninefold.runtime.operations.flow import Next, at_once
from ninefold.runtime.operations.read import Call, List
from ninefold.runtime.operations.timers import NO_REQUEST
from ninefold.runtime.operations.write import Write
from ninefold.runtime.request.service import constants
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Begin, NotBegun, Session
from ninefold.sql import events as sql
from ninefold.values import Value
from ninefold.values.texts import from_text

OPERATOR = "$operator"
"""Who calls. No cursor is made for the operator, and no scheme can be called so."""

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
        env: Environment = {
            **constants(self.sources, self.given, self.key),
            "now": self.sources.now(),
            "caller": {},
            "request": environment.NO_PARAMETERS,
        }
        return Call(NO_REQUEST, env, self.sources, Cursors(bytes(32)), f"rows of {operations.resource}", OPERATOR)


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
    call.page = Page(Orders(operations.list).called(sort), limit, filters=dict(filters))
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
        change.do_in(session, call, frozenset(call.body))


def _words(failures: tuple[Failure, ...]) -> str:
    told = []
    for failure in failures:
        fields = [f"{each.name} ({each.rule})" for each in failure.fields]
        told.append(" ".join(filter(None, (failure.code or failure.condition, failure.subject, *fields))))
    return "; ".join(told)


# ── The event log ─────────────────────────────────────────────────────────────────────────────────────────────


def logged(session: Session, after: int, most: int) -> list[dict[str, Any]]:
    """The last events behind a position, the newest first."""
    rows = session.run(sql.LIST, [after, most])
    names = ("position", "time", "kind", "resource", "row", "id")
    return [_decoded(dict(zip(names, row, strict=True))) for row in rows]


def dead(session: Session, plan: ServicePlan, most: int) -> list[dict[str, Any]]:
    """The deliveries that were given up, and why."""
    of_rows = plan.schema.subscribers is not None
    rows = session.run(sql.LIST_DEAD_OF_ROWS if of_rows else sql.LIST_DEAD, [most])
    address = () if of_rows else ("url",)
    names = ("position", "time", "kind", "resource", "row", "subscription", *address, "attempts", "why")
    return [_decoded(dict(zip(names, row, strict=True))) for row in rows]


def counts(session: Session) -> tuple[int, int]:
    """How many deliveries are still to be made, and how many were given up."""
    [(waiting, given_up)] = session.run(sql.COUNTS, ())
    return int(str(waiting)), int(str(given_up))


def replay(
    session: Session, plan: ServicePlan, now: str, positions: Sequence[int], subscription: str | None
) -> int | str:
    """Have what was given up delivered again, or, where positions are named, these events, whatever became of them: how
    many deliveries that makes; a text: what is named and is not there, and then nothing is delivered. A subscription
    that is named gets them although its receiver was gone."""
    for position in positions:
        if not 0 < position < 2**63 or not session.run(sql.EVENT, [position]):
            return f"event {position}"
    is_there = subscription is None or session.run(sql.ENABLE, [subscription])
    unversioned = None if plan.delivery is None else plan.delivery.unversioned
    to = plan.delivery.webhooks.to if plan.delivery is not None and plan.delivery.webhooks is not None else None
    if to is None and not is_there:
        return f"subscription {subscription}"
    if positions and to is not None:
        made = sum(
            _told_again(session, Tell(to.tell), now, position, subscription, unversioned) for position in positions
        )
    elif positions:
        made = sum(len(session.run(sql.DELIVER_AGAIN, [position, subscription])) for position in positions)
    else:
        made = len(session.run(sql.REVIVE, [subscription]))
    # A row that is a subscription is kept as one once something is told to it: perhaps just now.
    if not is_there and not session.run(sql.ENABLE, [subscription]):
        return f"subscription {subscription} that something was told"
    session.run(sql.STEP_BACK, ())
    session.run(sql.STEP_FORWARD, [now])
    return made


def _told_again(
    session: Session, tell: Tell, now: str, position: int, subscription: str | None, unversioned: str | None
) -> int:
    """Deliver one event again to rows of the contract's own that it goes to: how many those are."""
    found = session.run(sql.EVENT, [position])
    if not found:
        return 0
    id, kind, resource, row, time, payload = map(str, found[0])
    if unversioned is None:
        event = Logged(id, kind, row, time, payload)
        return tell.write(session, {"now": now}, Position(position, resource, "", now), event, subscription)
    others = {str(version): (kind, own) for version, kind, own in session.run(sql.EVENT_IN_VERSIONS, [position])}
    made = 0
    for version in {str(each) for (each,) in session.run(sql.SUBSCRIBED_VERSIONS, [unversioned])}:
        called, shown = others.get(version, (kind, payload))
        if called is not None:
            event = Logged(id, str(called), row, time, str(shown))
            made += tell.write(session, {"now": now}, Position(position, resource, version, now), event, subscription)
    return made


def rotate(session: Session, key: bytes, subscription: str, overlap: str) -> str | None:
    """Give a subscription another secret; until `overlap` deliveries are signed with both. None: there is no such
    subscription. `key`: the service's secret."""
    rows = session.run(sql.ROTATE, [overlap, subscription])
    if not rows:
        return None
    return signing.written(signing.secret(signing.signing_key(key), subscription, int(str(rows[0][0]))))


def _decoded(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "row": "/".join(map(str, msgspec.json.decode(row["row"])))}
