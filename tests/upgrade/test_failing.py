"""An upgrade, or its undoing, that cannot end, or is not alone: the old database or the new one is there, never
neither, and what stood in the way is said."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
from tests.upgrade.test_decided import DECISIONS, decided
from tests.upgrade.test_shapes import FIRST, GOES, dump, path, with_schema

from ninefold.runtime.store import undo, upgrade
from ninefold.runtime.store.changing import NotUpgraded
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.runtime.store.upgrade import folder_beside
from ninefold.runtime.store.whole import alone

__all__ = ["path"]

SCHEMA, CHANGE, _ = DECISIONS["another type"]
ANSWERED = decided(SCHEMA, CHANGE)


def in_a_child(work: Callable[[], object]) -> str | int:
    """What was said by a child that was refused; `done`; or the signal that ended it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            work()
            said = "done"
        except NotUpgraded as error:
            said = f"refused: {error}"
        except BaseException as error:
            said = f"failed: {error!r}"
        finally:
            os.write(writing, said.encode()[:4000])
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        said = stream.read()
    _, ended = os.waitpid(child, 0)
    return os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else said


def up(path: Path) -> Callable[[], object]:
    return lambda: upgrade.upgrade(str(path), SCHEMA, decide=ANSWERED)


def is_old_or_new(path: Path, old: dict[str, list[Any]]) -> str:
    """Which it is; a service starts over it."""
    opening = open_sqlite(str(path), FIRST)
    if isinstance(opening, Opened):
        opening.database.close()
        assert dump(path) == old
        return "old"
    assert with_schema(path, SCHEMA) == ()
    return "new"


def test_a_full_disk_leaves_the_old(path: Path) -> None:
    """Files may become so large and no larger."""
    old, whole = dump(path), path.read_bytes()

    def with_at_most(size: int) -> Callable[[], object]:
        def work() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            up(path)()

        return work

    said = set()
    for size in (0, 4096, len(whole) // 2, len(whole), len(whole) + 4096, len(whole) * 2, len(whole) * 8):
        for each in path.parent.glob(f"*{path.name}*"):
            each.unlink()
        path.write_bytes(whole)
        outcome = in_a_child(with_at_most(size))
        assert isinstance(outcome, str) and outcome.startswith(("done", "refused: ")), outcome
        assert is_old_or_new(path, old) == ("new" if outcome == "done" else "old")
        if outcome != "done":
            assert not list(path.parent.glob("*.before-*")), "a backup that is none is not left"
        said.add(outcome.split(":")[0])
    assert said == {"done", "refused"}


def test_a_backup_that_is_cut_short_is_not_left(path: Path) -> None:
    """One that is larger than what SQLite holds back before it writes."""
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE large AS SELECT zeroblob(20_000_000)")
    connection.close()
    size = path.stat().st_size

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))
        up(path)()

    before = {each.name for each in path.parent.iterdir()}
    outcome = in_a_child(work)
    assert isinstance(outcome, str) and outcome.startswith("refused: "), outcome
    assert {each.name for each in path.parent.iterdir()} - before <= {f"{path.name}.ninefold-lock"}


def test_a_folder_that_cannot_be_written_is_said(path: Path) -> None:
    old = dump(path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        there = Path(shutil.copy(path, folder / "a.db"))
        there.chmod(0o666)
        folder.chmod(0o555)

        def somebody(work: Callable[[], object]) -> Callable[[], object]:
            def as_somebody() -> None:
                if os.geteuid() == 0:
                    os.setuid(65534)
                work()

            return as_somebody

        for work in (lambda: upgrade.preview(str(there), SCHEMA, ANSWERED), up(there)):
            outcome = in_a_child(somebody(work))
            assert isinstance(outcome, str) and outcome.startswith("refused: ") and "a.db" in outcome
        folder.chmod(0o755)
        assert [each.name for each in folder.iterdir()] == ["a.db"]
        assert dump(there) == old


def test_of_two_at_once_one_upgrades(path: Path) -> None:
    """The other finds that it is not alone, or that nothing is left to be done."""
    reading, writing = os.pipe()
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)  # both begin when the parent has gone
            try:
                made = upgrade.upgrade(str(path), SCHEMA, decide=ANSWERED).made
                os._exit(0 if made else 1)
            except NotUpgraded:
                os._exit(2)
            except BaseException:
                os._exit(3)
        children.append(child)
    os.close(reading)
    os.close(writing)
    ended = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert ended[0] == 0 and ended[1] in (0, 2), ended
    assert with_schema(path, SCHEMA) == ()


