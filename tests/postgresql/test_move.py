"""A database goes from SQLite to PostgreSQL, and back: whoever asks next cannot tell."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from tests.contracts import SERVED, compiled, contract_of, operator_of
from tests.events.receiver import receiving
from tests.events.stream import listening
from tests.http_cases import serving, tell
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, hall, nodes, person
from tests.slices import LONG, some
from tests.waiting import until

from ninefold.cli import main
from ninefold.diff.requests import Known, read_exchanges
from ninefold.runtime.store import move_postgresql
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Refused, Stored

pytestmark = pytest.mark.serves


def dumped(path: Path | str) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables of a file, but what notes of it say about its own rows."""
    connection = apsw.Connection(str(path))
    try:
        names = [
            str(name)
            for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
        ]
        return {name: sorted(connection.execute(f'SELECT * FROM "{name}"'), key=repr) for name in names}
    finally:
        connection.close()


def moved(contract: Path, source: str, target: str) -> int:
    return main(["move", str(contract), source, target])


@pytest.mark.long
@pytest.mark.parametrize("directory", some(SERVED, 12), ids=lambda path: path.name)
def test_all_that_a_database_holds_goes_there_and_back(directory: Path, tmp_path: Path) -> None:
    """Of each case, after the most of its requests."""
    contract = contract_of(directory)
    plan, beside = compiled(contract).plan, compiled(contract).plan_for("postgresql")
    assert plan is not None and beside is not None
    first, second, url = tmp_path / "first.db", tmp_path / "second.db", server.database()
    known: Known = {}
    longest = max((directory / "http").glob("*.http"), key=lambda path: path.stat().st_size)
    # A file may build on another one: what it has done until then will do.
    with serving(plan, str(first), operator_of(directory)) as client, suppress(AssertionError):
        for exchange in read_exchanges(longest.read_text(encoding="utf-8")):
            tell(client, exchange, known)
    before = dumped(first)
    assert moved(contract, str(first), url) == 0
    assert dumped(first) == before
    assert moved(contract, url, str(second)) == 0
    after = dumped(second)
    for found in (before, after):
        found["$ninefold"] = [row for row in found["$ninefold"] if row[0] != "room"]
    assert after == before


def test_who_asks_next_cannot_tell(tmp_path: Path) -> None:
    """A credential, a key, a number, a timer, a stream that is resumed and what was not delivered yet go on."""
    plan = compiled(CONTRACT).plan
    assert plan is not None
    file, url = tmp_path / "seats.db", server.database()
    with serving(plan, str(file), {}) as client:
        who, where = person(client), hall(client, 10)
        key = {**who, "Idempotency-Key": "first"}
        made = client.post("/seats", json={"hall": where, "name": "a"}, headers=key).json()
        kept = client.post("/seats", json={"hall": where, "name": "b"}, headers=who).json()
        client.post(f"/seats/{kept['id']}/keep", headers=who)
        subscription = {"url": "http://127.0.0.1:9/", "kinds": ["seat.made"]}
        subscribed = client.post("/webhooks", json=subscription, headers=who)
        assert subscribed.status_code == 201
        with listening(client, who) as told:
            client.post("/seats", json={"hall": where, "name": "c"}, headers=who)
            first = told.take(1)[0]
    log = sorted((int(str(seq)), id, kind) for seq, id, kind, *_ in dumped(file)["$event"])
    after = [id for _, id, _ in log].index(first.data["id"]) + 1
    with receiving() as receiver:
        assert moved(CONTRACT, str(file), url) == 0
        to = "UPDATE subscription SET url = '" + receiver.url + "'"
        server.run(url, to)
        # What is named as the replica is none, and is not read; who writes is noted all the same.
        with nodes(url, 1, "--replica", url) as [node]:
            client = node.client
            assert client.get("/me", headers=who).status_code == 200
            assert client.post("/seats", json={"hall": where, "name": "a"}, headers=key).json() == made
            assert client.post("/seats", json={"hall": where, "name": "d"}, headers=who).json()["id"] == 4
            with listening(client, who, after=first.id) as told:
                assert [each.data["id"] for each in told.take(len(log) - after)] == [id for _, id, _ in log[after:]]
                while (came := told.take(1)[0]).kind != "seat.made":
                    pass  # seats have lapsed meanwhile
                assert came.data["data"] == {"id": 4}
            until(lambda: client.get(f"/seats/{made['id']}", headers=who).json()["status"] == "lapsed")
            assert client.get(f"/seats/{kept['id']}", headers=who).json()["status"] == "kept"
            assert {each.json["data"]["id"] for each in receiver.until(2)} == {3, 4}
            node.end()
    assert moved(CONTRACT, url, str(tmp_path / "back.db")) == 0


