"""What a database in PostgreSQL notes of itself while it is between two contracts (`ninefold.upgrade.running`), and who
may serve it then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import structs

from ninefold.runtime.store import record
from ninefold.runtime.store.postgresql_premises import Ask
from ninefold.runtime.store.postgresql_serving import OPTIONS
from ninefold.runtime.store.protocol import Command, Refused
from ninefold.upgrade.running import Between

BETWEEN: Final = "between"

GO_OVER: Final = Command("where this contract is the newer one, to go over to it meanwhile", "upgrade", ("--expand",))
GO_ON: Final = Command("to go on with it", "upgrade", ("--expand",))
LEAVE: Final = (
    Command("to come to its end, once no node of the contract before serves", "upgrade", ("--contract",)),
    Command("to take it back, once no node of the new one serves", "upgrade", ("--undo",)),
)


class NotServed(Exception):
    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.refused: Final = refused


def between(ask: Ask) -> Between | None:
    """None: it is not."""
    if not ask("SELECT to_regclass($1) IS NOT NULL", record.TABLE)[0][0]:
        return None
    found = ask(f"SELECT value FROM {record.TABLE} WHERE name = $1", BETWEEN)
    return msgspec.json.decode(found[0][0], type=Between) if found else None


def note_between(ask: Ask, noted: Between | None) -> None:
    if noted is None:
        ask(f"DELETE FROM {record.TABLE} WHERE name = $1", BETWEEN)
    else:
        note_anew(ask, {BETWEEN: msgspec.json.encode(noted)})


def note_anew(ask: Ask, values: Mapping[str, bytes]) -> None:
    for what, value in values.items():
        ask(f"INSERT INTO {record.TABLE} VALUES ($1, $2) {record.ANEW}", what, value)


def go_over(ask: Ask, found: Between, serves: int, name: str) -> None:
    """Serve a database that is between two contracts as it is: what is noted of its rows stays. Raises NotServed."""
    if serves == found.old:
        return
    if serves != found.new:
        why = f"this is neither that one nor the one before, or it has not the same of {OPTIONS}"
        raise NotServed(Refused(on_its_way(found, name), (why,), then=LEAVE))
    if not found.moved:
        raise NotServed(Refused(on_its_way(found, name), ("it cannot be served before all is there",), then=(GO_ON,)))
    if not found.begun:
        note_between(ask, structs.replace(found, begun=True))


def on_its_way(found: Between, name: str) -> str:
    return f"the database {name} is on its way to the contract `{found.name}`"
