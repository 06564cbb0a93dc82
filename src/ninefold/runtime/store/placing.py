"""A row put into the table that a shape has for it, as far as it fits there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import apsw

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.environment import ENTERED_COLUMN, REVISION_COLUMN
from ninefold.plan.schema import Column, Schema, Table
from ninefold.runtime.store.left_behind import Cell, Cells
from ninefold.runtime.store.protocol import Stored
from ninefold.runtime.store.tables import NOW
from ninefold.sql.fragment import identifier
from ninefold.values import Type

Make: TypeAlias = Callable[[str, str, Mapping[str, Stored]], Stored]
"""The value of a new column that has to have one: of a table, a column, and the row that is carried over, by column.
None: there is none."""


class Stays(Exception):
    """A row has no place in its new table; the message says why."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A row that is in its table: by which it is known there, and those of its values that have no place."""

    key: Cells
    rest: Cells


class Place:
    """One table, and its columns as the shape has them."""

    def __init__(self, connection: apsw.Connection, table: Table, schema: Schema, make: Make) -> None:
        self.table = table
        self._connection = connection
        self._columns = {column.name: column for column in table.columns}
        self._machine = next(each.machine for each in schema.tables if each.name == table.name)
        self._make = make

    def fits(self, name: str, cell: Cell) -> bool:
        return name == REVISION_COLUMN or (name == ENTERED_COLUMN and self.table.states) or self.has(name, cell[0])

    def has(self, name: str, type: Type) -> bool:
        """A field of that name and type."""
        return name in self._columns and self._columns[name].type == type

    def put(self, cells: Mapping[str, Cell]) -> Placed:
        """Raises Stays."""
        table, machine = self.table, self._machine
        fitting = {name: cell[1] for name, cell in cells.items() if self.fits(name, cell)}
        rest = {name: cell for name, cell in cells.items() if name not in fitting and cell[1] is not None}
        state = None if machine is None else fitting.get(machine.column)
        if machine is not None and state is not None and state not in machine.states:
            raise Stays(f"`{table.name}.{machine.column}` is `{state!s}`, which is no state any more")
        wanted = [each for each in table.columns if each.name not in fitting and each.required and not each.serial]
        known = {name: value for name, value in fitting.items() if name in self._columns}
        fitting |= dict(zip((each.name for each in wanted), self._made(known, wanted), strict=True))
        names, places = ", ".join(map(identifier, fitting)), ", ".join("?" * len(fitting))
        if table.states and ENTERED_COLUMN not in fitting:
            # Nobody noted when a row entered its state that had none: it counts from now (`tables.add_entered`).
            names, places = f"{names}, {identifier(ENTERED_COLUMN)}", f"{places}, {NOW}"
        key = ", ".join(map(identifier, table.key)) or "1"
        try:
            [values] = self._connection.execute(
                f"INSERT INTO {identifier(table.name)} ({names}) VALUES ({places}) RETURNING {key}",
                tuple(fitting.values()),
            ).fetchall()
        except apsw.ConstraintError as error:
            raise Stays(_reason(error, table)) from None
        known_by = {name: (self._columns[name].type, value) for name, value in zip(table.key, values, strict=False)}
        return Placed(known_by, rest)

    def _made(self, row: Mapping[str, Stored], made: list[Column]) -> Iterator[Stored]:
        for column in made:
            value = self._make(self.table.name, column.name, row)
            if value is None:
                name = f"field `{self.table.name}.{column.name}`"
                raise Stays(f"{name} has to have a value, and nothing gives it one")
            yield value


def _reason(error: apsw.ConstraintError, table: Table) -> str:
    """Which demand of the table a row does not keep. SQLite names the columns (`order.number`)."""
    about = ", ".join(f"`{name.strip()}`" for name in str(error).partition(": ")[2].split(",")) or f"`{table.name}`"
    match getattr(error, "extendedresult", None):
        case apsw.SQLITE_CONSTRAINT_NOTNULL:
            return f"{about} has to have a value, and has none"
        case apsw.SQLITE_CONSTRAINT_UNIQUE | apsw.SQLITE_CONSTRAINT_PRIMARYKEY | apsw.SQLITE_CONSTRAINT_ROWID:
            return f"{about} is unique, and another row has the same"
        case _:
            return f"a value of `{table.name}` is not of its field's type"
