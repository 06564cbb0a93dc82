"""A database of one contract made one of another: rehearsed on a copy, done in one transaction behind a backup."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import apsw
from msgspec import structs

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.environment import REVISION_COLUMN
from ninefold.plan.schema import Schema
from ninefold.runtime.store import record, steps
from ninefold.runtime.store.connections import words
from ninefold.runtime.store.protocol import Judge, Session, Stored, Unfit
from ninefold.runtime.store.whole import NotUpgraded, alone, check_sound, connected, copy_of, flush, shape_of, there
from ninefold.runtime.store.writer import Transaction
from ninefold.sql.fragment import identifier
from ninefold.upgrade.change import By, Change
from ninefold.upgrade.changes import Changes, Outcome, changes, nothing_decided
from ninefold.upgrade.shape import digest, encode_shape
from ninefold.upgrade.steps import aside_name
from ninefold.upgrade.words import sentence, unmet

Decide: TypeAlias = Callable[[Schema], Outcome]
"""What is decided over a database of a shape. What it raises goes through, and nothing has been changed."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A change, and why it is not made without a decision: sentences, none where it is."""

    change: Change
    why: tuple[str, ...] = ()


def judged(found: Changes, connection: apsw.Connection, by: By) -> tuple[Judged, ...]:
    """Each change with what stands in its way, where it is made by `serve` or by `upgrade`."""
    return tuple(Judged(change, tuple(_why(change, connection, by))) for change in found.changes)


def _why(change: Change, connection: apsw.Connection, by: By) -> Iterator[str]:
    if change.kind == "question" or (by == "serve" and change.by == "upgrade"):
        if not _without_rows(change, connection):
            yield sentence(change)
            return
    for premise in change.premises:
        broken = steps.broken(premise, connection)
        if broken is not None:
            examples = ", ".join((*map(_shown, broken.examples), *(("…",) if broken.more else ())))
            yield unmet(change, premise, broken.count, examples)


def _without_rows(change: Change, connection: apsw.Connection) -> bool:
    """Whether there is nothing to decide over: no row has what the change is about."""
    about = change.over
    return about is not None and steps.broken(about, connection) is None


def _shown(value: Stored) -> str:
    return "a secret" if isinstance(value, bytes) else str(value)[:40]


def make(found: Changes, wanted: Schema, connection: apsw.Connection, unguarded: bool = False) -> None:
    """All steps, inside a transaction that was begun with foreign keys off where tables are made anew. `unguarded`:
    rows were changed before, with foreign keys off. Raises apsw.Error, and NotUpgraded where a row would refer to
    nothing."""
    steps.take(found.steps, wanted, connection)
    if unguarded or steps.rebuilds(found):
        _check_references(connection)
    record.update_shape(connection, encode_shape(found.after))


def _check_references(connection: apsw.Connection) -> None:
    """Raises NotUpgraded where a row would refer to nothing."""
    dangling = connection.execute('SELECT DISTINCT "table", parent FROM pragma_foreign_key_check').fetchall()
    if dangling:
        details = [f"rows of `{table}` would refer to a `{parent}` that is not there" for table, parent in dangling]
        raise NotUpgraded("rows would refer to nothing", details)


# The command: a preview, the upgrade, and back


def all_fit(session: Session, left: Collection[str]) -> tuple[Unfit, ...]:
    """Nobody looks at the rows."""
    return ()


