"""The event log: how an operation writes to it, and how its events are shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import Env, EvaluationError, compile
from ninefold.expressions.operations import Sources as Chance
from ninefold.expressions.operations import new_uuid
from ninefold.plan import environment
from ninefold.plan import events as plan
from ninefold.runtime.messages.encode import show
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.protocol import Row, Session, Stored
from ninefold.runtime.store.statements import Prepared
from ninefold.sql import events as sql
from ninefold.sql.events import FAN_OUT, WRITE, WRITE_IN_VERSION
from ninefold.values.json_numbers import decoded

_encode = msgspec.json.Encoder().encode
_parts = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Event:
    """An event that an operation writes, made ready."""

    def __init__(self, event: plan.Event) -> None:
        self._kind = event.kind
        self._resource = event.resource
        self._delivered = event.delivered
        self._select = Prepared(event.select)
        self._show = show(event.content, event.select.columns)
        self._versions = tuple(map(_InVersion, event.versions))
        self._names = event.called
        self._tell = None if event.tell is None else Tell(event.tell)

    def found(self, session: Session, env: Env) -> Row | None:
        """The row that the event is about, as it is now: primary key, what row rules read, what the payload shows; then
        what that of each other version shows."""
        return next(iter(self.all_found(session, env)), None)

    def all_found(self, session: Session, env: Env) -> list[Row]:
        """The same of each row, where several are written at once."""
        rows = session.run(*self._select.bound(env))
        for other in self._versions if rows else ():
            rows = [(*row, *shown) for row, shown in zip(rows, other.found(session, env, len(rows)), strict=True)]
        return rows

    def write(self, session: Session, env: Env, row: Row, sources: Sources) -> None:
        """Write it in the transaction of its cause, with a delivery to each subscription that wants its kind."""
        identifier, seen = in_one_form(str(row[0])), row[1]
        payload = _encode(self._show(row, (), env)).decode()
        id, now = new_uuid(Chance(sources.random_bytes)), env["now"]
        [(position,)] = session.run(WRITE, [id, self._kind, self._resource, identifier, seen, now, payload])
        at = len(row) - sum(other.width for other in self._versions)
        payloads: dict[str, str | None] = {}
        for other in self._versions:
            payloads[other.version] = own = other.payload(row[at : at + other.width], env)
            session.run(WRITE_IN_VERSION, [position, other.version, other.kind, own])
            at += other.width
        if self._tell is not None:
            names = {"": self._kind} if self._names is None else self._names
            for version, kind in names.items():
                logged = Logged(id, kind, identifier, now, payloads.get(version) or payload)
                self._tell.write(session, env, Position(int(str(position)), self._resource, version, now), logged)
        elif self._delivered:
            session.run(FAN_OUT, [position, lane(self._resource, identifier), now, self._kind])


def arise(env: Env, *events: Callable[[], None]) -> None:
    """Write events, or, where the write is an effect, keep them until that of its cause is written."""
    later = env.get(environment.ARISEN)
    if later is not None:
        later.extend(events)
    else:
        for write in events:
            write()


@dataclass(frozen=True, slots=True)
class Position:
    """Where an event is in the log, and when it is to be delivered first to the receivers of a version."""

    position: int
    resource: str
    version: str
    due: str


def happened(event: Logged, resource: str) -> dict[str, object]:
    """The root `event`."""
    return {
        "id": event.id,
        "kind": event.kind,
        "time": event.time,
        "resource": resource,
        "row": subject(event.row),
        "payload": decoded(event.payload),
    }


class Tell:
    """Deliveries to rows of the contract's own, made ready."""

    def __init__(self, tell: plan.Tell) -> None:
        self._keep, self._tell = Prepared(tell.keep), Prepared(tell.tell)

    def write(self, session: Session, env: Env, at: Position, event: Logged, subscription: str | None = None) -> int:
        """Write the deliveries of an event, to all rows that it goes to or to one: how many those are."""
        told = {
            **env,
            "event": happened(event, at.resource),
            environment.LOG: {
                "position": at.position,
                "lane": lane(at.resource, event.row),
                "due": at.due,
                "version": at.version,
                "subscription": subscription,
            },
        }
        session.run(*self._keep.bound(told))
        return len(session.run(*self._tell.bound(told)))


