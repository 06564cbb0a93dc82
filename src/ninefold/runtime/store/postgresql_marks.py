"""The mark that each transaction of a writer leaves in PostgreSQL: it says whether that was committed, where the
connection was lost in the middle of it (decision 0099)."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex
from time import time
from typing import Final

from ninefold.runtime.store import postgresql_series as series
from ninefold.runtime.store import record
from ninefold.runtime.store.postgresql_leases import Lease
from ninefold.runtime.store.postgresql_link import Link
from ninefold.runtime.store.postgresql_servers import TIMELINE, Servers
from ninefold.runtime.store.protocol import Unavailable

WRITE: Final = f"SELECT {series.WRITE}"

_MAY: Final = "WITH may AS MATERIALIZED ({})"
_MARKED: Final = f" INSERT INTO {record.TABLE} SELECT $1::text, $2::bytea FROM may {record.ANEW} RETURNING "
_WROTE: Final = (
    ", wrote AS (INSERT INTO \"$wrote\" SELECT place, $1 || ' ' || convert_from($2, 'UTF8')"
    " FROM may, unnest($3::bigint[]) AS place ON CONFLICT (place) DO UPDATE SET mark = excluded.mark)"
)
_MARK: Final = f"UPDATE {record.TABLE} SET value = value WHERE name = $1 RETURNING value"
"""It is written anew: a COMMIT after it waits for the standbys that the one in question may have left waiting."""

_MARKS: Final = "committed by "
OLD_MARKS: Final = (
    f"DELETE FROM {record.TABLE} WHERE name LIKE '{_MARKS}%'"
    " AND CAST(split_part(convert_from(value, 'UTF8'), ' ', 2) AS float8)"
    " < extract(epoch FROM now() - interval '1 day')"
)
"""Of those who have written nothing for so long nobody is in the middle of a COMMIT."""


class Marks:
    """Those of one writer, of which only the last is there. `to_leave`: that of the transaction that has begun, where
    its first call leaves it."""

    def __init__(self, servers: Servers, lease: Lease | None) -> None:
        """`lease`: what is held without a session."""
        self.to_leave: series.Mark = series.NO_MARK
        self._servers, self._lease = servers, lease
        self._name = _MARKS + token_hex(8)
        self._transactions = 0
        self._mark = b""

    def begin(self, link: Link, works: series.Alike, places: Sequence[int]) -> bool:
        """Begin a transaction; whether its first call leaves its mark. `works`: those that are done first. `places`: of
        who writes (`ninefold.sql.nodes`)."""
        self._transactions += 1
        self._mark = f"{self._transactions} {time()}".encode()
        by_call = not places and series.has_call(link, works)
        self.to_leave = (self._name, self._mark) if by_call else series.NO_MARK
        return by_call

    async def leave(self, link: Link, places: Sequence[int]) -> None:
        """Leave it, and write alone. Raises Unavailable where there is no lease."""
        may = _MAY.format(WRITE if self._lease is None else self._lease.may())
        text = may + _WROTE * bool(places) + _MARKED + ("1" if self._lease is None else TIMELINE)
        left = await link.records(text, self._name, self._mark, *([places] if places else []))
        if self._lease is not None:
            if not left:
                raise Unavailable(self._lease.failing or "it is not known yet whether this process still serves")
            # Behind a pooler the server may be another one each time.
            self._servers.seen(link, int(left[0][0]))

    async def is_left(self, link: Link) -> bool:
        """Whether the last transaction has left it. Another one may write, so that one has ended."""
        return bool(await link.value(_MARK, self._name) == self._mark)
