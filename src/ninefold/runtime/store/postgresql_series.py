"""Works that are one statement each, done as one: what waits with the same statement is a call of a function that does
it for each, in their order, each of which sees what those before it did. The first call of a transaction takes the
lock of those who write, too, and leaves the mark (`postgresql_writer.py`).

The function is the session's own (`pg_temp`), made when a statement is first wanted twice, so that PostgreSQL plans it
once. Where it cannot be made, or fails, each work is done as any other. The rows that it makes take their numbers
together: to count for each costs twice what the row does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final, TypeAlias

from asyncpg.exceptions import PostgresError

from ninefold.diagnostics.frozen import dataclass
from ninefold.runtime.store import record
from ninefold.runtime.store.postgresql_link import Link
from ninefold.runtime.store.protocol import Single, Unbound
from ninefold.runtime.store.writer import Result, Waiting
from ninefold.sql.fragment import identifier, literal
from ninefold.sql.postgresql import fitted_alike, numbered


@dataclass(frozen=True, slots=True)
class Series:
    """A call of the function for one statement, and the forms of its binds."""

    call: str
    forms: tuple[str, ...]


Mark: TypeAlias = tuple[str, bytes] | tuple[None, None]
"""Its name, and what it says."""

NO_MARK: Final = (None, None)

_work, _again, _statement, _env = map(attrgetter, ("work", "again", "statement", "env"))
_own = itemgetter(1)

Alike: TypeAlias = Mapping[Unbound, list[tuple[int, Single]]]
"""Works of a batch that are of one statement: the number of each in the batch, and the work."""


WRITE: Final = "pg_advisory_xact_lock(hashtextextended('ninefold writes ' || current_schema(), 0))"
"""Taken until the transaction ends, in the order in which it was asked for. What follows sees all that was committed
before: each statement of a transaction that is READ COMMITTED has a snapshot of its own."""

_MARKS: Final = (
    f'IF "$mark" IS NOT NULL THEN PERFORM {WRITE};'
    f' INSERT INTO {record.TABLE} VALUES ("$name", "$mark") {record.ANEW}; END IF;'
)


def alike(batch: Sequence[Waiting], link: Link) -> Alike:
    """Where there are several of one statement, or one of a statement that has its function."""
    works = [*map(_work, batch)]
    found: dict[Unbound, list[tuple[int, Single]]] = {}
    if {*map(type, works)} == {Single} and all(map(_again, batch)) and len({*map(_statement, works)}) == 1:
        found[works[0].statement] = [*enumerate(works)]
    else:
        for number, (work, again) in enumerate(zip(works, map(_again, batch), strict=True)):
            if isinstance(work, Single) and again:
                found.setdefault(work.statement, []).append((number, work))
    return {of: works for of, works in found.items() if len(works) > 1 or link.series.get(of.text) is not None}


def to_make(link: Link, works: Alike) -> list[str]:
    """The statements that have no function yet."""
    return [] if link.pooled else [each.text for each in works if each.text not in link.series]


def has_call(link: Link, works: Alike) -> bool:
    """Whether some of them are done as one call."""
    return any(link.series.get(each.text) is not None for each in works)


async def made(link: Link, texts: Iterable[str]) -> None:
    """Make the functions of statements. Not to be called in a transaction, which could take them along."""
    for text in dict.fromkeys(texts):
        try:
            link.series[text] = await _made(link, text, f'pg_temp."$series {len(link.series)}"')
        except PostgresError:
            link.series[text] = None


async def _made(link: Link, text: str, name: str) -> Series | None:
    statement = await link.prepare(text)
    forms, types = statement.forms, statement.columns
    if not forms:
        return None
    columns = [f'"$column {number}"' for number in range(len(types))]
    gives = ", ".join(f"{column} {form}" for column, form in zip(columns, types, strict=True))
    text, take, give_back = await _counting(link, text)
    inner = numbered(text, '${}["$number"]')
    body = (
        f'DECLARE "$last" int8 := 0; BEGIN {_MARKS} {take} FOR "$number" IN 1 .. cardinality($1) LOOP'
        f" {inner} INTO {', '.join(columns)};"
        ' IF FOUND THEN "$last" := "$last" + 1; "$place" := "$number"; RETURN NEXT; END IF;'
        f" END LOOP; {give_back} END"
    )
    await link.execute(
        f'CREATE FUNCTION {name}({"".join(f"{form}[], " for form in forms)}"$name" text, "$mark" bytea)'
        f' RETURNS TABLE ("$place" int8, {gives}) LANGUAGE plpgsql AS {literal(body)}'
    )
    places = ", ".join(f"${number}" for number in range(1, len(forms) + 3))
    return Series(f"SELECT * FROM {name}({places})", forms)


_NAME: Final = r'"(?:[^"]|"")+"'
_INSERT: Final = re.compile(rf"INSERT INTO (?P<table>{_NAME}) \((?P<columns>{_NAME}(?:, {_NAME})*)\) SELECT ")
_COUNTED: Final = r"""
SELECT attname, substring(pg_get_expr(adbin, adrelid) FROM '^"\$next"\((.*)\)$') AS counted
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
WHERE adrelid = to_regclass($1) AND pg_get_expr(adbin, adrelid) LIKE '"$next"(%)'
"""


async def _counting(link: Link, text: str) -> tuple[str, str, str]:
    """A statement whose row has the number after `"$last"`, where the database would give it one; what takes as many
    numbers as there may be rows, and what gives back those that no row has, as if none had been taken for it."""
    insert = _INSERT.match(text)
    counted = [] if insert is None else await link.fetch(_COUNTED, insert["table"])
    if insert is None or len(counted) != 1:
        return text, "", ""
    column, table = identifier(counted[0][0]), counted[0][1]
    if column in insert["columns"].split(", "):
        return text, "", ""
    take = (
        f'INSERT INTO "$number" AS known VALUES ({table}, cardinality($1)) ON CONFLICT ("table") DO UPDATE'
        ' SET last = known.last + cardinality($1) RETURNING known.last - cardinality($1) INTO "$last";'
    )
    give_back = f'UPDATE "$number" SET last = "$last" WHERE "table" = {table} AND last <> "$last";'
    start = f'INSERT INTO {insert["table"]} ({column}, {insert["columns"]}) SELECT "$last" + 1, '
    return start + text[insert.end() :], take, give_back


async def done(link: Link, works: Alike, mark: Mark, longest: int) -> dict[int, Result] | None:
    """What came of those that gave a row, by their numbers. None: what was done has to be undone, and each to be done
    by itself; also where a value is longer than so much. `mark`: is left by the first call."""
    results: dict[int, Result] = {}
    for of, some in works.items():
        series = link.series.get(of.text)
        if series is None:
            continue
        columns = of.columns([*map(_env, map(_own, some))])
        if any(_is_longer(longest, *each) for each in zip(columns, series.forms, strict=True)):
            return None
        arrays: list[Any] = list(map(fitted_alike, columns, series.forms))
        try:
            rows = await link.records(series.call, *arrays, *mark)
        except PostgresError:
            return None
        mark = NO_MARK
        for row in rows:
            number, work = some[row[0] - 1]
            results[number] = work.of(row[1:]), None
    return results


def _is_longer(longest: int, values: Iterable[Any], form: str) -> bool:
    """Whether one of the values of a form is."""
    return form in ("text", "bytea") and max(map(len, filter(None, values)), default=0) > longest
