"""Each ordinary change of a contract over no rows, three and ten thousand (`changes.yaml`): who makes it without a
decision, what keeps its values, and whether the contract of before is served again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec
import pytest
from tests.slices import LONG

from ninefold.development.offers import values_of
from ninefold.diagnostics.render import render
from ninefold.diagnostics.source import Source
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.audit import Audit
from ninefold.runtime.store import changing, undo, upgrade
from ninefold.runtime.store.record import Known
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.tools.decisions import document
from ninefold.tools.decisions.contract import NO_WAYS, made
from ninefold.tools.decisions.decide import decide
from ninefold.upgrade.changes import Outcome

CONTRACT: Final = """\
purpose: Lends rooms.
resources:
  member:
    primary key: id
    fields:
      id:    {type: integer, on create: serial()}
      email: {type: string, maxLength: 80, unique: true}
      name:  {type: string}
      key:   {type: string, secret: token, on create: token()}
    required: [email]
  room:
    primary key: id
    fields:
      id:     {type: string, maxLength: 40}
      title:  {type: string, maxLength: 40}
      size:   {type: integer}
      memo:   {type: string}
      wing:   {type: string, enum: [east, west]}
      opened: {type: string}
      number: {type: string, maxLength: 40}
      tags:   {type: array, items: {type: string}}
      keeper: {references: member, on delete: set null}
    required: [id, title, number]
  booking:
    primary key: id
    fields:
      id:     {type: string, maxLength: 40}
      room:   {references: room, on delete: cascade}
      by:     {references: member, on delete: restrict}
      status: {state: true}
      since:  {type: string, format: date-time, on create: now}
    required: [id, room]
