"""The event log and what is still to be delivered of it: tables, and the statements that no contract changes.

`$event`: what has happened, in the order of commits.

| column     | value                                                                     |
|------------|---------------------------------------------------------------------------|
| `seq`      | the position; given in the order of commits, without holes, never again   |
| `id`       | a UUID, the same at every delivery                                        |
| `kind`     | as the contract names it                                                  |
| `resource` | whose row it is about                                                     |
| `row`      | the identifier of that row, a JSON array                                  |
| `seen`     | the row as the event found it, a JSON object, where a row rule reads it   |
| `time`     | of the cause                                                              |
| `payload`  | JSON                                                                      |

`$subscription`: what is kept of a subscription beside its row. `who` and `caller` say who subscribed: deliveries show
such a caller nothing that it may not see. `generation` counts the secrets; the one before counts until `overlap`.
`paused`: no delivery before. `disabled`: since when the receiver is gone.

`$delivery`: an event that has not reached a subscription yet. `lane` is the row that it is about. `due` is the time of
the next attempt; null while an event of the same lane is before it. `dead` says why no further attempt is made.

`$broker`: how far in the log all has been sent to a broker.

`$event in version`, where there are versions: an event as another version than the newest has it, where that differs;
`kind` null: the version does not have it. `$subscribed in`: the version of the request that made a subscription.

They are part of how a database of ours is laid out (`ninefold.upgrade.shape`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ninefold.sql.dialect import Dialect
from ninefold.sql.fragment import Fragment, all_of, identifier, join
from ninefold.values import Number, Type

WIDEST = 4
"""Fields of an identifier for which an index can say which events are about a row."""


def about(column: str, width: int = WIDEST) -> str:
    """The identifier of the row that an event is about, as the attribute `subject` of CloudEvents has it. `column`
    holds it as a JSON array; `width`: how many fields it may have. Up to `WIDEST` an index may hold this."""
    if width > WIDEST:
        return f"coalesce((SELECT group_concat(part.value, '/') FROM json_each({column}) AS part), '')"
    fields = [f"json_extract({column}, '$[{number}]')" for number in range(WIDEST)]
    slash = " || '/' || "
    several = "".join(f" WHEN {count} THEN {slash.join(fields[:count])}" for count in range(2, WIDEST + 1))
    one = f"WHEN 0 THEN '' WHEN 1 THEN CAST({fields[0]} AS TEXT)"
    return f"CASE json_array_length({column}) {one}{several} END"


_LAST = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = '$event'), 0)"

CREATE_LOG = (
    'CREATE TABLE IF NOT EXISTS "$event" (\n  seq INTEGER PRIMARY KEY AUTOINCREMENT,\n  id TEXT NOT NULL,\n'
    "  kind TEXT NOT NULL,\n  resource TEXT NOT NULL,\n  row TEXT NOT NULL,\n  seen TEXT,\n  time TEXT NOT NULL,\n"
    "  payload TEXT NOT NULL\n) STRICT",
)

CREATE_READING = (
    'CREATE UNIQUE INDEX IF NOT EXISTS "$event by id" ON "$event" (id)',
    'CREATE INDEX IF NOT EXISTS "$event by time" ON "$event" (time, seq)',
    'CREATE INDEX IF NOT EXISTS "$event by kind" ON "$event" (kind, seq)',
    f'CREATE INDEX IF NOT EXISTS "$event by row" ON "$event" ({about("row")}, resource, seq)',
)
"""By these the log is read as the resource `event`: they are for speed alone."""

CREATE_DELIVERIES = (
    'CREATE TABLE IF NOT EXISTS "$subscription" (\n'
    '  id TEXT NOT NULL PRIMARY KEY REFERENCES "subscription" (id) ON DELETE CASCADE,\n  who TEXT NOT NULL,\n'
    "  caller TEXT NOT NULL,\n  generation INTEGER NOT NULL DEFAULT 0,\n  overlap TEXT,\n  paused TEXT,\n"
    "  disabled TEXT\n) STRICT",
    'CREATE TABLE IF NOT EXISTS "$delivery" (\n'
    '  subscription TEXT NOT NULL REFERENCES "$subscription" (id) ON DELETE CASCADE,\n'
    '  event INTEGER NOT NULL REFERENCES "$event" (seq) ON DELETE CASCADE,\n  lane TEXT NOT NULL,\n'
    "  attempts INTEGER NOT NULL DEFAULT 0,\n  due TEXT,\n  dead TEXT,\n  PRIMARY KEY (subscription, event)\n) STRICT",
    'CREATE INDEX IF NOT EXISTS "$delivery by event" ON "$delivery" (event)',
    'CREATE INDEX IF NOT EXISTS "$delivery by due" ON "$delivery" (subscription, due, event)'
    " WHERE dead IS NULL AND due IS NOT NULL",
    'CREATE INDEX IF NOT EXISTS "$delivery by lane" ON "$delivery" (subscription, lane, event) WHERE dead IS NULL',
)


def create_deliveries_to_rows(refers: str = "") -> tuple[str, ...]:
    """The same where events go to rows of the contract's own. What was left of deliveries to something else, when the
    contract was another, is not sent to these. `refers`: how `$subscription` refers to them, if it can."""
    subscriptions, *others = CREATE_DELIVERIES
    assert _TO_OWN in subscriptions
    return (
        *DROP_DELIVERIES,
        subscriptions.replace(_TO_OWN, refers),
        *(each.replace("ON DELETE CASCADE", "ON UPDATE CASCADE ON DELETE CASCADE", 1) for each in others),
    )


DROP_DELIVERIES = tuple(
    f"DROP TABLE IF EXISTS {identifier(each)}" for each in ("$subscribed in", "$delivery", "$subscription")
)

_TO_OWN = ' REFERENCES "subscription" (id) ON DELETE CASCADE'


Key: TypeAlias = Sequence[tuple[str, Type]]
"""The columns that identify a row, and the types that these are stored as."""


def key_of(key: Key, row: str, dialect: Dialect) -> Fragment:
    """What a row of the contract's own is called in `$subscription`: its identifier as text, or, of several fields or
    none, as a JSON array. `row`: what the columns are of."""
    return called_by(_columns(key, row), [type_ for _, type_ in key], dialect)


def called_by(values: Sequence[Fragment], types: Sequence[Type], dialect: Dialect) -> Fragment:
    """The same, by the values of its key."""
    return dialect.text_of(values[0], types[0]) if len(values) == 1 else dialect.array_of(values, types)


def fields_of(called: Fragment, key: Key, dialect: Dialect) -> list[Fragment]:
    """The values of the columns of a row that is called so."""
    if len(key) == 1:
        return [dialect.of_text(called, key[0][1])]
    return [dialect.item_of(called, number, type_) for number, (_, type_) in enumerate(key)]


def is_called(called: Fragment, key: Key, row: str, dialect: Dialect) -> Fragment:
    """Whether a row is called so. A number has several texts: each database writes its own, and `move` takes them
    along. It is compared as a number."""
    if not has_numbers(key):
        return called + " = " + key_of(key, row, dialect)
    same = zip(_columns(key, row), fields_of(called, key, dialect), strict=True)
    return all_of([column + " = " + value for column, value in same])


def is_not_kept(key: Key, row: str, dialect: Dialect) -> Fragment:
    """Whether `$subscription` has no row of that name yet."""
    known = Fragment("known.id")
    if not has_numbers(key):
        kept = 'NOT EXISTS (SELECT 1 FROM "$subscription" AS known WHERE '
        return kept + is_called(known, key, row, dialect) + ")"
    columns, fields = (join(", ", each) for each in (_columns(key, row), fields_of(known, key, dialect)))
    return "(" + columns + ") NOT IN (SELECT " + fields + ' FROM "$subscription" AS known)'


def has_numbers(key: Key) -> bool:
    return any(isinstance(type_, Number) for _, type_ in key)


def _columns(key: Key, row: str) -> list[Fragment]:
    return [Fragment(f"{row}.{identifier(each)}") for each, _ in key]


CREATE_VERSIONS = (
    'CREATE TABLE IF NOT EXISTS "$event in version" (\n'
    '  event INTEGER NOT NULL REFERENCES "$event" (seq) ON DELETE CASCADE,\n  version TEXT NOT NULL,\n  kind TEXT,\n'
    "  payload TEXT,\n  PRIMARY KEY (event, version)\n) STRICT",
)

CREATE_SUBSCRIBED = (
    'CREATE TABLE IF NOT EXISTS "$subscribed in" (\n'
    '  id TEXT NOT NULL PRIMARY KEY REFERENCES "$subscription" (id) ON UPDATE CASCADE ON DELETE CASCADE,\n'
    "  version TEXT NOT NULL\n) STRICT",
)


def create_broker(name: str) -> tuple[str, ...]:
    """The statements for a broker, whose name is letters, digits and low lines: it is sent what happens from now on."""
    return (
        'CREATE TABLE IF NOT EXISTS "$broker" (\n  name TEXT NOT NULL PRIMARY KEY,\n  position INTEGER NOT NULL\n)'
        " STRICT",
        f"INSERT INTO \"$broker\" (name, position) SELECT '{name}', {_LAST} WHERE TRUE ON CONFLICT DO NOTHING",
    )


# ── Writing ───────────────────────────────────────────────────────────────────────────────────────────────────

WRITE = 'INSERT INTO "$event" (id, kind, resource, row, seen, time, payload) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq'

_WANTED = (
    'FROM "subscription" AS s JOIN "$subscription" AS kept ON kept.id = s.id'
    " WHERE kept.disabled IS NULL AND EXISTS (SELECT 1 FROM json_each(s.kinds) AS wanted WHERE wanted.value = ?4)"
)

FAN_OUT = (
    'INSERT INTO "$delivery" (subscription, event, lane, due) SELECT s.id, ?1, ?2, '
    'CASE WHEN EXISTS (SELECT 1 FROM "$delivery" AS before WHERE before.subscription = s.id AND before.lane = ?2'
    " AND before.dead IS NULL) THEN NULL ELSE ?3 END " + _WANTED
)
"""To every subscription that wants the kind, each behind those of its lane that are not delivered yet. Binds: position,
lane, due, kind, which is called as subscriptions have it in all versions."""

WRITE_IN_VERSION = 'INSERT INTO "$event in version" (event, version, kind, payload) VALUES (?, ?, ?, ?)'


SUBSCRIBE = 'INSERT INTO "$subscription" (id, who, caller) VALUES (CAST(? AS TEXT), ?, ?)'
"""Of a row of the contract's own, too, that events go to. Binds: what it is called (`key_of`); who subscribed, and as
which caller."""

SUBSCRIBE_IN_VERSION = 'INSERT INTO "$subscribed in" (id, version) VALUES (CAST(? AS TEXT), ?)'
"""Keeps in which version it was made. Binds: what it is called, the version."""

SUBSCRIBE_NUMBER, SUBSCRIBE_NUMBER_IN_VERSION = (
    each.replace("?", "CAST(? AS DOUBLE PRECISION)", 1) for each in (SUBSCRIBE, SUBSCRIBE_IN_VERSION)
)
"""The same of a row that a number identifies, which is bound."""


# ── Following ─────────────────────────────────────────────────────────────────────────────────────────────────

LAST = "SELECT " + _LAST
"""The last position that was given."""

POSITIONS = (
    f'SELECT last.seq, coalesce((SELECT seq - 1 FROM "$event" WHERE time >= ? ORDER BY seq LIMIT 1), last.seq)'
    f" FROM ({LAST} AS seq) AS last"
)
"""The last position, and the first from which nothing is missing of what is kept. Bind: the time since which it is."""

# ── Delivering ────────────────────────────────────────────────────────────────────────────────────────────────

WAITING = (
    'SELECT kept.id, (SELECT d.due FROM "$delivery" AS d WHERE d.subscription = kept.id AND d.dead IS NULL'
    ' AND d.due IS NOT NULL ORDER BY d.due LIMIT 1) FROM "$subscription" AS kept'
    " WHERE kept.disabled IS NULL AND (kept.paused IS NULL OR kept.paused <= ?)"
)
"""Each subscription, and when something is to be delivered to it first; null: nothing is. Bind: now."""

DUE = (
    "SELECT d.event, d.attempts, e.id, e.kind, e.row, e.time, e.payload, e.resource"
    ' FROM "$delivery" AS d JOIN "$event" AS e ON e.seq = d.event'
    " WHERE d.subscription = ? AND d.dead IS NULL AND d.due <= ? ORDER BY d.due, d.event LIMIT ?"
)

DUE_VERSIONS = (
    "SELECT d.event, d.attempts, e.id, coalesce(o.kind, e.kind), e.row, e.time, coalesce(o.payload, e.payload),"
    ' e.resource FROM "$delivery" AS d JOIN "$event" AS e ON e.seq = d.event'
    ' LEFT JOIN "$subscribed in" AS v ON v.id = d.subscription'
    ' LEFT JOIN "$event in version" AS o ON o.event = e.seq AND o.version = coalesce(v.version, ?4)'
    " WHERE d.subscription = ?1 AND d.dead IS NULL AND d.due <= ?2 ORDER BY d.due, d.event LIMIT ?3"
)
"""The same where there are versions: each event as it is in that of the subscription."""

RECEIVER = (
    'SELECT s.url, kept.who, kept.caller, kept.generation, kept.overlap FROM "subscription" AS s'
    ' JOIN "$subscription" AS kept ON kept.id = s.id WHERE s.id = ? AND kept.disabled IS NULL'
)

DELIVERED = 'DELETE FROM "$delivery" WHERE subscription = ? AND event = ? AND dead IS NULL'

FAILED = 'UPDATE "$delivery" SET attempts = ?, due = ? WHERE subscription = ? AND event = ? AND dead IS NULL'

DEAD = 'UPDATE "$delivery" SET attempts = ?, dead = ?, due = NULL WHERE subscription = ? AND event = ? AND dead IS NULL'

NEXT_IN_LANE = (
    'UPDATE "$delivery" SET due = ?1 WHERE subscription = ?2 AND due IS NULL AND dead IS NULL AND event ='
    ' (SELECT min(event) FROM "$delivery" WHERE subscription = ?2 AND lane = ?3 AND dead IS NULL)'
)
"""Binds: due, subscription, lane."""

PAUSE = 'UPDATE "$subscription" SET paused = ? WHERE id = ? AND (paused IS NULL OR paused < ?1)'

DISABLE = 'UPDATE "$subscription" SET disabled = ? WHERE id = ? AND disabled IS NULL'

ABANDON = 'UPDATE "$delivery" SET dead = ?, due = NULL WHERE subscription = ? AND dead IS NULL'

# ── Sending to a broker ───────────────────────────────────────────────────────────────────────────────────────

_AFTER = ' FROM "$event" AS e WHERE e.seq > (SELECT position FROM "$broker" WHERE name = ?1) ORDER BY e.seq LIMIT ?2'

UNSENT = "SELECT e.seq, e.id, e.kind, e.resource, e.row, e.time, e.payload" + _AFTER
"""What is to be sent next, in the order of commits. Binds: the broker's name, how many at most."""

