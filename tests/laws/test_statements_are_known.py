"""Every text that a service runs is known before any request (law 11): it is one of the choices of the pieces of a
statement of its plan, or a constant of the tables that are ninefold's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.http_cases import serving, tell

from ninefold.ablate.requests import Known, read_exchanges
from ninefold.database.sqlite import SQLite
from ninefold.database.writer import Transaction
from ninefold.pipeline import load
from ninefold.plan.statement import Piece, Statement

CASES = Path(__file__).parent.parent / "cases"
SERVED = sorted(path.name for path in CASES.iterdir() if (path / "http").is_dir() and (path / "contract.md").exists())
OWN_TABLES = (
    '"$event"',
    '"$event in version"',
    '"$subscribed in"',
    '"$idempotency"',
    '"$subscription"',
    '"$delivery"',
    '"$ninefold"',
)


def statements(plan: object) -> Iterator[Statement]:
    """Every statement in a plan, wherever it stands."""
    if isinstance(plan, Statement):
        yield plan
    elif isinstance(plan, msgspec.Struct):
        for name in plan.__struct_fields__:
            yield from statements(getattr(plan, name))
    elif isinstance(plan, tuple | list):
        for each in plan:
            yield from statements(each)
    elif isinstance(plan, dict):
        yield from statements(tuple(plan.values()))


def is_a_choice_of(text: str, pieces: Sequence[Piece]) -> bool:
    """Whether a text is made of the pieces, in order, each that has a switch taken or left."""
    if not pieces:
        return text == ""
    first, rest = pieces[0], pieces[1:]
    taken = text.startswith(first.text) and is_a_choice_of(text[len(first.text) :], rest)
    may_be_left = first.when is not None or first.unless is not None
    return taken or (may_be_left and is_a_choice_of(text, rest))


@pytest.mark.serves
@pytest.mark.parametrize("case", SERVED)
def test_every_text_that_runs_was_known(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: set[str] = set()
    select, run = SQLite.select, Transaction.run

    def recorded_select(database: SQLite, text: str, binds: Any) -> Any:
        ran.add(text)
        return select(database, text, binds)

    def recorded_run(transaction: Transaction, text: str, binds: Any) -> Any:
        ran.add(text)
        return run(transaction, text, binds)

    monkeypatch.setattr(SQLite, "select", recorded_select)
    monkeypatch.setattr(Transaction, "run", recorded_run)
    plan = load(str(CASES / case / "contract.md")).plan
    assert plan is not None
    with serving(plan, tmp_path / "service.db", {}) as client:
        for path in sorted((CASES / case / "http").glob("*.http")):
            known: Known = {}
            for exchange in read_exchanges(path.read_text(encoding="utf-8")):
                tell(client, exchange, known)
    known_before = list(statements(plan))
    assert ran or plan.calls()  # no function is given here: what calls one is answered 501
    for text in ran:
        own = any(table in text for table in OWN_TABLES)
        assert own or any(is_a_choice_of(text, each.pieces) for each in known_before), text
