"""Part 6: the events that an operation writes, and who may see which of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from ninefold.checked import operations as checked
from ninefold.checked.endpoints import Admission, Cause, EventKind, OlderKind
from ninefold.checked.operations import Mutation
from ninefold.checked.resources import Resource
from ninefold.checked.service import Checked
from ninefold.compile import inputs, subscribers
from ninefold.compile.before import still
from ninefold.compile.concerned import concerns
from ninefold.compile.contents import Columns, content
from ninefold.compile.perspective import OPERATOR, Perspective
from ninefold.compile.which_rows import WANTED, WRITTEN, filter_parameters, filter_pieces, was_written
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.rows import unwritten
from ninefold.expressions.tree import Constant
from ninefold.language.authentication import ANYONE
from ninefold.language.verbs import arises
from ninefold.plan.events import (
    BATCH,
    EVENT,
    SERVER_SENT_EVENTS,
    TOLD,
    WEBSOCKET,
    Delivery,
    Envelope,
    Event,
    InVersion,
    Webhooks,
)
from ninefold.plan.operations import Stream
from ninefold.plan.problems import Condition, Judge
from ninefold.plan.responses import FromExpression, Response
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import Occurrences
from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.sql.rows import LOG, one_of
from ninefold.values import Boolean, Integer, Text, Timestamp

# ── Writing ───────────────────────────────────────────────────────────────────────────────────────────────────


def caused(verb: str, resource: Resource, operation: Mutation, perspective: Perspective) -> Occurrences | None:
    """The events of the row (or of the rows) that an operation has just written by a verb or a transition; None: there
    are none."""
    found = tuple(_events(arises(verb)[0], resource, was_written(operation, resource), perspective))
    return Occurrences(found) if found else None


def caused_by_deletion(resource: Resource, found: list[Fragment], perspective: Perspective) -> Occurrences | None:
    """The events of a row that is to be deleted, found by what the deletion itself finds it by."""
    events = tuple(_events("delete", resource, found, perspective, is_gone=True))
    return Occurrences(events, before=True) if events else None


def _events(
    verb: str, resource: Resource, found: list[Fragment], perspective: Perspective, is_gone: bool = False
) -> Iterator[Event]:
    for stated in perspective.checked.caused.get(resource.name, ()):
        if not any((cause.verb, cause.resource) == (verb, resource.name) for cause in stated.causes):
            continue
        kind = _of_what_is_gone(stated) if is_gone else stated
        for cause in kind.causes:
            if (cause.verb, cause.resource) == (verb, resource.name):
                event = _event(kind, cause, resource, found, perspective)
                yield _in_versions(event, kind, cause, found, perspective)


def _of_what_is_gone(kind: EventKind) -> EventKind:
    """A row that is deleted has become nothing else: it is as it was."""

    def still_of(cause: Cause) -> Cause:
        when = None if cause.when is None else unwritten(cause.when)
        return replace(cause, payload=still(cause.payload), when=when)

    older = (replace(each, causes=tuple(map(still_of, each.causes))) for each in kind.older)
    return replace(kind, causes=tuple(map(still_of, kind.causes)), older=tuple(older))


def _event(kind: EventKind, cause: Cause, resource: Resource, found: list[Fragment], perspective: Perspective) -> Event:
    """A payload is the contract's own word, whoever caused it, and so is `where`: they read every row."""
    everything = Perspective(perspective.checked, OPERATOR, perspective.dialect)
    rows = {resource.name: resource.name}
    columns = Columns(everything, rows)
    # The log's own columns come first; no expression of a payload is equal to theirs.
    for title, fragment in (
        ("$identifier", _identifier_of(resource, perspective)),
        ("$seen", _snapshot(resource, perspective.checked, perspective.dialect)),
    ):
        columns.add_own(title, fragment)
    shown = content(cause.payload, columns)
    if cause.when is not None:
        found = [*found, "(" + everything.holds(cause.when, rows) + ")"]
    name = identifier(resource.name)
    text = "SELECT " + columns.listed + f" FROM {name} AS {name} WHERE " + all_of(found) + _in_order(resource, found)
    to = subscribers.planned(perspective.checked, perspective.dialect, _unversioned(perspective.checked))
    return Event(
        kind=kind.name,
        resource=resource.name,
        select=_statement(text, columns.results),
        content=shown,
        delivered=_delivered(perspective.checked),
        tell=None if to is None else to.tell,
        said=dict(kind.said),
        trace=(kind.place,),
    )