UNSENT_VERSIONS = (
    "SELECT e.seq, e.id, CASE WHEN o.event IS NULL THEN e.kind ELSE o.kind END, e.resource, e.row,"
    " e.time, coalesce(o.payload, e.payload)"
    + _AFTER.replace(" WHERE", ' LEFT JOIN "$event in version" AS o ON o.event = e.seq AND o.version = ?3 WHERE', 1)
)
"""The same as a version has it; `kind` null: the version does not have it."""

SENT = 'UPDATE "$broker" SET position = ?1 WHERE name = ?2 AND position < ?1'

# ── Cleaning up ───────────────────────────────────────────────────────────────────────────────────────────────

OLDEST = 'SELECT time FROM "$event" ORDER BY seq LIMIT 1'

CLEAN_DEAD = (
    'DELETE FROM "$delivery" WHERE rowid IN (SELECT d.rowid FROM "$delivery" AS d JOIN "$event" AS e ON e.seq = d.event'
    " WHERE d.dead IS NOT NULL AND e.time < ? LIMIT ?) RETURNING 1"
)

_CLEAN = (
    'DELETE FROM "$event" WHERE seq IN (SELECT e.seq FROM "$event" AS e WHERE e.seq <='
    ' coalesce((SELECT seq - 1 FROM "$event" WHERE time >= ? ORDER BY seq LIMIT 1), 9223372036854775807)'
)

