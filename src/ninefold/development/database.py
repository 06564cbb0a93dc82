"""The database of `dev`: a file of its own, which follows the contract."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.plan.service import ServicePlan
from ninefold.plan.writes import Assign
from ninefold.runtime.operator.rows import Caller, stated_rows
from ninefold.runtime.store import left_behind
from ninefold.runtime.store.carry_over import Beside, CarriedOver, NotCarried, NotMade, carry_over
from ninefold.runtime.store.file import Held, lock
from ninefold.runtime.store.protocol import Refused, Stored
from ninefold.runtime.store.sqlite import Opened, open_sqlite
from ninefold.values.stored import from_sqlite, to_sqlite


@dataclass(frozen=True, slots=True)
class Prepared:
    """`carried` None: nothing had to be carried over. `anew`: why what was there could not be used, if it could not."""

    opened: Opened
    carried: CarriedOver | None = None
    anew: str = ""


KEPT = 60 * 60
"""Seconds for which what a save left behind waits for one that can hold it: at the first save after these it is given
up."""

_FRESH = ("--fresh begins without the rows of the last time",)


def file_of(document: Path, environment: Mapping[str, str]) -> Path:
    """Where the rows of a document are kept: in the user's cache, called after the document; in the folder for
    temporary files where that cannot be written."""
    whole = document.resolve()
    name = f"{whole.stem}-{hashlib.sha256(os.fsencode(whole)).hexdigest()[:8]}.db"
    folder = _cache(environment) / "ninefold" / "dev"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder / name
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="ninefold-dev-")) / name


def _cache(environment: Mapping[str, str]) -> Path:
    """XDG Base Directory Specification; on macOS where applications keep theirs."""
    stated = Path(environment.get("XDG_CACHE_HOME", ""))
    if stated.is_absolute():
        return stated
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def prepared(path: Path, plan: ServicePlan, caller: Caller, now: float | None = None) -> Prepared | Refused:
    """Open the database of a plan: as it is, with what can be added, or made anew with the rows that still fit and with
    those that earlier saves left behind and that fit again. `now`: seconds of the clock."""
    left = _beside(path, ".left")
    if not (left_behind.waits(left) and _is_free(path)):
        opening = open_sqlite(str(path), plan.schema, stated_rows(plan, caller))
        if isinstance(opening, Opened):
            return Prepared(opening)
        if opening.held:
            return opening
    # Whether what waits fits now is known when it is tried: that may depend on the other rows alone. And it comes
    # before what is added to the database: else a row that the contract states would be there twice.
    carried, anew = None, ""
    new, after = _beside(path, ".new"), _beside(path, ".left.new")
    since = time.time() if now is None else now
    try:
        remove(new)
        remove(after)
        try:
            beside = Beside(left, after, since, since - KEPT)
            carried = carry_over(path, new, plan.schema, _Maker(plan, caller).value, beside)
        except NotCarried as error:
            anew = str(error)
        _put_in_place(path, carried, beside)
    except NotMade as error:
        return Refused(f"the database {path} cannot be made anew: {error}", help=_FRESH)
    except OSError as error:
        return Refused(
            f"the database {path} cannot be made anew: {(error.strerror or str(error)).lower()}", help=_FRESH
        )
    opening = open_sqlite(str(path), plan.schema, stated_rows(plan, caller))
    return opening if isinstance(opening, Refused) else Prepared(opening, carried, anew)


def _put_in_place(path: Path, carried: CarriedOver | None, beside: Beside) -> None:
    """What was made beside a database goes to its place. Raises OSError."""
    new = _beside(path, ".new")
    if carried is None:
        _set_aside(path)
    elif carried.needless:
        # The log of events and the like would not be in the new one.
        left_behind.give_up(beside.before, beside.until)
        remove(new)
        remove(beside.after)
    else:
        # What is left behind is on the disk before the database goes that has it.
        os.replace(beside.after, beside.before)
        remove(path)
        os.replace(new, path)


def _is_free(path: Path) -> bool:
    """Whether the database is there, and nobody serves it."""
    if not path.exists():
        return False
    try:
        lock(path).release()
    except (Held, OSError):
        return False
    return True


def _set_aside(path: Path) -> None:
    """A file that cannot be read may still be read by somebody. Raises OSError."""
    if path.exists():
        os.replace(path, _beside(path, ".unreadable"))
    remove(path)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def remove(path: Path) -> None:
    """Take a database away, with what SQLite keeps beside it. Raises OSError."""
    for ending in ("", "-wal", "-shm", "-journal"):
        _beside(path, ending).unlink(missing_ok=True)


def forget(path: Path) -> None:
    """Take a database away, and what its saves left behind. Raises OSError."""
    remove(path)
    remove(_beside(path, ".left"))


class _Maker:
    """What the contract itself gives a field on create: the value of a field that the rows have not had so far."""

    def __init__(self, plan: ServicePlan, caller: Caller) -> None:
        self._caller = caller
        self._operations = {each.resource: each for each in plan.operator_operations}
        self._types = {
            (table.name, column.name): column.type for table in plan.schema.tables for column in table.columns
        }

    def value(self, resource: str, field: str, row: Mapping[str, Stored]) -> Stored:
        assign = self._assign(resource, field)
        if assign is None or assign.otherwise is None or assign.secret == "password":
            return None
        known = {
            name: from_sqlite(self._types[resource, name], stored)
            for name, stored in row.items()
            if not isinstance(stored, bytes)
        }
        env = self._caller.call(self._operations[resource]).env
        try:
            value = compile(assign.otherwise)({**env, resource: known})
        except EvaluationError:
            return None
        if assign.secret == "token" and isinstance(value, str):
            return hashlib.sha256(value.encode()).digest()
        return to_sqlite(assign.type, value)

    def _assign(self, resource: str, field: str) -> Assign | None:
        adding = self._operations[resource].adding
        assigns = () if adding is None else adding.create.assigns
        return next((each for each in assigns if each.field == field), None)
