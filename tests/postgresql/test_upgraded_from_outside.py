"""The command as a process, over a database of either kind: killed at random moments, with files that cannot grow, with
another beside it and beside a service. The old database or the new one is there, never neither; what is gone from it
was named; and the contract of before starts, or is refused with a reason."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path
from time import monotonic
from zlib import crc32

import pytest
from tests.postgresql import server
from tests.postgresql.halting import Process
from tests.postgresql.test_upgrade import beside, held
from tests.slices import LONG, WHOLE
from tests.upgrade.test_a_strangers_way import is_served
from tests.upgrade.test_matrix import CHANGES, check_nothing_is_lost, databases, loaded, of_write, path
from tests.waiting import until

from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened

__all__ = ["beside", "databases", "path"]

pytestmark = [pytest.mark.serves, pytest.mark.long]

KILLS = 4 if WHOLE else 1
"""Of each change, unless it is made before."""

ROWS = (0, 3, 10_000)
ALL = [*product(CHANGES, ROWS, ("sqlite", "postgresql"))]


def is_their_number(name: str, rows: int, kind: str) -> bool:
    return rows == ROWS[crc32(f"{name} {kind}".encode()) % len(ROWS)]


BY_CHANCE = [each for each in ALL if WHOLE or is_their_number(*each)]
"""Each change over each kind of database, and over one number of rows: when it is killed is by chance anyway."""

TAKEN = ("is served by", "moves or upgrades", "is being upgraded or moved")
"""How it is said that another process has the database."""

FEW = [*product(("another type", "a state renamed", "a field gone"), (3, 10_000), ("sqlite", "postgresql"))] * LONG


class Upgraded:
    """A database that is to become one of a contract with a change."""

    def __init__(self, folder: Path, database: str, name: str, rows: int) -> None:
        self.folder, self.database, self.name, self.rows = folder, database, name, rows
        self.change = CHANGES[name]
        (folder / "rooms.yaml").write_text(loaded(name).source.text, encoding="utf-8")
        listed = "\n".join(f"  - {each}" for each in self.change.get("decisions", ()))
        if listed and rows:
            (folder / "rooms.upgrade.yaml").write_text(f"changes:\n{listed}\n", encoding="utf-8")
        assert is_served(database, ""), "the contract of before is noted"
        self.before = values(database)

    def begun(self, *more: str, most: int | None = None) -> subprocess.Popen[str]:
        """`most`: bytes that a file may have."""

        def within() -> None:
            if most is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        command = [sys.executable, "-m", "ninefold", "upgrade", "rooms.yaml", "--database", self.database, *more]
        out = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.folder, stdout=out, stderr=out, text=True, preexec_fn=within)

    def said(self, *more: str, most: int | None = None) -> tuple[int, str]:
        """By a fork of this process, unless files may not grow: to begin with Python took more than half of a test."""
        if most is None:
            return Process(self.folder, "upgrade", "rooms.yaml", "--database", self.database, *more).ended()
        return self.said_outside(*more, most=most)

    def said_outside(self, *more: str, most: int | None = None) -> tuple[int, str]:
        with self.begun(*more, most=most) as process:
            out, err = process.communicate()
        assert "Traceback" not in err, err
        return process.returncode, out + err

    def is_new(self) -> bool:
        """Whether it is the new one. It is the old one otherwise, as it was."""
        alone(self.database)
        now = values(self.database)
        status, said = self.said()
        assert status == 0, said
        if "nothing has to be changed" not in said:
            assert now == self.before
            assert is_served(self.database, ""), "the contract of before still serves it"
            return False
        check_nothing_is_lost(self.before, now, self.change.get("changed", []))
        return True

    def is_served_as_before(self) -> bool:
        """By the contract of before; this may change it."""
        alone(self.database)
        return is_served(self.database, "")


def values(database: str) -> dict[str, list[str]]:
    """What is in each column, whatever it is called, with how often."""
    found = dict[str, list[str]]()
    for table, rows in held(database).items():
        for column in {name for row in rows for name in row} if not table.startswith("$ninefold") else ():
            there = [row[column] for row in rows if row[column] is not None]
            there = list(map(of_write, there)) if column == "$revision" else there
            found[f"{table}.{column}"] = sorted(repr(float(each) if isinstance(each, int) else each) for each in there)
    return found


def alone(database: str) -> None:
    """Wait until nobody else has it: of a process that was killed PostgreSQL ends what it was at."""
    if database.startswith("postgresql:"):
        others = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        until(lambda: not server.run(database, others))


@pytest.fixture
def upgraded(path: Path, request: pytest.FixtureRequest, name: str, rows: int, kind: str) -> Upgraded:
    return Upgraded(path.parent, str(path) if kind == "sqlite" else request.getfixturevalue("beside"), name, rows)


@pytest.mark.parametrize(("name", "rows", "kind"), BY_CHANCE * LONG)
def test_killed_it_is_the_old_or_the_new(upgraded: Upgraded) -> None:
    chance = random.Random(f"{upgraded.name} {upgraded.rows} {upgraded.database.partition(':')[0]}")
    begun = monotonic()
    assert upgraded.said_outside()[0] == 0, "it goes with what is decided"
    takes = monotonic() - begun
    for _ in range(KILLS):
        with upgraded.begun("--apply") as process:
            try:
                process.communicate(timeout=takes * chance.uniform(0.4, 1.1))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        if upgraded.is_new():
            break
    status, said = upgraded.said("--apply")
    assert status == 0, said
    assert upgraded.is_new() and is_served(upgraded.database, upgraded.name)
    assert upgraded.is_served_as_before() == (upgraded.change["back"] is True or not upgraded.rows)


@pytest.mark.parametrize(("name", "rows", "kind"), [each for each in FEW if each[2] == "sqlite"])
def test_with_files_that_cannot_grow_it_is_the_old(upgraded: Upgraded) -> None:
    path = Path(upgraded.database)
    size, whole, said = path.stat().st_size, path.read_bytes(), set[bool]()
    for most in (0, size // 2, size, size + 4096, size * 2, size * 8):
        status, words = upgraded.said("--apply", most=most)
        assert status == 0 or (status == 2 and "error: " in words), words
        assert upgraded.is_new() == (status == 0)
        assert status == 0 or not [*path.parent.glob("*.before-*")], "a backup that is none is not left"
        said.add(status == 0)
        for each in path.parent.glob("rooms.db*"):
            each.unlink()
        path.write_bytes(whole)
    assert said == {True, False}


@pytest.mark.parametrize(("name", "rows", "kind"), FEW)
def test_of_two_at_once_one_upgrades(upgraded: Upgraded) -> None:
    with upgraded.begun("--apply") as one, upgraded.begun("--apply") as other:
        ended = [(each.communicate(), each.returncode) for each in (one, other)]
    assert sorted("upgraded." in out for (out, _), _ in ended) == [False, True], ended
    for (out, err), status in ended:
        assert (status == 0 and ("upgraded." in out or "nothing has to be changed" in out)) or (
            status == 2 and any(each in err for each in TAKEN)
        ), (out, err)
    assert upgraded.is_new()


@pytest.mark.parametrize(("name", "rows", "kind"), FEW)
def test_beside_a_service_nothing_is_done(upgraded: Upgraded, kind: str) -> None:
    plan = loaded("").plan_for(kind)
    assert plan is not None
    opening = open_database(upgraded.database, plan)
    assert isinstance(opening, Opened)
    try:
        status, said = upgraded.said("--apply")
        assert status == 2 and "is served by" in said, said
        status, said = upgraded.said()
        assert status == (0 if kind == "sqlite" else 2), said
    finally:
        opening.database.close()
    assert not upgraded.is_new()
