"""How a database in PostgreSQL is opened: made, taken as it is, or refused. What was made by another program, or for
another contract, is not changed."""

from __future__ import annotations

import secrets
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from time import time
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import asyncpg
import msgspec
from asyncpg import exceptions

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import Statement, statements
from ninefold.runtime.store.postgresql import HeldElsewhere, PostgreSQL, Writer
from ninefold.runtime.store.postgresql_link import Link, Transaction, words
from ninefold.runtime.store.postgresql_tables import OWN_FORM, create_schema, not_there_yet
from ninefold.runtime.store.protocol import Begin, NotBegun, Opened, Refused
from ninefold.sql.fragment import identifier
from ninefold.sql.postgresql import numbered
from ninefold.upgrade.shape import FORM, encode_shape
from ninefold.values import LONGEST_SUM

OLDEST: Final = 15
"""The oldest PostgreSQL whose SQL this is."""

EXPERIMENTAL: Final = "PostgreSQL is experimental here: a database cannot be upgraded"

CLOCKS: Final = 2.0
"""Seconds by which the clock of this machine and PostgreSQL's may differ: what is due at one node is due at all."""

_COMMANDS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")

NOTES: Final = '"$ninefold"'
CREATE_NOTES: Final = f"CREATE TABLE {NOTES} (name text PRIMARY KEY, value bytea NOT NULL)"

MOVING: Final = "moving"
"""Noted is the secret of the database that is being moved into this one."""

Ask: TypeAlias = Callable[..., list[Any]]
"""Asks a statement with its binds, and gives the rows."""


@dataclass(frozen=True, slots=True)
class _Found:
    key: bytes
    created: bool
    began: tuple[str, ...]


class NotServed(Exception):
    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.refused: Final = refused


def open_postgresql(url: str, plan: ServicePlan, begin: Begin | None = None) -> Opened | Refused:
    """Open the database of a plan that is made for PostgreSQL. `url`: `postgresql://USER:PASSWORD@HOST:PORT/NAME`."""
    name = shown(url)
    if lacking := tuple(not_there_yet(plan.schema)):
        return Refused(
            "the contract cannot be served from PostgreSQL yet",
            lacking,
            ("serve it from SQLite: `--database FILE`",),
        )
    writer = Writer(url, _served(plan), plan.schema.events)
    try:
        found = writer.begin(lambda link, loop: _opened(writer, link, loop, plan, begin, name))
    except NotServed as error:
        return error.refused
    except NotBegun as error:
        return Refused(str(error))
    except HeldElsewhere:
        return Refused(
            f"the database {name} is served by another process, of another contract",
            help=("stop that one, or name another database with --database",),
            held=True,
        )
    except (exceptions.PostgresError, exceptions.InterfaceError, OSError, TimeoutError, ValueError) as error:
        return Refused(f"the database {name} cannot be used: {why(error)}")
    return Opened(PostgreSQL(url, found.key, writer), name, found.created, (EXPERIMENTAL,), found.began)


def shown(url: str) -> str:
    """A URL without its password."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=user.partition(":")[0] + at + host).geturl()


def why(error: Exception) -> str:
    match error:
        case exceptions.InvalidCatalogNameError():
            return "there is no such database"
        case exceptions.InvalidAuthorizationSpecificationError():
            return "the user and password are not taken"
        case exceptions.InsufficientPrivilegeError():
            return "the user may not make tables in it"
        case _:
            return words(error)


def _served(plan: ServicePlan) -> int:
    """What is served, as a number of 31 bits: all that it does follows from its plan."""
    return int.from_bytes(sha256(msgspec.json.encode(plan, order="deterministic")).digest()[:4]) >> 1


def _opened(
    writer: Writer, link: Link, loop: AbstractEventLoop, plan: ServicePlan, begin: Begin | None, name: str
) -> _Found:
    """On the writer's thread. Whoever else begins at the same time, or writes, waits."""

    def ask(text: str, *binds: Any) -> list[Any]:
        return list(loop.run_until_complete(link.connection.fetch(text, *binds)))

    def do(text: str) -> None:
        loop.run_until_complete(link.connection.execute(text))

    examine(ask, name)
    link, _ = writer.begun()
    key = key_of(ask, plan, name)
    created = key is None
    if key is None:
        key = secrets.token_bytes(32)
        for statement in create_schema(plan.schema):
            do(statement)
        do(CREATE_NOTES)
        note(ask, {"key": key, **notes_of(plan)})
    prepared(link, loop, plan)
    began: tuple[str, ...] = ()
    if begin is not None:
        began = begin(Transaction(link, loop, LONGEST_SUM, guarded=True))
        for statement in _counting_on(plan):
            ask(statement)
    do("COMMIT")
    return _Found(key, created, began)


