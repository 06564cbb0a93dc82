"""A database by its URL, whichever kind it is of."""

from __future__ import annotations

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import sqlite
from ninefold.runtime.store.protocol import Begin, Judge, Opened, Refused


def kind_of(url: str) -> str:
    """Which database a URL names, or a path: `sqlite` or `postgresql`."""
    return "postgresql" if url.startswith(("postgresql://", "postgres://")) else "sqlite"


def open_database(
    url: str, plan: ServicePlan, begin: Begin | None = None, judge: Judge | None = None
) -> Opened | Refused:
    """Open the database of a plan that is made for it: `sqlite:///PATH`, a path, or `postgresql://…`. `judge` looks at
    the rows of one in SQLite."""
    if kind_of(url) == "sqlite":
        return sqlite.open_sqlite(url, plan.schema, begin, judge)
    try:
        from ninefold.runtime.store.postgresql_opening import open_postgresql
    except ModuleNotFoundError:
        return Refused("PostgreSQL needs the package asyncpg", help=("pip install 'ninefold[postgresql]'",))
    return open_postgresql(url, plan, begin)
