"""The database that a command is about."""

from __future__ import annotations

from pathlib import Path

from ninefold.cli.terminal import Unusable
from ninefold.plan.service import ServicePlan


def database_of(plan: ServicePlan, file: str, named: str | None) -> str:
    """The URL or path that is named, else a file in the working directory that is called after the document.
    Raises Unusable for a document without a name."""
    if named is not None:
        return named
    if file == "-":
        raise Unusable("a contract from standard input has no name for its database", "--database names the file")
    return f"{Path(plan.name).name}.db"
