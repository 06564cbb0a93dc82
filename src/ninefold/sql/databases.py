"""The dialects that there are, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.sql.dialect import Dialect
from ninefold.sql.postgresql import POSTGRESQL
from ninefold.sql.sqlite import SQLITE

DIALECTS: Final[Mapping[str, Dialect]] = {each.name: each for each in (SQLITE, POSTGRESQL)}


def dialect_of(url: str) -> str:
    """The name of the dialect of the database that a URL names, or a path."""
    return POSTGRESQL.name if url.startswith(("postgresql://", "postgres://")) else SQLITE.name
