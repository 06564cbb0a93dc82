"""A database by its URL, whichever kind it is of."""

from __future__ import annotations

from typing import Final

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import sqlite
from ninefold.runtime.store.protocol import Begin, Counts, Guest, Judge, Opened, Refused, Store

WITHOUT_ASYNCPG: Final = Refused("PostgreSQL needs the package asyncpg", help=("pip install 'ninefold[postgresql]'",))


def kind_of(url: str) -> str:
    """Which database a URL names, or a path: `sqlite` or `postgresql`."""
    return "postgresql" if url.startswith(("postgresql://", "postgres://")) else "sqlite"


def open_database(
    url: str,
    plan: ServicePlan,
    begin: Begin | None = None,
    judge: Judge | None = None,
    replica: str | None = None,
    counts_elsewhere: bool = False,
    pooled: bool = False,
    waits: bool = True,
) -> Opened | Refused:
    """Open the database of a plan that is made for it: `sqlite:///PATH`, a path, or `postgresql://…`. `judge` looks at
    the rows. `replica`: the URL of a standby that is read from. `counts_elsewhere`: rates do not count in it.
    `pooled`: a pooler stands before a PostgreSQL, and no session is ours. `waits`: for a process of another contract
    that was lost and may come back."""
    if kind_of(url) == "sqlite":
        given = {"replica": replica is not None, "rates": counts_elsewhere, "pooled": pooled}
        if names := [f"--{name}" for name, is_given in given.items() if is_given]:
            return Refused(f"{', '.join(names)}: for PostgreSQL alone; one process serves a SQLite file")
        return sqlite.open_sqlite(url, plan.schema, begin, judge)
    if replica is not None and kind_of(replica) != "postgresql":
        return Refused("--replica names a standby of the database: postgresql://…")
    try:
        from ninefold.runtime.store.postgresql_opening import open_postgresql
    except ModuleNotFoundError:
        return WITHOUT_ASYNCPG
    return open_postgresql(url, plan, begin, judge, replica, counts_elsewhere, pooled, waits)


def open_counts(url: str, database: Store) -> Counts | Refused:
    """Where the processes that serve a database count rates, if not in it: `valkey://…`. To be closed on a loop."""
    try:
        from ninefold.runtime.store.valkey_states import ValkeyStates
    except ModuleNotFoundError:
        return Refused("rates in Valkey need the package valkey", help=("pip install 'ninefold[valkey]'",))
    try:
        return ValkeyStates(url, database.key("rates"))
    except ValueError as error:
        return Refused(f"rates: {error}")


def open_to_read(url: str, plan: ServicePlan) -> Guest | Refused:
    """Open a database beside those who serve it. Nothing is made and nothing is added: what the contract has and the
    database has not is a refusal."""
    return _guest(url, plan, writes=False)


def open_beside(url: str, plan: ServicePlan) -> Guest | Refused:
    """The same, to write in one transaction what those who serve read anew each time."""
    return _guest(url, plan, writes=True)


def _guest(url: str, plan: ServicePlan, writes: bool) -> Guest | Refused:
    # Whoever serves has no need of either.
    if kind_of(url) == "sqlite":
        from ninefold.runtime.store import guests

        return (guests.open_beside if writes else guests.open_to_read)(url, plan.schema)
    try:
        from ninefold.runtime.store.postgresql_guests import open_guest
    except ModuleNotFoundError:
        return WITHOUT_ASYNCPG
    return open_guest(url, plan.schema, writes)
