"""A look into the database of a service that serves in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw


@contextmanager
def looking_into(path: Path | str) -> Iterator[Any]:
    """A connection of the SQLite that the service has, which commits each statement. To close one of another, such as
    that of `sqlite3`, would end the locks that the service has on the file
    (https://sqlite.org/howtocorrupt.html, 2.2)."""
    with closing(apsw.Connection(str(path))) as connection:
        yield connection
