"""Which contracts the processes serve that serve one database in PostgreSQL: all are of one contract, or of two while
they go over from the one to the other.

Each holds a shared lock that is called after its contract, as long as its connection lasts, or has a lease. Both end
without its doing where PostgreSQL begins anew, is promoted, or cuts a connection, and it comes back by itself. So each
is noted, too, until it ends: who begins with another contract and finds a process that is noted and not there gives it
`RETURN_SECONDS` to come back.
"""

from __future__ import annotations

import secrets
from dataclasses import fields
from hashlib import sha256
from itertools import product
from typing import Final, Literal, TypeAlias

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import record
from ninefold.runtime.store.postgresql_link import Link

RETURN_SECONDS: Final = 20.0
"""In which a process is back: it looks each five seconds, gives up what does not answer after ten, and one server after
another after five (`postgresql_writer.PINGS`, `postgresql_link`)."""

Others: TypeAlias = Literal["there", "away"]
"""Those who serve something else: some are there, or have been lost and may come back."""

LOST: Final = "was lost (killed, or cut off from PostgreSQL) and may come back"
ASK_AGAIN: Final = f"ask again in {RETURN_SECONDS:g} seconds: until then it is waited for"

SETTLING_SECONDS: Final = 3.0
"""How long a process that begins waits for one that serves another contract, and is about to end."""


class HeldElsewhere(Exception):
    """What `others` serve keeps this from being served."""

    def __init__(self, others: Others) -> None:
        self.lost: Final = others == "away"
        super().__init__(f"a process of another contract {LOST if self.lost else 'serves the database'}")

    def patience(self, waits: bool) -> float:
        """Seconds for which it is asked again. `waits`: for who was lost as well."""
        return SETTLING_SECONDS + RETURN_SECONDS * self.lost if waits or not self.lost else 0.0


SERVED: Final = "hashtext('ninefold serves ' || current_schema())"
_SERVE: Final = f"SELECT pg_advisory_lock_shared({SERVED}, $1)"
_SERVING: Final = (
    "SELECT objid::int, pid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    f" AND classid = {SERVED}::oid AND granted"
)
_ALONE: Final = f"SELECT pg_try_advisory_xact_lock({SERVED}, $1)"

_LEASED: Final = "SELECT to_regclass('\"$node\"') IS NOT NULL"
_LEASES: Final = 'SELECT serves::int, node FROM "$node" WHERE until > clock_timestamp()'
"""Of those who have no session (`ninefold.runtime.store.postgresql_leases`)."""

FORGET: Final = 'DELETE FROM "$process" WHERE gone < clock_timestamp()'
_NOTES: Final = "SELECT to_regclass('\"$process\"') IS NOT NULL"
_KNOWN: Final = 'SELECT process, holder FROM "$process" WHERE gone IS NULL'
_MISS: Final = (
    'UPDATE "$process" AS known SET gone = clock_timestamp() + make_interval(secs => $3)'
    " FROM unnest($1::bigint[], $2::bigint[]) AS missed(process, holder)"
    " WHERE known.process = missed.process AND known.holder = missed.holder AND gone IS NULL"
)
_MAY_COME: Final = 'SELECT DISTINCT serves FROM "$process" WHERE gone IS NULL OR gone > clock_timestamp()'

SERVES: Final = "serves"
"""Noted are the numbers of the contracts that nodes may serve: of the one, or of two while nodes go over to another."""

_NOTED: Final = f"SELECT convert_from(value, 'UTF8') FROM {record.TABLE} WHERE name = '{SERVES}'"


@dataclass(frozen=True, slots=True)
class Alike:
    """Options of `serve` that all who serve a database have, or none: whoever reads a `replica` relies on all to note
    who writes, all count `rates` in one place, and all hold what they hold in one way (`pooled`)."""

    replica: bool = False
    rates: bool = False
    pooled: bool = False


EVERY: Final = tuple(Alike(*each) for each in product((False, True), repeat=len(fields(Alike))))

OPTIONS: Final = ", ".join(f"--{name}" for name in ("broker", *(each.name for each in fields(Alike))))
"""In words: what is sent to a broker is in the plan."""