class _InVersion:
    """An event as another version has it, made ready."""

    def __init__(self, event: plan.InVersion) -> None:
        self.version, self.kind = event.version, event.kind
        self._select = None if event.select is None else Prepared(event.select)
        self._show = None
        if event.select is not None and event.content is not None:
            self.width = max(1, len(event.select.columns))
            self._show = show(event.content, event.select.columns)
        else:
            self.width = 0

    def found(self, session: Session, env: Env, several: int) -> list[Row]:
        """The columns of its payload, of so many rows. They are there: the event itself has found them."""
        return [()] * several if self._select is None else session.run(*self._select.bound(env))

    def payload(self, row: Row, env: Env) -> str | None:
        return None if self._show is None else _encode(self._show(row, (), env)).decode()


def in_one_form(identifier: str) -> str:
    """The primary key of a row, a JSON array, its numbers as Python writes them: each database has texts of its own for
    these, and what tells of one row has one order in all of them."""
    values = decoded(identifier)
    return json.dumps(values, separators=(",", ":")) if any(type(each) is float for each in values) else identifier


def lane(resource: str, identifier: str) -> str:
    """What events of one row have in common. `primary key`: a JSON array."""
    return f"{resource} {identifier}"


def subject(identifier: str) -> str:
    """The primary key of a row as the attribute `subject` of CloudEvents has it. `identifier`: a JSON array. A number
    has the text that the database has written, which is what it compares (`about` in `ninefold.sql.events`)."""
    parts = (bytes(each) for each in _parts(identifier))
    return "/".join(msgspec.json.decode(each) if each.startswith(b'"') else each.decode() for each in parts)


def subscribe(
    session: Session, key: Sequence[Stored], who: str, caller: Mapping[str, Any], version: str | None = None
) -> None:
    """Keep who subscribed and in which version, in the transaction that makes the subscription; not by which
    credential. `key`: the primary key of its row."""
    kept = {name: value for name, value in caller.items() if name != "credential"}
    values = [int(each) if isinstance(each, bool) else each for each in key]
    called: Stored = values[0] if len(values) == 1 else _encode(values).decode()
    keep, in_version = sql.SUBSCRIBE, sql.SUBSCRIBE_IN_VERSION
    if isinstance(called, float):
        keep, in_version = sql.SUBSCRIBE_NUMBER, sql.SUBSCRIBE_NUMBER_IN_VERSION
    elif isinstance(called, int):
        called = str(called)
    session.run(keep, [called, who, _encode(kept).decode()])
    if version is not None:
        session.run(in_version, [called, version])


@dataclass(frozen=True, slots=True)
class Logged:
    """An event as the log holds it. `row`: the primary key, a JSON array; `payload`: JSON."""

    id: str
    kind: str
    row: str
    time: str
    payload: str


class Form:
    """What is sent of an event: its payload as it is, or in its envelope."""

    def __init__(self, envelope: plan.Envelope | None, operator: Mapping[str, object]) -> None:
        """Without the operator's values that the envelope's source reads, `complete` is false: nothing can be sent."""
        self.media_type = plan.PLAIN if envelope is None else plan.CLOUD_EVENT
        self._source: Any = None
        self.complete = True
        if envelope is not None:
            try:
                self._source = compile(envelope.source)({"operator": operator})
            except EvaluationError:
                pass
            # An empty source is no URI reference that CloudEvents 1.0.2 admits.
            self.complete = bool(self._source)
        self._enveloped = envelope is not None

    def body(self, event: Logged) -> bytes:
        """JSON in one line. In an envelope: CloudEvents 1.0.2, JSON format 3, structured mode."""
        if not self._enveloped:
            return event.payload.encode()
        return _encode(
            {
                "specversion": "1.0",
                "id": event.id,
                "source": self._source,
                "type": event.kind,
                "subject": subject(event.row),
                "time": event.time,
                "datacontenttype": plan.PLAIN,
                "data": msgspec.Raw(event.payload.encode()),
            }
        )