_DELIVERED = ' AND NOT EXISTS (SELECT 1 FROM "$delivery" AS d WHERE d.event = e.seq)'

_SENT = ' AND e.seq <= coalesce((SELECT position FROM "$broker" WHERE name = ?), 0)'

_MOST = " ORDER BY e.seq LIMIT ?) RETURNING 1"

CLEAN, CLEAN_DELIVERED = _CLEAN + _MOST, _CLEAN + _DELIVERED + _MOST
"""Events that no stream goes back to, and of these those that have been delivered. Binds: the time since which they are
kept, how many at most."""

CLEAN_SENT, CLEAN_DELIVERED_AND_SENT = _CLEAN + _SENT + _MOST, _CLEAN + _DELIVERED + _SENT + _MOST
"""The same, but for those that have not been sent to a broker. Binds: the time, the broker's name, how many at most."""

# ── What the operator asks ────────────────────────────────────────────────────────────────────────────────────

LIST = (
    'SELECT e.seq, e.time, e.kind, e.resource, e.row, e.id FROM "$event" AS e WHERE e.seq > ?'
    " ORDER BY e.seq DESC LIMIT ?"
)

LIST_DEAD_OF_ROWS = (
    "SELECT d.event, e.time, e.kind, e.resource, e.row, d.subscription, d.attempts, d.dead"
    ' FROM "$delivery" AS d JOIN "$event" AS e ON e.seq = d.event'
    " WHERE d.dead IS NOT NULL ORDER BY d.event, d.subscription LIMIT ?"
)
"""The same where deliveries go to rows of the contract's own, whose addresses are what the rows say."""