def test_beside_a_service_it_is_shown_and_not_done(path: Path) -> None:
    old = dump(path)
    opening = open_sqlite(str(path), FIRST)
    assert isinstance(opening, Opened)
    try:
        assert in_a_child(lambda: upgrade.preview(str(path), SCHEMA, ANSWERED)) == "done"
        for work in (up(path), lambda: undo.undo(str(path)), lambda: undo.drop(str(path), ["person.born"])):
            outcome = in_a_child(work)
            assert isinstance(outcome, str) and "is served by" in outcome
    finally:
        opening.database.close()
    assert dump(path) == old


def test_beside_another_upgrade_it_is_told_of_that(path: Path) -> None:
    """Nobody has to look for a service that is not there."""

    def serve() -> None:
        opening = open_sqlite(str(path), FIRST)
        raise NotUpgraded("" if isinstance(opening, Opened) else opening.message)

    with alone(path):
        for work in (up(path), lambda: undo.undo(str(path)), serve):
            outcome = in_a_child(work)
            assert isinstance(outcome, str) and f"being upgraded or moved by process {os.getpid()}" in outcome
            assert "served" not in outcome


def test_undoing_that_is_killed_leaves_the_old_or_the_new(path: Path, tmp_path: Path) -> None:
    """Killed before each file of the database's that it opens, copies, renames or links."""
    old = dump(path)
    upgrade.upgrade(str(path), SCHEMA, decide=ANSWERED)
    upgraded = {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}

    def killed_before(number: int) -> Callable[[], object]:
        left = [number]

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            about = any(isinstance(each, str | Path) and path.name in str(each) for each in arguments)
            if about and event in ("open", "os.rename", "os.link", "shutil.copyfile", "os.remove"):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        def work() -> None:
            sys.addaudithook(hook)
            undo.undo(str(path))

        return work

    found = list[str]()
    while True:
        for each in path.parent.iterdir():
            if each.is_file():
                each.unlink()
        for name, data in upgraded.items():
            (path.parent / name).write_bytes(data)
        outcome = in_a_child(killed_before(len(found)))
        assert path.exists(), "a service that starts now would begin with nothing"
        found.append(is_old_or_new(path, old))
        if outcome == "done":
            break
        assert outcome == signal.SIGKILL
    assert {*found} == {"old", "new"} and found == sorted(found), "it is the new one until it is the old one"


def test_what_adds_by_itself_is_whole_or_not_there(path: Path) -> None:
    """`serve` makes what needs no decision in the same way."""
    old, whole = dump(path), path.read_bytes()
    schema = GOES["resources less"]

    def starting() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) // 2, len(whole) // 2))
        opening = open_sqlite(str(path), schema)
        raise NotUpgraded("it starts" if isinstance(opening, Opened) else opening.message)

    outcome = in_a_child(starting)
    assert isinstance(outcome, str) and outcome.startswith("refused: the database"), outcome
    assert dump(path) == old


def test_what_a_killed_preview_leaves_is_taken_away_by_the_next(path: Path) -> None:
    """And what another one uses is not."""

    def hidden() -> set[str]:
        return {each.name for each in path.parent.iterdir() if each.name.startswith(f".{path.name}.")}

    def killed() -> None:
        with folder_beside(path) as folder:
            shutil.copy2(path, folder / path.name)
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(killed) == signal.SIGKILL
    [left] = hidden()
    with folder_beside(path) as used:
        shutil.copy2(path, used / path.name)
        assert hidden() == {used.name}
        upgrade.preview(str(path), SCHEMA, ANSWERED)
        assert hidden() == {used.name} != {left}
        assert (used / path.name).read_bytes() == path.read_bytes()
    assert hidden() == set()
