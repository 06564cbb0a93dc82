"""Which contracts the processes serve that serve one database in PostgreSQL: each holds a shared lock that is called
after its own, as long as its connection lasts, and all are of one contract, or of two while they go over from the one
to the other.
"""

from __future__ import annotations

from dataclasses import fields
from hashlib import sha256
from itertools import product
from typing import Final

import msgspec

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import record
from ninefold.runtime.store.postgresql_link import Link

SERVED: Final = "hashtext('ninefold serves ' || current_schema())"
_SERVE: Final = f"SELECT pg_advisory_lock_shared({SERVED}, $1)"
_SERVING: Final = (
    "SELECT objid::int FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    f" AND classid = {SERVED}::oid AND granted"
)
_ALONE: Final = f"SELECT pg_try_advisory_xact_lock({SERVED}, $1)"

_LEASED: Final = "SELECT to_regclass('\"$node\"') IS NOT NULL"
_LEASES: Final = 'SELECT serves::int FROM "$node" WHERE until > clock_timestamp()'
"""Of those who have no session (`ninefold.runtime.store.postgresql_leases`)."""

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


async def served(link: Link, serves: int, again: bool = False) -> bool:
    """Hold, as long as the connection lasts, what is served; False: something else is, beside which it may not be. Of
    two that begin at once with different contracts at least one sees the other. `again`: it was served before, and may
    be no more."""
    await link.execute(_SERVE, serves)
    return await may_serve(link, serves, again)


async def may_serve(link: Link, serves: int, again: bool = False) -> bool:
    others = {number for number in await serving(link) if number != serves}
    if not others and not again:
        return True
    may = await noted_to_serve(link)
    return not others if may is None else {serves, *others} <= may


async def serving(link: Link) -> list[int]:
    """What each process serves that is there, by its number. Who begins without a session lets its lock go when its
    lease can be seen, so leases are looked at last."""
    return [int(number) for (number,) in await link.fetch(_SERVING)] + await _leases(link)


async def nodes_of(link: Link, number: int) -> int:
    """How many processes serve it. Who has a lease and writes holds the lock besides."""
    return (await _leases(link)).count(number) or (await serving(link)).count(number)


async def _leases(link: Link) -> list[int]:
    return [int(number) for (number,) in await link.fetch(_LEASES)] if await link.value(_LEASED) else []


async def noted_to_serve(link: Link) -> set[int] | None:
    """None: nothing is noted."""
    if await link.value("SELECT to_regclass($1)", record.TABLE) is None:
        return None
    noted = await link.value(_NOTED)
    return None if noted is None else set(map(int, noted.split()))


async def nobody_serves(link: Link, number: int) -> bool:
    """Whether nobody does, nor begins to before the transaction ends."""
    return bool(await link.value(_ALONE, number)) and number not in await _leases(link)
