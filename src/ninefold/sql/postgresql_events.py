"""The statements of `ninefold.sql.events` that PostgreSQL says otherwise, by what they are in SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.sql import events

_LAST: Final = 'coalesce((SELECT last FROM "$number" WHERE "table" = \'$event\'), 0)'
_WANTS: Final = "EXISTS (SELECT 1 FROM json_array_elements_text(s.kinds::json) AS wanted(value) WHERE wanted.value ="
_IN_JSON: Final = "EXISTS (SELECT 1 FROM json_each(s.kinds) AS wanted WHERE wanted.value ="


def _fan_out(text: str) -> str:
    return (
        text.replace("SELECT s.id, ?1, ?2,", "SELECT s.id, CAST(?1 AS bigint), CAST(?2 AS text),")
        .replace("ELSE ?3 END", "ELSE CAST(?3 AS text) END")
        .replace(_IN_JSON, _WANTS)
    )


def _again(text: str) -> str:
    return (
        text.replace('JOIN "subscription" AS s JOIN', 'CROSS JOIN "subscription" AS s JOIN')
        .replace("?2 IS NULL", "CAST(?2 AS text) IS NULL")
        .replace("json_each(s.kinds) AS wanted", "json_array_elements_text(s.kinds::json) AS wanted(value)")
    )


def last_of_log(text: str) -> str:
    """A statement with the position of the last event as PostgreSQL knows it."""
    return text.replace(events.LAST.removeprefix("SELECT "), _LAST)


FORMS: Final[Mapping[str, str]] = {
    events.LAST: last_of_log(events.LAST),
    events.POSITIONS: last_of_log(events.POSITIONS),
    events.FAN_OUT: _fan_out(events.FAN_OUT),
    events.DELIVER_AGAIN: _again(events.DELIVER_AGAIN),
    events.REVIVE: events.REVIVE.replace("?1 IS NULL", "CAST(?1 AS text) IS NULL"),
    events.CLEAN_DEAD: events.CLEAN_DEAD.replace("rowid IN (SELECT d.rowid", "ctid IN (SELECT d.ctid"),
}