def examine(ask: Ask, name: str) -> None:
    """Whether a PostgreSQL can be served from at all. Raises NotServed."""
    version, encoding = int(ask("SHOW server_version_num")[0][0]), ask("SHOW server_encoding")[0][0]
    if version < OLDEST * 10_000:
        raise _refused(name, f"it is PostgreSQL {version // 10_000}, and {OLDEST} is the oldest that will do")
    if encoding != "UTF8":
        raise _refused(name, f"its encoding is {encoding}, and not UTF8")
    before = time()
    said = float(ask("SELECT extract(epoch FROM clock_timestamp())::float8")[0][0])
    if not before - CLOCKS <= said <= time() + CLOCKS:
        raise _refused(name, f"its clock and this machine's differ by {said - before:+.0f} seconds", "set them right")


def _refused(name: str, why: str, *help: str) -> NotServed:
    return NotServed(Refused(f"the database {name} cannot be used: {why}", help=help))


def notes_of(plan: ServicePlan) -> dict[str, bytes]:
    """What a database is made for. `rows`: all that the contract says of its rows, which are not looked at again."""
    rows = sha256(msgspec.json.encode((plan.schema, plan.stored))).digest()
    return {"form": f"{FORM}.{OWN_FORM}".encode(), "shape": encode_shape(plan.schema), "rows": rows}


def note(ask: Ask, values: Mapping[str, bytes]) -> None:
    for what, value in values.items():
        ask(f"INSERT INTO {NOTES} VALUES ($1, $2)", what, value)


def noted(ask: Ask) -> dict[str, bytes]:
    return {row[0]: bytes(row[1]) for row in ask(f"SELECT name, value FROM {NOTES}")}


def key_of(ask: Ask, plan: ServicePlan, name: str) -> bytes | None:
    """The key of a database that is made for this plan; None: nothing is in it. Raises NotServed."""
    [(ours,)] = ask("SELECT to_regclass($1) IS NOT NULL", f"{NOTES}")
    if not ours:
        [(others,)] = ask(
            "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN"
            " ('r', 'p', 'v', 'm', 'f')"
        )
        if others:
            raise _refused(name, "it was made by another program", "name another database with --database")
        return None
    found = noted(ask)
    if MOVING in found:
        raise _refused(name, "a move into it has not come to its end", "`ninefold move` goes on with it")
    notes = notes_of(plan)
    if found.get("form") != notes["form"]:
        raise _refused(name, "it was made by another ninefold")
    if found.get("shape") != notes["shape"] or found.get("rows") != notes["rows"]:
        raise NotServed(
            Refused(
                f"the database {name} was made for another contract, or for this one before it said something else"
                " of its rows",
                help=(
                    "nothing in it was changed: there is no upgrade of a database in PostgreSQL yet",
                    "serve the contract that made it, or name another database with --database",
                ),
            )
        )
    return found["key"]


def prepared(link: Link, loop: AbstractEventLoop, plan: ServicePlan) -> None:
    """Have PostgreSQL read every statement of the plan. What it does not take is not served, and said."""
    failing: list[str] = []
    for text in dict.fromkeys(text for each in statements(plan) for text in _texts(each)):
        if not text.startswith(_COMMANDS):
            continue  # values alone, which are bound and never asked of a database
        try:
            loop.run_until_complete(link.connection.execute("SAVEPOINT reading"))
            loop.run_until_complete(link.connection.prepare(numbered(text)))
        except asyncpg.PostgresError as error:
            failing.append(f"{str(error).splitlines()[0]}: {text[:120]}")
            loop.run_until_complete(link.connection.execute("ROLLBACK TO reading"))
    if failing:
        raise NotServed(
            Refused(
                "the contract cannot be served from PostgreSQL yet: it needs statements that are not made for it",
                tuple(failing),
                ("serve it from SQLite: `--database FILE`",),
            )
        )


def _texts(statement: Statement) -> Iterator[str]:
    """A statement with no switch on, and with each alone: of some, two are never on at once."""
    switches = {name: None for piece in statement.pieces for name in (piece.when, piece.unless)}
    for on in switches or (None,):
        yield "".join(
            piece.text
            for piece in statement.pieces
            if (piece.when is None or piece.when == on) and (piece.unless is None or piece.unless != on)
        )


def _counting_on(plan: ServicePlan) -> Iterator[str]:
    """What numbers rows goes on behind the greatest number that a row was given."""
    for table in plan.schema.tables:
        for column in table.columns:
            if column.serial:
                name, field = identifier(table.name), identifier(column.name)
                yield (
                    f"INSERT INTO \"$number\" AS known SELECT '{table.name}', max({field}) FROM {name}"
                    " HAVING count(*) > 0"
                    ' ON CONFLICT ("table") DO UPDATE SET last = greatest(known.last, excluded.last)'
                )
