"""Of a database in memory it is known without a look whether it is as it was."""

from __future__ import annotations

import apsw
import pytest
from tests.contracts import plan_of

from ninefold.runtime.store.memory import Memory, State
from ninefold.runtime.store.protocol import Conflicting, Session

NUMBERED = """\
purpose: Cups.
resources:
  cup: {primary key: id, fields: {id: {type: integer, on create: serial()}, name: {type: string}}, unique: [[name]]}
"""

A = "INSERT INTO cup (\"$revision\", name) VALUES (1, 'a')"

DONE = {
    "a row": A.replace("'a'", "'b'"),
    "no row, since one is there": A + " ON CONFLICT DO NOTHING",
    "another row, since one is there": A + " ON CONFLICT (name) DO UPDATE SET name = 'c'",
    "what is there": A + " ON CONFLICT (name) DO UPDATE SET name = 'a'",
    "nothing, since it fails": A,
    "no row of none": "INSERT INTO cup (\"$revision\", name) SELECT 1, 'd' WHERE false",
    "no row less": "DELETE FROM cup WHERE name = 'z'",
    "a row less": "DELETE FROM cup WHERE name = 'a'",
    "a change of no row": "UPDATE cup SET name = 'y' WHERE name = 'z'",
    "a look": "SELECT * FROM cup",
}


def told(state: State) -> list[str]:
    """All that it holds, and where its rows are numbered on from."""
    database = apsw.Connection(":memory:")
    database.deserialize("main", state)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return sorted(f"{name} {row}" for name in tables for row in database.execute(f'SELECT * FROM "{name}"'))


@pytest.mark.parametrize("what", DONE)
def test_where_nothing_says_that_it_changed_it_is_as_it_was(what: str) -> None:
    plan = plan_of(NUMBERED, "cups.yaml")
    memory = Memory(plan.schema)

    def do(text: str) -> None:
        def work(session: Session) -> None:
            session.run(text, [])

        memory.transact(work)

    do(A)
    before, changes = told(memory.state()), memory.changes
    if what == "nothing, since it fails":
        with pytest.raises(Conflicting):
            do(DONE[what])
    else:
        do(DONE[what])
    assert told(memory.state()) == before or memory.changes != changes
