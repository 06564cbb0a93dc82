"""Where the rows of a resource are: in its table, or, of the resource `event`, in the event log.

Of an event are read, beside its fields, three columns that no contract can name: `$about`, the identifier of the row
that it is about as a JSON array; `$seen`, that row as the event found it; and `$revision`, since what has happened
never changes.
"""

from __future__ import annotations

from ninefold.expressions.scope import Log, Model
from ninefold.expressions.tree import Call, Constant, Variable
from ninefold.sql.events import about
from ninefold.sql.fragment import Fragment, bind, identifier
from ninefold.values import Duration, Text, Timestamp

ABOUT, SEEN = identifier("$about"), identifier("$seen")

LOG = f'(SELECT *, row AS {ABOUT}, seen AS {SEEN} FROM "$event")'
"""The log as it is, with the same two columns."""


def source(resource: str, model: Model) -> Fragment:
    """What stands in FROM for the rows of a resource, before its alias."""
    shape = model.get(resource)
    if shape is None or shape.log is None:
        return Fragment(identifier(resource))
    return _events(shape.log, about("e.row", max(len(each.identifier) for each in model.values())))


def _events(log: Log, row: str) -> Fragment:
    kind, payload, events = "e.kind", "e.payload", Fragment('"$event" AS e')
    tests: list[Fragment] = []
    if log.version is not None:
        kind, payload = "coalesce(o.kind, e.kind)", "coalesce(o.payload, e.payload)"
        joined = ' LEFT JOIN "$event in version" AS o ON o.event = e.seq AND o.version = '
        events = events + joined + bind(Constant(log.version, Text()))
        tests.append(Fragment("(o.event IS NULL OR o.kind IS NOT NULL)"))
    if log.lasts is not None:
        since = Call("-", [Variable("now", Timestamp()), Constant(log.lasts, Duration())], Timestamp())
        # A time before the calendar's beginning is none, and everything is after it.
        tests.append("e.time >= coalesce(" + bind(since) + ", '')")
    text = (
        f"(SELECT e.seq AS position, e.id AS id, {kind} AS kind, e.time AS time, e.resource AS resource, {row} AS row,"
        f' {payload} AS payload, e.row AS {ABOUT}, e.seen AS {SEEN}, e.id AS "$revision" FROM ' + events
    )
    for index, test in enumerate(tests):
        text = text + (" AND " if index else " WHERE ") + test
    return text + ")"
