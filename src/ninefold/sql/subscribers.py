"""Who subscribed, as it is kept: the JSON of a caller, in which a row is an object under the name of its resource, and
has its primary key. It follows what the row is called, and known by, and ends with it: no foreign key leads out of
JSON, so that triggers do what one would do (`triggers`)."""

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
    and a path, `{1}`: what is there, as JSON and as a column has it, whether it is an object, the document with `{2}`
    there, and without. An object; what is stored of a document; and a column as what is there is compared with."""

    document: str
    path: str
    between: str
    part: str
    value: str
    is_object: str
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
    is_object="(json_type({0}, {1}) = 'object')",
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
    is_object="(jsonb_typeof({0} #> {1}) = 'object')",
    put="jsonb_set({0}, {1}, {2})",
    without="({0} #- {1})",
    object="jsonb_build_object({})",
    stored="CAST({} AS text)",
    column="to_jsonb({})",
)


def resource_renamed(old: str, new: str, json: _Json) -> tuple[str, ...]:
    """The index of the old name is made anew with what tells of the end of rows (`triggers`)."""
    return json.moved((old,), (new,)), f"DROP INDEX IF EXISTS {_index_of(old)}"


def key_renamed(resource: str, old: str, new: str, json: _Json) -> str:
    """Of a field of a primary key."""
    return json.moved((resource, old), (resource, new))


def known_otherwise(resource: str, called: str, key: Sequence[str], values: Mapping[str, str], json: _Json) -> str:
    """Of rows that were known by `key`: `values`, of a row that is `called` so, are what they are known by from then
    on."""
    now = json.object.format(", ".join(f"{literal(name)}, {value}" for name, value in values.items()))
    were = [f"{called}.{identifier(name)} AS was_{number}" for number, name in enumerate(key)]
    rows = f"SELECT {', '.join(were)}, {now} AS now FROM {identifier(resource)} AS {called}"
    same = _is(resource, {name: f"found.was_{number}" for number, name in enumerate(key)}, json)
    changed = json.stored.format(json.put.format(json.document, json.at(resource), "found.now"))
    return f"UPDATE {_TABLE} SET caller = {changed} FROM ({rows}) AS found WHERE {same}"


def ended(resource: str, key: Sequence[str], json: _Json) -> str:
    """The statement by which ends what rows have subscribed to that are gone."""
    was_row = json.is_object.format(json.document, json.at(resource))
    there = f"SELECT 1 FROM {identifier(resource)} AS found WHERE {_is(resource, _columns(key, 'found'), json)}"
    return f"DELETE FROM {_TABLE} WHERE {was_row} AND NOT EXISTS ({there})"


def _columns(key: Sequence[str], row: str) -> dict[str, str]:
    return {name: f"{row}.{identifier(name)}" for name in key}


def _is(resource: str, values: Mapping[str, str], json: _Json) -> str:
    """Whether who subscribed is the row that has these values in the columns of its key."""
    same = [
        f"{json.value.format(json.document, json.at(resource, name))} = {json.column.format(value)}"
        for name, value in values.items()
    ]
    return " AND ".join(same) or json.is_object.format(json.document, json.at(resource))


# ── Its end ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def triggers(resource: str, key: Sequence[str]) -> tuple[str, ...]:
    """Of SQLite: what is subscribed to by a row ends with it, and knows it by what it is known by. They go with the
    table of the row, and are made as often as may be."""
    begin, on = "CREATE TRIGGER IF NOT EXISTS ", f" ON {identifier(resource)}"
    # What a column compares as would keep the index from being used.
    old_values = {name: f"+{value}" for name, value in _columns(key, "OLD").items()}
    is_old = f"WHERE {_is(resource, old_values, SQLITE)}; END"
    ends = (
        f"{begin}{identifier(f'$subscription of {resource} ends')} AFTER DELETE{on} BEGIN DELETE FROM {_TABLE} {is_old}"
    )
    if not key:
        return (ends,)
    old, new = _columns(key, "OLD"), _columns(key, "NEW")
    differs = " OR ".join(f"{old[name]} <> {new[name]}" for name in key)
    now = ", ".join(f"{SQLITE.at(resource, name)}, {value}" for name, value in new.items())
    follows = (
        f"{begin}{identifier(f'$subscription of {resource} follows')} AFTER UPDATE OF"
        f" {', '.join(map(identifier, key))}{on} WHEN {differs}"
        f" BEGIN UPDATE {_TABLE} SET caller = json_set(caller, {now}) {is_old}"
    )
    index = _index_of(resource)
    known = ", ".join(f"caller ->> {SQLITE.at(resource, name)}" for name in key)
    return f"DROP INDEX IF EXISTS {index}", f"CREATE INDEX {index} ON {_TABLE} ({known})", ends, follows


def _index_of(resource: str) -> str:
    return identifier(f"$subscription of {resource}")


FUNCTION: Final = identifier("$caller ends")
"""Of PostgreSQL."""


def postgresql_triggers(resource: str, key: Sequence[str]) -> tuple[str, ...]:
    """The same of PostgreSQL. A row is read as JSON: while a database becomes that of another contract, a column may be
    called otherwise."""
    create, of = f"CREATE OR REPLACE TRIGGER {FUNCTION}", f" ON {identifier(resource)} FOR EACH ROW"
    does = f" EXECUTE FUNCTION {FUNCTION}({', '.join(map(literal, key))})"
    found = (_INDEX, _FUNCTION, f"{create} AFTER DELETE{of}{does}")
    if not key:
        return found
    old, new = (", ".join(_columns(key, row).values()) for row in ("OLD", "NEW"))
    follows = f"CREATE OR REPLACE TRIGGER {identifier('$caller follows')} AFTER UPDATE OF"
    return (*found, f"{follows} {', '.join(map(identifier, key))}{of} WHEN (({old}) <> ({new})){does}")


_INDEX: Final = (
    f"CREATE INDEX IF NOT EXISTS {identifier('$subscription of callers')} ON {_TABLE}"
    " USING gin (CAST(caller AS jsonb) jsonb_path_ops)"
)
_IS_OLD: Final = f"{POSTGRESQL.document} @> jsonb_build_object(resource, was)"

_FUNCTION: Final = f"""\
CREATE OR REPLACE FUNCTION {FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  resource text := TG_TABLE_NAME;
  old_row jsonb := to_jsonb(OLD);
  was jsonb := (SELECT coalesce(jsonb_object_agg(name, old_row -> name), '{{}}') FROM unnest(TG_ARGV) AS key(name));
  becomes jsonb;
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM {_TABLE} WHERE {_IS_OLD};
  ELSE
    becomes := to_jsonb(NEW);
    becomes := (SELECT jsonb_object_agg(name, becomes -> name) FROM unnest(TG_ARGV) AS key(name));
    UPDATE {_TABLE} SET caller = jsonb_set({POSTGRESQL.document}, ARRAY[resource],
      ({POSTGRESQL.document} -> resource) || becomes)::text WHERE {_IS_OLD};
  END IF;
  RETURN NULL;
END $$"""
