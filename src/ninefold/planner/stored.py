"""Part 2: what stored values have to be, as the rows that are there are asked when a service begins."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked
from ninefold.plan.events import SUBSCRIPTION
from ninefold.plan.statement import ResultColumn
from ninefold.plan.stored import Held, Stored
from ninefold.sql.fragment import identifier
from ninefold.values import Boolean, Integer, Number, Text, Timestamp

_SAYS_NOTHING = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
"""Keywords that no value breaks (JSON Schema 2020-12 Validation, 9)."""


def stored(checked: Checked) -> Iterator[Stored]:
    for resource in checked.resources.values():
        fields = [] if resource.log or resource.name == SUBSCRIPTION else [*_held(resource)]
        if fields:
            columns = [*resource.identifier, *(each.column.name for each in fields)]
            # SQLite's own count of rows goes by three names, of which a field may take some (https://sqlite.org/rowidtable.html).
            row = next(name for name in ("rowid", "_rowid_", "oid") if name not in map(str.lower, resource.fields))
            names = ", ".join([row, *map(identifier, columns)])
            select = f"SELECT {names} FROM {identifier(resource.name)} WHERE {row} > ? ORDER BY {row} LIMIT ?"
            hidden = any(resource.fields[name].sensitive for name in resource.identifier)
            yield Stored(resource.name, select, len(resource.identifier), tuple(fields), not hidden)


def _held(resource: Resource) -> Iterator[Held]:
    """The fields of which more is said than the type of their column. Which states there are, and whether the row that
    is referred to is there, is asked otherwise."""
    machine = resource.machine
    for field in resource.fields.values():
        is_state = machine is not None and machine.field == field.name
        if field.stored and field.secret is None and field.refers_to is None and not is_state and _says_more(field):
            yield Held(ResultColumn(field.name, field.type), dict(field.schema))


def _says_more(field: Field) -> bool:
    said = {name: each for name, each in field.schema.items() if name not in _SAYS_NOTHING}
    match field.type:
        case Boolean() | Integer() | Number() | Text():
            return bool(said.keys() - {"type"})
        case Timestamp():
            return bool(said.keys() - {"type", "format"})
        case _:
            return bool(said)
