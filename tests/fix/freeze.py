"""Contracts of the first words, kept as they were when these were in force: `tests/fix/old`, which nobody edits.

Made in a checkout of the commit b07e5ee, the last one whose language they are written in:

    git worktree add /tmp/old b07e5ee && cd /tmp/old && python -m tests.fix.freeze DIRECTORY

with this file copied into it. Each contract of `tests/cases` and `examples/` of which anything was served has a
directory: `contract.md` or `contract.yaml`, the requests of its case with what was answered (`http/`), what its
operator gives (`operator.json`), and `database.sql`, the database that its service made, as the text by which SQLite
makes it again: a file of pages would be forty times as large, and no diff could show it.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from tests.contracts import DIRECTORIES, compiled, contract_of, operator_of

from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.store.sqlite import Opened, open_sqlite

MARKS = ("application_id", "user_version")
"""What the header of a file of ours says, and no dump does."""


def freeze(into: Path) -> None:
    for directory in DIRECTORIES:
        contract = contract_of(directory)
        plan = compiled(contract).plan
        if plan is None or not plan.routes:
            continue
        kept = into / directory.name
        kept.mkdir(parents=True)
        shutil.copyfile(contract, kept / f"contract{contract.suffix}")
        (kept / "database.sql").write_text(dumped(plan, Caller(operator_of(directory))), encoding="utf-8", newline="\n")
        for name in ("http", "operator.json"):
            beside = directory / name
            if beside.is_dir():
                shutil.copytree(beside, kept / name)
            elif beside.exists():
                shutil.copyfile(beside, kept / name)


def dumped(plan: ServicePlan, operator: Caller) -> str:
    """The database of a service that has been started once."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "service.db"
        opened = open_sqlite(str(path), plan.schema, stated_rows(plan, operator))
        assert isinstance(opened, Opened), opened
        opened.database.close()
        connection = sqlite3.connect(path)
        try:
            marks = (f"PRAGMA {name}={connection.execute(f'PRAGMA {name}').fetchone()[0]};" for name in MARKS)
            return "\n".join([*marks, *connection.iterdump()]) + "\n"
        finally:
            connection.close()


if __name__ == "__main__":
    freeze(Path(sys.argv[1]))