EVENT = 'SELECT id, kind, resource, row, time, payload FROM "$event" WHERE seq = ?'

SUBSCRIBED_VERSIONS = 'SELECT version FROM "$subscribed in" UNION SELECT ?'
"""The versions that receivers were made in, and the one of those that none is known of."""

EVENT_IN_VERSIONS = 'SELECT version, kind, payload FROM "$event in version" WHERE event = ?'

LIST_DEAD = (
    "SELECT d.event, e.time, e.kind, e.resource, e.row, d.subscription, s.url, d.attempts, d.dead"
    ' FROM "$delivery" AS d JOIN "$event" AS e ON e.seq = d.event JOIN "subscription" AS s ON s.id = d.subscription'
    " WHERE d.dead IS NOT NULL ORDER BY d.event, d.subscription LIMIT ?"
)

COUNTS = 'SELECT count(*) FILTER (WHERE dead IS NULL), count(*) FILTER (WHERE dead IS NOT NULL) FROM "$delivery"'
"""Deliveries that are still to be made, and those that are given up."""

ENABLE = 'UPDATE "$subscription" SET disabled = NULL, paused = NULL WHERE id = ? RETURNING 1'

REVIVE = (
    'UPDATE "$delivery" SET dead = NULL, attempts = 0, due = NULL WHERE dead IS NOT NULL'
    " AND (?1 IS NULL OR subscription = ?1)"
    ' AND subscription IN (SELECT id FROM "$subscription" WHERE disabled IS NULL) RETURNING 1'
)
"""What was given up, to all subscriptions or to one."""

