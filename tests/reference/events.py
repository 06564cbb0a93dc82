"""The log (part 6): which events an operation writes, in which order, and what they carry. Its rows are those of the
resource `event`, with the row that each is about, as it was, under a name that no field has."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import timedelta

from tests.reference import shows
from tests.reference.asking import ABOUT, LOG, Asking
from tests.reference.expressions import Reading, as_it_was, at_hand, moment
from tests.reference.operations import transition_of
from tests.reference.rows import Row, Rows

from ninefold.checked.endpoints import Cause, Endpoint


def action(endpoint: Endpoint) -> str:
    """What an event may arise upon: a transition is no update, and `put` makes a row or changes it."""
    transition = transition_of(endpoint)
    if transition is not None:
        return transition.name
    return {"put replaced": "update"}.get(endpoint.verb, endpoint.verb)


class Happened:
    """What has happened to a row. Its events have their places in the log before those of what follows from it, and are
    told once all that has been done (meaning "what events arise upon")."""

    def __init__(self, asking: Asking, verb: str, row: Row, was: Row | None, of: Rows | None = None) -> None:
        """`of`: the rows that the change found; None: those that the request found."""
        self.asking, self.row, self.found = asking, row, of or asking.of.rows
        kinds = asking.checked.events.kinds if LOG in asking.checked.resources else ()
        of_kind = [(each.name, cause) for each in kinds for cause in each.causes]
        self.of = [
            (name, cause) for name, cause in of_kind if (cause.verb, cause.resource) == (verb, row.resource.name)
        ]
        self.number = len(asking.rows.of.get(LOG, []))
        self.names = {"before": as_it_was(was, self.found)}
        self.is_gone = verb == "delete"
        self.told: list[Row] = []

    def tell(self, reading: Reading) -> None:
        """Write the events, as what `reading` reads is now."""
        name = self.row.resource.name
        if self.is_gone:  # a deleted row is as it was, with what is worked out of others
            reading = replace(reading, rows=self.found)
        self.row = reading.rows.as_it_is(self.row)
        inside = reading.also(**self.names, **{name: at_hand(self.row)})
        for name, cause in self.of:
            if cause.when is None or inside.holds(cause.when):
                self.told.append(self._event(name, cause, inside))
        log = self.asking.rows.of.setdefault(LOG, [])
        log[self.number : self.number] = self.told

    def _event(self, name: str, cause: Cause, inside: Reading) -> Row:
        payload = shows.shown(cause.payload, inside)
        key = self.row.key if isinstance(self.row.key, tuple) else (self.row.key,)
        fields = {
            "position": 0,
            "id": "",
            "kind": name,
            "time": self.asking.now,
            "resource": self.row.resource.name,
            "row": "/".join(str(each) for each in key),
            "payload": None if payload is shows.LEFT_OUT else payload,
            ABOUT: copy.deepcopy(self.row),
        }
        return Row(self.asking.checked.resources[LOG], fields)


def numbered(asking: Asking) -> None:
    """The events of a request that is done have their numbers in the order of commits."""
    rows = asking.rows
    for each in rows.of.get(LOG, []):
        if each.fields["position"] == 0:
            rows.serials[LOG] = rows.serials.get(LOG, 0) + 1
            each.fields |= {"position": rows.serials[LOG], "id": f"event-{rows.serials[LOG]}"}


def forgotten(asking: Asking) -> None:
    """What need not be kept any more is not there."""
    kept = asking.checked.events.kept
    if kept is not None and kept.microseconds is not None and LOG in asking.rows.of:
        span, now = timedelta(microseconds=kept.microseconds), moment(asking.now)
        log = asking.rows.of[LOG]
        asking.rows.of[LOG] = [each for each in log if moment(each.fields["time"]) + span > now]
