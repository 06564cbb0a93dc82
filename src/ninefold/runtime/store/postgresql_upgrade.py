"""A database in PostgreSQL made one of another contract: in one transaction, while nobody serves it. A preview is the
same transaction, which is then undone."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ninefold.plan.service import ServicePlan
from ninefold.runtime.store.changing import ONCE_MENDED, Decide, NotUpgraded, Rehearsed, ended, upgraded
from ninefold.runtime.store.postgresql_between import NotServed, note_anew
from ninefold.runtime.store.postgresql_link import Link, Transaction
from ninefold.runtime.store.postgresql_opening import (
    Known,
    alone,
    asking,
    count_on,
    examine,
    known,
    prepared,
)
from ninefold.runtime.store.postgresql_serving import SERVES
from ninefold.runtime.store.postgresql_steps import Changing
from ninefold.runtime.store.postgresql_tables import too_long
from ninefold.runtime.store.protocol import Judge
from ninefold.values import LONGEST_SUM

_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


def upgrade(url: str, plan: ServicePlan, decide: Decide, judge: Judge, apply: bool) -> Rehearsed:
    """`plan`: one for PostgreSQL. `apply`: keep it. Raises NotUpgraded, and the database is then as it was."""
    if lacking := tuple(too_long(plan.schema)):
        raise NotUpgraded("the contract cannot be served from PostgreSQL yet", lacking)
    with _begun(url) as (link, loop, name, found):
        ask = asking(link, loop)
        database = Changing(Transaction(link, loop, LONGEST_SUM, guarded=True), ask)
        done, keeps = upgraded(database, name, found.shape, plan.schema, decide, judge)
        if keeps:
            # What was served before, and has lost its connection meanwhile, writes into it no more.
            note_anew(ask, {SERVES: b""})
            prepared(link, loop, plan)
            count_on(ask, plan.schema)
        ask("COMMIT" if keeps and apply else "ROLLBACK")
        return done


def drop(url: str, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """`ninefold.runtime.store.changing.ended`, while nobody serves the database."""
    with _begun(url) as (link, loop, name, found):
        ask = asking(link, loop)
        database = Changing(Transaction(link, loop, LONGEST_SUM, guarded=True), ask)
        gone = ended(database, found.shape, names, name)
        ask("COMMIT")
        return gone


@contextmanager
def _begun(url: str) -> Iterator[tuple[Link, AbstractEventLoop, str, Known]]:
    """In a transaction, which ends with the connection where nobody ends it. Raises NotUpgraded."""
    try:
        with alone(url) as (link, loop, name):
            ask = asking(link, loop)
            examine(ask, name)
            found = known(ask, name)
            if found is None:
                raise NotUpgraded(f"the database {name} is empty", help=("`serve` makes its tables when it starts",))
            ask(_BEGIN)
            yield link, loop, name, found
    except NotServed as error:
        why = error.refused
        then = why.then if why.help or why.then or why.held else (ONCE_MENDED,)
        raise NotUpgraded(why.message, why.details, why.help, then) from None
