"""An upgrade that halts at each of its statements, over a database of either kind, while something happens: it is
killed, PostgreSQL is, there is no room any more, somebody else upgrades, or begins to serve. The old database or the
new one is there, never neither, and what is said is so.

One change is killed at each of its statements, over both. The others have most of their statements in common with it,
and what else may happen at a statement leaves what a kill there leaves: the long run takes a sample of these."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path

import pytest
from asyncpg import PostgresError
from tests.postgresql import server
from tests.postgresql.clusters import Cluster, clusters
from tests.postgresql.halting import Process
from tests.postgresql.test_upgrade import filled
from tests.postgresql.test_upgraded_from_outside import TAKEN, Upgraded, alone
from tests.slices import LONG, PARTS, piece, seldom
from tests.upgrade.test_a_strangers_way import is_served
from tests.upgrade.test_matrix import databases, path
from tests.waiting import until

__all__ = ["databases", "path"]

pytestmark = [pytest.mark.serves, pytest.mark.long]

ROWS = 3
NAMES = ["another type", *(["another primary key", "a field gone"] if LONG else [])]


class Halting(Upgraded):
    """`own`: the server of the database, where it is PostgreSQL."""

    def __init__(self, folder: Path, database: str, name: str, own: Cluster | None) -> None:
        self.own = own
        super().__init__(folder, database, name, ROWS)
        if own is None:
            shutil.copy(database, folder / "old.db")
        else:
            alone(database)
            server.run(own.url, "DROP DATABASE IF EXISTS old", "CREATE DATABASE old TEMPLATE rooms")

    def again(self) -> None:
        """The old one."""
        if self.own is None:
            for each in self.folder.glob("rooms.db*"):
                each.unlink()
            shutil.copy(self.folder / "old.db", self.database)
        else:
            alone(self.database)
            server.run(self.own.url, "DROP DATABASE rooms", "CREATE DATABASE rooms TEMPLATE old")

    def process(self, *more: str, at: int | None = None) -> Process:
        return Process(self.folder, "upgrade", "rooms.yaml", "--database", self.database, *more, at=at)

    def halted(self, part: int) -> Iterator[Process]:
        """An upgrade of the old one that halts, at each statement of a piece, or at a sample and the last. Whoever
        takes it ends it."""
        done = self.process("--apply")
        assert done.ended()[0] == 0 and self.is_new()
        self.again()
        for at in sorted({*piece(range(done.statements), part, 80), done.statements - 1}):
            process = self.process("--apply", at=at)
            assert process.halts, f"{at} of {done.statements}"
            yield process
            if self.is_new():
                self.again()

    def judge(self, process: Process, by_another: bool = False) -> None:
        """What it says, once it ends, is so; where it is not done, nobody may know whether COMMIT was. `by_another`: it
        may find it done."""
        status, said = process.ended()
        if self.own is not None:
            until(lambda: answers(self.own))
        if status == 0:
            assert "upgraded." in said or (by_another and "nothing has to be changed" in said), said
            assert self.is_new(), said
        else:
            assert status == 2 and "error: " in said and "to see what is left to be done" in said, said


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with clusters(1) as [found]:
        server.make(found.where)
        found.begin()
        yield found


@pytest.fixture
def halting(path: Path, request: pytest.FixtureRequest, name: str, kind: str) -> Halting:
    if kind == "sqlite":
        return Halting(path.parent, str(path), name, None)
    own = request.getfixturevalue("cluster")
    server.run(own.url, "DROP DATABASE IF EXISTS rooms WITH (FORCE)", "CREATE DATABASE rooms")
    url = own.url.replace("/postgres?", "/rooms?")
    filled(url, path)
    return Halting(path.parent, url, name, own)


def answers(cluster: Cluster | None) -> bool:
    try:
        return cluster is None or bool(server.run(cluster.url, "SELECT 1"))
    except (OSError, PostgresError):
        return False


def with_at_most(size: int, pid: int) -> None:
    """A process can make files of so many bytes, and no larger; whoever it belongs to may say so."""
    own = Path(f"/proc/{pid}").stat()
    child = os.fork()
    if not child:
        try:
            if own.st_uid != os.geteuid():
                os.setgroups([])
                os.setgid(own.st_gid)
                os.setuid(own.st_uid)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


of_rows = pytest.mark.parametrize("rows", [ROWS])
EACH = [*product(NAMES, ("sqlite", "postgresql"), PARTS)]
"""A change, a kind of database, and a piece of the statements."""

OF_THE_FIRST = [each for each in EACH if each[0] == NAMES[0]]
OF_OTHERS = [each for each in EACH if each[0] != NAMES[0]]


@of_rows
@pytest.mark.parametrize(("name", "kind", "part"), [*OF_THE_FIRST, *seldom(OF_OTHERS, 5, 1)])
def test_killed_it_is_the_old_or_the_new(halting: Halting, part: int) -> None:
    for process in halting.halted(part):
        process.kill()


@of_rows
@pytest.mark.parametrize(
    ("name", "kind", "part"), seldom([each for each in EACH * LONG if each[1] == "postgresql"], 11, 1)
)
def test_where_postgresql_dies_it_is_the_old_or_the_new(halting: Halting, part: int, cluster: Cluster) -> None:
    for process in halting.halted(part):
        cluster.kill()
        status, said = process.ended()
        cluster.begin(**cluster.settings)
        assert status == 2 and "error: " in said and "to see what is left to be done" in said, said


@of_rows
@pytest.mark.parametrize(("name", "kind", "part"), seldom(EACH * LONG, 11, 1))
def test_without_room_it_is_the_old_or_the_new(halting: Halting, part: int, kind: str) -> None:
    """Of PostgreSQL the one process that works for it; where that cannot write the log, all end, and it recovers."""
    sizes = cycle((0, 8_192, 24_576, 100_000))
    for process in halting.halted(part):
        if halting.own is None:
            with_at_most(next(sizes), process.pid)
        else:
            asked = f"SELECT pid FROM pg_stat_activity WHERE application_name = 'ninefold {process.pid}'"
            [(pid,)] = server.run(halting.own.url, asked)
            with_at_most(next(sizes), pid)
        halting.judge(process)


@of_rows
@pytest.mark.parametrize(("name", "kind", "part"), seldom(EACH * LONG, 11, 1))
def test_another_that_begins_meanwhile_does_not_upgrade(halting: Halting, part: int) -> None:
    for process in halting.halted(part):
        status, said = halting.said("--apply")
        if status == 0:
            # Its last statements are asked when all is done.
            assert "nothing has to be changed" in said or "upgraded." in said, said
        else:
            assert status == 2 and any(each in said for each in TAKEN), said
        # Whoever comes to PostgreSQL waits for seconds. What the other has done the contract of before may undo.
        is_undone = status == 0 and halting.change["back"] is True
        assert (halting.own is not None and not LONG) or is_undone or not is_served(halting.database, "")
        halting.judge(process, by_another=status == 0)
        assert halting.is_new()
