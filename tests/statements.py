"""Every text that a service runs is known before any request (law 11): it is one of the choices of the pieces of a
statement of its plan, or a constant of the tables that are ninefold's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import Piece, statements
from ninefold.runtime.store.sqlite import SQLite
from ninefold.runtime.store.writer import Transaction

OWN_TABLES = (
    '"$event"',
    '"$event in version"',
    '"$subscribed in"',
    '"$idempotency"',
    '"$subscription"',
    '"$delivery"',
    '"$ninefold"',
)


def is_a_choice_of(text: str, pieces: Sequence[Piece]) -> bool:
    """Whether a text is made of the pieces, in order, each that has a switch taken or left."""
    if not pieces:
        return text == ""
    first, rest = pieces[0], pieces[1:]
    taken = text.startswith(first.text) and is_a_choice_of(text[len(first.text) :], rest)
    may_be_left = first.when is not None or first.unless is not None
    return taken or (may_be_left and is_a_choice_of(text, rest))


def unknown(plan: ServicePlan, ran: set[str]) -> list[str]:
    """The texts that ran, and that nobody could know before."""
    known = list(statements(plan))
    return [
        text
        for text in ran
        if not any(table in text for table in OWN_TABLES)
        and not any(is_a_choice_of(text, each.pieces) for each in known)
    ]


@contextmanager
def running() -> Iterator[set[str]]:
    """The texts that this process runs until the block ends."""
    ran: set[str] = set()
    select, run = SQLite.select, Transaction.run

    def recorded_select(database: SQLite, text: str, binds: Any) -> Any:
        ran.add(text)
        return select(database, text, binds)

    def recorded_run(transaction: Transaction, text: str, binds: Any) -> Any:
        ran.add(text)
        return run(transaction, text, binds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLite, "select", recorded_select)
        patch.setattr(Transaction, "run", recorded_run)
        yield ran
