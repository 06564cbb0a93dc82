"""`old` is the row as it was, whatever has been decided of it before: decisions over rows are done as if at once."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random

import apsw
import pytest
from msgspec.structs import replace
from tests.upgrade.test_decided import decided

from ninefold.plan.schema import Column, Machine, Schema, Table
from ninefold.runtime.store import upgrade
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.values import Integer, Text

FIELDS = ("a", "b", "c", "d")
STATES = ("new", "open", "shut")
THING = Table(
    "thing",
    (
        Column("id", Integer(), True),
        *(Column(name, Integer(), True) for name in FIELDS),
        Column("state", Text(), True),
    ),
    ("id",),
    states=True,
    machine=Machine("state", STATES),
)
SCHEMA = Schema((THING,))
Rows = dict[int, dict[str, int | str]]


def rows() -> Rows:
    """Each of another combination of values and states."""
    every = itertools.product((1, 2), (2, 3), (3, 4), STATES)
    return {
        number: {"a": a, "b": b, "c": c, "d": number % 5, "state": state}
        for number, (a, b, c, state) in enumerate(every, start=1)
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    opened = open_sqlite(str(path), SCHEMA)
    assert isinstance(opened, Opened)
    opened.database.close()
    connection = apsw.Connection(str(path))
    names = ("id", *FIELDS, "state")
    insert = f"INSERT INTO thing ({', '.join(names)}, \"$revision\", \"$entered\") VALUES (?, ?, ?, ?, ?, ?, 'r', 't')"
    connection.executemany(insert, [tuple(({"id": id} | row)[name] for name in names) for id, row in rows().items()])
    connection.close()
    return path


def there(path: Path) -> Rows:
    connection = apsw.Connection(str(path))
    found: Rows = {}
    for id, *values in connection.execute(f"SELECT id, {', '.join(FIELDS)}, state FROM thing"):
        found[int(str(id))] = dict(zip((*FIELDS, "state"), values, strict=True))
    columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('thing')")]
    connection.close()
    assert set(columns) == {"id", *FIELDS, "state", "$revision", "$entered"}, "what was kept meanwhile is gone"
    return found


def expected(changes: list[tuple[str, ...]]) -> Rows:
    """By reading each decision over the rows of before."""
    found: Rows = {}
    for id, old in rows().items():
        new = dict(old)
        for kind, *rest in changes:
            if kind == "set" and (len(rest) == 2 or old[rest[2]] == int(rest[3])):
                new[rest[0]] = int(str(old[rest[1]])) + 10
            elif kind == "state" and old["state"] == rest[0]:
                new["state"] = rest[1]
        if not any(kind == "remove" and old[rest[0]] == int(rest[1]) for kind, *rest in changes):
            found[id] = new
    return found


def written(kind: str, *rest: str) -> str:
    match kind, *rest:
        case "set", field, of:
            return f"{{set: thing.{field}, is: old.{of} + 10}}"
        case "set", field, of, by, value:
            return f'{{set: thing.{field}, is: old.{of} + 10, where: "old.{by} == {value}"}}'
        case "state", old, new:
            return f"{{state: thing.{old}, to: {new}, since: kept}}"
        case _:
            return f'{{remove rows: thing, where: "old.{rest[0]} == {rest[1]}"}}'


def some_change(random: Random) -> tuple[str, ...]:
    match random.randrange(6):
        case 0 | 1:
            return ("set", random.choice(FIELDS), random.choice(FIELDS))
        case 2 | 3:
            by = random.choice(FIELDS)
            return ("set", random.choice(FIELDS), random.choice(FIELDS), by, str(random.randrange(1, 5)))
        case 4:
            return ("state", *random.sample(STATES, 2))
        case _:
            return ("remove", random.choice(FIELDS), str(random.randrange(1, 5)))


@pytest.mark.parametrize("seed", range(30))
def test_decisions_read_rows_as_they_were(path: Path, seed: int) -> None:
    random = Random(seed)
    changes = [some_change(random) for _ in range(random.randrange(2, 7))]
    outcome = decided(SCHEMA, *(written(*each) for each in changes))
    assert upgrade.upgrade(str(path), SCHEMA, decide=outcome).made
    assert there(path) == expected(changes), changes


@pytest.mark.parametrize("names", [*itertools.permutations("abcd")][1:], ids="".join)
def test_fields_change_their_names_among_each_other(path: Path, names: tuple[str, ...]) -> None:
    """In any circle, and in whatever order it is written; by renaming, and by setting."""
    pairs = [(old, new) for old, new in zip("abcd", names, strict=False) if old != new]
    wanted = {id: {**row, **{new: row[old] for old, new in pairs}} for id, row in rows().items()}
    backups = (path.with_name(f"{number}.before") for number in itertools.count())
    for order in (pairs, pairs[::-1]):
        renames = decided(SCHEMA, *(f"{{rename: thing.{old}, to: thing.{new}}}" for old, new in order))
        assert upgrade.upgrade(str(path), SCHEMA, next(backups), decide=renames).made
        assert there(path) == wanted
        back = decided(SCHEMA, *(f"{{set: thing.{old}, is: old.{new}}}" for old, new in order))
        assert upgrade.upgrade(str(path), SCHEMA, next(backups), decide=back).made
        assert there(path) == rows()


def test_a_field_of_another_type_and_name_is_read_as_it_was(path: Path) -> None:
    """What is read was written, renamed, and set aside before."""
    fields = (Column("id", Integer(), True), Column("a", Text(), True), Column("e", Integer(), True))
    schema = Schema((replace(THING, columns=(*fields, *THING.columns[3:])),))
    outcome = decided(
        schema,
        "{rename: thing.b, to: thing.e}",
        "{set: thing.e, is: old.a + old.b}",
        "{set: thing.a, is: string(old.a)}",
        "{set: thing.c, is: old.a * 100 + old.b * 10 + old.c}",
        "{set: thing.d, is: old.c}",
    )
    assert upgrade.upgrade(str(path), schema, decide=outcome).made
    connection = apsw.Connection(str(path))
    found = connection.execute("SELECT id, a, e, c, d FROM thing").fetchall()
    connection.close()
    before = {id: [int(str(row[name])) for name in "abc"] for id, row in rows().items()}
    assert found == [(id, str(a), a + b, a * 100 + b * 10 + c, c) for id, (a, b, c) in before.items()]
