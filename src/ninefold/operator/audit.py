"""Rows that are not as the contract says: it was changed after they were written. They are counted as a service begins,
and served as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from time import monotonic
from typing import Any

import jsonschema_rs

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.schema import Stored as StoredRows
from ninefold.runtime.messages.schemas import refuse_to_fetch
from ninefold.runtime.store.protocol import Row, Stored
from ninefold.values import LEAST_INTEGER, sqlite_reader

SECONDS = 2.0
"""How long counting may take in all."""

NAMED = 3
"""Rows of which the primary keys are told, of each field."""

_BATCH = 500

Select = Callable[[str, Sequence[Stored]], Sequence[Row]]


@dataclass
class Misfits:
    """The rows that do not fit one field: how many, and the primary keys of the first."""

    name: str
    count: int = 0
    rows: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Counted:
    """`fields`: those with rows that do not fit. `unfinished`: the resources of which not all rows were looked at in so
    many `seconds`, each with how many were."""

    fields: tuple[Misfits, ...] = ()
    unfinished: tuple[tuple[str, int], ...] = ()
    seconds: float = SECONDS

    def words(self) -> Iterator[str]:
        """A line for each field, and one for what was not looked at. No value of a row is in them."""
        for each in self.fields:
            fit = "1 row does not fit" if each.count == 1 else f"{each.count:,} rows do not fit"
            more = ", …" if each.count > len(each.rows) > 0 else ""
            named = f": {', '.join(each.rows)}{more}" if each.rows else ""
            yield f"{fit} `{each.name}` any more{named}"
        if self.unfinished:
            rows = " and ".join(f"{count:,} rows of `{name}`" for name, count in self.unfinished)
            yield f"counting was cut after {self.seconds:g} seconds: it has looked at {rows}, and there are more"


def counted(stored: Sequence[StoredRows], select: Select, seconds: float = SECONDS) -> Counted:
    """Look at all rows, as far as the time suffices: some of each resource in turn, so that a large one hides no
    other."""
    end = monotonic() + seconds
    waiting = [_Counting(each) for each in stored]
    begun = tuple(waiting)
    while waiting and monotonic() < end:
        waiting = [each for each in waiting if each.goes_on(select, end)]
    return Counted(
        tuple(misfits for each in begun for misfits in each.misfits if misfits.count),
        tuple((each.resource, each.seen) for each in waiting),
        seconds,
    )


class _Counting:
    """The rows of one resource, a batch at a time."""

    def __init__(self, stored: StoredRows) -> None:
        self.resource = stored.resource
        self.seen = 0
        self.misfits = [Misfits(f"{stored.resource}.{held.column.name}") for held in stored.fields]
        self._stored = stored
        self._after = LEAST_INTEGER
        self._fields = [
            (
                1 + stored.key + number,
                sqlite_reader(held.column.type),
                jsonschema_rs.Draft202012Validator(held.schema, validate_formats=True, retriever=refuse_to_fetch),
                misfits,
            )
            for number, (held, misfits) in enumerate(zip(stored.fields, self.misfits, strict=True))
        ]

    def goes_on(self, select: Select, end: float) -> bool:
        """Whether there may be more rows."""
        rows = select(self._stored.select, (self._after, _BATCH))
        for row in rows:
            if monotonic() > end:
                return True
            self._look(row)
        return len(rows) == _BATCH

    def _look(self, row: Row) -> None:
        self._after = int(row[0] or 0)
        self.seen += 1
        for at, read, validator, misfits in self._fields:
            stored: Any = row[at]
            if stored is None or validator.is_valid(stored if read is None else read(stored)):
                continue
            misfits.count += 1
            if self._stored.shown and len(misfits.rows) < NAMED:
                misfits.rows.append("/".join(map(str, row[1 : 1 + self._stored.key])) or "its one row")