@pytest.mark.long
def test_a_move_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """Both ways, at some moments: what is half there is not served, and is whole at last."""
    plan = compiled(CONTRACT).plan
    assert plan is not None
    file = tmp_path / "seats.db"
    with serving(plan, str(file), {}) as client:
        person(client)
        hall(client, 1)
    connection = apsw.Connection(str(file))
    connection.execute(
        "WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < 30000)"
        " INSERT INTO hall (id, most, \"$revision\") SELECT n, n, 'r' FROM n"
    )
    connection.close()
    url, back = server.database(), tmp_path / "back.db"
    for source, target in ((str(file), url), (url, str(back))):
        command = [sys.executable, "-m", "ninefold", "move", str(CONTRACT), source, target]
        for wait in (0.9, 1.1, 1.3, 1.5) if LONG else (1.2,):
            running = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            time.sleep(wait)
            running.send_signal(signal.SIGKILL)
            running.wait()
        for _ in range(2):  # whoever was killed at the end could not say that all had arrived
            assert moved(CONTRACT, source, target) == 0
    assert dumped(back)["hall"] == dumped(file)["hall"]


def test_what_cannot_be_moved_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, beside = compiled(CONTRACT).plan, compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None and beside is not None
    file, url, other = tmp_path / "seats.db", server.database(), server.database()
    with serving(plan, str(file), {}) as client:
        hall(client, 1)
        assert moved(CONTRACT, str(file), url) == 2
        assert "is served by" in capsys.readouterr().err
    assert server.run(url, "SELECT 1 FROM pg_class WHERE relname = 'hall'") == []
    assert moved(CONTRACT, str(file), url) == 0
    with serving(beside, url, {}) as client:
        hall(client, 1)
        assert moved(CONTRACT, url, str(tmp_path / "back.db")) == 2
        assert "is served by" in capsys.readouterr().err
    for source, target in ((str(file), url), (url, str(file))):
        assert moved(CONTRACT, source, target) == 2
        said = capsys.readouterr().err
        assert "there is something in the database" in said and "was written to since" in said
    assert moved(CONTRACT, str(tmp_path / "none.db"), other) == 2
    assert "there is no database" in capsys.readouterr().err
    server.run(other, "CREATE TABLE theirs (a int)")
    assert moved(CONTRACT, str(file), other) == 2
    assert "made by another program" in capsys.readouterr().err
    changed = tmp_path / "changed.md"
    changed.write_text(CONTRACT.read_text(encoding="utf-8").replace("most: {type: integer}", "most: {type: string}"))
    assert moved(changed, str(file), server.database()) in (1, 2)


def test_a_row_that_was_changed_on_the_way_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody writes into the half that is there."""
    plan, beside = compiled(CONTRACT).plan, compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None and beside is not None
    file, url = tmp_path / "seats.db", server.database()
    with serving(plan, str(file), {}) as client:
        hall(client, 1)
        hall(client, 2)
    connection = apsw.Connection(str(file))
    [(key,)] = connection.execute("SELECT value FROM \"$ninefold\" WHERE name = 'key'")
    connection.close()
    assert isinstance(key, bytes)
    with move_postgresql.target(url, beside, key) as target:
        [table] = [each for each in target.tables() if each.name == "hall"]
        row: dict[str, Stored] = {"id": 1, "most": 7, "$revision": "r"}
        target.insert(table, [tuple(row[each] for each in table.columns)])
    assert moved(CONTRACT, str(file), url) == 2
    assert "`hall` is not the same on both sides" in capsys.readouterr().err
    found = open_database(url, beside)
    assert isinstance(found, Refused) and "has not come to its end" in found.message
