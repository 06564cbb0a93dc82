"""A SQLite database that is there, made ready for a schema: taken as it is, or with what can be added."""

from __future__ import annotations

from pathlib import Path

import apsw
import msgspec

from ninefold.plan.schema import Schema
from ninefold.runtime.store import record, steps, upgrade
from ninefold.runtime.store.changing import NotUpgraded, adapt, differs
from ninefold.runtime.store.connections import Atomic, foreign_keys_off
from ninefold.runtime.store.protocol import Judge, Refused
from ninefold.upgrade.changes import changes
from ninefold.upgrade.shape import decode_shape
from ninefold.upgrade.words import hidden_before, told


def adapted(
    connection: apsw.Connection, found: record.Record, name: Path, schema: Schema, judge: Judge | None
) -> tuple[bytes, tuple[str, ...], tuple[str, ...]] | Refused:
    """In one transaction, in which the rows are judged: the key, what was added, in words, and what is hidden since an
    earlier start."""
    try:
        stored = decode_shape(found.shape)
    except msgspec.DecodeError:
        return Refused(f"the database {name} cannot be used: the shape that is stored in it cannot be read")
    try:
        with foreign_keys_off(connection, steps.rebuilds(changes(stored, schema))), Atomic(connection):
            done = adapt(stored, schema, upgrade.Changing(connection), judge)
    except NotUpgraded as error:
        return differs(str(name), error.details)
    return found.key, tuple(map(told, done.told)), hidden_before(stored, done)
