"""What the interpreter remembers: rows as Python dicts, and nothing else. A transaction is a copy."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ninefold.checked.resources import Resource

Fields = dict[str, Any]


@dataclass(frozen=True)
class Credential:
    """What was issued by a scheme to a row. `until` None: it lasts as long as its row."""

    text: str
    scheme: str
    resource: str
    key: Any
    until: datetime | None
    scopes: tuple[str, ...]


@dataclass
class Row:
    """A row of a resource. `written` is its last write, so that an entity tag can tell one state from another;
    `entered` is when it came into its state. `identity` tells it from all rows, whatever it is known by."""

    resource: Resource
    fields: Fields
    written: int = 0
    entered: str = ""
    identity: object = field(default_factory=object, compare=False)

    @property
    def key(self) -> Any:
        """The value of the identifier; of several fields, all of their values."""
        values = tuple(self.fields[name] for name in self.resource.primary_key)
        return values[0] if len(values) == 1 else values

    @property
    def is_gone(self) -> bool:
        machine = self.resource.machine
        return machine is not None and self.fields[machine.field] in machine.gone


@dataclass
class Rows:
    """All rows, and what is kept with them. `writes` counts the writes so far, `serials` the numbers given so far by
    resource. `credentials`: those that were issued and have not been ended. `cleared`: rows that a deletion has left
    without a reference, with its name."""

    of: dict[str, list[Row]] = field(default_factory=dict)
    writes: int = 0
    serials: dict[str, int] = field(default_factory=dict)
    credentials: list[Credential] = field(default_factory=list)
    cleared: list[tuple[Row, str]] = field(default_factory=list)

    def copied(self) -> Rows:
        """The same rows, to be changed without changing these."""
        of = {name: [copy.copy(row) for row in rows] for name, rows in self.of.items()}
        for rows in of.values():
            for row in rows:
                row.fields = copy.deepcopy(row.fields)
        return Rows(of, self.writes, dict(self.serials), [*self.credentials])

    def all(self, resource: str) -> list[Row]:
        """Every row, in the order of their identifiers."""
        return sorted(self.of.get(resource, []), key=lambda row: row.key)

    def find(self, resource: str, key: Any) -> Row | None:
        return next((row for row in self.of.get(resource, []) if row.key == key), None)

    def as_it_is(self, row: Row) -> Row:
        """The row as what followed from its write has left it; of one that fell with it, as it was."""
        return self.find(row.resource.name, row.key) or row

    def number(self) -> int:
        """Of one more write."""
        self.writes += 1
        return self.writes

    def touch(self, row: Row, together: int | None = None) -> None:
        """`together`: the write by which others change as well."""
        row.written = self.number() if together is None else together