def _in_order(resource: Resource, found: Sequence[Fragment]) -> Fragment:
    """Where there are several rows: by their primary keys."""
    if all(table not in each.text for table in (WANTED, WRITTEN) for each in found):
        return Fragment("")
    return " ORDER BY " + join(", ", [column(resource.name, key) for key in resource.primary_key])


def _in_versions(event: Event, kind: EventKind, cause: Cause, found: list[Fragment], perspective: Perspective) -> Event:
    """The event with what it is in the other versions."""
    versions = perspective.checked.versions
    if perspective.checked.version is None or versions is None:
        return event
    names = {each.name: kind.called_in(each.name) for each in versions.versions}
    return structs.replace(
        event,
        versions=tuple(_in_version(each, cause, found, perspective) for each in kind.older),
        called={version: name for version, name in names.items() if name is not None},
    )


def _in_version(kind: OlderKind, cause: Cause, found: list[Fragment], perspective: Perspective) -> InVersion:
    payload = next((each.payload for each in kind.causes if _is_of(each, cause)), None)
    if kind.name is None or payload is None:
        return InVersion(kind.version)
    columns = Columns(Perspective(perspective.checked, OPERATOR, perspective.dialect), {cause.resource: cause.resource})
    shown = content(payload, columns)
    name = identifier(cause.resource)
    text = "SELECT " + columns.listed + f" FROM {name} AS {name} WHERE " + all_of(found)
    order = _in_order(perspective.checked.resources[cause.resource], found)
    select = _statement(text + order, columns.results)
    return InVersion(kind.version, kind.name, select, shown)


def _is_of(cause: Cause, other: Cause) -> bool:
    return (cause.verb, cause.resource) == (other.verb, other.resource)


def _unversioned(checked: Checked) -> str | None:
    """The version of a subscription that was made when there were none: that of a request that names none."""
    if checked.version is None or checked.versions is None:
        return None
    # Whose account was pinned to which version then, nobody can say any more.
    return checked.versions.default or checked.versions.current


def _delivered(checked: Checked) -> bool:
    return checked.events.webhooks is not None and checked.takes_subscriptions


def _statement(text: Fragment, columns: Sequence[ResultColumn]) -> Statement:
    return Statement((_piece(text),), tuple(columns))


def _identifier_of(resource: Resource, perspective: Perspective) -> Fragment:
    types = [perspective.stored(resource.fields[key].type) for key in resource.primary_key]
    return perspective.dialect.array_of([column(resource.name, key) for key in resource.primary_key], types)


def _snapshot(resource: Resource, checked: Checked, dialect: Dialect) -> Fragment:
    """The row as the event finds it, for the row rules that will be asked of it. Where none is, nothing is kept."""
    if all(rule is None for rule in checked.row_rules.get(resource.name, {}).values()):
        return Fragment("NULL")
    return dialect.object_of([(field.name, column(resource.name, field.name)) for field in resource.readable])


# ── Seeing ────────────────────────────────────────────────────────────────────────────────────────────────────


def stream(operation: checked.Stream, admission: Admission, perspective: Perspective) -> Stream:
    """`stream event`. What is not seen is passed over, and its position counts all the same."""
    stated = perspective.checked.events.stream
    assert stated is not None
    version = perspective.checked.version
    kinds = [name for each in perspective.checked.events.kinds if (name := each.called_in(version)) is not None]
    if version is None:
        known, kind, payload, source = "", "event.kind", "event.payload", Fragment(f"{LOG} AS event")
    else:
        known = " AND (other.event IS NULL OR other.kind IS NOT NULL)"
        kind, payload = "coalesce(other.kind, event.kind)", "coalesce(other.payload, event.payload)"
        source = (
            f'{LOG} AS event LEFT JOIN "$event in version" AS other ON other.event = event.seq AND other.version = '
            + bind(Constant(version, Text()))
        )
    told = "SELECT event.seq, " + perspective.hears("event") + known + " AND " + one_of(kind, kinds)
    text = (
        f", event.id, {kind}, event.row, event.time, {payload} FROM "
        + source
        + " WHERE event.seq > "
        + bind(inputs.LOG_POSITION)
        + f" ORDER BY event.seq LIMIT {BATCH}"
    )
    columns = (
        ResultColumn("position", Integer()),
        ResultColumn("seen", Boolean()),
        ResultColumn("id", Text()),
        ResultColumn("kind", Text()),
        ResultColumn("row", Text()),
        ResultColumn("time", Timestamp()),
        ResultColumn("payload", Text()),
    )
    return Stream(
        response=Response(
            operation.response.status,
            headers=tuple(
                (name, FromExpression(leaf.expression, trace=leaf.trace)) for name, leaf in operation.response.headers
            ),
            trace=(operation.response.place,),
            places={"content-type": (stated.place,)},
        ),
        select=Statement((_piece(told), *_narrowing(operation, perspective), _piece(text)), columns),
        filters=filter_parameters(operation),
        seen=perspective.checked.places.at("endpoints", operation.key, "where"),
        lines=SERVER_SENT_EVENTS in stated.over,
        websocket=WEBSOCKET in stated.over,
        origins=_origins(perspective.checked) if WEBSOCKET in stated.over else (),
        judge=_permitted(admission, perspective),
        concerns=concerns(perspective),
    )