DELIVER_AGAIN = (
    "INSERT INTO \"$delivery\" (subscription, event, lane) SELECT s.id, e.seq, e.resource || ' ' || e.row"
    ' FROM "$event" AS e JOIN "subscription" AS s JOIN "$subscription" AS kept ON kept.id = s.id'
    " WHERE e.seq = ?1 AND (?2 IS NULL OR s.id = ?2) AND kept.disabled IS NULL"
    " AND EXISTS (SELECT 1 FROM json_each(s.kinds) AS wanted WHERE wanted.value = e.kind)"
    " ON CONFLICT (subscription, event) DO UPDATE SET dead = NULL, attempts = 0, due = NULL RETURNING 1"
)
"""One event, to all subscriptions that want its kind or to one of them."""

STEP_BACK = (
    'UPDATE "$delivery" AS later SET due = NULL WHERE dead IS NULL AND due IS NOT NULL AND EXISTS (SELECT 1 FROM'
    ' "$delivery" AS first WHERE first.subscription = later.subscription AND first.lane = later.lane'
    " AND first.dead IS NULL AND first.event < later.event)"
)
"""Those that come before others of their lane again are waited for."""

STEP_FORWARD = (
    'UPDATE "$delivery" AS later SET due = ? WHERE dead IS NULL AND due IS NULL AND NOT EXISTS (SELECT 1 FROM'
    ' "$delivery" AS first WHERE first.subscription = later.subscription AND first.lane = later.lane'
    " AND first.dead IS NULL AND first.event < later.event)"
)

ROTATE = 'UPDATE "$subscription" SET generation = generation + 1, overlap = ? WHERE id = ? RETURNING generation'
