"""A database by its URL, whichever kind it is of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import guests, sqlite, undo, upgrade
from ninefold.runtime.store.changing import Before, Decide, NotUpgraded, Over, Rehearsed
from ninefold.runtime.store.protocol import Begin, Command, Counts, Guest, Judge, Opened, Refused, Store

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
) -> Opened | Refused:
    """Open the database of a plan that is made for it: `sqlite:///PATH`, a path, or `postgresql://…`. `judge` looks at
    the rows. `replica`: the URL of a standby that is read from. `counts_elsewhere`: rates do not count in it.
    `pooled`: a pooler stands before a PostgreSQL, and no session is ours."""
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
    return open_postgresql(url, plan, begin, judge, replica, counts_elsewhere, pooled)


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


def has_backups(url: str) -> bool:
    """Whether there is a backup of each upgrade of a database, which can be put back."""
    return kind_of(url) == "sqlite"


def upgrade_database(
    url: str, plan: ServicePlan, decide: Decide, judge: Judge, apply: bool, backup: Path | None
) -> Rehearsed:
    """Upgrade a database to a plan that is made for it; `apply` False: only show what that would do. Raises
    NotUpgraded."""
    if kind_of(url) == "sqlite":
        if apply:
            return upgrade.upgrade(url, plan.schema, backup, decide, judge)
        return upgrade.preview(url, plan.schema, decide, judge)
    from ninefold.runtime.store import postgresql_upgrade

    return postgresql_upgrade.upgrade(url, plan, decide, judge, apply)


def go_over(url: str, plan: ServicePlan, decide: Decide, before: Before) -> Over:
    """Have nodes of another contract serve a database beside those that serve it. Raises NotUpgraded."""
    _of_nodes(url)
    from ninefold.runtime.store import postgresql_expand

    return postgresql_expand.expand(url, plan, decide, before)


def come_to_its_end(url: str, plan: ServicePlan, decide: Decide, judge: Judge, before: Before) -> Over:
    """Have the new contract alone be served. Raises NotUpgraded."""
    _of_nodes(url)
    from ninefold.runtime.store import postgresql_contract

    return postgresql_contract.contract(url, plan, decide, judge, before)


def take_back(url: str) -> Over:
    """Have the contract of before alone be served. Raises NotUpgraded."""
    from ninefold.runtime.store import postgresql_contract

    return postgresql_contract.undo(url)


def _of_nodes(url: str) -> None:
    if kind_of(url) == "sqlite":
        at_once = Command("what is to be done is done at once, while nobody serves it", "upgrade", ("--apply",))
        raise NotUpgraded("one process serves a SQLite file, and none beside it", then=(at_once,))


def drop_from(url: str, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """End what was set aside: each with the number of its values or rows. Raises NotUpgraded."""
    if kind_of(url) == "sqlite":
        return undo.drop(url, names)
    from ninefold.runtime.store import postgresql_upgrade

    return postgresql_upgrade.drop(url, names)


def open_to_read(url: str, plan: ServicePlan) -> Guest | Refused:
    """Open a database beside those who serve it. Nothing is made and nothing is added: what the contract has and the
    database has not is a refusal."""
    return guests.open_to_read(url, plan.schema) if kind_of(url) == "sqlite" else _guest(url, plan, writes=False)


def open_beside(url: str, plan: ServicePlan) -> Guest | Refused:
    """The same, to write in one transaction what those who serve read anew each time."""
    return guests.open_beside(url, plan.schema) if kind_of(url) == "sqlite" else _guest(url, plan, writes=True)


def _guest(url: str, plan: ServicePlan, writes: bool) -> Guest | Refused:
    try:
        from ninefold.runtime.store.postgresql_guests import open_guest
    except ModuleNotFoundError:
        return WITHOUT_ASYNCPG
    return open_guest(url, plan.schema, writes)