def _unfit(found: Unfit) -> Judged:
    name, resource = found.name, found.name.split(".")[0]
    field = name if found.is_field else f"{resource}.…"
    write = (f"{{set: {field}, is: …, where: …}}", f"{{leave: {name}}}")
    return Judged(Change("question", f"`{name}`", "", by="upgrade", write=write), (found.words,))


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What an upgrade would do, or has done (`made`). `shape`: by what that of the database is known. `rows`: of each
    resource that is stored. `decided`: over so many things. `aside`: what is hidden then, `lost`: what ends, each with
    the number of its values or rows. `given`: the fields of rows that have what the contract gives to new ones,
    `renamed`: those that part 9 says had another name, in words."""

    path: Path
    shape: str
    rows: tuple[tuple[str, int], ...]
    changes: tuple[Judged, ...]
    aside: tuple[tuple[str, int], ...] = ()
    lost: tuple[tuple[str, int], ...] = ()
    given: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    decided: int = 0
    made: bool = False
    backup: Path | None = None

    @property
    def goes(self) -> bool:
        return not any(each.why for each in self.changes)


def preview(url: str, wanted: Schema, decide: Decide = nothing_decided, judge: Judge = all_fit) -> Rehearsed:
    """Do the whole upgrade on a consistent copy, which is thrown away. A service may run meanwhile. Raises
    NotUpgraded."""
    path = there(url)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            copy = Path(folder) / path.name
            copy_of(path, copy)
            with connected(copy) as connection:
                return _upgraded(connection, path, wanted, decide, judge)
    except apsw.Error as error:
        raise NotUpgraded(f"the database {path} cannot be used: {words(error)}") from None
    except OSError as error:
        raise NotUpgraded(f"the database {path} cannot be copied: {(error.strerror or str(error)).lower()}") from None


def in_the_way(url: str, wanted: Schema) -> tuple[str, ...]:
    """What has to be decided before `serve` can serve a schema, also while the database is served: sentences. Raises
    NotUpgraded."""
    path = there(url)
    try:
        with connected(path) as connection:
            found = judged(changes(shape_of(connection, path), wanted), connection, "serve")
            return tuple(why for each in found for why in each.why)
    except apsw.Error as error:
        raise NotUpgraded(f"the database {path} cannot be read: {words(error)}") from None


def upgrade(
    url: str,
    wanted: Schema,
    backup: Path | None = None,
    decide: Decide = nothing_decided,
    judge: Judge = all_fit,
) -> Rehearsed:
    """Upgrade behind a backup, which is beside the database unless another place is given. Raises NotUpgraded, and the
    database is then as it was."""
    path = there(url)
    with alone(path):
        try:
            with connected(path) as connection:
                check_sound(connection, path)
                before = backup or path.with_name(f"{path.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
                copy_of(path, before)
                made = False
                try:
                    flush(before)
                    done = _upgraded(connection, path, wanted, decide, judge, before)
                    made = done.made
                finally:
                    if not made:
                        before.unlink()
                return replace(done, backup=before) if made else done
        except apsw.Error as error:
            raise NotUpgraded(f"the database {path} cannot be upgraded: {words(error)}") from None
        except OSError as error:
            raise NotUpgraded(f"{path} cannot be backed up: {(error.strerror or str(error)).lower()}") from None


def _upgraded(
    connection: apsw.Connection,
    path: Path,
    wanted: Schema,
    decide: Decide,
    judge: Judge,
    backup: Path | None = None,
) -> Rehearsed:
    """In one transaction, where nothing stands in the way. Raises NotUpgraded."""
    before = shape_of(connection, path)
    outcome = decide(before)
    # Inside a transaction this is not heeded.
    connection.pragma("foreign_keys", False)
    connection.execute("BEGIN IMMEDIATE")
    try:
        counts = tuple((table.name, _count(connection, table.name)) for table in before.tables)
        steps.take(outcome.steps, wanted, connection)
        found = changes(outcome.stored, wanted)
        done = Rehearsed(
            path,
            digest(before),
            counts,
            judged(found, connection, "upgrade"),
            given=outcome.given,
            renamed=outcome.renamed,
            decided=outcome.count,
        )
        if not done.goes:
            return done
        make(found, wanted, connection, unguarded=bool(outcome.steps))
        unfit = tuple(map(_unfit, judge(Transaction(connection), outcome.left)))
        if unfit:
            return replace(done, changes=(*done.changes, *unfit))
        if found.same and not outcome.count and not outcome.steps:
            # Nothing but that rows were looked at is new.
            connection.execute("COMMIT")
            return done
        after = found.after
        lost = dict(hidden(connection, after))
        for name in outcome.lost:
            after = dropped(connection, after, name)
            record.update_shape(connection, encode_shape(after))
        record.note_upgrade(connection, str(backup or ""), written(connection, after))
        aside = tuple(hidden(connection, after))
        connection.execute("COMMIT")
        ended = tuple((name, lost[name]) for name in outcome.lost)
        return replace(done, aside=aside, lost=ended, made=True)
    except steps.Failed as error:
        raise NotUpgraded(f"what is decided cannot be worked out for a row: {error}") from None
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.pragma("foreign_keys", True)


def hidden(connection: apsw.Connection, stored: Schema) -> Iterator[tuple[str, int]]:
    """What is set aside in a database, each with the number of its values or rows."""
    for table in stored.tables:
        for aside in table.aside:
            yield f"{table.name}.{aside.column.name}", _count(connection, table.name, aside.stored)
    for table in stored.aside:
        yield table.name, _count(connection, aside_name(table.name))


def _count(connection: apsw.Connection, table: str, column: str = "") -> int:
    what = f"count({identifier(column)})" if column else "count(*)"
    [(count,)] = connection.execute(f"SELECT {what} FROM {identifier(table)}").fetchall()
    return int(str(count))


def written(connection: apsw.Connection, stored: Schema) -> str:
    """What tells whether anything was written since: of each table how many rows, and a digest of their revisions."""
    digest = sha256()
    for table in sorted(stored.tables, key=lambda each: each.name):
        name, revision = identifier(table.name), identifier(REVISION_COLUMN)
        for (one,) in connection.execute(f"SELECT {revision} FROM {name} ORDER BY rowid"):
            digest.update(f"{table.name}\0{one}\n".encode())
    return digest.hexdigest()


def dropped(connection: apsw.Connection, stored: Schema, name: str) -> Schema:
    for table in stored.aside:
        if table.name == name:
            connection.execute(f"DROP TABLE {identifier(aside_name(name))}")
            return structs.replace(stored, aside=tuple(each for each in stored.aside if each.name != name))
    tables = []
    for table in stored.tables:
        gone = [each for each in table.aside if f"{table.name}.{each.column.name}" == name]
        for each in gone:
            connection.execute(f"ALTER TABLE {identifier(table.name)} DROP COLUMN {identifier(each.stored)}")
        tables.append(structs.replace(table, aside=tuple(each for each in table.aside if each not in gone)))
    return structs.replace(stored, tables=tuple(tables))
