"""`ninefold move FILE FROM TO`"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Annotated, Literal, TypeAlias

from msgspec import structs

from ninefold.cli.commands import AcceptProposals, File, Parameter
from ninefold.cli.document import planned
from ninefold.cli.leading_on import leads_on
from ninefold.cli.terminal import Unusable, remark, say, say_json
from ninefold.diagnostics.render import visible
from ninefold.pipeline import Loaded
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.store import move_sqlite
from ninefold.runtime.store.move import Moved, NotMoved, Source, Target
from ninefold.runtime.store.move import move as moved
from ninefold.runtime.store.opening import kind_of

From: TypeAlias = Annotated[str, Parameter(help="The database that is moved: a file, or postgresql://…")]
To: TypeAlias = Annotated[str, Parameter(help="Where it is moved to: a file that is not there, or an empty database.")]


def move(
    file: File,
    source: From,
    target: To,
    /,
    *,
    format: Literal["text", "json"] = "text",
    accept_proposals: AcceptProposals = False,
) -> int:
    """Move a database from SQLite to PostgreSQL, or back.

    Everything goes along that the database holds: rows, credentials, idempotency keys, the log of events and what is
    still to be delivered of it, the numbers that rows were given, and its secret, so that cursors and resumed streams
    go on. Nobody may serve either side meanwhile. What was cut short goes on where it was when it is asked for again.
    At the end both sides are read and compared; the old one is left as it was.

    Exit status: 0 if all has arrived, 1 if the contract has errors, 2 if one of the two cannot be used.

        ninefold move orders.md orders.db postgresql://ninefold@db.example/orders
        ninefold move orders.md postgresql://ninefold@db.example/orders orders.db

    Parameters
    ----------
    format
        `json` gives one object: of each table how many rows it has, and their digest.
    """
    loaded, plan = planned(file, accept_proposals)
    try:
        found = _moved(loaded, plan, source, target)
    except NotMoved as error:
        then = leads_on(error.then, file, source)
        raise Unusable(str(error), *then, *error.help, details=error.details) from None
    if format == "json":
        say_json([{"table": each.table, "rows": each.rows, "sha256": each.digest} for each in found])
        return 0
    wide = max((len(each.table) for each in found), default=0)
    for each in found:
        say(f"{visible(each.table):<{wide}}  {each.rows:>12,}  {each.digest[:16]}")
    say(f"{sum(each.rows for each in found):,} rows are the same on both sides; the old one is as it was")
    return 0


def _moved(loaded: Loaded, plan: ServicePlan, source: str, target: str) -> tuple[Moved, ...]:
    with ExitStack() as stack:
        old: Source = _source(stack, loaded, plan, source)
        new: Target = _target(stack, loaded, old.schema, target, old.notes().key)
        return moved(old, new, _progress)


def _source(stack: ExitStack, loaded: Loaded, plan: ServicePlan, url: str) -> Source:
    if kind_of(url) == "sqlite":
        return stack.enter_context(move_sqlite.source(url, plan.schema))
    from ninefold.runtime.store import move_postgresql

    return stack.enter_context(move_postgresql.source(url, _of_postgresql(loaded)))


def _target(stack: ExitStack, loaded: Loaded, schema: Schema, url: str, key: bytes) -> Target:
    if kind_of(url) == "sqlite":
        return stack.enter_context(move_sqlite.target(url, schema, key))
    from ninefold.runtime.store import move_postgresql

    plan = structs.replace(_of_postgresql(loaded), schema=schema)
    return stack.enter_context(move_postgresql.target(url, plan, key))


def _of_postgresql(loaded: Loaded) -> ServicePlan:
    plan = loaded.plan_for("postgresql")
    assert plan is not None
    return plan


def _progress(table: str, arrived: int, count: int) -> None:
    """One line a table, which is written anew while a person looks."""
    share = 100 * arrived // count if count else 100
    line = f"{visible(table)}: {arrived:,} of {count:,} ({share} %)"
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}" + ("\n" if arrived >= count else ""))
        sys.stderr.flush()
    elif arrived >= count:
        remark(line)