states:
  booking:
    initial: requested
    states: [requested, confirmed, ended, never]
    transitions:
      confirm: {from: requested, to: confirmed}
      end:     {from: confirmed, to: ended}
      drop:    {from: requested, to: never}
  member: none
  room: none
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  GET /rooms/{id}:    {does: read room, responses: {200: room}}
  GET /bookings/{id}: {does: read booking, responses: {200: booking}}
  GET /members/{id}:  {does: read member, responses: {200: member}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: none
limits: {rates: none, body size: none, timeout: none}
versioning: none
"""
DATA: Final = msgspec.yaml.decode(Path(__file__).with_name("changes.yaml").read_bytes())
CHANGES: Final[dict[str, dict[str, Any]]] = DATA["changes"]
SIZES: Final = [0, 3, *([pytest.param(10_000, marks=pytest.mark.long)] if LONG else [])]

FIRST: Final[dict[int, Path]] = {}
"""A database of the contract as it was, by how many rows are in it."""


@cache
def loaded(name: str = "") -> Loaded:
    """The contract, with a change."""
    text = CONTRACT
    for old, new in CHANGES[name]["edits"] if name else ():
        assert text.count(old) == 1, f"{old} is there {text.count(old)} times"
        text = text.replace(old, new)
    found = compile_document("rooms.yaml", text.encode())
    assert found.plan is not None, render(found.diagnostics, found.source)
    return found


def plan(name: str = "") -> ServicePlan:
    found = loaded(name).plan
    assert found is not None
    return found


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The same for all who take this fixture over: what others have made of them (`tests/postgresql`) is of the same
    rows, whose secrets are by chance."""
    return FIRST


@pytest.fixture
def path(rows: int, databases: dict[int, Path], tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A database of the contract as it was."""
    if rows not in databases:
        first = tmp_path_factory.mktemp("first") / "rooms.db"
        assert opened(first, "")
        connection = apsw.Connection(str(first))
        numbers = f"WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT {rows})"
        for insert in DATA["rows"] if rows else ():
            connection.execute(f"{numbers} {insert}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        databases[rows] = first
    return Path(shutil.copy(databases[rows], tmp_path / "rooms.db"))


def opened(path: Path, name: str) -> bool:
    """Whether a service of the contract with a change would start over it."""
    opening = open_sqlite(str(path), plan(name).schema, lambda _: (), Audit(plan(name).stored, inf))
    if isinstance(opening, Opened):
        opening.database.close()
        return True
    assert opening.details or opening.message
    return False


def answered(name: str, *decisions: str) -> changing.Decide:
    text = "\n".join(["changes:", *(f"  - {each}" for each in decisions)])
    read = document.read(Source("rooms.upgrade.yaml", text if decisions else "changes: []"))
    checked = loaded(name).checked
    assert checked is not None and not read.diagnostics

    def outcome(stored: Schema, known: Known) -> Outcome:
        checks = [rule.name for each in plan(name).stored for rule in each.rules]
        wanted = plan(name).schema
        found, diagnostics = decide(read.value, stored, wanted, made(checked), checks, NO_WAYS, known.is_empty)
        assert not diagnostics, [each.message for each in diagnostics]
        return replace(found, made=values_of(plan(name).stored))

    return outcome


def rehearsed(path: Path, name: str, *decisions: str) -> changing.Rehearsed:
    return upgrade.preview(str(path), plan(name).schema, answered(name, *decisions), Audit(plan(name).stored, inf))


def values(path: Path) -> dict[str, list[str]]:
    """What is in each column, whatever it is called, with how often."""
    connection = apsw.Connection(str(path))
    try:
        return dict(_values(connection))
    finally:
        connection.close()


def _values(connection: apsw.Connection) -> Iterator[tuple[str, list[str]]]:
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    columns = connection.execute(
        "SELECT t.name, c.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c"
        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE '$ninefold%'"
    ).fetchall()
    for table, column in columns:
        found = connection.execute(f'SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL').fetchall()
        number = [float(value) if isinstance(value, int) else value for (value,) in found]
        if column == "$revision":
            number = list(map(of_write, number))
        yield f"{table}.{column}", sorted(map(repr, number))


def of_write(value: Any) -> Any:
    """A revision without what an upgrade puts behind that of a row to which it gives other values (decision 0191)."""
    return value.rstrip("~") if isinstance(value, str) else value


def check_nothing_is_lost(before: dict[str, list[str]], after: dict[str, list[str]], changed: list[str]) -> None:
    """Every value that was in a column is there, or beside it, unless the change says that it is another."""
    for name, was in before.items():
        table, _, column = name.partition(".")
        if {name, table}.isdisjoint(changed):
            hidden = [f"{table}.$aside {column}", f"$aside {table}.{column}"]
            assert was in [after.get(each, []) for each in (name, *hidden)], f"{name} is another"


def goes(when: str, rows: int) -> bool:
    return when == "always" or (when == "empty" and not rows)


@pytest.mark.long
@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("name", CHANGES)
def test_what_needs_no_decision_is_made_without_one(path: Path, rows: int, name: str) -> None:
    change = CHANGES[name]
    digest = sha256(path.read_bytes()).digest()
    preview = rehearsed(path, name)
    assert preview.goes == goes(change.get("upgrade", change["serve"]), rows), preview.changes
    assert sha256(path.read_bytes()).digest() == digest, "a preview changes no byte"
    before = values(path)
    starts = opened(path, name)
    assert starts == goes(change["serve"], rows)
    after = values(path)
    if not starts:
        assert after == before
        assert opened(path, ""), "the contract of before still serves it"
        return
    check_nothing_is_lost(before, after, [])
    assert opened(path, name), "and again"
    assert rows or rehearsed(path, name, *change.get("decisions", ())).goes, "of no rows nothing is left to decide"
    assert opened(path, "") or (change["back"] == "asked" and rows)


@pytest.mark.long
@pytest.mark.parametrize("rows", SIZES[1:])
@pytest.mark.parametrize("name", CHANGES)
def test_what_is_decided_is_done_and_undone(path: Path, rows: int, name: str) -> None:
    change = CHANGES[name]
    decisions = change.get("decisions", ())
    assert rehearsed(path, name, *decisions).goes
    before = values(path)
    done = upgrade.upgrade(
        str(path), plan(name).schema, decide=answered(name, *decisions), judge=Audit(plan(name).stored, inf)
    )
    assert done.goes, done.changes
    after = values(path)
    check_nothing_is_lost(before, after, change.get("changed", []))
    if rows == 3:
        assert dict(done.emptied) == change.get("emptied", {})
        connection = apsw.Connection(str(path))
        for query, expected in change.get("then", {}).items():
            assert [value for row in connection.execute(query) for value in row] == expected
        connection.close()
    assert opened(path, name)
    again = Path(shutil.copy(path, path.with_name("again.db")))
    assert opened(again, "") == (change["back"] is True)
    if done.made:
        undo.undo(str(path))
        assert values(path) == before
        assert opened(path, "")


TREE: Final = CONTRACT[: CONTRACT.index("resources:")] + """\
resources:
  node:
    primary key: id
    fields: {id: {type: string}, code: {type: integer, unique: true}, parent: {references: node}}
    required: [id, code]
  leaf:
    primary key: id
    fields: {id: {type: string}, code: {references: node}}
    required: [id, code]
states: {node: none, leaf: none}
""" + CONTRACT[CONTRACT.index("endpoints:") : CONTRACT.index("  GET /rooms")] + """\
  GET /nodes/{id}: {does: read node, responses: {200: node}}
  GET /leaves/{id}: {does: read leaf, responses: {200: leaf}}
""" + CONTRACT[CONTRACT.index("authentication:") :]  # fmt: skip


CHAIN: Final = TREE.replace(
    "  leaf:\n",
    """\
  root:
    primary key: node
    fields: {node: {references: node}, word: {type: string}}
    required: [node]
  hair:
    primary key: id
    fields: {id: {type: string}, of: {references: root}}
    required: [id, of]
  leaf:
""",
).replace("{node: none, leaf: none}", "{node: none, root: none, hair: none, leaf: none}")


def test_what_is_known_by_a_reference_follows_with_it(tmp_path: Path) -> None:
    """A row that is known by a reference to another one, and who refers to it."""
    path, number = tmp_path / "chain.db", "fields: {id: {type: integer}, code"
    after = CHAIN.replace("fields: {id: {type: string}, code: {type: integer", number + ": {type: integer")
    by_code = CHAIN.replace("  node:\n    primary key: id", "  node:\n    primary key: code").replace(
        "/{id}", "/{code}", 1
    )
    assert number in after
    plans = [compile_document("chain.yaml", each.encode()).plan for each in (CHAIN, by_code, after)]
    first, coded, numbered = (each.schema for each in plans if each is not None)
    opening = open_sqlite(str(path), first)
    assert isinstance(opening, Opened)
    opening.database.close()
    empty = Path(shutil.copy(path, tmp_path / "empty.db"))
    opening = open_sqlite(str(empty), numbered)
    assert isinstance(opening, Opened)
    opening.database.close()
    for file, is_new in ((path, False), (empty, True)):
        connection = apsw.Connection(str(file))
        for table, row in (("node", "1, 30, NULL"), ("root", "1, 'w'"), ("hair", "'x', 1")):
            columns = {"node": "id, code, parent", "root": "node, word", "hair": "id, of"}[table]
            connection.execute(f"""INSERT INTO {table} ({columns}, "$revision") VALUES ({row}, 'r')""")
        kinds = "SELECT typeof(node.id), typeof(root.node), typeof(hair.of) FROM node, root, hair"
        assert connection.execute(kinds).fetchall() == [("integer",) * 3 if is_new else ("text",) * 3]
        connection.close()
    assert upgrade.upgrade(str(path), coded).goes
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT node.id, root.node, hair.of FROM node, root, hair").fetchall() == [("1", 30, 30)]
    connection.close()


def test_references_follow_whatever_they_are_called(tmp_path: Path) -> None:
    """A row that refers to one of its own kind, and one whose reference is called as a field of what it refers to."""
    before, after = TREE, TREE.replace("  node:\n    primary key: id", "  node:\n    primary key: code")
    plans = [compile_document("tree.yaml", each.replace("/nodes/{id}", way).encode()).plan
             for each, way in ((before, "/nodes/{id}"), (after, "/nodes/{code}"))]  # fmt: skip
    assert plans[0] is not None and plans[1] is not None
    path = tmp_path / "tree.db"
    opening = open_sqlite(str(path), plans[0].schema)
    assert isinstance(opening, Opened)
    opening.database.close()
    connection = apsw.Connection(str(path))
    for row in ("'a', 30, NULL", "'b', 20, 'a'", "'c', 10, 'b'"):
        connection.execute(f"""INSERT INTO node (id, code, parent, "$revision") VALUES ({row}, 'r')""")
    connection.execute("""INSERT INTO leaf (id, code, "$revision") VALUES ('x', 'b', 'r'), ('y', 'c', 'r')""")
    assert upgrade.upgrade(str(path), plans[1].schema).goes
    nodes = connection.execute("SELECT id, code, parent FROM node ORDER BY id").fetchall()
    assert nodes == [("a", 30, None), ("b", 20, 30), ("c", 10, 20)]
    assert connection.execute("SELECT id, code FROM leaf ORDER BY id").fetchall() == [("x", 20), ("y", 10)]
    connection.close()
