"""Who subscribed, as it is kept: the JSON of a caller, in which a row is an object under the name of its resource, and
has its primary key. While a database is moved to another contract it follows what the row is called, and known by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ninefold.diagnostics.frozen import dataclass
from ninefold.sql.fragment import identifier, literal

_TABLE: Final = identifier("$subscription")
_CALLER: Final = f"{_TABLE}.caller"


@dataclass(frozen=True, slots=True)
class _Json:
    """How a database writes it: the document, and a path in it, with what stands between names. Of the document, `{0}`,
    and a path, `{1}`: what is there, as JSON and as a column has it, the document with `{2}` there, and without. An
    object; what is stored of a document; and a column as what is there is compared with."""

    document: str
    path: str
    between: str
    part: str
    value: str
    put: str
    without: str
    object: str
    stored: str
    column: str

    def at(self, *names: str) -> str:
        quoted = (each.replace("\\", "\\\\").replace('"', '\\"') for each in names)
        return literal(self.path.format(self.between.join(f'"{each}"' for each in quoted)))

    def moved(self, old: Sequence[str], new: Sequence[str]) -> str:
        """The statement by which what stands at one path stands at another."""
        of, was, now = self.document, self.at(*old), self.at(*new)
        part = self.part.format(of, was)
        changed = self.put.format(self.without.format(of, was), now, part)
        return f"UPDATE {_TABLE} SET caller = {self.stored.format(changed)} WHERE {part} IS NOT NULL"


SQLITE: Final = _Json(
    document=_CALLER,
    path="$.{}",
    between=".",
    part="({0} -> {1})",
    value="({0} ->> {1})",
    put="json_set({0}, {1}, json({2}))",
    without="json_remove({0}, {1})",
    object="json_object({})",
    stored="{}",
    column="{}",
)
POSTGRESQL: Final = _Json(
    document=f"CAST({_CALLER} AS jsonb)",
    path="{{{}}}",
    between=",",
    part="({0} #> {1})",
    value="({0} #> {1})",
    put="jsonb_set({0}, {1}, {2})",
    without="({0} #- {1})",
    object="jsonb_build_object({})",
    stored="CAST({} AS text)",
    column="to_jsonb({})",
)


def resource_renamed(old: str, new: str, json: _Json) -> str:
    return json.moved((old,), (new,))


def key_renamed(resource: str, old: str, new: str, json: _Json) -> str:
    """Of a field of a primary key."""
    return json.moved((resource, old), (resource, new))


def known_otherwise(resource: str, called: str, key: Sequence[str], values: Mapping[str, str], json: _Json) -> str:
    """Of rows that were known by `key`: `values`, of a row that is `called` so, are what they are known by from then
    on."""
    now = json.object.format(", ".join(f"{literal(name)}, {value}" for name, value in values.items()))
    were = [f"{called}.{identifier(name)} AS was_{number}" for number, name in enumerate(key)]
    rows = f"SELECT {', '.join(were)}, {now} AS now FROM {identifier(resource)} AS {called}"
    same = (
        f"{json.value.format(json.document, json.at(resource, name))} = {json.column.format(f'found.was_{number}')}"
        for number, name in enumerate(key)
    )
    changed = json.stored.format(json.put.format(json.document, json.at(resource), "found.now"))
    return f"UPDATE {_TABLE} SET caller = {changed} FROM ({rows}) AS found WHERE {' AND '.join(same)}"