def _narrowing(operation: checked.Stream, perspective: Perspective) -> Iterator[Piece]:
    """Of the events that the caller may hear of, which are told: of each, as its version has it, what `where` says, and
    those of the parameters that are given."""
    if operation.where is None and not operation.filters:
        return
    rows, alias = {EVENT: _TOLD}, identifier(_TOLD)
    log = " AND EXISTS (SELECT 1 FROM " + perspective.source(TOLD) + f" AS {alias} WHERE {alias}.position = event.seq"
    where = None if operation.where is None else " AND (" + perspective.shown(operation.where, rows, True) + ")"
    yield _piece(log if where is None else log + where)
    yield from filter_pieces(operation, rows, perspective)
    yield Piece(")")


_TOLD = "event told"
"""An event by which is judged whether it is told, in SQL."""


def _piece(text: Fragment) -> Piece:
    return Piece(text.text, text.binds)


def _origins(checked: Checked) -> tuple[str, ...] | None:
    """A browser opens a WebSocket for any page, with the cookies of the service, and asks nobody (RFC 6455 10.2)."""
    stated = checked.cors
    if stated is None or (stated.origins is None and any(each.where == "cookie" for each in checked.schemes)):
        return ()
    return stated.origins


def _permitted(admission: Admission, perspective: Perspective) -> Judge | None:
    """A permission that takes rows to say; of those that read the caller and the request alone the route knows."""
    if admission.condition is None or admission.of_request:
        return None
    fails = "SELECT (" + perspective.holds(admission.condition, {}) + ") IS NOT TRUE"
    condition = Condition("forbidden", trace=(admission.place,))
    return Judge(_statement(fails, [ResultColumn("forbidden", Boolean())]), (condition,), ())


def delivery(checked: Checked, dialect: Dialect) -> Delivery | None:
    """How events leave; None where none can arise, and nobody waits for any."""
    events = checked.events
    if not events.kinds and not any(endpoint.kind.streams for endpoint in checked.in_all_versions):
        return None
    webhooks, envelope = None, events.envelope
    if events.webhooks is not None and events.kinds:
        to = subscribers.planned(checked, dialect, _unversioned(checked))
        who = {OPERATOR, ANYONE, *(scheme.name for scheme in checked.schemes)} if to is None else set()
        webhooks = Webhooks(
            said=dict(events.webhooks.said),
            waits=events.webhooks.backoff,
            sees={each: _of_one(Perspective(checked, each, dialect)) for each in sorted(who)},
            to=to,
            signed=events.webhooks.signed,
            headers=subscribers.headers(checked, dialect),
            trace=(events.webhooks.place,),
        )
    return Delivery(
        kept_microseconds=0 if events.kept is None else events.kept.microseconds,
        webhooks=webhooks,
        envelope=None if envelope is None else Envelope(envelope.source, said=dict(envelope.said)),
        unversioned=_unversioned(checked),
    )


def _of_one(perspective: Perspective) -> Statement:
    text = (
        "SELECT " + perspective.hears("event") + f" FROM {LOG} AS event WHERE event.seq = " + bind(inputs.LOG_POSITION)
    )
    return _statement(text, [ResultColumn("seen", Boolean())])