def number_of(plan: ServicePlan, alike: Alike) -> int:
    """What is served, as a number of 31 bits: all that it does follows from its plan, whatever its document is called,
    and from what all have alike."""
    given = [each.name for each in fields(Alike) if getattr(alike, each.name)]
    served = msgspec.json.encode((msgspec.structs.replace(plan, name=""), given), order="deterministic")
    return int.from_bytes(sha256(served).digest()[:4]) >> 1


class Noted:
    """That this process serves, as it is noted for others until it ends."""

    def __init__(self, serves: int) -> None:
        self._process, self._serves = secrets.randbits(63), serves

    def begins(self, holder: str = "pg_backend_pid()") -> str:
        """Of a process that is back, too."""
        return (
            f'INSERT INTO "$process" VALUES ({self._process}, {self._serves}, {holder})'
            " ON CONFLICT (process) DO UPDATE SET holder = excluded.holder, gone = NULL"
        )

    def ends(self) -> str:
        return f'DELETE FROM "$process" WHERE process = {self._process}'


def at_once(statement: str) -> str:
    """In a transaction of its own, which waits for no standby."""
    return f"BEGIN; SET LOCAL synchronous_commit = local; {statement}; COMMIT"


async def served(link: Link, serves: int, again: bool = False) -> Others | None:
    """Hold, as long as the connection lasts, what is served, unless something else is, beside which it may not be. Of
    two that begin at once with different contracts at least one sees the other. `again`: it was served before, and may
    be no more."""
    if not again and (others := await beside(link, serves)) is not None:
        return others  # who comes back does not see that somebody waits
    await link.execute(_SERVE, serves)
    return await beside(link, serves, again)


async def beside(link: Link, serves: int, again: bool = False) -> Others | None:
    """Those beside whom it may not be served; None: there are none."""
    there = set(await serving(link)) - {serves}
    away = set() if again else await may_come(link) - {serves}
    if not there and not away and not again:
        return None
    may = await noted_to_serve(link)
    if (may is None and not there and not away) or (may is not None and {serves, *there, *away} <= may):
        return None
    return "away" if away and not there else "there"


async def serving(link: Link) -> list[int]:
    """What each process serves that is there, by its number."""
    return [number for number, _ in await _there(link)]


async def _there(link: Link) -> list[tuple[int, int]]:
    """Each with its `holder`. Who begins without a session lets its lock go when its lease can be seen, so leases are
    looked at last."""
    return [tuple(each) for each in await link.fetch(_SERVING)] + await _leases(link)


async def may_come(link: Link) -> set[int]:
    """What the processes serve that are noted, by its number: of each that is not there it is noted now until when it
    is waited for."""
    if not await link.value(_NOTES):
        return set()
    # Before it is looked who is there: whoever is noted was there then.
    known = await link.fetch(_KNOWN)
    there = {holder for _, holder in await _there(link)}
    if missed := [(process, holder) for process, holder in known if holder not in there]:
        await link.fetch(_MISS, *map(list, zip(*missed, strict=True)), RETURN_SECONDS)
    return {number for (number,) in await link.fetch(_MAY_COME)}


async def nodes_of(link: Link, number: int) -> int:
    """How many processes serve it. Who has a lease and writes holds the lock besides."""
    leases = [each for each, _ in await _leases(link)]
    return leases.count(number) or (await serving(link)).count(number)


async def _leases(link: Link) -> list[tuple[int, int]]:
    return [tuple(each) for each in await link.fetch(_LEASES)] if await link.value(_LEASED) else []


async def noted_to_serve(link: Link) -> set[int] | None:
    """None: nothing is noted."""
    if await link.value("SELECT to_regclass($1)", record.TABLE) is None:
        return None
    noted = await link.value(_NOTED)
    return None if noted is None else set(map(int, noted.split()))


async def nobody_serves(link: Link, number: int) -> bool:
    """Whether nobody does, nor begins to before the transaction ends, nor may come back."""
    return bool(await link.value(_ALONE, number)) and number not in await may_come(link)
