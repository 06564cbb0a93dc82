"""An upgrade that is killed before any of its statements leaves the old database, or the new one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.upgrade.test_decided import DECISIONS, decided
from tests.upgrade.test_inherited import OLD, WAYS, filled, newer
from tests.upgrade.test_matrix import values
from tests.upgrade.test_shapes import FIRST, GOES, UPGRADED, dump, path, with_schema

from ninefold.pipeline import compile_document
from ninefold.plan.schema import Schema
from ninefold.runtime.store import upgrade
from ninefold.runtime.store.record import Known
from ninefold.tools.decisions.contract import ways_of
from ninefold.tools.decisions.decide import decide
from ninefold.tools.decisions.document import NOTHING_DECIDED
from ninefold.upgrade.changes import Outcome, nothing_decided
from ninefold.upgrade.shape import encode_shape

__all__ = ["path"]

UPGRADES: dict[str, tuple[Schema, Callable[..., Outcome]]] = {
    "resources less": (GOES["resources less"], nothing_decided),
    "followed": (UPGRADED["followed by those who refer to it"], nothing_decided),
    "another type": (DECISIONS["another type"][0], decided(*DECISIONS["another type"][:2])),
    "rows that go": (DECISIONS["rows that go"][0], decided(*DECISIONS["rows that go"][:2])),
    "values that go": (DECISIONS["values that go"][0], decided(*DECISIONS["values that go"][:2])),
}


def killed(path: Path, schema: Schema, answered: Callable[..., Outcome], statement: int) -> bool:
    """Upgrade in a process that is killed before so many statements; whether it was."""
    child = os.fork()
    if child == 0:
        left = [statement]

        def before(cursor: apsw.Cursor, text: str, binds: object) -> bool:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return True

        apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", before))
        status = 1
        try:
            status = 0 if upgrade.upgrade(str(path), schema, decide=answered).made else 1
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    assert os.WIFSIGNALED(ended) or os.WEXITSTATUS(ended) == 0
    return os.WIFSIGNALED(ended)


INHERITED = ("another type and another name", "words of an enum, both ways", "a field more")


@pytest.mark.parametrize("name", INHERITED)
def test_what_part_9_decides_is_done_or_not(tmp_path: Path, name: str) -> None:
    """Also where the stored shape is the same before and after, which then does not tell the old from the new."""
    path, way = tmp_path / "a.db", WAYS[name]
    filled(path, OLD)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    loaded = compile_document("contract.yaml", newer(way).encode())
    assert loaded.plan is not None
    schema, ways = loaded.plan.schema, ways_of(loaded)

    def answered(stored: Schema, known: Known) -> Outcome:
        outcome, wrong = decide(NOTHING_DECIDED, stored, schema, ways=ways.served_with(known.contract))
        assert outcome.inherited and not wrong
        return outcome

    old, whole, found = values(path), path.read_bytes(), list[dict[str, list[str]]]()
    while True:
        for each in path.parent.glob("a.db*"):
            each.unlink()
        path.write_bytes(whole)
        if not killed(path, schema, answered, len(found)):
            break
        found.append(values(path))
    new = values(path)
    assert len(found) > 10 and new != old
    assert all(each in (old, new) for each in found) and found[0] == old


@pytest.mark.parametrize("name", UPGRADES)
def test_it_is_the_old_or_the_new(path: Path, tmp_path: Path, name: str) -> None:
    schema, answered = UPGRADES[name]
    old, whole = dump(path), path.read_bytes()
    copy = tmp_path / "new.db"
    copy.write_bytes(whole)
    assert upgrade.upgrade(str(copy), schema, decide=answered).made
    new = dump(copy, schema)
    statement = 0
    while True:
        for each in path.parent.glob("a.db*"):
            each.unlink()
        path.write_bytes(whole)
        if not killed(path, schema, answered, statement):
            break
        statement += 1
        connection = apsw.Connection(str(path))
        [(stored,)] = connection.execute("SELECT value FROM \"$ninefold\" WHERE name = 'shape'").fetchall()
        connection.close()
        if stored == encode_shape(FIRST):
            assert dump(path) == old
        else:
            assert dump(path, schema) == new
            assert with_schema(path, schema) == ()
    assert statement > 10
    assert dump(path, schema) == new
